//! Contacts of bodies that are far apart where a step begins and meet within it; and whether two pass each other.
//!
//! A contact that is found where a fast body is now tells little about what it meets ten of its sizes ahead: nearest points of solids that are far
//! apart lie on the side of the motion, and the plane through them is where nothing is. So one of the two is moved along their relative way, without
//! turning, to where it first touches the other (`shape_cast.rs`); both are placed there, turned by that part of their way, and contacts are found, with gaps up to the size of the smaller one: all
//! of it may arrive within the step.
//! Pairs that touch at the start, and pairs that move by less than their half thickness are left to the other queries. World axes, metres.
//! Cost: the broad phase of the boxes that are swept, and a cast of each pair of these.

use crate::collider::Collider;
use crate::contact_point::{ContactPoint, Owner};
use crate::model::{ContactModel, ContactWorkspace};
use crate::passages::goes_far;
use crate::placed::{PlacedCollider, WorldShape};
use crate::shape::ContactShape;
use crate::shape_cast::MovingShape;
use crate::shape_overlap::overlap;
use glam::DVec3;
use sinew_math::{Pose, Shape};

/// How far something may turn that passes for certain, as a share of the thinner of both.
const TURNED: f64 = 0.1;
/// Factor of the way on which two colliders pass each other.
const BEYOND: f64 = 1.2;

/// A contact, and the part of the way to it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WayContact {
    /// Where its sides are after that part of their way.
    pub contact: ContactPoint,
    /// From 0 to 1.
    pub part: f64,
}

impl ContactModel {
    /// Appends the contacts of bodies that meet on their way from poses `before` to `poses`, where they first meet. Pairs of which both owners are still are not
    /// looked at.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_contact::{Collider, ContactMaterial, ContactModel, ContactWorkspace, Owner};
    /// use sinew_math::{Pose, Shape};
    ///
    /// let solid = |owner, shape: Shape| Collider::new(owner, Pose::IDENTITY, shape.into(), ContactMaterial::for_mass(1.0, 0.5));
    /// let bullet = solid(Owner::Body(0), Shape::Sphere { radius: 0.01 })?;
    /// let wall = solid(Owner::World, Shape::Box { size: DVec3::new(0.2, 4.0, 4.0) })?;
    /// let model = ContactModel::new(vec![bullet, wall], 1, &[])?;
    /// let way = [-5.1, 4.9].map(|x| [Pose::from_translation(DVec3::X * x)]);
    /// let (mut work, mut met) = (ContactWorkspace::new(), Vec::new());
    /// model.contacts_on_way(|_| false, [&way[0], &way[1]], &mut work, &mut met);
    /// assert_eq!((met.len(), met[0].contact.normal), (1, DVec3::NEG_X));
    /// assert!((met[0].part - 0.499).abs() < 1e-6);
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    pub fn contacts_on_way(
        &self,
        is_still: impl Fn(Owner) -> bool,
        [before, poses]: [&[Pose]; 2],
        work: &mut ContactWorkspace,
        out: &mut Vec<WayContact>,
    ) {
        if !self.may_any_meet {
            return;
        }
        self.place_way([before, poses], work);
        let ContactWorkspace { placed, sweep, narrow, admitted, found, .. } = work;
        let is_wanted = |i: usize, j: usize| {
            !self.owners(i, j).into_iter().all(&is_still) && self.may_touch_if([i, j], admitted)
        };
        let first = out.len();
        for &[i, j] in sweep.pairs(placed, &self.sorted, is_wanted) {
            let swap = self.colliders()[i as usize].owner() == Owner::World;
            let sides = if swap { [j, i] } else { [i, j] };
            let [a, b] = sides.map(|i| (&self.colliders()[i as usize], placed[i as usize]));
            let Some(part) = meeting([(a.0, &a.1), (b.0, &b.1)]) else { continue };
            for (i, (_, whole)) in sides.into_iter().zip([a, b]) {
                placed[i as usize] = whole.on_way(part);
            }
            found.clear();
            narrow.touch(self.colliders(), placed, sides, smaller(a.0, b.0), found);
            for (i, (_, whole)) in sides.into_iter().zip([a, b]) {
                placed[i as usize] = whole;
            }
            out.extend(found.iter().map(|&contact| WayContact { contact, part }));
        }
        self.apply_rules(out[first..].iter_mut().map(|met| &mut met.contact));
    }

    /// What two colliders (by number) that do not touch at poses `before` do on their way to `poses`.
    ///
    /// The plane through nearest points of solids that are some way apart lies across the way of one that flies past an edge of the other: a contact there would
    /// turn it aside. And of round solids that meet it is not the one where they touch.
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_contact::{Collider, ContactMaterial, ContactModel, Owner, PairWay};
    /// use sinew_math::{Pose, Shape};
    ///
    /// let solid = |owner, shape: Shape| Collider::new(owner, Pose::IDENTITY, shape.into(), ContactMaterial::for_mass(1.0, 0.5));
    /// let ball = solid(Owner::Body(0), Shape::Sphere { radius: 0.1 })?;
    /// let wall = solid(Owner::World, Shape::Box { size: DVec3::new(0.2, 4.0, 2.0) })?;
    /// let model = ContactModel::new(vec![ball, wall], 1, &[])?;
    /// let flies = |z: f64| {
    ///     let [from, to] = [-0.5, 0.5].map(|x| [Pose::from_translation(DVec3::new(x, 0.0, z))]);
    ///     model.pair_way([0, 1], [&from, &to])
    /// };
    /// assert_eq!(flies(1.11), PairWay::Apart);
    /// assert!(matches!(flies(0.0), PairWay::Meets(part) if (part - 0.3).abs() < 1e-6));
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    pub fn pair_way(&self, pair: [usize; 2], [before, poses]: [&[Pose]; 2]) -> PairWay {
        let [a, b] = self.placed_pair(pair, [before, poses]);
        let thinner = thinner(a.0, b.0);
        let is_known = |(it, placed): &(&Collider, PlacedCollider)| {
            let extent = it.shape().extent();
            extent.is_some_and(|extent| turn(it, placed) * extent.half.length() <= TURNED * thinner)
        };
        let way = relative_way(&a.1, &b.1);
        if !(is_known(&a) && is_known(&b) && way.is_finite()) {
            return PairWay::Unknown;
        }
        match first_touch([(a.0, &a.1), (b.0, &b.1)], way * BEYOND) {
            None => PairWay::Apart,
            Some(touch) if touch >= 0.0 => PairWay::Meets(touch / way.length()),
            Some(_) => PairWay::Unknown,
        }
    }

