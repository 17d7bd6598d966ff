//! Body frames are the user's choice: a mechanism whose body frames are off the centres of mass and turned takes and gives the same as its plain
//! twin, whose body frames are there, along the principal axes.

use std::array::from_fn;

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Pose, exp_so3};
use sinew_mechanism::{
    BodiesAsOne, BodyId, BodySpec, Displacement, DriveCoordinate, Grab, Input, JointFrames, JointKind,
    JointSpec, LoopMethod, MechanismBuilder, Moves, Order, PointSpringSpec, RopeSpec, RotationForce,
    RungeKutta, ScalarForce, Scheme, Settings, energy, external_wrenches, joint_forces, joint_reading,
    momentum, transmission_reading, violation,
};
use sinew_testkit::Rng;

use crate::support::{GRAVITY, Run, explicit, implicit, tight, with_gravity, without_gravity};

/// A hand that the input moves, three bodies that hang on it, and one that flies.
const NAMES: [&str; 5] = ["hand", "arm", "leaf", "rider", "stone"];
const HAND: usize = 0;
const ARM: usize = 1;
const LEAF: usize = 2;
const RIDER: usize = 3;
const STONE: usize = 4;

/// Per body, its frame as its plain twin sees it.
type Frames = [Pose; NAMES.len()];

fn plain() -> Frames {
    [Pose::IDENTITY; NAMES.len()]
}

fn moved() -> Frames {
    let mut rng = Rng::new(3);
    from_fn(|_| Pose::new(rng.rotation(), rng.vec3(-0.5, 0.5)))
}

/// A point of a body, of the plain twin.
fn on(frames: &Frames, body: usize, point: DVec3) -> DVec3 {
    frames[body].inverse().transform_point(point)
}

fn displacing(dt: f64) -> Settings {
    let mut settings = implicit(dt, Order::First, 1);
    let mut scheme = Displacement::default();
    scheme.tolerance = 1e-13;
    settings.scheme = Scheme::Displacement(scheme);
    settings
}

fn builder(frames: &Frames) -> MechanismBuilder {
    let (mut rng, mut builder) = (Rng::new(11), MechanismBuilder::new());
    let bodies: [BodyId; NAMES.len()] = from_fn(|k| {
        let pose = Pose::new(rng.rotation(), rng.vec3(-0.3, 0.3)).compose(&frames[k]);
        let mass = MassProperties::cuboid(DVec3::new(0.2, 0.3, 0.5), rng.uniform(50.0, 100.0));
        let mass = mass.transformed_by(frames[k].inverse());
        builder.add_body(match k {
            HAND => BodySpec::kinematic(NAMES[k], pose),
            STONE => BodySpec::dynamic(NAMES[k], pose, mass)
                .with_motion(Motion::new(rng.vec3(-2.0, 2.0), rng.vec3(-1.0, 1.0))),
            _ => BodySpec::dynamic(NAMES[k], pose, mass).with_damping(0.2, 0.1),
        })
    });
    let mut join = |name: &str, kind, child: usize, parent: usize| {
        let place = |body: usize| builder.body_pose(bodies[body]);
        let at = Pose::new(rng.rotation(), rng.vec3(-0.5, 0.5));
        let joint = JointFrames::coincident(&place(child), &place(parent), &at);
        let joint = JointSpec::new(name, kind, bodies[child], Some(bodies[parent]), joint);
        let spring = || ScalarForce::spring(20.0, 0.2, 0.3);
        builder.add_joint(match kind {
            JointKind::Hinge => joint.with_twist(spring()),
            JointKind::Prismatic => joint.with_slide(spring()),
            _ => joint.with_rotation(RotationForce::spring(5.0, 0.1)),
        });
    };
    join("shoulder", JointKind::Ball, ARM, HAND);
    join("elbow", JointKind::Hinge, LEAF, ARM);
    // The body above is its child.
    join("rail", JointKind::Prismatic, ARM, RIDER);
    join("loop", JointKind::Ball, RIDER, LEAF);
    let mut point = |body: usize| (bodies[body], on(frames, body, rng.vec3(-0.3, 0.3)));
    let [(rider, one), (leaf, two), (stone, three)] = [point(RIDER), point(LEAF), point(STONE)];
    builder.add_spring(PointSpringSpec::new(rider, one, Some(leaf), two, 30.0, 0.5));
    builder.add_spring(PointSpringSpec::new(stone, three, None, DVec3::X, 30.0, 0.5).with_rest_length(0.4));
    let path = [point(ARM), point(LEAF)].map(|(body, point)| (Some(body), point));
    builder
        .add_transmission(RopeSpec::new("rope", vec![path[0], path[1], (None, DVec3::new(1.0, 2.0, 0.5))]));
    builder
}

