//! Joints given by their six coordinates: against the kinds with names, against their own coordinates, as loops, and with forces.

use glam::{DMat3, DVec3};
use sinew_math::{DriveCoordinate, Motion, Pose, log_so3, ops, quat_to_mat3};
use sinew_mechanism::{
    BodySpec, Implicit, Input, JointCoordinate, JointFrames, JointId, JointKind, JointSpec, Limit,
    MechanismBuilder, Model, Motor, MotorTarget, RungeKutta, ScalarForce, Scheme, Settings, State, Workspace,
    energy, general_joint, joint_reading, step,
};
use sinew_testkit::Rng;
use sinew_topology::Priority;

use crate::support::{explicit, slab};

/// Names of what each kind frees, by the axis that is its main one.
type Mask = [bool; 6];

fn free(mask: Mask) -> [JointCoordinate; 6] {
    mask.map(
        |is_free| {
            if is_free { JointCoordinate::Free(ScalarForce::default()) } else { JointCoordinate::Locked }
        },
    )
}

/// A bar whose frame of the joint is turned somehow, thrown along the free directions.
struct Thrown {
    body: BodySpec,
    frames: JointFrames,
}

impl Thrown {
    /// Coordinates begin at zero; `mask` frees the directions of the throw.
    fn new(rng: &mut Rng, mask: Mask) -> Self {
        let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
        let joint = Pose::new(rng.rotation(), pose.translation + rng.vec3(-0.2, 0.2));
        let axes = quat_to_mat3(joint.rotation);
        let along = |from: usize, rng: &mut Rng| {
            (0..3).filter(|m| mask[from + m]).map(|m| axes.col(m) * rng.uniform(-2.0, 2.0)).sum::<DVec3>()
        };
        let (slide, spin) = (along(0, rng), along(3, rng));
        let velocity = slide + spin.cross(pose.translation - joint.translation);
        let body = BodySpec::dynamic("bar", pose, slab(DVec3::new(0.5, 0.1, 0.2)));
        let frames = JointFrames::coincident(&pose, &Pose::IDENTITY, &joint);
        Self { body: body.with_motion(Motion::new(spin, velocity)), frames }
    }

    /// On joints that `joints` makes from a plain one.
    fn model(&self, joints: impl FnOnce(JointSpec) -> Vec<JointSpec>) -> Model {
        let mut builder = MechanismBuilder::new();
        let body = builder.add_body(self.body.clone());
        for joint in joints(JointSpec::new("joint", JointKind::Free, body, None, self.frames)) {
            builder.add_joint(joint);
        }
        builder.build().expect("a sound mechanism")
    }

    fn general(&self, coordinates: &[JointCoordinate; 6]) -> Model {
        self.model(|plain| parts(&plain, coordinates))
    }

    /// The same beside a joint that holds nothing, so that all of it closes loops.
    fn looped(&self, coordinates: &[JointCoordinate; 6]) -> Model {
        self.model(|plain| {
            let mut tree = plain.clone().with_priority(Priority::Primary);
            tree.name = "tree".into();
            [vec![tree], parts(&plain, coordinates)].concat()
        })
    }
}

fn parts(plain: &JointSpec, coordinates: &[JointCoordinate; 6]) -> Vec<JointSpec> {
    general_joint(plain, coordinates).into_iter().map(|part| part.spec).collect()
}

fn run(model: &Model, settings: &Settings, steps: usize) -> State {
    let (mut state, mut workspace) = (model.initial_state(), Workspace::new(model));
    for _ in 0..steps {
        let report = step(model, &mut state, &Input::default(), settings, &mut workspace);
        assert!(report.non_finite.is_none() && report.unclosed < 1e-3, "{report:?}");
    }
    state
}

fn distance(a: &State, b: &State) -> f64 {
    let pairs = a.poses.iter().zip(&b.poses);
    pairs
        .map(|(a, b)| {
            (a.translation - b.translation).length() + log_so3(a.rotation.conjugate() * b.rotation).length()
        })
        .sum()
}

/// The right-handed frame with two of its axes.
fn axes([i, j]: [usize; 2]) -> DMat3 {
    DMat3::from_cols(DVec3::AXES[i], DVec3::AXES[j], DVec3::AXES[i].cross(DVec3::AXES[j]))
}

