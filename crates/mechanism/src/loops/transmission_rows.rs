//! Rows of ropes and gears at a linearization point: one wide row each, or none while they are slack or slip.
//!
//! Held at a bound, `J v = J d − (φ − bound)/h`, with the compliance `c/h²`; directions are those of the poses, `φ` is measured where
//! errors are. A slipping one is a constant impulse on its bodies. A row that does not hold keeps its place and its multiplier (the
//! impulse), so that the state tells the force in any case. Laws: `forces::band`. In a step of length zero a bound that is exceeded is
//! met. Cost: linear in the ends.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym3, Sym6, shift_force, shift_motion};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::forces::{Band, BandLaw, ScalarImpulse};
use crate::loops::{Linearizer, Treatment, force_row};
use crate::model::{AnchorInertia, Quantity, TransmissionId, TransmissionModel, motion_of, pose_of};
use crate::tree::{LinearizationPoint, RESOLVED, add_geometric};

/// A transmission at a linearization point.
pub(crate) struct TransmissionAt<'a> {
    at: &'a LinearizationPoint<'a>,
    pub(crate) model: &'a TransmissionModel,
    /// Gradients by body, the world left out.
    ends: SmallVec<[(u32, Force); 8]>,
    /// `φ` where it is measured.
    value: f64,
    /// `J v_k` and `J d`.
    rate: f64,
    displaced: f64,
    /// With the length that a winch asks for.
    pub(crate) band: Band,
}

impl<'a> TransmissionAt<'a> {
    pub(crate) fn new(at: &'a LinearizationPoint<'a>, index: usize) -> Self {
        let model = &at.model.springs.transmissions[index];
        let mut ends: SmallVec<[(u32, Force); 8]> = SmallVec::new();
        model.quantity.gradients(&at.model.joints, at.poses, |body, on| {
            if body != NONE {
                ends.push((body, on));
            }
        });
        let twist = |joint: u32| at.twists[joint as usize] + at.turns(&at.model.joints[joint as usize])[1];
        let value = model.quantity.value(&at.model.joints, at.measured_poses(), twist);
        let along =
            |motions: &[Motion]| ends.iter().map(|&(body, on)| on.dot(motion_of(motions, body))).sum();
        let (rate, displaced) = (along(at.motions), at.displaced.map_or(0.0, along));
        let band = at.input.band(TransmissionId::from_index(index), model.band);
        Self { at, model, ends, value, rate, displaced, band }
    }

    /// The law that the motion and the force of the step before suggest.
    pub(crate) fn guess(&self, force: f64) -> BandLaw {
        self.band.guess(self.value + self.at.step.h * (self.rate - self.displaced), force)
    }

    /// The law that holds for the twists (per pair) and the force found with another one.
    pub(crate) fn review(&self, law: BandLaw, motions: &[Motion], force: f64) -> BandLaw {
        let found =
            |&(body, on): &(u32, Force)| on.dot(self.at.model.found_motion(motions, self.at.motions, body));
        let rate: f64 = self.ends.iter().map(found).sum();
        self.band.review(law, self.value + self.at.step.h * (rate - self.displaced), force)
    }

    /// What ends that forces do not move contribute to the rate.
    fn given(&self) -> f64 {
        let is_given = |&&(body, _): &&(u32, Force)| self.at.model.port(body) == NONE;
        let of_end = |&(body, on): &(u32, Force)| on.dot(motion_of(self.at.motions, body));
        self.ends.iter().filter(is_given).map(of_end).sum()
    }
}

impl Linearizer<'_, '_> {
    /// Ropes and gears, one row each; then the stiffness of ropes under the tension of the solve before, whose multipliers are given.
    pub(crate) fn transmissions(&mut self, lambda: &[f64]) {
        let model = self.at.model;
        let first = self.rows.len();
        self.bands();
        for (index, transmission) in model.springs.transmissions.iter().enumerate() {
            self.turn_to(&[model.derived.rope_bodies[index]]);
            let impulse = lambda.get(first + index).copied().unwrap_or(0.0);
            let is_stiff = self.demand.stiffens && impulse < 0.0;
            let tension = if is_stiff { -impulse * self.at.step.per_h } else { 0.0 };
            self.stiffen_rope(transmission, tension);
        }
    }

    fn bands(&mut self) {
        for (index, &body) in self.at.model.derived.rope_bodies.iter().enumerate() {
            self.turn_to(&[body]);
            let at = self.at;
            let here = TransmissionAt::new(at, index);
            let law = at.laws.bands.get(index).copied();
            let law = law.unwrap_or_else(|| here.band.guess(here.value, 0.0));
            let compliance = if here.model.compliance > 0.0 {
                here.model.compliance / (at.step.h * at.step.h)
            } else {
                0.0
            };
            match here.band.bound(law).filter(|_| compliance.is_finite()) {
                Some(bound) => {
                    let rhs = here.displaced - (here.value - bound) * at.step.per_h - here.given();
                    let ends = here.ends.iter().map(|&(body, on)| (at.model.port(body), on));
                    self.rows.push_wide(ends, rhs, compliance, 1.0);
                    if compliance == 0.0 {
                        self.soften(&Treatment::RIGID, 1.0);
                    }
                }
                None => {
                    let impulse = at.step.h * here.band.force(law);
                    self.rows.push_wide(std::iter::empty(), impulse, 1.0, 1.0);
                    for &(body, on) in here.ends.iter().filter(|_| impulse != 0.0) {
                        if let Some(load) = self.loads.on(at.model, body as usize) {
                            load.momentum += on * impulse;
                        }
                    }
                }
            }
        }
    }

