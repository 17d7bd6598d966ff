//! Linkages with dependent rows: a four-bar linkage in space and Bricard's mechanism, against maximal coordinates and references.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Pose, Sym3};
use sinew_mechanism::{
    BodySpec, Explicit, Input, JointFrames, JointKind, JointSpec, MechanismBuilder, Model, RungeKutta,
    Scheme, Settings, Workspace, rotation_to_axis, step,
};
use sinew_recursive::{
    Action, Dynamics, HybridCommand, Integrator, JointMode, LoopDynamics, LoopedTree, TreeLoads, TreeState,
};
use sinew_testkit::{Rng, assert_close, golden};

use crate::support::{GRAVITY, all_kinds, random_mass, random_vector};

/// Rods between points, in a row on hinges about given axes; the first and the last hinge are on the world.
fn linkage(points: &[DVec3], axes: &[DVec3], thickness: f64) -> Model {
    let mut builder = MechanismBuilder::new();
    let mut above = None;
    for (ends, axis) in points.windows(2).zip(axes) {
        let along = ends[1] - ends[0];
        let (l, t) = (along.length_squared(), thickness * thickness);
        let direction = along / l.sqrt();
        // a rod of 1 kg with a square section
        let inertia = Sym3::diagonal(DVec3::splat((l + t) / 12.0)).to_mat3()
            + glam::DMat3::from_cols(
                direction * direction.x,
                direction * direction.y,
                direction * direction.z,
            ) * ((t - l) / 12.0);
        let mass = MassProperties { mass: 1.0, com: DVec3::ZERO, inertia: Sym3::from_mat3(&inertia) };
        let pose = Pose::from_translation((ends[0] + ends[1]) * 0.5);
        let body = builder.add_body(BodySpec::dynamic("", pose, mass));
        add_hinge(&mut builder, body, above, ends[0], *axis);
        above = Some(body);
    }
    let (last, end, axis) = (above.expect("a rod"), points[points.len() - 1], axes[axes.len() - 1]);
    add_hinge(&mut builder, last, None, end, axis);
    builder.build().expect("valid")
}

fn add_hinge(
    builder: &mut MechanismBuilder,
    body: sinew_mechanism::BodyId,
    parent: Option<sinew_mechanism::BodyId>,
    at: DVec3,
    axis: DVec3,
) {
    let above = parent.map_or(Pose::IDENTITY, |b| builder.body_pose(b));
    let joint = Pose::new(rotation_to_axis(axis).expect("not zero"), at);
    let frames = JointFrames::coincident(&builder.body_pose(body), &above, &joint);
    builder.add_joint(JointSpec::new("", JointKind::Hinge, body, parent, frames));
}

/// A four-bar linkage in a tilted plane, so that no row is zero by itself.
fn four_bar() -> Model {
    let turn = sinew_math::exp_so3(DVec3::new(0.3, -0.5, 0.2));
    let flat = [[0.0, 0.0], [0.3, 0.8], [1.4, 1.1], [1.6, 0.1]];
    let points = flat.map(|[x, z]| turn * DVec3::new(x, 0.0, z));
    linkage(&points, &[turn * DVec3::Y; 4], 0.1)
}

fn bricard() -> Model {
    let points = [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]];
    let points = points.map(|p| DVec3::from_array(p.map(f64::from)));
    linkage(&points, &[DVec3::Y, DVec3::Z, DVec3::X, DVec3::Y, DVec3::Z, DVec3::X], 0.1)
}

struct Run {
    model: Model,
    looped: LoopedTree,
    dynamics: Dynamics,
    loops: LoopDynamics,
    integrator: Integrator,
    command: HybridCommand,
    state: TreeState,
    gravity: DVec3,
}

impl Run {
    fn new(model: Model, gravity: DVec3) -> Self {
        let looped = LoopedTree::from_model(&model).expect("a tree with loops");
        let tree = looped.tree();
        Self {
            state: TreeState::from_mechanism(tree, &model.initial_state()),
            dynamics: Dynamics::new(tree),
            loops: LoopDynamics::new(&looped),
            integrator: Integrator::new(tree),
            command: HybridCommand::passive(tree),
            gravity,
            looped,
            model,
        }
    }

    /// Sets all rates from one, as far as the loops let them.
    fn start(&mut self, rate: f64) {
        self.state.rates[0] = rate;
        let Self { looped, dynamics, loops, command, state, .. } = self;
        assert!(loops.project_rates(looped, dynamics, command, &[], state) < 1e-12);
    }

    /// A step of Runge and Kutta, and back onto the loops.
    fn step(&mut self, h: f64) {
        let Self { looped, dynamics, loops, integrator, command, state, gravity, .. } = self;
        let tree = looped.tree();
        let action = Action { h, command, gravity: *gravity, external: &[] };
        let mut closed = TreeState::clone(state);
        let report = integrator.runge_kutta_with(tree, dynamics, state, &action, |stage, dynamics, act| {
            // wrenches of the loops at the nearest state that closes them
            closed.clone_from(stage);
            loops.project_coordinates(looped, dynamics, act.command, &mut closed);
            dynamics.kinematics(tree, &closed);
            let report = loops.respond(looped, dynamics, act.command, &TreeLoads::gravity(action.gravity));
            assert!(report.unmet < 1e-3, "{report:?}");
            act.external.fill(Force::ZERO);
            loops.add_wrenches(looped, act.external);
        });
        assert_eq!(report.singular, None);
        assert!(loops.project_coordinates(looped, dynamics, command, state) < 1e-11);
        assert!(loops.project_rates(looped, dynamics, command, &[], state) < 1e-10);
    }

