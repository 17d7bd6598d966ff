//! A joint of the dense system: its relative state, its rows, and its force laws written out as chords and slopes.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, Pose, left_jacobian_inverse, log_so3, ops};
use sinew_mechanism::{
    JointFrames, JointSpec, Limit, MotorTarget, PairState, RelativeState, RotationForce, RowForm, Rows,
    ScalarForce, State, evaluate_rows,
};
use std::f64::consts::PI;

use super::{HeldAt, System, drives, foreseen_share, motion_of, norm2, wrench};
use crate::dense_oracle::scene::Scene;

/// A joint as the step sees it.
pub(crate) struct Joint<'a> {
    pub(super) index: usize,
    pub(crate) spec: &'a JointSpec,
    pub(crate) body1: Option<usize>,
    pub(crate) body2: Option<usize>,
    pub(crate) relative: RelativeState,
    pub(crate) rows: Rows,
    /// Rate by which the slide of bodies that go on as they do is from that of a straight line, to second order.
    bend: f64,
}

/// Forces along a coordinate, its gradient, its value and its bend.
type ScalarAt<'a> = (&'a Option<ScalarForce>, ([f64; 6], [f64; 6]), f64, f64);

impl<'a> Joint<'a> {
    pub(crate) fn all(scene: &'a Scene, state: &State, motions: &[Motion]) -> Vec<Self> {
        (0..scene.joints.len()).map(|index| Self::new(scene, state, motions, index)).collect()
    }

    fn new(scene: &'a Scene, state: &State, motions: &[Motion], index: usize) -> Self {
        let spec = &scene.joints[index];
        let (body1, body2) = (Some(spec.child.index()), spec.parent.map(|p| p.index()));
        let com = |b: Option<usize>| b.map_or(DVec3::ZERO, |b| scene.com(b));
        let f = &spec.frames;
        let frames = JointFrames { point1: f.point1 - com(body1), point2: f.point2 - com(body2), ..*f };
        let pose = |b: Option<usize>| b.map_or(Pose::IDENTITY, |b| state.poses[b]);
        let pair = PairState {
            pose1: pose(body1),
            pose2: pose(body2),
            motion1: motion_of(motions, body1),
            motion2: motion_of(motions, body2),
            previous_twist: state.twists[index],
        };
        let relative = RelativeState::new(&frames, &pair);
        let rows = evaluate_rows(spec.kind, &relative, &drives(scene, index), RowForm::Position);
        let share = foreseen_share(scene, motions, [body1, body2]);
        let bend = 0.5 * scene.settings.dt * relative.bias.linear.x * share;
        Self { index, spec, body1, body2, relative, rows, bend }
    }

    /// Gradients of twist and slide on the two twists, `n = i₂`.
    pub(crate) fn twist_gradient(&self) -> ([f64; 6], [f64; 6]) {
        let n = self.relative.axes2.x_axis;
        (wrench(n, DVec3::ZERO), wrench(-n, DVec3::ZERO))
    }

    pub(crate) fn slide_gradient(&self) -> ([f64; 6], [f64; 6]) {
        let (n, r) = (self.relative.axes2.x_axis, &self.relative);
        (wrench(r.arm1.cross(n), n), wrench(-r.arm2.cross(n), -n))
    }

    /// Rotation vector of frame 1 relative to frame 2, world axes.
    pub(crate) fn rotation_vector(&self) -> DVec3 {
        let world_from_2 = self.relative.axes2;
        world_from_2 * log_so3(self.relative.rotation)
    }

    /// Forces, gradients, values and bends of twist and slide.
    fn scalars(&self) -> [ScalarAt<'_>; 2] {
        [
            (&self.spec.twist, self.twist_gradient(), self.relative.twist, 0.0),
            (&self.spec.slide, self.slide_gradient(), self.relative.offset.x, self.bend),
        ]
    }

    /// Limits that hold with the twists found: those that the twists of the start did not foresee, and that push.
    pub(super) fn review(
        &self,
        scene: &Scene,
        held: &HeldAt,
        [start, found]: [&[Motion]; 2],
    ) -> [Option<[f64; 2]>; 2] {
        let h = scene.settings.dt;
        let mut next = held[self.index];
        for ((force, gradient, x, bend), held) in self.scalars().into_iter().zip(&mut next) {
            let Some(limit) = force.as_ref().and_then(|force| force.limit) else { continue };
            let rate = self.rate(found, &gradient) + bend;
            let ends = [self.rate(start, &gradient) - bend, rate].map(|rate| x + h * rate);
            let chord = |excess: f64| if excess > 0.0 { stop_force(&limit, excess) / excess } else { 0.0 };
            let passed = |bound: f64, sign: f64, before: Option<f64>| {
                let [foreseen, excess] = ends.map(|end| sign * (end - bound));
                let is_stiffer = chord(excess) > 2.0 * before.unwrap_or(chord(foreseen));
                (excess > 1e-6_f64.max(limit.ramp / 32.0) && is_stiffer).then(|| [bound, chord(excess)])
            };
            *held = match *held {
                None => passed(limit.max, 1.0, None).or_else(|| passed(limit.min, -1.0, None)),
                Some([bound, k]) => {
                    let sign = if bound >= limit.max { 1.0 } else { -1.0 };
                    let push = k * (bound - ends[1]) - k * limit.damping / limit.stiffness * rate;
                    let kept = passed(bound, sign, Some(k)).or(*held);
                    kept.filter(|_| sign * push <= 0.0)
                }
            };
        }
        next
    }