#[test]
fn masks_of_kinds_with_names_move_as_these() {
    let mut rng = Rng::new(3);
    // What is free about and along the main axis i and the axes j and k across it: slides, then turns.
    let kinds = [
        (JointKind::Fixed, [0, 0, 0, 0, 0, 0]),
        (JointKind::Hinge, [0, 0, 0, 1, 0, 0]),
        (JointKind::Prismatic, [1, 0, 0, 0, 0, 0]),
        (JointKind::Cylindrical, [1, 0, 0, 1, 0, 0]),
        (JointKind::Planar, [0, 1, 1, 1, 0, 0]),
        (JointKind::Ball, [0, 0, 0, 1, 1, 1]),
        (JointKind::Universal, [0, 0, 0, 1, 1, 0]),
        (JointKind::Orientation, [1, 1, 1, 0, 0, 0]),
        (JointKind::PointOnLine, [1, 0, 0, 1, 1, 1]),
        (JointKind::PointOnPlane, [0, 1, 1, 1, 1, 1]),
        (JointKind::Free, [1, 1, 1, 1, 1, 1]),
    ];
    for (kind, freed) in kinds {
        for i in 0..3 {
            // A universal joint has two axes; the first of them is the child's.
            let [i, j] =
                if kind == JointKind::Universal { [[0, 1], [0, 2], [1, 2]][i] } else { [i, (i + 1) % 3] };
            let mut mask = [false; 6];
            for (m, axis) in [i, j, 3 - i - j].into_iter().enumerate() {
                (mask[axis], mask[3 + axis]) = (freed[m] == 1, freed[3 + m] == 1);
            }
            let thrown = Thrown::new(&mut rng, mask);
            let named = thrown.model(|mut plain| {
                (plain.kind, plain.frames) = (kind, plain.frames.turned(axes([i, j])));
                vec![plain]
            });
            let general = thrown.general(&free(mask));
            assert_eq!(general.joint_kind(JointId::from_index(0)), kind);
            let off =
                distance(&run(&named, &Settings::default(), 120), &run(&general, &Settings::default(), 120));
            assert!(off < 1e-10, "{kind:?} {mask:?}: {off}");
        }
    }
}

/// The six coordinates as the documents define them, from the poses alone.
fn coordinates(model: &Model, thrown: &Thrown, state: &State) -> [f64; 6] {
    let body = model.bodies().next().expect("a bar");
    let pose = model.body_pose(state, body);
    let frame1 = pose.compose(&Pose::new(thrown.frames.rotation1, thrown.frames.point1));
    let frame2 = Pose::new(thrown.frames.rotation2, thrown.frames.point2);
    let relative = frame2.inverse().compose(&frame1);
    let (place, q) = (relative.translation, relative.rotation);
    let turn = |m: f64| 2.0 * ops::atan2(m * q.w.signum(), q.w.abs());
    [place.x, place.y, place.z, turn(q.x), turn(q.y), turn(q.z)]
}

#[test]
fn every_mask_holds_what_is_locked_in_the_tree_and_as_a_loop() {
    let mut rng = Rng::new(7);
    let settings = explicit(1e-3, RungeKutta::Fourth, 0.0);
    let mut closed = Settings::default();
    let mut implicit = Implicit::default();
    implicit.newton_tolerance = 1e-12;
    closed.scheme = Scheme::Implicit(implicit);
    for bits in 0..64u32 {
        let mask: Mask = std::array::from_fn(|k| bits >> k & 1 == 1);
        let thrown = Thrown::new(&mut rng, mask);
        let (tree, looped) = (thrown.general(&free(mask)), thrown.looped(&free(mask)));
        let n_locked = mask.iter().filter(|&&is_free| !is_free).count();
        assert_eq!((tree.n_rows(), looped.n_rows()), ((n_locked, 0), (0, n_locked)));
        // An accurate integration keeps the energy: what is locked does no work, and what is free is not held.
        let end = run(&tree, &settings, 300);
        let off = distance(&end, &run(&looped, &settings, 300));
        assert!(off < 1e-8, "{mask:?}: {off}");
        let total = |state: &State| energy(&tree, state, settings.gravity, 1.0).total();
        let (before, after) = (total(&tree.initial_state()), total(&end));
        assert!((after - before).abs() < 1e-6 * (1.0 + before.abs()), "{mask:?}: {before} {after}");
        let two_turns = mask[3..].iter().filter(|&&is_free| is_free).count() == 2;
        for (state, tolerance) in
            [(end, 1e-7), (run(&tree, &closed, 60), 1e-9), (run(&looped, &closed, 60), 1e-6)]
        {
            for (k, value) in coordinates(&tree, &thrown, &state).into_iter().enumerate() {
                // A universal joint holds two axes perpendicular, which is no turn.
                let may_move = mask[k] || (k >= 3 && two_turns);
                assert!(may_move || value.abs() < tolerance, "{mask:?} {k}: {value}");
            }
        }
    }
}