    fn energy(&mut self) -> f64 {
        let mut maximal = self.model.initial_state();
        self.state.write_mechanism(self.looped.tree(), &mut self.dynamics, &mut maximal);
        sinew_mechanism::energy(&self.model, &maximal, self.gravity, 1.0).total()
    }
}

/// Compares the accelerations of all bodies with those of the explicit stepper of the mechanism; returns its wrenches of joints.
fn assert_like_the_mechanism(run: &mut Run, dependent: usize) -> Vec<Force> {
    let Run { model, looped, dynamics, loops, command, state, gravity, .. } = run;
    let tree = looped.tree();
    dynamics.kinematics(tree, state);
    let report = loops.respond(looped, dynamics, command, &TreeLoads::gravity(*gravity));
    assert_eq!(report.dependent, dependent);
    assert!(report.unmet < 1e-11, "{report:?}");
    let mut maximal = model.initial_state();
    state.write_mechanism(tree, &mut Dynamics::new(tree), &mut maximal);
    let mut explicit = Explicit::default();
    (explicit.method, explicit.most_substeps) = (RungeKutta::First, 1);
    let mut settings = Settings::default();
    (settings.scheme, settings.gravity, settings.dt) = (Scheme::Explicit(explicit), *gravity, 1.0);
    (settings.reactions, settings.loops.solve.precision) = (true, 1e-13);
    let (mut after, mut workspace) = (maximal.clone(), Workspace::new(model));
    step(model, &mut after, &Input::default(), &settings, &mut workspace);
    for link in tree.links() {
        let body = tree.body(link).index();
        let expected = after.motions[body] - maximal.motions[body];
        let found = dynamics.acceleration_at(link, maximal.poses[body].translation);
        assert_close!(found.to_array(), expected.to_array(), 1e-6);
    }
    workspace.joint_wrenches().to_vec()
}

#[test]
fn a_four_bar_linkage_accelerates_as_in_maximal_coordinates() {
    let mut run = Run::new(four_bar(), DVec3::new(1.0, 2.0, -9.0));
    for rate in [0.0, 1.0, -3.0] {
        run.start(rate);
        assert_like_the_mechanism(&mut run, 3);
        (0..20).for_each(|_| run.step(0.01));
    }
}

#[test]
fn bricards_mechanism_accelerates_as_in_maximal_coordinates() {
    let mut run = Run::new(bricard(), DVec3::Y * -9.81);
    for _ in 0..3 {
        assert_like_the_mechanism(&mut run, 1);
        (0..20).for_each(|_| run.step(0.01));
    }
}

#[test]
fn closing_joints_of_every_kind_act_as_in_maximal_coordinates() {
    let mut rng = Rng::new(81);
    for kind in all_kinds().into_iter().filter(|kind| (1..6).contains(&kind.n_rows())) {
        for _ in 0..4 {
            let mut builder = MechanismBuilder::new();
            let mut above = None;
            for k in 0..5 {
                let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
                let body = builder.add_body(BodySpec::dynamic("", pose, random_mass(&mut rng)));
                let parent = above.map_or(Pose::IDENTITY, |b| builder.body_pose(b));
                let at = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
                let frames = JointFrames::coincident(&pose, &parent, &at);
                let in_tree = if k % 2 == 0 { JointKind::Ball } else { JointKind::Universal };
                builder.add_joint(JointSpec::new("", in_tree, body, above, frames));
                above = Some(body);
            }
            let body = above.expect("a body");
            let at = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
            let mut frames = JointFrames::coincident(&builder.body_pose(body), &Pose::IDENTITY, &at);
            if let JointKind::RollingSphere { radius } | JointKind::RollingDisc { radius } = kind {
                frames.point2 = at.translation - (at.rotation * DVec3::X) * radius;
            }
            let spec = JointSpec::new("closing", kind, body, None, frames);
            builder.add_joint(spec.with_priority(sinew_topology::Priority::Secondary));
            let mut run = Run::new(builder.build().expect("valid"), GRAVITY);
            run.state.rates = random_vector(&mut rng, run.looped.tree().n_dofs(), 1.0);
            let Run { looped, dynamics, loops, command, state, .. } = &mut run;
            loops.project_coordinates(looped, dynamics, command, state);
            loops.project_rates(looped, dynamics, command, &[], state);
            let wrenches = assert_like_the_mechanism(&mut run, 0);
            let joint = run.model.joint("closing").expect("a joint");
            let found = run.loops.reaction(&run.looped, joint).expect("closes a loop");
            assert_close!(found.to_array(), wrenches[joint.index()].to_array(), 1e-6, "{kind:?}");
        }
    }
}

