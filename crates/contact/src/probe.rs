//! Questions about everything that can be touched at one moment: rays, moving shapes, nearest points, overlaps.
//!
//! [`Probe`] places all colliders and skins once, and sorts them into a tree of boxes; each question then costs O(log n) and what it finds. Planes are
//! asked one by one. Colliders are asked in the frames of their shapes (`shape_ray.rs`, `shape_cast.rs`, `shape_nearest.rs`, `shape_overlap.rs`), flesh by the triangles of
//! its skin. What may be seen is decided by groups, as for contact. Colliders whose pose is not finite are left out. World axes, metres. Answers depend on the
//! model and the poses only, to the bit.

use crate::collider::Groups;
use crate::contact_point::Owner;
use crate::error::ContactError;
use crate::model::ContactModel;
use crate::placed::{PlacedCollider, Presence, WorldShape};
use crate::placed_skin::PlacedSkin;
use crate::ray_triangle::LocalRay;
use crate::refit_tree::{NodeBox, RefitTree};
use crate::shape::ContactShape;
use crate::shape_cast::{CastTouch, MovingShape};
use crate::shape_nearest::nearest_point;
use crate::shape_overlap::overlap;
use crate::shape_ray::{RayTouch, ray_touch};
use crate::skin::Skin;
use crate::touch_events::TouchSide;
use glam::DVec3;
use sinew_math::Pose;

/// Everything that can be touched, where it is now.
#[derive(Debug, Default)]
pub struct Probe<'a> {
    model: Option<&'a ContactModel>,
    placed: Vec<PlacedCollider>,
    /// Colliders in boxes, and those that are everywhere.
    bounded: Vec<u32>,
    unbounded: Vec<u32>,
    tree: RefitTree,
    boxes: Vec<NodeBox>,
    skins: Vec<OwnSkin<'a>>,
}

/// A skin with its points.
#[derive(Debug)]
struct OwnSkin<'a> {
    number: u32,
    skin: &'a Skin,
    points: Vec<DVec3>,
    boxes: Vec<NodeBox>,
    groups: Groups,
}

/// A ray to be cast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayCast {
    /// Where it begins (m, world).
    pub origin: DVec3,
    /// Where it goes, world axes; of any length but zero.
    pub direction: DVec3,
    /// How far it goes (m).
    pub reach: f64,
    /// What it meets: colliders and flesh whose groups meet these.
    pub groups: Groups,
}

impl RayCast {
    /// From a place in a direction, without end, meeting everything.
    pub fn new(origin: DVec3, direction: DVec3) -> Self {
        Self { origin, direction, reach: f64::INFINITY, groups: Groups::ALL }
    }

    /// The same with an end.
    #[must_use]
    pub fn within(self, reach: f64) -> Self {
        Self { reach, ..self }
    }

    /// The same meeting some groups only.
    #[must_use]
    pub fn meeting(self, groups: Groups) -> Self {
        Self { groups, ..self }
    }
}

/// A place on a surface that a question found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SurfaceHit {
    /// The collider or the flesh.
    pub side: TouchSide,
    /// The body that the collider belongs to, by its index; none for the world and for flesh.
    pub body: Option<usize>,
    /// The place (m, world).
    pub point: DVec3,
    /// Unit normal (world), outward. A sheet has that of the side it is seen from.
    pub normal: DVec3,
    /// Along a ray or cast, the way to the place, negative if a cast begins inside; from a point, the distance of the surface, negative inside (m).
    pub distance: f64,
}

impl<'a> Probe<'a> {
    /// Colliders of bodies at `poses` (world from body, of the frames in which colliders are given), and of the world.
    pub fn new(model: Option<&'a ContactModel>, poses: &[Pose]) -> Self {
        let colliders = model.iter().flat_map(|model| model.colliders());
        let placed: Vec<_> = colliders.map(|it| PlacedCollider::new(it, poses, poses, 0.0)).collect();
        let (mut bounded, mut unbounded, mut items) = (Vec::new(), Vec::new(), Vec::new());
        for (i, placed) in placed.iter().enumerate() {
            match placed.state {
                Presence::Lost => {}
                Presence::Everywhere => unbounded.push(i as u32),
                Presence::Within { low, high } => {
                    bounded.push(i as u32);
                    items.push(NodeBox { low, high });
                }
            }
        }
        let (tree, mut boxes) = (RefitTree::new(&items), Vec::new());
        tree.refit(|item| items[item as usize], &mut boxes);
        Self { model, placed, bounded, unbounded, tree, boxes, skins: Vec::new() }
    }