    /// Geometric stiffness of a rope (see `tree::geometric`): a segment of length `ℓ` under the tension `T` resists what moves its ends across
    /// by `T/ℓ`, and bodies turn under the force at the ends of their arms. A segment to something immovable loads its body; others are two rows,
    /// which keep linear momentum.
    fn stiffen_rope(&mut self, rope: &TransmissionModel, tension: f64) {
        let Quantity::Path(points) = &rope.quantity else { return };
        let at = self.at;
        let place = |&(body, point): &(u32, DVec3)| pose_of(at.poses, body).transform_point(point);
        let mut pull = DVec3::ZERO;
        for (i, end) in points.iter().enumerate() {
            let across = points.get(i + 1).map_or(DVec3::ZERO, |next| place(next) - place(end));
            let along = across.normalize_or_zero();
            pull += along * tension;
            self.stiffen_end(end, pull);
            pull = -along * tension;
            let Some(next) = points.get(i + 1) else { break };
            let stiffness = if across == DVec3::ZERO { 0.0 } else { tension / across.length() };
            self.stiffen_segment([end, next], along, stiffness);
        }
    }

    /// The force of a rope at one of its points turns the body.
    fn stiffen_end(&mut self, &(body, point): &(u32, DVec3), pull: DVec3) {
        let (at, strength) = (self.at, pull.length());
        if strength > 0.0
            && let Some(load) = self.loads.on(at.model, body as usize)
        {
            let inertial = &at.model.bodies[body as usize];
            let reach = point.length();
            let inertia = inertial.inertia.moments.min_element() + inertial.mass * reach * reach;
            let arm = pose_of(at.poses, body).rotation * point;
            add_geometric(at, body, load, (arm, AnchorInertia { reach, inertia }), (pull, strength));
        }
    }

    /// A segment along a direction resists what moves its ends across; idle rows where it does not.
    fn stiffen_segment(&mut self, ends: [&(u32, DVec3); 2], along: DVec3, stiffness: f64) {
        let at = self.at;
        let bodies = ends.map(|&(body, _)| body);
        let ports = bodies.map(|body| at.model.port(body));
        if bodies[0] == bodies[1] || ports == [NONE; 2] {
            return;
        }
        let arms = ends.map(|&(body, point)| pose_of(at.poses, body).rotation * point);
        let given = if at.displaced.is_some() { 0.0 } else { RESOLVED / self.looseness(ends) };
        let kappa = (at.step.square * stiffness - given).max(0.0);
        let moved = |side: usize| {
            let motion =
                |motions: &[Motion]| shift_motion(motion_of(motions, bodies[side]), arms[side]).linear;
            at.displaced
                .map_or_else(|| if ports[side] == NONE { motion(at.motions) } else { DVec3::ZERO }, motion)
        };
        let relative = moved(1) - moved(0);
        if let Some(side) = ports.iter().position(|&port| port == NONE) {
            let tangent = (Sym3::IDENTITY - Sym3::outer(along)) * kappa;
            if let Some(load) = self.loads.on(at.model, bodies[1 - side] as usize).filter(|_| kappa > 0.0) {
                // What the other end does in the step, less what both poses contain of it.
                let given = moved(if at.displaced.is_some() { 1 - side } else { side });
                load.mass.add(&Sym6 { linear: tangent, ..Sym6::ZERO }.shifted(arms[1 - side]));
                load.momentum += shift_force(Force::new(DVec3::ZERO, tangent.mul_vec(given)), arms[1 - side]);
            }
            return;
        }
        let (across1, across2) =
            if along == DVec3::ZERO { (DVec3::Y, DVec3::Z) } else { along.any_orthonormal_pair() };
        let rows = [across1, across2].map(|axis| {
            let [on1, on2] = [-1.0, 1.0].map(|sign| axis * sign);
            let q = kappa * axis.dot(relative);
            let [on1, on2] = [(arms[0], on1), (arms[1], on2)].map(|(arm, on)| Force::new(arm.cross(on), on));
            force_row(on1, on2, ScalarImpulse { q, kappa })
        });
        self.rows.push(ports, &rows, 1.0);
    }

    /// Inverse of the mass that the ends of a segment have together.
    fn looseness(&self, ends: [&(u32, DVec3); 2]) -> f64 {
        let of_end = |&(body, point): &(u32, DVec3)| match self.at.model.port(body) {
            NONE => 0.0,
            _ => {
                let inertial = &self.at.model.bodies[body as usize];
                1.0 / inertial.mass + point.length_squared() / inertial.inertia.moments.min_element()
            }
        };
        ends.map(of_end).into_iter().sum()
    }
}