#[test]
fn a_prescribed_crank_takes_the_torque_that_drives_it() {
    let mut run = Run::new(four_bar(), DVec3::new(1.0, 2.0, -9.0));
    run.start(2.0);
    let Run { looped, dynamics, loops, command, state, gravity, .. } = &mut run;
    let (tree, loads) = (looped.tree(), TreeLoads::gravity(*gravity));
    dynamics.kinematics(tree, state);
    command.modes[0] = JointMode::Prescribed;
    command.values[0] = 3.0;
    let report = loops.respond(looped, dynamics, command, &loads);
    assert!(report.dependent == 3 && report.unmet < 1e-10, "{report:?}");
    let (accelerations, torque) = (dynamics.accelerations().to_vec(), dynamics.torques()[0]);
    assert_close!(accelerations[0], 3.0, 1e-15);
    assert!(torque.abs() > 0.1);
    // so does inverse dynamics with a motor there, and the torque gives the acceleration
    let lacking = loops.inverse(looped, dynamics, &accelerations, &[true, false, false], &loads);
    assert!(lacking < 1e-9, "{lacking:e}");
    assert_close!(loops.torques().to_vec(), vec![torque, 0.0, 0.0], 1e-9);
    let mut driven = HybridCommand::passive(tree);
    driven.values[0] = torque;
    let _ = loops.respond(looped, dynamics, &driven, &loads);
    assert_close!(dynamics.accelerations(), accelerations.as_slice(), 1e-9);
    // motors everywhere share the work
    let _ = loops.inverse(looped, dynamics, &accelerations, &[true; 3], &loads);
    let squares: f64 = loops.torques().iter().map(|x| x * x).sum();
    assert!(squares < torque * torque);
}

#[test]
fn what_cannot_be_met_is_told() {
    let mut run = Run::new(four_bar(), DVec3::new(1.0, 2.0, -9.0));
    let Run { looped, dynamics, loops, command, state, gravity, .. } = &mut run;
    let (tree, loads) = (looped.tree(), TreeLoads::gravity(*gravity));
    dynamics.kinematics(tree, state);
    // three prescribed joints for one degree of freedom
    command.modes.fill(JointMode::Prescribed);
    command.values.copy_from_slice(&[1.0, 0.0, 0.0]);
    let report = loops.respond(looped, dynamics, command, &loads);
    assert!(report.dependent == looped.n_rows() && (0.1..10.0).contains(&report.unmet), "{report:?}");
    assert!(loops.multipliers().iter().all(|x| x.abs() < 1e-300));
    // accelerations that no motor at the last joint gives
    let lacking = loops.inverse(looped, dynamics, &[0.0, 5.0, -5.0], &[false, false, false], &loads);
    assert!(lacking > 0.1 && lacking.is_finite(), "{lacking}");
    // numbers that are not finite are told too
    state.coordinates[1] = f64::NAN;
    dynamics.kinematics(tree, state);
    let report = loops.respond(looped, dynamics, &HybridCommand::passive(tree), &loads);
    assert!(report.unmet.is_infinite() && report.open.singular.is_some());
    let left = loops.project_coordinates(looped, dynamics, &HybridCommand::passive(tree), state);
    assert!(left.is_infinite());
}

#[test]
fn energy_of_a_four_bar_linkage_is_kept_to_fourth_order() {
    let mut errors = Vec::new();
    for h in [0.005, 0.0025, 0.00125] {
        let mut run = Run::new(four_bar(), DVec3::new(0.0, 0.0, -9.81));
        run.start(4.0);
        let start = run.energy();
        let mut worst = 0.0f64;
        for _ in 0..(1.0 / h) as usize {
            run.step(h);
            worst = worst.max((run.energy() - start).abs());
        }
        errors.push(worst);
    }
    // 16 at order 4
    assert!(errors.windows(2).all(|pair| pair[0] > 12.0 * pair[1]), "{errors:?}");
    assert!(errors[2] < 3e-5, "{errors:?}");
}

#[test]
fn bricards_mechanism_moves_as_the_reference() {
    let mut run = Run::new(bricard(), DVec3::Y * -9.81);
    let reference = &golden::file("loops")["bricard"];
    let (h, mut steps) = (0.0025, 0);
    for row in golden::list(reference).iter().take(7) {
        let row = golden::numbers(row);
        while (steps as f64) * h < row[0] - 0.5 * h {
            run.step(h);
            steps += 1;
        }
        // the hinge between the second and the third rod
        let tree = run.looped.tree();
        let link = tree.link(sinew_mechanism::BodyId::from_index(2)).expect("dynamic");
        run.dynamics.kinematics(tree, &run.state);
        let hinge = run.dynamics.central_pose(tree, link).transform_point(DVec3::new(0.0, 0.0, -0.5));
        let velocity = run.dynamics.motion_at(link, hinge).linear;
        assert_close!(hinge.to_array().to_vec(), row[1..4].to_vec(), 1e-7, "at {} s", row[0]);
        assert_close!(velocity.to_array().to_vec(), row[4..7].to_vec(), 1e-7, "at {} s", row[0]);
    }
}