    pub(super) fn add_forces(
        &self,
        system: &mut System,
        scene: &Scene,
        motions: &[Motion],
        held: [Option<[f64; 2]>; 2],
    ) {
        let target = scene.input.motors.iter().rev().find(|(j, _)| j.index() == self.index).map(|(_, t)| *t);
        for ((force, gradient, value, bend), held) in self.scalars().into_iter().zip(held) {
            if let Some(force) = force {
                // The step before has bent as much.
                let rate = self.rate(motions, &gradient) - bend;
                let (q, kappa) = scalar_law(force, [value, rate], target, scene, held);
                system.couple_scalar(self, gradient, q - kappa * bend, kappa);
            }
        }
        if let Some(rotation) = &self.spec.rotation {
            self.add_rotation(system, rotation, scene, motions);
        }
    }

    fn add_rotation(&self, system: &mut System, force: &RotationForce, scene: &Scene, motions: &[Motion]) {
        let (h, scale) = (scene.settings.dt, scene.input.spring_scale);
        let phi = self.rotation_vector();
        let w = motion_of(motions, self.body1).angular - motion_of(motions, self.body2).angular;
        let exact = left_jacobian_inverse(phi);
        let tangent =
            if phi.length() > PI - 0.1 { DMat3::IDENTITY } else { (exact + exact.transpose()) * 0.5 };
        let friction = h * force.friction / w.length().max(1e-3);
        let isotropic = h * force.damping * scale + force.armature + friction;
        let all = tangent * (h * h * force.stiffness * scale) + DMat3::IDENTITY * isotropic;
        let units = DVec3::AXES.map(|e| wrench(e, DVec3::ZERO));
        let opposite = DVec3::AXES.map(|e| wrench(-e, DVec3::ZERO));
        let ends = [(self.body1, units), (self.body2, opposite)];
        system.couple(&ends, all, phi * (-h * force.stiffness * scale) + w * force.armature);
        if let Some(cone) = &force.cone {
            let (a1, a2) = (self.relative.axes2 * self.relative.matrix.x_axis, self.relative.axes2.x_axis);
            let normal = a2.cross(a1);
            if normal.length() <= 1e-8 {
                return;
            }
            let angle = ops::atan2(normal.length(), a2.dot(a1));
            let n = normal.normalize();
            let gradient = (wrench(n, DVec3::ZERO), wrench(-n, DVec3::ZERO));
            let (q, kappa) = limit_law(cone, angle, n.dot(w), h);
            system.couple_scalar(self, gradient, q, kappa);
        }
    }

    /// `|J v − b| / (|J||v| + |b|)` with `b = −C/h`, the largest row.
    pub(super) fn row_error(&self, motions: &[Motion], h: f64) -> f64 {
        let speed = |body| norm2(&motion_of(motions, body).to_array());
        let error = |r: usize| {
            let (row1, row2) = (&self.rows.jacobian1[r], &self.rows.jacobian2[r]);
            let goal = -self.rows.residual[r] / h;
            let reach = norm2(row1) * speed(self.body1) + norm2(row2) * speed(self.body2);
            (self.rate(motions, &(*row1, *row2)) - goal).abs() / (reach + goal.abs()).max(1e-3)
        };
        (0..self.rows.n).map(error).fold(0.0, f64::max)
    }

    /// Rate of a coordinate.
    pub(crate) fn rate(&self, motions: &[Motion], gradient: &([f64; 6], [f64; 6])) -> f64 {
        let part = |body, row: &[f64; 6]| {
            let motion = motion_of(motions, body).to_array();
            (0..6).map(|i| row[i] * motion[i]).sum::<f64>()
        };
        part(self.body1, &gradient.0) + part(self.body2, &gradient.1)
    }
}

/// `(q, κ)`: the impulse along the coordinate is `q − κ ẋ⁺`.
fn scalar_law(
    force: &ScalarForce,
    [x, rate]: [f64; 2],
    goal: Option<MotorTarget>,
    scene: &Scene,
    held: Option<[f64; 2]>,
) -> (f64, f64) {
    let (h, scale) = (scene.settings.dt, scene.input.spring_scale);
    let (k, c) = (force.spring.stiffness * scale, force.spring.damping * scale);
    let mut q = -h * k * (x - force.spring.rest) + force.armature * rate;
    let mut kappa = h * (h * k + c) + force.armature;
    if let (Some(limit), Some([bound, k])) = (force.limit, held) {
        q += h * k * (bound - x);
        kappa += h * k * (h + limit.damping / limit.stiffness);
    } else if let Some(limit) = &force.limit {
        let upper = limit_law(limit, x, rate, h);
        let mirrored = Limit { max: -limit.min, ..*limit };
        let lower = limit_law(&mirrored, -x, -rate, h);
        q += upper.0 - lower.0;
        kappa += upper.1 + lower.1;
    }
    if let Some(motor) = &force.motor {
        let goal = goal.unwrap_or(motor.target);
        q += h * (motor.kp * (goal.position - x) + motor.kd * goal.velocity);
        kappa += h * (h * motor.kp + motor.kd);
    }
    (q, kappa)
}

/// The upper stop by its chord at the excess to which the start velocity takes the coordinate.
fn limit_law(limit: &Limit, x: f64, rate: f64, h: f64) -> (f64, f64) {
    let excess = x + h * rate - limit.max;
    if excess <= 0.0 {
        return (0.0, 0.0);
    }
    let force = stop_force(limit, excess);
    let chord = force / excess;
    (h * (h * chord * rate - force), h * chord * (h + limit.damping / limit.stiffness))
}

/// Force of a stop at an excess.
fn stop_force(limit: &Limit, excess: f64) -> f64 {
    let (k, ramp) = (limit.stiffness, limit.ramp);
    if excess < ramp { k * excess * excess / (2.0 * ramp) } else { k * (excess - ramp / 2.0) }
}