    /// Adds flesh: its number, its skin over points (m, world), and its groups. Points beyond those of the skin are ignored.
    pub fn add_flesh(&mut self, number: u32, skin: &'a Skin, points: Vec<DVec3>, groups: Groups) {
        let mut boxes = Vec::new();
        skin.fit(&points, &mut boxes);
        self.skins.push(OwnSkin { number, skin, points, boxes, groups });
    }

    /// The first place where a ray meets a surface. A ray that begins inside a solid meets it where it leaves.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_contact::{Collider, ContactMaterial, ContactModel, RayCast, Probe};
    ///
    /// let ground = Collider::ground(DVec3::ZERO, DVec3::Z, ContactMaterial::passive(0.5))?;
    /// let model = ContactModel::new(vec![ground], 0, &[])?;
    /// let probe = Probe::new(Some(&model), &[]);
    /// let hit = probe.ray(&RayCast::new(DVec3::new(1.0, 0.0, 2.0), DVec3::NEG_Z)).expect("the ground");
    /// assert_eq!((hit.distance, hit.point, hit.normal), (2.0, DVec3::X, DVec3::Z));
    /// assert!(probe.ray(&RayCast::new(DVec3::Z, DVec3::X)).is_none());
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    pub fn ray(&self, ray: &RayCast) -> Option<SurfaceHit> {
        let mut first: Option<SurfaceHit> = None;
        self.crossings(
            ray,
            &mut first,
            |first| first.map_or(ray.reach, |hit| hit.distance),
            |first, hit| {
                if first.is_none_or(|known| (hit.distance, hit.side) < (known.distance, known.side)) {
                    *first = Some(hit);
                }
            },
        );
        first
    }

    /// The first place on everything that a ray meets, nearest first.
    pub fn ray_all(&self, ray: &RayCast) -> Vec<SurfaceHit> {
        let mut hits = Vec::new();
        self.crossings(ray, &mut hits, |_| ray.reach, |hits: &mut Vec<SurfaceHit>, hit| hits.push(hit));
        hits.sort_by(|a, b| a.side.cmp(&b.side).then(a.distance.total_cmp(&b.distance)));
        hits.dedup_by_key(|hit| hit.side);
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        hits
    }

    /// The first place where a convex shape touches something, if it moves from a pose (world from shape) by `motion` (m) without turning; it stops there after
    /// [`SurfaceHit::distance`]. What it slides along or leaves it does not meet. A shape that begins inside something is told so by a negative distance: how deep it is in what it is deepest
    /// in. In a mesh, height field or flesh that holds its middle the depth is that along the normal of the nearest place.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_contact::{Collider, ContactMaterial, ContactModel, Groups, Probe};
    /// use sinew_math::{Pose, Shape};
    ///
    /// let ground = Collider::ground(DVec3::ZERO, DVec3::Z, ContactMaterial::passive(0.5))?;
    /// let model = ContactModel::new(vec![ground], 0, &[])?;
    /// let probe = Probe::new(Some(&model), &[]);
    /// let ball = Shape::Sphere { radius: 0.5 }.into();
    /// let cast = |z: f64| probe.cast(&ball, Pose::from_translation(DVec3::Z * z), DVec3::Z * -3.0, Groups::ALL);
    /// let hit = cast(2.5)?.expect("the ground");
    /// assert_eq!((hit.distance, hit.point, hit.normal), (2.0, DVec3::ZERO, DVec3::Z));
    /// assert!(cast(4.0)?.is_none());
    /// assert_eq!(cast(0.4)?.expect("it begins in the ground").distance, 0.4 - 0.5);
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    ///
    /// # Errors
    /// Shapes that are not convex, sizes, a pose or a motion that a collider could not have.
    pub fn cast(
        &self,
        shape: &ContactShape,
        from: Pose,
        motion: DVec3,
        groups: Groups,
    ) -> Result<Option<SurfaceHit>, ContactError> {
        let moving = MovingShape::new(shape, from, motion)?;
        let mut first: Option<SurfaceHit> = None;
        let bound = |first: &Option<SurfaceHit>| first.map_or(moving.reach, |hit| hit.distance);
        let offer = |first: &mut Option<SurfaceHit>, hit: SurfaceHit| {
            if first.is_none_or(|known| (hit.distance, hit.side) < (known.distance, known.side)) {
                *first = Some(hit);
            }
        };
        let look = |first: &mut Option<SurfaceHit>, index: u32| {
            let touch = self.visible(index, groups).and_then(|other| moving.touch(other, bound(first)));
            if let Some(CastTouch { way, point, normal }) = touch {
                offer(first, self.hit(index, RayTouch { way, normal }, point));
            }
        };
        self.unbounded.iter().for_each(|&index| look(&mut first, index));
        let wanted = |first: &Option<SurfaceHit>, node: &NodeBox| moving.may_reach(node, bound(first));
        self.tree
            .walk(&self.boxes, &mut first, wanted, |first, item| look(first, self.bounded[item as usize]));
        for skin in self.skins.iter().filter(|skin| skin.groups.meet(groups)) {
            if let Some(CastTouch { way, point, normal }) = moving.touch_skin(&skin.placed(), bound(&first)) {
                let side = TouchSide::Flesh(skin.number);
                offer(&mut first, SurfaceHit { side, body: None, point, normal, distance: way });
            }
        }
        Ok(first)
    }