struct Twin {
    frames: Frames,
    run: Run,
}

impl Twin {
    fn new(frames: Frames, settings: Settings) -> Self {
        let mut settings = with_gravity(tight(settings), GRAVITY);
        settings.reactions = true;
        settings.loops.solve.method = LoopMethod::Dense;
        let mut run = Run::new(builder(&frames), settings);
        let mut rng = Rng::new(5);
        let [hand, leaf, rider, stone] = [HAND, LEAF, RIDER, STONE].map(BodyId::from_index);
        let goal = run.model.body_pose(&run.state, hand);
        run.input.kinematic.push((hand, Pose { translation: goal.translation + DVec3::Z * 1e-3, ..goal }));
        run.input.wrenches.push((leaf, Force::new(rng.vec3(-1.0, 1.0), rng.vec3(-5.0, 5.0))));
        let mut grab = |body: BodyId, stiffness| {
            let (held, target) = (rng.vec3(-0.2, 0.2), rng.vec3(-0.5, 0.5));
            let point = on(&frames, body.index(), held);
            run.input.grabs.push(Grab { body, point, target, stiffness, damping: 0.5 });
        };
        grab(rider, 40.0);
        grab(stone, 20.0);
        Self { frames, run }
    }

    /// The pose of a body as its plain twin has it.
    fn pose(&self, body: BodyId) -> Pose {
        let Run { model, state, .. } = &self.run;
        model.body_pose(state, body).compose(&self.frames[body.index()].inverse())
    }

    /// What the mechanism says, in the world or along coordinates.
    fn told(&self) -> Vec<(String, DVec3)> {
        let Run { model, state, input, workspace, settings } = &self.run;
        let mut told = Vec::new();
        let mut say = |what: &str, value: DVec3| told.push((what.to_owned(), value));
        for body in model.bodies() {
            let pose = self.pose(body);
            say("body_pose", pose.translation);
            say("axis of body_pose", pose.rotation * DVec3::new(1.0, 2.0, 3.0));
            say("spin", state.motions[body.index()].angular);
            say("velocity", state.motions[body.index()].linear);
            if body.index() != HAND {
                let own = model.body_pose(state, body);
                say("center_of_mass", own.transform_point(model.center_of_mass(body)));
                say("place in State", state.poses[body.index()].translation);
                let central =
                    own.compose(&model.central_frame(body)).inverse().compose(&state.poses[body.index()]);
                say("central_frame", central.translation);
                let moments = model.principal_moments(body);
                let mut moments = moments.to_array();
                moments.sort_by(f64::total_cmp);
                say("principal_moments", moments.into());
                say("inertia", self.inertia_along(body, DVec3::new(1.0, 2.0, 3.0)));
            }
        }
        for joint in model.joints() {
            let (anchor1, anchor2) = model.joint_anchors(state, joint);
            say("anchor 1", anchor1);
            say("anchor 2", anchor2);
            let (frames, (body1, body2)) = (model.joint_frames(joint), model.joint_bodies(joint));
            for (body, rotation, point) in
                [(body1, frames.rotation1, frames.point1), (body2, frames.rotation2, frames.point2)]
            {
                let frame = state.poses[body.expect("a body").index()].compose(&Pose::new(rotation, point));
                say("joint_frames", frame.translation);
                say("axis of joint_frames", frame.rotation * DVec3::new(1.0, 2.0, 3.0));
            }
            let read = joint_reading(model, state, joint);
            say("twist and slide", DVec3::new(read.twist, read.slide, 0.0));
            say("rates", DVec3::new(read.twist_rate, read.slide_rate, 0.0));
            say("rotation", read.rotation);
            say("angular_rate", read.angular_rate);
            say("joint_forces", joint_forces(model, state)[joint.index()]);
        }
        let mut given = Input::default();
        let [elbow, rail] = ["elbow", "rail"].map(|name| model.joint(name).expect("a joint"));
        given.add_effort(model, state, elbow, DriveCoordinate::Twist, 0.7);
        given.add_effort(model, state, rail, DriveCoordinate::Slide, 1.3);
        given.add_joint_wrench(model, state, rail, Force::new(DVec3::ONE, DVec3::new(1.0, -2.0, 3.0)));
        let mut external = Vec::new();
        external_wrenches(model, state, input, &mut Vec::new(), &mut external);
        let all = BodiesAsOne::new(model, state, (ARM..NAMES.len()).map(BodyId::from_index)).momentum;
        let wrenches = [
            ("joint_wrenches", workspace.joint_wrenches()),
            ("grab_wrenches", workspace.grab_wrenches()),
            ("add_effort", &given.wrenches.iter().map(|(_, wrench)| *wrench).collect::<Vec<_>>()),
            ("external_wrenches", &external),
            ("momentum", &[momentum(model, state), all]),
        ];
        for (what, list) in wrenches {
            list.iter().for_each(|wrench| {
                say(what, wrench.angular);
                say(what, wrench.linear);
            });
        }
        for acceleration in workspace.accelerations() {
            say("angular acceleration", acceleration.angular);
            say("acceleration", acceleration.linear);
        }
        let energy = energy(model, state, settings.gravity, 1.0);
        say("energy", DVec3::new(energy.kinetic, energy.gravity, energy.elastic));
        let (open, rope) = (violation(model, state, input), model.transmission("rope").expect("a rope"));
        let rope = transmission_reading(model, state, rope);
        say("violation", DVec3::new(open.position, open.rotation, open.tree));
        say("rope", DVec3::new(rope.value, rope.force, 0.0));
        told
    }

