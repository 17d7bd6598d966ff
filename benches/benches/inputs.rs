//! Steps whose input has an entry for every body: is their time linear in the entries? And finding a body by its name.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sinew_sim::{
    BodyId, BodySpec, DVec3, Drive, DriveCoordinate, Grab, Input, JointFrames, JointId, JointKind, JointSpec,
    MassProperties, Mechanism, MechanismBuilder, Model, Motor, MotorTarget, Pose, Priority, Reduced,
    ReducedModel, ScalarForce, Scheme, Settings, World,
};

/// What an input has one of for every body.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    Goal,
    Drive,
    Grab,
    Release,
    Motor,
}

/// Bodies on hinges, with what the entries are about.
fn pendulums(n: usize, entry: Entry) -> Mechanism {
    let mut builder = MechanismBuilder::new();
    for i in 0..n {
        let pose = Pose::from_translation(DVec3::new(i as f64, 0.0, 0.0));
        let mass = MassProperties::sphere(0.1, 1000.0);
        let body = builder.add_body(BodySpec::dynamic(format!("bob{i}"), pose, mass));
        let hand =
            (entry == Entry::Goal).then(|| builder.add_body(BodySpec::kinematic(format!("hand{i}"), pose)));
        let other = if hand.is_some() { pose } else { Pose::IDENTITY };
        let frames = JointFrames::coincident(&pose, &other, &pose);
        let joint = |kind| JointSpec::new("", kind, body, hand, frames);
        let spec = match entry {
            Entry::Goal => joint(JointKind::Hinge),
            Entry::Drive => joint(JointKind::Hinge).driven_by(DriveCoordinate::Twist),
            Entry::Grab => continue,
            Entry::Release => joint(JointKind::Ball).with_priority(Priority::Secondary),
            Entry::Motor => {
                let mut force = ScalarForce::default();
                let target = MotorTarget::default();
                force.motor = Some(Motor {
                    kp: 10.0,
                    kd: 1.0,
                    max_force: f64::INFINITY,
                    target,
                    gravity_compensation: false,
                });
                joint(JointKind::Hinge).with_twist(force)
            }
        };
        builder.add_joint(spec);
    }
    builder.build().expect("the pendulums are well-formed")
}

/// One entry per body.
fn entries(n: usize, entry: Entry) -> Input {
    let mut input = Input::default();
    for i in 0..n {
        let (joint, at) = (JointId::from_index(i), DVec3::new(i as f64, 1e-3, 0.0));
        match entry {
            Entry::Goal => input.kinematic.push((BodyId::from_index(2 * i + 1), Pose::from_translation(at))),
            Entry::Drive => {
                input.drives.push((joint, Drive { value: 1e-3, ..Drive::at_rest(DriveCoordinate::Twist) }));
            }
            Entry::Grab => {
                let (body, stiffness) = (BodyId::from_index(i), f64::INFINITY);
                input.grabs.push(Grab { body, point: DVec3::ZERO, target: at, stiffness, damping: 0.0 });
            }
            Entry::Release => input.released.push(joint),
            Entry::Motor => {
                input.motors.push((joint, MotorTarget { position: 1e-3, ..MotorTarget::default() }))
            }
        }
    }
    input
}

/// A world whose steps read the entries: motors in joint coordinates, all else with the default scheme.
fn world(n: usize, entry: Entry) -> World {
    let mechanism = pendulums(n, entry);
    let mut settings = Settings::default();
    settings.dt = 1e-3;
    if entry != Entry::Motor {
        return World::new(mechanism, settings);
    }
    settings.scheme = Scheme::Reduced(Reduced::default());
    let reduced = ReducedModel::new(&mechanism).expect("a tree has joint coordinates");
    World::new(Model::from(mechanism).with_reduced(reduced), settings)
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("inputs");
    group.sample_size(10);
    for entry in [Entry::Goal, Entry::Drive, Entry::Grab, Entry::Release, Entry::Motor] {
        for n in [1_000, 8_000] {
            let (mut world, input) = (world(n, entry), entries(n, entry));
            for _ in 0..3 {
                world.step_with(&input);
            }
            group.throughput(Throughput::Elements(n as u64));
            let name = BenchmarkId::new(format!("{entry:?}"), n);
            group.bench_function(name, |bencher| bencher.iter(|| world.step_with(&input)));
        }
    }
    group.finish();
}

fn names(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("names");
    for n in [1_000, 1_000_000] {
        let mechanism = pendulums(n, Entry::Grab);
        let last = format!("bob{}", n - 1);
        group.bench_function(BenchmarkId::new("last", n), |bencher| bencher.iter(|| mechanism.body(&last)));
    }
    group.finish();
}

criterion_group!(benches, steps, names);
criterion_main!(benches);
