//! Random scenes that are edited, thrown about, pulled, broken, mended and taken back at random between their steps: whatever happens, nothing
//! panics, what is not finite or open is told, and a state that is restored goes on with the same bits.

use glam::DVec3;
use sinew_math::JointKind;
use sinew_sim::{
    BodyDoc, BodyKind, ColliderDoc, EndDoc, Force, Grab, Handle, HealthNotice, Input, JointDoc,
    JointFramesDoc, Motion, MotorDoc, Pose, RopeDoc, SceneDoc, ScenePart, SpringDoc, StepReport, World,
};
use sinew_testkit::{Rng, soak_scale};

use crate::edit_sequences::random_body;

/// How far a joint may be open without a warning, as a share of the larger body.
const OPEN: f64 = 2e-3;

fn pick<P: ScenePart>(rng: &mut Rng, world: &World) -> Option<Handle<P>> {
    let all: Vec<Handle<P>> = world.parts::<P>().map(|(handle, _)| handle).collect();
    (!all.is_empty()).then(|| all[rng.below(all.len())])
}

/// A place in a body that is picked at random.
fn end(rng: &mut Rng, world: &World) -> Option<EndDoc> {
    let body = world.part(pick::<BodyDoc>(rng, world)?)?;
    Some(EndDoc::on(&body.name, rng.vec3(-0.2, 0.2)))
}

/// Inserts a joint, spring or rope.
fn connect(rng: &mut Rng, world: &mut World) -> Option<()> {
    let (from, to) = (end(rng, world)?, end(rng, world)?);
    let [child, parent] = [from.body()?, to.body()?];
    if child == parent {
        return None;
    }
    let at = world.pose(world.body(child)?).transform_point(from.point());
    let _ = match rng.below(4) {
        0 => world
            .insert(SpringDoc::new("", from, to, rng.power_of_ten(0, 6)).damping(rng.uniform(0.0, 10.0)))
            .map(drop),
        1 => world.insert(RopeDoc::new("", [from, to])).map(drop),
        kind => {
            let kind = [JointKind::Ball, JointKind::Hinge, JointKind::Fixed, JointKind::Universal]
                [rng.below(2 + kind - 1)];
            let mut joint = JointDoc::new(kind, "", child).at(at).axis(rng.unit_vec());
            if rng.chance(0.7) {
                joint = joint.parent(parent);
            }
            if kind == JointKind::Hinge {
                joint = joint.limits(-rng.uniform(0.0, 2.0), rng.uniform(0.0, 2.0));
                joint = joint.motor(
                    MotorDoc::velocity(rng.uniform(-5.0, 5.0), 2.0).max_force(rng.power_of_ten(-1, 3)),
                );
            } else if rng.chance(0.3) {
                joint = joint.breaks_at_force(rng.power_of_ten(1, 4));
            }
            world.insert(joint).map(drop)
        }
    };
    Some(())
}

/// One change of the world at random; what cannot be changed stays.
fn disturb(rng: &mut Rng, world: &mut World) -> Option<()> {
    match rng.below(16) {
        0..=2 => drop(world.insert(random_body(rng, ""))),
        3 => {
            let old = pick::<BodyDoc>(rng, world)?;
            drop(world.remove(old));
        }
        4 => {
            let old = pick::<BodyDoc>(rng, world)?;
            let name = world.part(old)?.name.clone();
            drop(world.replace(old, random_body(rng, &name).mass(rng.power_of_ten(-3, 3))));
        }
        5..=9 => return connect(rng, world),
        10 => {
            let old = pick::<JointDoc>(rng, world)?;
            drop(world.remove(old));
        }
        11 => {
            let body = pick::<BodyDoc>(rng, world)?;
            world.set_pose(body, Pose::new(rng.rotation(), rng.vec3(-3.0, 3.0) + DVec3::Z * 4.0));
        }
        12 => {
            let body = pick::<BodyDoc>(rng, world)?;
            world.set_motion(body, Motion::new(rng.vec3(-20.0, 20.0), rng.vec3(-10.0, 10.0)));
        }
        13 => {
            let joint = pick::<JointDoc>(rng, world)?;
            if rng.chance(0.5) {
                world.break_joint(joint)
            } else {
                world.mend_joint(joint)
            };
        }
        14 => world.wake(),
        _ => world.settings_mut().dt = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 30.0][rng.below(3)],
    }
    Some(())
}