    /// Appends the contacts of two colliders (by number, the first of a body), with gaps up to a margin, where they are after a part of their way from
    /// poses `before` to `poses`.
    pub fn contacts_of_pair(
        &self,
        pair: [usize; 2],
        part: f64,
        ([before, poses], margin): ([&[Pose]; 2], f64),
        work: &mut ContactWorkspace,
        out: &mut Vec<WayContact>,
    ) {
        let ContactWorkspace { placed, narrow, found, .. } = work;
        if placed.len() != self.colliders().len() {
            return;
        }
        for (i, (_, whole)) in pair.into_iter().zip(self.placed_pair(pair, [before, poses])) {
            placed[i] = whole.on_way(part);
        }
        found.clear();
        narrow.touch(self.colliders(), placed, pair.map(|i| i as u32), margin, found);
        let first = out.len();
        out.extend(found.iter().map(|&contact| WayContact { contact, part }));
        self.apply_rules(out[first..].iter_mut().map(|met| &mut met.contact));
    }

    fn placed_pair(
        &self,
        pair: [usize; 2],
        [before, poses]: [&[Pose]; 2],
    ) -> [(&Collider, PlacedCollider); 2] {
        pair.map(|i| {
            let collider = &self.colliders()[i];
            (collider, PlacedCollider::new(collider, poses, before, 0.0))
        })
    }
}

/// What two colliders do on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PairWay {
    /// Not certain: one is a plane, or turns.
    Unknown,
    /// They pass each other, for a part of their way beyond it, too.
    Apart,
    /// They meet after a part of it, from 0 to a little more than 1.
    Meets(f64),
}

/// The angle by which a collider turns on its way, or a little less (rad); of a capsule or a cylinder that of its axis, and none for a ball.
fn turn(collider: &Collider, placed: &PlacedCollider) -> f64 {
    let rotations = [placed.before.rotation, placed.pose.rotation];
    match collider.shape() {
        ContactShape::Solid(Shape::Sphere { .. }) => 0.0,
        ContactShape::Solid(Shape::Capsule { .. } | Shape::Cylinder { .. }) => {
            let [before, after] = rotations.map(|rotation| rotation * DVec3::X);
            before.distance(after)
        }
        _ => {
            let cosine = rotations[0].dot(rotations[1]);
            2.0 * (1.0 - cosine * cosine).max(0.0).sqrt()
        }
    }
}

/// How far the first collider moves in the frame of the second, without turning (m, world).
fn relative_way(a: &PlacedCollider, b: &PlacedCollider) -> DVec3 {
    let [own, other] = [a, b].map(|placed| placed.pose.translation - placed.before.translation);
    own - other
}

/// How far the first collider goes on a way until it touches the second (m), as they are turned at the start.
fn first_touch([(a, from), (b, to)]: [(&Collider, &PlacedCollider); 2], way: DVec3) -> Option<f64> {
    let (from, to) = (from.on_way(0.0), to.on_way(0.0));
    let [first, second] = [(a, &from), (b, &to)].map(|(it, placed)| WorldShape { shape: it.shape(), placed });
    let cast = |moving: WorldShape<'_>, standing: WorldShape<'_>, way: DVec3| {
        let moving = MovingShape::new(moving.shape, moving.placed.pose, way).ok()?;
        moving.touch(standing, moving.reach)
    };
    cast(first, second, way).or_else(|| cast(second, first, -way)).map(|touch| touch.way)
}

/// The part of their way after which two colliders meet that do not touch at its start.
fn meeting([(a, from), (b, to)]: [(&Collider, &PlacedCollider); 2]) -> Option<f64> {
    if !goes_far((a, from), (b, to)) {
        return None;
    }
    let [first, second] = [(a, from.on_way(0.0)), (b, to.on_way(0.0))];
    let [first, second] = [&first, &second].map(|(it, placed)| WorldShape { shape: it.shape(), placed });
    if overlap(first, second) {
        return None;
    }
    let way = relative_way(from, to);
    let touch = first_touch([(a, from), (b, to)], way)?;
    Some((touch / way.length()).clamp(0.0, 1.0))
}

/// Largest extent of the smaller of two colliders, m: where they meet, all of it may arrive within the step. A tilted rod that meets a wall with one end would
/// else turn through it with the other.
fn smaller(a: &Collider, b: &Collider) -> f64 {
    let size = |it: &Collider| it.shape().extent().map_or(f64::INFINITY, |extent| 2.0 * extent.half.length());
    let least = size(a).min(size(b));
    if least.is_finite() { least } else { 0.0 }
}

/// Thickness of the thinner of two colliders, m.
fn thinner(a: &Collider, b: &Collider) -> f64 {
    let least = a.thickness().min(b.thickness());
    if least.is_finite() { least } else { 0.0 }
}
