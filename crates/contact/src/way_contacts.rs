//! Contacts of bodies that are far apart where a step begins and meet, or pass each other, within it.
//!
//! A contact that is found where a fast body is now tells little about what it meets ten of its sizes ahead: nearest points of solids that are far
//! apart lie on the side of the motion, and the plane through them is where nothing is. So one of the two is moved along their relative way, without
//! turning, to where it first touches the other (`shape_cast.rs`); both are placed there, turned by that part of their way, and contacts are found.
//! Pairs that touch at the start, planes, and pairs that move by less than their half thickness are left to the other queries. World axes, metres.
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
use sinew_math::Pose;

/// Gap of contacts where two colliders meet, as a share of the thinner of both: they turn on their way.
const AROUND: f64 = 0.1;

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
        self.place_way([before, poses], work);
        let ContactWorkspace { placed, sweep, narrow, admitted, .. } = work;
        let is_wanted = |i: usize, j: usize| {
            !self.owners(i, j).into_iter().all(&is_still) && self.may_touch_if([i, j], admitted)
        };
        let (mut found, first) = (Vec::new(), out.len());
        for &[i, j] in sweep.pairs(placed, is_wanted) {
            let swap = self.colliders()[i as usize].owner() == Owner::World;
            let sides = if swap { [j, i] } else { [i, j] };
            let [a, b] = sides.map(|i| (&self.colliders()[i as usize], placed[i as usize]));
            let Some(part) = meeting([(a.0, &a.1), (b.0, &b.1)]) else { continue };
            for (i, (_, whole)) in sides.into_iter().zip([a, b]) {
                placed[i as usize] = whole.on_way(part);
            }
            found.clear();
            narrow.touch(self.colliders(), placed, sides, AROUND * thinner(a.0, b.0), &mut found);
            for (i, (_, whole)) in sides.into_iter().zip([a, b]) {
                placed[i as usize] = whole;
            }
            out.extend(found.iter().map(|&contact| WayContact { contact, part }));
        }
        self.apply_rules(out[first..].iter_mut().map(|met| &mut met.contact));
    }
}

/// The part of their way after which two colliders meet that do not touch at its start.
fn meeting([(a, from), (b, to)]: [(&Collider, &PlacedCollider); 2]) -> Option<f64> {
    let is_plane = [a, b].into_iter().any(|it| matches!(it.shape(), ContactShape::Plane));
    if is_plane || !goes_far((a, from), (b, to)) {
        return None;
    }
    let [own, other] = [from, to].map(|placed| placed.pose.translation - placed.before.translation);
    let way = own - other;
    let (from, to) = (from.on_way(0.0), to.on_way(0.0));
    let [first, second] = [(a, &from), (b, &to)].map(|(it, placed)| WorldShape { shape: it.shape(), placed });
    if overlap(first, second) {
        return None;
    }
    let cast = |moving: WorldShape<'_>, standing: WorldShape<'_>, way: DVec3| {
        let moving = MovingShape::new(moving.shape, moving.placed.pose, way).ok()?;
        moving.touch(standing, moving.reach)
    };
    let touch = cast(first, second, way).or_else(|| cast(second, first, -way))?;
    Some((touch.way / way.length()).clamp(0.0, 1.0))
}

/// Thickness of the thinner of two colliders, m.
fn thinner(a: &Collider, b: &Collider) -> f64 {
    let least = a.thickness().min(b.thickness());
    if least.is_finite() { least } else { 0.0 }
}
