//! What a scene gives its joints and nothing comes of: motors without gain, springs without stiffness; and limits that are probably in degrees. Only joints that
//! are written one by one are looked at. Linear cost.

use std::f64::consts::TAU;

use sinew_scene::{
    ForceCoordinate, JointDoc, JointSpringDoc, LimitsDoc, MotorDoc, SceneDoc, SceneIssue, SceneIssueKind,
};

/// Largest bound of an angle that is taken for degrees; larger ones stand for none.
const MOST_DEGREES: f64 = 720.0;

/// Forces along a coordinate of a joint, and their place in the scene.
struct WrittenForces<'s> {
    path: String,
    joint: &'s str,
    is_angle: bool,
    spring: Option<&'s JointSpringDoc>,
    limits: Option<&'s LimitsDoc>,
    motor: Option<&'s MotorDoc>,
}

/// Joints of a scene with forces that do nothing: the place, and the fix.
pub(crate) fn idle_forces(scene: &SceneDoc) -> Vec<SceneIssue> {
    let all =
        scene.joints.iter().enumerate().flat_map(|(i, doc)| written_forces(format!("joints[{i}]"), doc));
    // A score gives its actuators gains of their own.
    let is_scored = scene.score.is_some();
    all.flat_map(|forces| {
        let motor = forces.idle_motor().filter(|_| !is_scored);
        [motor, forces.idle_spring(), forces.degrees()].into_iter().flatten().collect::<Vec<_>>()
    })
    .collect()
}

fn written_forces(path: String, doc: &JointDoc) -> Vec<WrittenForces<'_>> {
    let joint = doc.name.as_str();
    let Some(free) = &doc.free else {
        let is_angle = doc.force_coordinate() != Some(ForceCoordinate::Slide);
        let (spring, limits, motor) = (doc.spring.as_ref(), doc.limits.as_ref(), doc.motor.as_ref());
        return vec![WrittenForces { path, joint, is_angle, spring, limits, motor }];
    };
    let along = free.coordinates().into_iter().filter_map(|(name, forces)| Some((name, forces?)));
    let written = along.map(|(name, forces)| WrittenForces {
        path: format!("{path}.free.{name}"),
        joint,
        is_angle: name.starts_with('r'),
        spring: forces.spring.as_ref(),
        limits: forces.limits.as_ref(),
        motor: forces.motor.as_ref(),
    });
    written.collect()
}

impl WrittenForces<'_> {
    fn doubt(&self, field: &str, message: String, hint: String) -> SceneIssue {
        SceneIssue {
            field: format!("{}.{field}", self.path),
            kind: SceneIssueKind::OutOfRange,
            message,
            hint,
        }
    }

    fn idle_motor(&self) -> Option<SceneIssue> {
        let (gains, hint, carries) = match self.motor? {
            MotorDoc::Position(motor) => (
                motor.stiffness.abs() + motor.damping.abs(),
                "give it stiffness and damping, for instance a tenth of the stiffness",
                motor.gravity_compensation,
            ),
            MotorDoc::Velocity(motor) => (
                motor.damping.abs(),
                "give it damping: its force is damping · (target − rate)",
                motor.gravity_compensation,
            ),
        };
        (gains == 0.0 && !carries).then(|| {
            let message = format!("the motor of `{}` has no gain, so it does nothing", self.joint);
            self.doubt("motor", message, hint.to_owned())
        })
    }

    fn idle_spring(&self) -> Option<SceneIssue> {
        let spring = self.spring?;
        let has_rest = spring.rest != 0.0 || spring.rest_rotation != glam::DVec3::ZERO;
        (spring.stiffness == 0.0 && (spring.damping == 0.0 || has_rest)).then(|| {
            let what = if spring.damping == 0.0 { "it does nothing" } else { "its rest does nothing" };
            let message = format!("the spring of `{}` has no stiffness, so {what}", self.joint);
            self.doubt("spring", message, "give it stiffness, or leave it out".to_owned())
        })
    }

    fn degrees(&self) -> Option<SceneIssue> {
        let limits = self.limits.filter(|_| self.is_angle)?;
        let is_large = |bound: f64| bound.abs() > TAU && bound.abs() <= MOST_DEGREES;
        let bound = [limits.min, limits.max].into_iter().find(|&bound| is_large(bound))?;
        let message = format!(
            "a limit of `{}` is {bound} rad, {:.1} turns: is it in degrees?",
            self.joint,
            bound.abs() / TAU
        );
        Some(self.doubt("limits", message, format!("use radians: {bound}° are {:.4}", bound.to_radians())))
    }
}