    /// The tensor of inertia times a direction of the world.
    fn inertia_along(&self, body: BodyId, direction: DVec3) -> DVec3 {
        let Run { model, state, .. } = &self.run;
        let turn = state.poses[body.index()].rotation;
        turn * (model.principal_moments(body) * (turn.conjugate() * direction))
    }
}

#[test]
fn body_frames_off_the_centre_of_mass_change_nothing() {
    let explicit = explicit(1e-2, RungeKutta::Fourth, 0.0);
    for settings in
        [implicit(1e-2, Order::First, 3), implicit(1e-2, Order::Second, 3), explicit, displacing(1e-2)]
    {
        let [mut one, mut other] = [plain(), moved()].map(|frames| Twin::new(frames, settings));
        let stone = BodyId::from_index(STONE);
        let [a, b] = [&one, &other].map(|twin| twin.run.model.body_pose(&twin.run.state, stone).translation);
        assert!(a.distance(b) > 0.1, "the frames differ");
        for step in 0..6 {
            one.run.step();
            other.run.step();
            let (plain, moved) = (one.told(), other.told());
            assert_eq!(plain.len(), moved.len());
            for ((what, a), (_, b)) in plain.iter().zip(&moved) {
                let off = a.distance(*b);
                assert!(
                    off < 1e-10 * (1.0 + a.length()),
                    "step {step} of {:?}: {what} {a} {b}",
                    settings.scheme
                );
            }
        }
    }
}

#[test]
fn a_body_is_set_by_its_body_frame() {
    let mut twin = Twin::new(moved(), implicit(1e-3, Order::Second, 1));
    twin.run.steps(2);
    let (stone, pose) = (BodyId::from_index(STONE), Pose::new(exp_so3(DVec3::Y * 0.4), DVec3::ONE));
    let Run { model, state, .. } = &mut twin.run;
    let motion = state.motions[STONE];
    model.set_body_pose(state, stone, pose);
    let off = pose.inverse().compose(&model.body_pose(state, stone)).log();
    assert!(off.angular.length() + off.linear.length() < 1e-14 && state.history.step == 0.0);
    let centre = pose.transform_point(model.center_of_mass(stone));
    assert!(state.poses[STONE].translation.distance(centre) < 1e-15);
    assert_eq!(state.motions[STONE], motion, "the twist at the centre of mass stays");
}

/// A body that flies in turns, with its centre of mass at a point of its frame.
fn flying(com: DVec3) -> MechanismBuilder {
    let mass = MassProperties { com, ..MassProperties::cuboid(DVec3::new(0.2, 0.3, 0.5), 100.0) };
    let mut builder = MechanismBuilder::new();
    let motion = Motion::new(DVec3::new(1.0, -2.0, 9.0), DVec3::X);
    builder.add_body(BodySpec::dynamic("body", Pose::IDENTITY, mass).with_motion(motion));
    builder
}

#[test]
fn a_centre_of_mass_that_an_edit_moves_gets_no_kick() {
    let settings = without_gravity(implicit(1e-3, Order::Second, 3));
    let [mut before, mut after] =
        [DVec3::ZERO, DVec3::new(0.4, 0.1, -0.2)].map(|com| Run::new(flying(com), settings));
    before.steps(5);
    let (body, state) = (BodyId::from_index(0), &before.state);
    let moves = Moves { bodies: &[0], joints: &[] };
    after.state = after.model.carry_state(&after.state, (&before.model, state), moves);
    let kept = after.model.body_pose(&after.state, body);
    let frame = before.model.body_pose(state, body);
    assert!(frame.translation.distance(kept.translation) < 1e-14, "the body frame stays");
    let (spin, arm) = (state.motions[0], after.state.poses[0].translation - frame.translation);
    let velocity = spin.linear + spin.angular.cross(arm);
    assert!(velocity.distance(spin.linear) > 1.0);
    after.steps(3);
    let kick = after.state.motions[0].linear.distance(velocity);
    assert!(kick < 1e-12, "{kick}");
}