/// Pulls and pushes, some of them nonsense.
fn random_input(rng: &mut Rng, world: &World) -> Input {
    let mut input = world.input_at(world.time() + world.settings().dt);
    let Some(body) = pick::<BodyDoc>(rng, world).and_then(|handle| world.id(handle)) else { return input };
    match rng.below(4) {
        0 => {
            let stiffness = if rng.chance(0.5) { f64::INFINITY } else { rng.power_of_ten(0, 5) };
            let target = world.pose(body).translation + rng.vec3(-0.5, 0.5);
            input.grabs.push(Grab { body, point: rng.vec3(-0.1, 0.1), target, stiffness, damping: 1.0 });
        }
        1 => {
            let force = rng.unit_vec() * rng.power_of_ten(0, 4);
            input
                .wrenches
                .push((body, Force::new(DVec3::ZERO, if rng.chance(0.1) { DVec3::NAN } else { force })));
        }
        _ => {}
    }
    input
}

/// Joints that are open, by the documents and the poses; counts those that are looked at.
fn open_joints(world: &World, n_judged: &mut usize) -> Vec<String> {
    let open = |(handle, joint): (Handle<JointDoc>, &JointDoc)| {
        let JointFramesDoc::Local(frames) = &joint.frames else { return None };
        if world.get(handle)?.is_broken() {
            return None;
        }
        *n_judged += 1;
        let size = |name: &str, point: DVec3| {
            let (id, mechanism) = (world.body(name)?, world.mechanism());
            let radius =
                (mechanism.principal_moments(id).element_sum() / (2.0 * mechanism.body_mass(id))).sqrt();
            let is_moved = mechanism.body_kind(id) == BodyKind::Dynamic;
            is_moved.then(|| radius.max(point.distance(mechanism.center_of_mass(id))))
        };
        let place = |name: Option<&str>, point: DVec3| {
            name.and_then(|name| world.body(name)).map_or(point, |id| world.pose(id).transform_point(point))
        };
        let (child, parent) = (Some(joint.child.as_str()), joint.parent.as_deref());
        let gap = place(child, frames.child.anchor).distance(place(parent, frames.parent.anchor));
        let sizes = [(child, frames.child.anchor), (parent, frames.parent.anchor)];
        let size = sizes.into_iter().filter_map(|(name, point)| size(name?, point)).fold(0.0, f64::max);
        (gap > OPEN * size).then(|| format!("{:?} by {gap:e} of {size:e} m", joint.kind))
    };
    world.parts::<JointDoc>().filter_map(open).collect()
}

/// Whether a step says that something is wrong; energy is not judged here.
fn warns(report: &StepReport) -> bool {
    report.notices().any(|(notice, _)| notice.is_warning() && notice != HealthNotice::IgnoredInput)
}

/// Steps a world and a copy of it, and once more from the same state: all three end in the same bits.
fn step_thrice(world: &mut World, input: &Input) -> StepReport {
    let (start, mut copy) = (world.checkpoint(), world.clone());
    let (report, repeated) = (world.step_with(input), copy.step_with(input));
    assert_eq!((world.digest(), &report), (copy.digest(), &repeated), "a copy goes another way");
    world.restore(&start).expect("its own state");
    world.step_with(input);
    assert_eq!(world.digest(), copy.digest(), "a restored state goes another way");
    report
}

#[test]
fn random_edits_of_running_worlds_tell_what_they_break_soak() {
    let (mut n_warned, mut n_joints) = (0, 0);
    for seed in 0..(3 * soak_scale() as u64) {
        let mut rng = Rng::new(0xed17 + seed);
        let mut scene = SceneDoc::new("disturbed").with(ColliderDoc::floor(0.0));
        for k in 0..8 {
            scene = scene.with(random_body(&mut rng, &format!("b{k}")));
        }
        if rng.chance(0.3) {
            scene.stepper = super::stepper("Implicit(order: 2)");
        }
        let mut world = World::from_scene(&scene).expect("a good scene");
        for frame in 0..50 {
            disturb(&mut rng, &mut world);
            let input = random_input(&mut rng, &world);
            let report =
                if frame % 5 == 0 { step_thrice(&mut world, &input) } else { world.step_with(&input) };
            n_warned += usize::from(warns(&report));
            let is_finite = world.mechanism().bodies().all(|body| world.pose(body).is_finite());
            assert!(is_finite || warns(&report), "seed {seed}, frame {frame}: not finite, {report:?}");
            if !is_finite {
                break;
            }
            let open = open_joints(&world, &mut n_joints);
            assert!(open.is_empty() || warns(&report), "seed {seed}, frame {frame}: {open:?}, {report:?}");
        }
        let again = World::from_scene(&world.to_scene().expect("a world of a scene"));
        assert!(again.is_ok(), "seed {seed}: what was edited can be written and read");
    }
    assert!(n_warned > 5 && n_joints > 50, "{n_warned} warnings, {n_joints} joints");
}