/// A motor along a coordinate.
fn motor(kp: f64, kd: f64, max_force: f64, target: MotorTarget) -> ScalarForce {
    let mut force = ScalarForce::default();
    force.motor = Some(Motor { kp, kd, max_force, target, gravity_compensation: false });
    force
}

/// A weight of 2 kg whose frames are those of the world.
fn weight(coordinates: &[JointCoordinate; 6]) -> (Model, Thrown) {
    let body = BodySpec::dynamic("bar", Pose::IDENTITY, slab(DVec3::new(0.2, 0.1, 0.1)).with_mass(2.0));
    let frames = JointFrames::coincident(&Pose::IDENTITY, &Pose::IDENTITY, &Pose::IDENTITY);
    let thrown = Thrown { body, frames };
    (thrown.general(coordinates), thrown)
}

#[test]
fn forces_act_along_every_coordinate() {
    let settings = Settings::default();
    for axis in 0..3 {
        let mut gravity = settings;
        gravity.gravity = -9.81 * DVec3::AXES[axis];
        let on = |force: ScalarForce| {
            // Two slides and two turns are free, so that no kind with a name fits.
            let mut coordinates = free([true; 6]);
            coordinates[(axis + 1) % 3] = JointCoordinate::Locked;
            coordinates[3 + axis] = JointCoordinate::Locked;
            coordinates[axis] = JointCoordinate::Free(force);
            weight(&coordinates)
        };
        let fallen = |force: ScalarForce, steps: usize| {
            let (model, thrown) = on(force);
            coordinates(&model, &thrown, &run(&model, &gravity, steps))[axis]
        };
        // A limit: rests where its spring bears the weight.
        let mut limited = ScalarForce::default();
        limited.limit = Some(Limit { min: -0.1, max: 1.0, stiffness: 1e4, damping: 300.0, ramp: 0.0 });
        let resting = fallen(limited, 240);
        assert!((resting + 0.1 + 2.0 * 9.81 / 1e4).abs() < 1e-6, "{axis}: {resting}");
        // A position motor: hangs below its target. A weak one falls with what it lacks, one step of first order more.
        let target = MotorTarget { position: 0.3, velocity: 0.0, ..MotorTarget::default() };
        let hanging = fallen(motor(1e3, 200.0, f64::INFINITY, target), 600);
        assert!((hanging - 0.3 + 2.0 * 9.81 / 1e3).abs() < 1e-6, "{axis}: {hanging}");
        let weak = fallen(motor(0.0, 1e6, 10.0, MotorTarget::default()), 60);
        let way = 0.5 * (9.81 - 5.0);
        assert!((weak + way * (1.0 + 1.0 / 60.0)).abs() < 1e-6, "{axis}: {weak}");
        // Dry friction holds what it can bear, without creeping.
        let mut dry = ScalarForce::default();
        dry.friction = 20.0;
        let held = fallen(dry, 120);
        assert!(held.abs() < 1e-9, "{axis}: {held}");
    }
}

#[test]
fn turns_reach_the_targets_of_their_motors() {
    let mut settings = Settings::default();
    settings.gravity = DVec3::ZERO;
    // One, two and three free turns, each with a motor of its own.
    for turns in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
        let mut wanted = free([true, true, true, false, false, false]);
        let mut targets = [0.0; 3];
        for (n, &m) in turns.iter().enumerate() {
            targets[m] = [0.5, -0.4, 0.3][n];
            let target = MotorTarget { position: targets[m], velocity: 0.0, ..MotorTarget::default() };
            wanted[3 + m] = JointCoordinate::Free(motor(20.0, 2.0, f64::INFINITY, target));
        }
        let (model, thrown) = weight(&wanted);
        let end = run(&model, &settings, 1200);
        let found = coordinates(&model, &thrown, &end);
        for &m in turns {
            assert!((found[3 + m] - targets[m]).abs() < 1e-7, "{turns:?}: {found:?}");
        }
        // Parts are joints of their own, with the names of their coordinates.
        for &m in &turns[1..] {
            let part = model.joint(["joint.rx", "joint.ry", "joint.rz"][m]).expect("a part");
            assert!((joint_reading(&model, &end, part).twist - targets[m]).abs() < 1e-7);
        }
        assert!(model.joint_kind(JointId::from_index(0)).has_twist());
    }
}

#[test]
fn names_of_masks() {
    assert_eq!(JointKind::locking([true; 3], 1), JointKind::Universal);
    let plane = JointKind::locking([true, false, false], 3);
    assert_eq!(plane, JointKind::Masked { translations: 0b001, rotations: 3 });
    assert_eq!((plane.n_rows(), plane.locked_mask()), (4, Some(0b001_111)));
    assert!(!plane.can_drive(DriveCoordinate::Slide) && !plane.can_drive(DriveCoordinate::Twist));
}
