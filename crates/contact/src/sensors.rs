//! Sensors: colliders that feel what overlaps them and push nothing.
//!
//! Two colliders overlap if they have a point in common (`shape_overlap.rs`); flesh is what is under its skin (`placed_skin.rs`). Sensors feel
//! bodies, flesh, colliders of the world and each other: whatever has another owner, is in a group that they touch, and is not ignored. Firmness
//! does not matter. Bodies are felt on their way from step to step, flesh where it is. Nothing is carried from query to query. World axes, metres. Cost: the broad phase, and an exact test of pairs with a sensor.

use crate::collider::Collider;
use crate::contact_point::Owner;
use crate::model::{ContactModel, ContactWorkspace};
use crate::placed::{PlacedCollider, WorldShape};
use crate::placed_skin::FleshOutline;
use crate::shape_overlap::overlap;
use crate::touch_events::{TouchPair, TouchSide};
use sinew_math::Pose;

/// The most pieces of a way.
const MOST_PIECES: f64 = 1024.0;

/// All colliders of a scene, the sensors last.
#[derive(Clone, Debug)]
pub struct SensorModel {
    all: ContactModel,
    first: usize,
}

impl SensorModel {
    /// Colliders of which those from number `first` on are sensors; the others are felt.
    pub fn new(all: ContactModel, first: usize) -> Self {
        Self { all, first }
    }

    /// The same with poses in other frames of the bodies; see [`ContactModel::seen_from`].
    #[must_use]
    pub fn seen_from(self, frame: impl Fn(usize) -> Pose) -> Self {
        Self { all: self.all.seen_from(frame), ..self }
    }

    /// All colliders, the sensors last, in the frames in which they were given or [seen](Self::seen_from) last.
    pub fn colliders(&self) -> &ContactModel {
        &self.all
    }

    /// Whether a collider is a sensor, by its number.
    pub fn is_sensor(&self, collider: usize) -> bool {
        collider >= self.first
    }

    /// Whether a sensor is among two colliders, and may feel the other.
    pub fn may_feel(&self, i: usize, j: usize) -> bool {
        self.may_feel_if([i, j], &[])
    }

    /// The same if some pairs of owners do not ignore each other.
    fn may_feel_if(&self, [i, j]: [usize; 2], admitted: &[[Owner; 2]]) -> bool {
        (self.is_sensor(i) || self.is_sensor(j)) && self.all.may_meet([i, j], admitted)
    }

    /// Adds every pair of a sensor and what overlaps it. `poses` are as in [`ContactModel::rigid_contacts`].
    ///
    /// ```
    /// use glam::DVec3;
    /// use sinew_contact::{Collider, ContactMaterial, ContactModel, ContactShape, ContactWorkspace, Owner, SensorModel};
    /// use sinew_math::{Pose, Shape};
    ///
    /// let solid = |owner, shape: Shape| Collider::new(owner, Pose::IDENTITY, shape.into(), ContactMaterial::passive(0.5));
    /// let ball = solid(Owner::Body(0), Shape::Sphere { radius: 0.1 })?;
    /// let gate = solid(Owner::World, Shape::Box { size: DVec3::new(0.1, 1.0, 1.0) })?;
    /// let sensors = SensorModel::new(ContactModel::new(vec![ball, gate], 1, &[])?, 1);
    /// let (mut work, mut found) = (ContactWorkspace::new(), Vec::new());
    /// for (x, n) in [(-0.2, 0), (-0.1, 1), (0.0, 1), (0.2, 0)] {
    ///     found.clear();
    ///     sensors.overlaps(&[Pose::from_translation(DVec3::X * x)], &mut work, &mut found);
    ///     assert_eq!(found.len(), n);
    /// }
    /// # Ok::<(), sinew_contact::ContactError>(())
    /// ```
    pub fn overlaps(&self, poses: &[Pose], work: &mut ContactWorkspace, out: &mut Vec<TouchPair>) {
        self.overlaps_after(poses, poses, work, out);
    }

    /// The same for bodies that came from other poses: what passes through a sensor on the way is felt, too. The way is looked at in pieces
    /// of half the thickness of the two.
    pub fn overlaps_after(
        &self,
        before: &[Pose],
        poses: &[Pose],
        work: &mut ContactWorkspace,
        out: &mut Vec<TouchPair>,
    ) {
        let Self { all, .. } = self;
        all.place_way([before, poses], work);
        let ContactWorkspace { placed, sweep, admitted, .. } = work;
        for &[i, j] in sweep.pairs(placed, &all.sorted, |i, j| self.may_feel_if([i, j], admitted)) {
            let pair = [i, j].map(|i| (&all.colliders()[i as usize], &placed[i as usize]));
            if meet(pair, 1.0) || meet_on_way(pair) {
                let [a, b] = [i, j].map(|i| TouchSide::Collider(all.part(i as usize)));
                out.push(TouchPair::new(a, b, true));
            }
        }
    }

    /// Adds every pair of a sensor and a body of flesh that overlaps it.
    pub fn flesh_overlaps(&self, flesh: &FleshOutline<'_>, poses: &[Pose], out: &mut Vec<TouchPair>) {
        for (index, collider) in self.all.colliders().iter().enumerate().skip(self.first) {
            let may = flesh.groups.meet(collider.groups()) && !flesh.ignored.contains(&collider.owner());
            let placed = PlacedCollider::new(collider, poses, poses, 0.0);
            if may && flesh.skin.overlaps(WorldShape { shape: collider.shape(), placed: &placed }) {
                let sensor = TouchSide::Collider(self.all.part(index));
                out.push(TouchPair::new(sensor, TouchSide::Flesh(flesh.number), true));
            }
        }
    }
}

/// Whether two colliders overlap after a part of their way.
fn meet(pair: [(&Collider, &PlacedCollider); 2], part: f64) -> bool {
    let [a, b] = pair.map(|(_, placed)| if part < 1.0 { placed.on_way(part) } else { *placed });
    let [first, second] = pair.map(|(collider, _)| collider.shape());
    overlap(WorldShape { shape: first, placed: &a }, WorldShape { shape: second, placed: &b })
}

/// Whether two colliders overlap somewhere on their way.
fn meet_on_way(pair: [(&Collider, &PlacedCollider); 2]) -> bool {
    let [a, b] = pair.map(|(_, placed)| placed.pose.translation - placed.before.translation);
    let thin = pair.map(|(collider, _)| collider.finite_thickness());
    let piece = 0.5 * (thin[0] + thin[1]);
    let (way, piece) = ((a - b).length(), piece.max(f64::MIN_POSITIVE));
    let n = (way / piece).ceil().min(MOST_PIECES);
    (1..n as u32).any(|k| meet(pair, f64::from(k) / n))
}
