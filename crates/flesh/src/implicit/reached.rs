//! Contacts of bodies that may close within a step.
//!
//! The query has one margin, for the fastest body. A contact with the gap `g` that closes at `u` is kept where
//! ```text
//! g ≤ 2 (h² |gravity| + h s)        s: the largest of u and the speeds at which its bodies are hit by others in this sense
//! ```
//! because a body that is hit at `s` leaves at no more than `2 s`. Bodies that are driven on beyond that meet what was left out at the end of the step
//! (`end_contacts.rs`). World axes, SI. Cost: about 20 ns per contact. Nothing allocates once warm.

use glam::DVec3;
use sinew_contact::ContactPoint;
use sinew_mechanism::CouplingPoint;

use super::contact_sides::ContactSides;

/// Scratch of the choice.
#[derive(Default)]
pub(super) struct ReachedContacts {
    /// Per body: the largest speed at which it is hit (m/s).
    hits: Vec<f64>,
    /// Per contact: the speed at which it closes (m/s).
    closing: Vec<f64>,
}

impl ReachedContacts {
    /// Removes contacts of bodies that cannot close; returns whether there are any.
    pub(super) fn keep(
        &mut self,
        sides: &ContactSides<'_>,
        moment: &CouplingPoint<'_>,
        points: &mut Vec<ContactPoint>,
    ) -> bool {
        let Self { hits, closing } = self;
        let still = |_: usize, _: usize| DVec3::ZERO;
        let speed = |point: &ContactPoint| {
            (-point.normal.dot(sides.relative(point, moment.motions, &still))).max(0.0)
        };
        let fall = moment.dt * moment.gravity.length();
        let is_reached = |point: &ContactPoint, s: f64| -point.depth <= 2.0 * moment.dt * (fall + s);
        closing.clear();
        closing.extend(points.iter().map(speed));
        hits.clear();
        hits.resize(moment.motions.len(), 0.0);
        for (point, &speed) in
            points.iter().zip(&*closing).filter(|(point, speed)| is_reached(point, **speed))
        {
            for body in point.bodies().into_iter().flatten() {
                hits[body] = hits[body].max(speed);
            }
        }
        let (before, mut speeds) = (points.len(), closing.iter());
        points.retain(|point| {
            let hit = point.bodies().into_iter().flatten().map(|body| hits[body]);
            is_reached(point, hit.chain(speeds.next().copied()).fold(0.0, f64::max))
        });
        points.len() < before
    }
}
