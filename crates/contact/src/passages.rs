//! What has passed through something from one moment to the next, whatever contacts did: a look at the result alone.
//!
//! The middle of a collider goes from where it was to where it is, in the frame of the other one, which may move and turn itself. If that segment meets the surface
//! of the other one from outside, it has passed through it, or ends inside. Only pairs are looked at that move by more than their
//! half thickness; slower ones are seen inside each other. Where the other one turns by more than a radian, only the inside of it counts that it keeps
//! whichever way it turns. A thin end that sweeps through something while the middle does not is not seen. World axes, metres.
//! Cost: the broad phase of the boxes that are swept, and a ray for each pair of these.

use crate::collider::{Collider, Groups};
use crate::contact_point::Owner;
use crate::model::{ContactModel, ContactWorkspace};
use crate::placed::PlacedCollider;
use crate::ray_triangle::LocalRay;
use crate::shape::ContactShape;
use crate::shape_overlap::inner_point;
use crate::shape_ray::ray_touch;
use glam::DVec3;
use sinew_math::{Pose, Shape};

/// Sine of half the angle by which a collider turns at most where its surface is looked at, and of that of a part of its way.
const FARTHEST_TURN: f64 = 0.48;
const TURN_OF_A_PART: f64 = 0.03;

impl ContactModel {
    /// The owners of the first pair of colliders that have passed through each other on the way from poses `before` to `poses`, as far as they may touch. Pairs of which
    /// both owners are still are not looked at.
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
    /// let at = |x: f64| [Pose::from_translation(DVec3::X * x)];
    /// let mut work = ContactWorkspace::new();
    /// let mut passage = |from: f64, to: f64| model.passage(|_| false, [&at(from), &at(to)], &mut work);
    /// assert_eq!(passage(-5.0, 5.0), Some([Owner::World, Owner::Body(0)]));
    /// assert_eq!(passage(-5.0, -0.11), None);
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    pub fn passage(
        &self,
        is_still: impl Fn(Owner) -> bool,
        [before, poses]: [&[Pose]; 2],
        work: &mut ContactWorkspace,
    ) -> Option<[Owner; 2]> {
        if !self.may_any_meet {
            return None;
        }
        self.place_way([before, poses], work);
        let ContactWorkspace { placed, sweep, admitted, .. } = work;
        let is_wanted = |i: usize, j: usize| {
            !self.owners(i, j).into_iter().all(&is_still) && self.may_touch_if([i, j], admitted)
        };
        let mut pairs = sweep.pairs(placed, &self.sorted, is_wanted).iter();
        let passed = pairs.find(|pair| {
            let [a, b] = pair.map(|i| (&self.colliders()[i as usize], &placed[i as usize]));
            goes_far(a, b) && (has_passed(a, b) || has_passed(b, a))
        });
        passed.map(|&[i, j]| self.owners(i as usize, j as usize))
    }

    /// The owner of the first collider that a point which went from a place to another (m, world) has passed through, of those that meet some groups and
    /// have none of the owners that are ignored.
    pub fn passed_by_point(
        &self,
        [from, to]: [DVec3; 2],
        (groups, ignored): (Groups, &[Owner]),
        [before, poses]: [&[Pose]; 2],
    ) -> Option<Owner> {
        let mut met = self.colliders().iter().filter(|it| {
            let may = groups.meet(it.groups()) && !ignored.contains(&it.owner());
            may && crosses([from, to], (it, &PlacedCollider::new(it, poses, before, 0.0)))
        });
        met.next().map(Collider::owner)
    }
}

/// Whether two colliders move by more than their half thickness past each other.
pub(crate) fn goes_far(a: (&Collider, &PlacedCollider), b: (&Collider, &PlacedCollider)) -> bool {
    let [own, other] = [a.1, b.1].map(|placed| placed.pose.translation - placed.before.translation);
    let thick = [a.0, b.0].map(Collider::finite_thickness);
    (own - other).length() > 0.5 * (thick[0] + thick[1])
}

/// Whether the middle of a collider has gone through another one.
fn has_passed((own, placed): (&Collider, &PlacedCollider), other: (&Collider, &PlacedCollider)) -> bool {
    let middle = inner_point(own.shape()).filter(|_| own.thickness().is_finite());
    middle.is_some_and(|middle| {
        crosses([placed.before, placed.pose].map(|pose| pose.transform_point(middle)), other)
    })
}

/// Whether a way from outside (m, world) meets the surface of a collider, which moves and turns meanwhile.
fn crosses([from, to]: [DVec3; 2], (collider, placed): (&Collider, &PlacedCollider)) -> bool {
    let shape = collider.shape();
    let cosine = placed.before.rotation.dot(placed.pose.rotation);
    // The sine of half the angle.
    let turn = (1.0 - cosine * cosine).max(0.0).sqrt();
    let is_round = matches!(shape, ContactShape::Solid(Shape::Sphere { .. }));
    if turn > FARTHEST_TURN || is_round {
        // Which way it turned cannot be told, and need not: a ball around its middle is inside all the time.
        let radius = if is_round { 0.5 } else { 0.25 } * collider.thickness();
        let Some(middle) = inner_point(shape).filter(|_| radius.is_finite()) else { return false };
        let way =
            [(placed.before, from), (placed.pose, to)].map(|(pose, at)| at - pose.transform_point(middle));
        return meets(&Shape::Sphere { radius }.into(), way);
    }
    let parts = 1 + (turn / TURN_OF_A_PART) as u32;
    let at = |part: u32| {
        let part = f64::from(part) / f64::from(parts);
        placed.on_way(part).local(from.lerp(to, part))
    };
    (0..parts).any(|part| meets(shape, [at(part), at(part + 1)]))
}

/// Whether a way from outside meets the surface of a shape (m, in its frame).
fn meets(shape: &ContactShape, [from, to]: [DVec3; 2]) -> bool {
    if matches!(shape, ContactShape::Plane) {
        return from.z > 0.0 && to.z < 0.0;
    }
    let way = to - from;
    let Some(along) = way.try_normalize() else { return false };
    let touch = ray_touch(shape, &LocalRay::new(from, along), way.length());
    touch.is_some_and(|touch| touch.normal.dot(along) < 0.0)
}