    /// The place on the surface nearest to a point of the world (m), at most `reach` away (m): the one with the least distance, which is negative inside a solid.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_contact::{Collider, ContactMaterial, ContactModel, Groups, Owner, Probe};
    /// use sinew_math::{Pose, Shape};
    ///
    /// let ball = Shape::Sphere { radius: 0.5 }.into();
    /// let ball = Collider::new(Owner::Body(0), Pose::IDENTITY, ball, ContactMaterial::for_mass(1.0, 0.5))?;
    /// let model = ContactModel::new(vec![ball], 1, &[])?;
    /// let probe = Probe::new(Some(&model), &[Pose::from_translation(DVec3::X * 2.0)]);
    /// let found = probe.closest_point(DVec3::ZERO, f64::INFINITY, Groups::ALL).expect("the ball");
    /// assert_eq!((found.body, found.distance, found.point), (Some(0), 1.5, DVec3::X * 1.5));
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    pub fn closest_point(&self, point: DVec3, reach: f64, groups: Groups) -> Option<SurfaceHit> {
        if !point.is_finite() {
            return None;
        }
        let mut best: Option<SurfaceHit> = None;
        let bound = |best: &Option<SurfaceHit>| best.map_or(reach, |hit| hit.distance);
        let offer = |best: &mut Option<SurfaceHit>, hit: SurfaceHit| {
            let is_nearer = |known: SurfaceHit| (hit.distance, hit.side) < (known.distance, known.side);
            if hit.distance <= reach && best.is_none_or(is_nearer) {
                *best = Some(hit);
            }
        };
        let look = |best: &mut Option<SurfaceHit>, index: u32| {
            let Some(shape) = self.visible(index, groups) else { return };
            let Some((distance, normal)) = nearest_point(shape.shape, shape.placed.local(point)) else {
                return;
            };
            let normal = shape.placed.axes * normal;
            let hit = self.hit(index, RayTouch { way: distance, normal }, point - normal * distance);
            offer(best, hit);
        };
        self.unbounded.iter().for_each(|&index| look(&mut best, index));
        let is_near = |node: &NodeBox, bound: f64| {
            let square = node.distance_squared(point);
            square == 0.0 || bound >= 0.0 && square <= bound * bound
        };
        let wanted = |best: &Option<SurfaceHit>, node: &NodeBox| is_near(node, bound(best));
        self.tree.walk(&self.boxes, &mut best, wanted, |best, item| look(best, self.bounded[item as usize]));
        for skin in self.skins.iter().filter(|skin| skin.groups.meet(groups)) {
            let limit = bound(&best);
            let near = skin.boxes.first().is_some_and(|all| is_near(all, limit));
            if let Some((point, normal, distance)) = near.then(|| skin.placed().nearest(point)).flatten() {
                let side = TouchSide::Flesh(skin.number);
                offer(&mut best, SurfaceHit { side, body: None, point, normal, distance });
            }
        }
        best
    }

