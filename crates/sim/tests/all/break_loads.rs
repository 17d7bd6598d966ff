//! What joints that may break are told to bear, against the momentum that the bodies beyond them gain.
//!
//! A plate is held by joints; a ball hits it. What the joints do to the plate is the change of the momentum of plate and ball in the step, over its length, less their
//! weights; about the anchor the same holds for angular momentum, to the order of the step.

use glam::DVec3;
use sinew_math::ops;
use sinew_sim::{BodyDoc, BodyId, JointDoc, JointKind, SceneDoc, Settings, Shape, World};
use sinew_testkit::Rng;

const KINDS: [JointKind; 10] = [
    JointKind::Fixed,
    JointKind::Hinge,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Screw { pitch: 0.05 },
    JointKind::Planar,
    JointKind::Ball,
    JointKind::Universal,
    JointKind::Orientation,
    JointKind::PointOnLine,
];

/// A blow on a plate that joints hold.
struct Blow {
    scene: SceneDoc,
    n_joints: usize,
}

impl Blow {
    /// A random one: kind of joint, speed of 0.1 to 30 m/s, mass ratio of 0.01 to 100, place.
    fn random(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let kind = KINDS[(seed % 10) as usize];
        let speed = 0.1 * ops::pow(10.0, rng.uniform(0.0, 2.477));
        let mass = rng.power_of_ten(-1, 2);
        let ratio = rng.power_of_ten(-2, 2);
        let at = DVec3::new(rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.4), 0.15 + rng.uniform(0.001, 0.01));
        let plate = BodyDoc::new("plate").shape(Shape::Box { size: DVec3::new(1.0, 1.0, 0.1) });
        let ball = BodyDoc::new("ball").shape(Shape::Sphere { radius: 0.1 }).at(at);
        let across = DVec3::new(rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), -1.0) * speed;
        let mut scene = SceneDoc::new("blow")
            .with(plate.mass(mass).touching())
            .with(ball.mass(mass * ratio).velocity(across).touching());
        let two_hinges = kind == JointKind::Hinge && rng.chance(0.5);
        let on_body = rng.chance(0.3);
        let n_joints = if two_hinges { 2 } else { 1 };
        for k in 0..n_joints {
            let side = if k == 0 { -0.5 } else { 0.5 };
            let anchor = DVec3::new(if two_hinges { side } else { rng.uniform(-0.5, 0.5) }, 0.5, 0.0);
            let axis = if two_hinges { DVec3::X } else { rng.unit_vec() };
            let joint = JointDoc::new(kind, format!("joint_{k}"), "plate").at(anchor).axis(axis);
            let joint = if on_body { joint.parent("wall") } else { joint };
            scene = scene.with(joint.breaks_at_force(1e300));
        }
        if on_body {
            let wall = BodyDoc::new("wall").at(DVec3::Y * 1.5).shape(Shape::Sphere { radius: 0.5 });
            scene = scene.with(wall.mass(mass * rng.power_of_ten(-1, 3)));
        }
        Self { scene, n_joints }
    }

    /// Largest errors of forces, and of torques in steps of one part, over some steps, relative to the load (N, N·m/N).
    fn errors(&self, n_steps: usize, change: impl Fn(&mut Settings)) -> [f64; 2] {
        let mut world = World::from_scene(&self.scene).expect("a good scene");
        change(world.settings_mut());
        let bodies = ["plate", "ball"].map(|name| world.body(name).expect("a body"));
        let joints: Vec<_> =
            (0..self.n_joints).map(|k| world.joint(&format!("joint_{k}")).expect("it")).collect();
        let h = world.settings().dt;
        let mut worst = [0.0f64; 2];
        for _ in 0..n_steps {
            let centre = |world: &World, body: BodyId| world.state().bodies.poses[body.index()];
            let before =
                bodies.map(|body| (centre(&world, body), world.state().bodies.motions[body.index()]));
            let anchors: Vec<_> = joints
                .iter()
                .map(|&joint| world.mechanism().joint_anchors(&world.state().bodies, joint).0)
                .collect();
            let report = world.step();
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            let wrenches = world.workspace().joint_wrenches(world.model());
            let mut size = 0.0;
            for (&joint, &anchor) in joints.iter().zip(&anchors) {
                let told = wrenches[joint.index()];
                force += told.linear;
                torque += told.angular + (anchor - anchors[0]).cross(told.linear);
                size += told.linear.length();
            }
            let (mut right, mut moment) = (DVec3::ZERO, DVec3::ZERO);
            for (&body, (pose, motion)) in bodies.iter().zip(&before) {
                let now = world.state().bodies.motions[body.index()];
                let mass = world.mechanism().body_mass(body);
                let pull = mass * ((now.linear - motion.linear) / h - world.settings().gravity);
                let inertia = world.mechanism().principal_moments(body);
                let turn = |spin: DVec3| pose.rotation * (inertia * (pose.rotation.conjugate() * spin));
                right += pull;
                let spin = turn(now.angular - motion.angular) / h;
                moment += (pose.translation - anchors[0]).cross(pull) + spin;
                size = size.max(pull.length());
            }
            let weight: f64 = bodies.iter().map(|&body| world.mechanism().body_mass(body) * 9.81).sum();
            let size = size.max(weight);
            worst[0] = worst[0].max((force - right).length() / size);
            if report.mechanism.substeps == 1 {
                worst[1] = worst[1].max((torque - moment).length() / size);
            }
        }
        worst
    }
}

#[test]
fn loads_are_those_of_the_momentum_balance_soak() {
    for seed in 0..40 * sinew_testkit::soak_scale() as u64 {
        let [force, _] = Blow::random(seed).errors(5, |settings| {
            // What corrects a step that is made is no load.
            (settings.keep_momentum, settings.limit_energy) = (false, false);
        });
        assert!(force < 1e-3, "seed {seed}: {force}");
        // At default settings it is next to nothing; the first two steps have the blow.
        let blow = Blow::random(seed).errors(2, |_| {});
        assert!(blow[0] < 0.04, "seed {seed}: {blow:?}");
    }
}