    /// Everything that a shape at a pose (world from shape) would overlap or touch, sorted.
    ///
    /// # Errors
    /// Sizes of the shape, or a pose, that a collider could not have.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_contact::{Collider, ContactMaterial, ContactModel, Groups, Owner, Probe, TouchSide};
    /// use sinew_math::{Pose, Shape};
    ///
    /// let ground = Collider::ground(DVec3::ZERO, DVec3::Z, ContactMaterial::passive(0.5))?;
    /// let model = ContactModel::new(vec![ground], 0, &[])?;
    /// let probe = Probe::new(Some(&model), &[]);
    /// let ball = Shape::Sphere { radius: 0.5 }.into();
    /// let at = |z: f64| probe.overlaps(&ball, Pose::from_translation(DVec3::Z * z), Groups::ALL);
    /// assert_eq!(at(0.4)?, [TouchSide::Collider(0)]);
    /// assert!(at(0.6)?.is_empty());
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    pub fn overlaps(
        &self,
        shape: &ContactShape,
        pose: Pose,
        groups: Groups,
    ) -> Result<Vec<TouchSide>, ContactError> {
        let placed = PlacedCollider::of_shape(shape, pose)?;
        let own = WorldShape { shape, placed: &placed };
        let near = match placed.state {
            Presence::Within { low, high } => NodeBox { low, high },
            _ => NodeBox { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY },
        };
        let mut found = Vec::new();
        let look = |found: &mut Vec<TouchSide>, index: u32| {
            if self.visible(index, groups).is_some_and(|other| overlap(own, other)) {
                found.extend(self.side(index));
            }
        };
        self.unbounded.iter().for_each(|&index| look(&mut found, index));
        let wanted = |_: &Vec<TouchSide>, node: &NodeBox| node.overlap(&near);
        self.tree
            .walk(&self.boxes, &mut found, wanted, |found, item| look(found, self.bounded[item as usize]));
        let skins = self.skins.iter().filter(|skin| skin.groups.meet(groups));
        let touched = skins.filter(|skin| skin.placed().overlaps(own));
        found.extend(touched.map(|skin| TouchSide::Flesh(skin.number)));
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Gives `take` the first place on every collider and skin that a ray meets nearer than `reach`.
    fn crossings<T>(
        &self,
        ray: &RayCast,
        state: &mut T,
        reach: impl Fn(&T) -> f64,
        mut take: impl FnMut(&mut T, SurfaceHit),
    ) {
        let Some(direction) = ray.direction.try_normalize().filter(|_| ray.origin.is_finite()) else {
            return;
        };
        let world = LocalRay::new(ray.origin, direction);
        let mut look = |state: &mut T, index: u32| {
            let Some(WorldShape { shape, placed }) = self.visible(index, ray.groups) else { return };
            let local = LocalRay::new(placed.local(ray.origin), placed.axes.transpose() * direction);
            if let Some(RayTouch { way, normal }) = ray_touch(shape, &local, reach(state)) {
                let touch = RayTouch { way, normal: placed.axes * normal };
                take(state, self.hit(index, touch, world.at(way)));
            }
        };
        self.unbounded.iter().for_each(|&index| look(state, index));
        let wanted = |state: &T, node: &NodeBox| {
            node.entry(world.origin, world.inverse).is_some_and(|at| at <= reach(state))
        };
        self.tree.walk(&self.boxes, state, wanted, |state, item| look(state, self.bounded[item as usize]));
        for skin in self.skins.iter().filter(|skin| skin.groups.meet(ray.groups)) {
            if let Some(RayTouch { way, normal }) = skin.placed().first_crossing(&world, reach(state)) {
                let (side, point) = (TouchSide::Flesh(skin.number), world.at(way));
                take(state, SurfaceHit { side, body: None, point, normal, distance: way });
            }
        }
    }

    /// A collider, if it is in the groups.
    fn visible(&self, index: u32, groups: Groups) -> Option<WorldShape<'_>> {
        let (collider, placed) = (&self.model?.colliders()[index as usize], &self.placed[index as usize]);
        collider.groups().meet(groups).then(|| WorldShape { shape: collider.shape(), placed })
    }

    fn side(&self, index: u32) -> Option<TouchSide> {
        Some(TouchSide::Collider(self.model?.part(index as usize)))
    }

    fn hit(&self, index: u32, touch: RayTouch, point: DVec3) -> SurfaceHit {
        let owner = self.model.map(|model| model.colliders()[index as usize].owner());
        let body = if let Some(Owner::Body(body)) = owner { Some(body as usize) } else { None };
        let side = self.side(index).unwrap_or(TouchSide::Collider(index));
        SurfaceHit { side, body, point, normal: touch.normal, distance: touch.way }
    }
}

impl OwnSkin<'_> {
    fn placed(&self) -> PlacedSkin<'_> {
        PlacedSkin { skin: self.skin, points: &self.points, boxes: &self.boxes }
    }
}
