//! Judges a run by sums of its own: nothing here asks the library what it noticed.
//!
//! | | what must hold at the end of every step |
//! |---|---|
//! | finite | every pose and twist |
//! | closed | points and axes that a joint locks, from the documents and the poses: within 1/500 of the larger body, or 1/500 rad |
//! | energy | `½mv² + ½ω·Iω − m g·x` and springs between points: at most 5 % of what was exchanged above the start, in the second half of the run |
//! | momentum | linear and angular, of what nothing holds: within 1/1000 |
//! | above | bodies that touch stay on their side of the floor |

use glam::{DMat3, DVec3};
use sinew_math::JointKind;
use sinew_sim::{BodyId, BodyKind, FrameDoc, JointFramesDoc, Pose, SceneDoc, World};

/// How far a joint may be open: share of the larger body, or rad.
const OPEN: f64 = 2e-3;

/// Share of the momenta of what is free that may be lost.
const KEPT: f64 = 1e-3;

/// Share of what was exchanged that may be gained.
const GAINED: f64 = 0.05;

/// What joints of a scene lock, in the frames of their bodies.
struct Lock {
    bodies: [Option<BodyId>; 2],
    anchors: [DVec3; 2],
    axes: [DVec3; 2],
    kind: JointKind,
    /// Of the larger body: radius of gyration or the arm to the joint, m.
    size: f64,
}

/// A spring between two points, each of a body or of the world.
struct Stretch {
    stiffness: f64,
    rest: f64,
    ends: [(Option<BodyId>, DVec3); 2],
}

/// A run under judgement.
pub(crate) struct Judge {
    locks: Vec<Lock>,
    springs: Vec<Stretch>,
    /// Whether nothing does work on it.
    is_passive: bool,
    start: f64,
    /// Momenta at the start, where nothing from outside acts.
    free: Option<[(DVec3, f64); 2]>,
    exchanged: f64,
    /// Smallest excess of the energy since the middle of the run, as a share of what was exchanged.
    pub(crate) gained: f64,
    /// What did not hold, first of each sort.
    pub(crate) wrong: Vec<String>,
    /// Lowest height that bodies which touch may have their middle at.
    floor: Option<f64>,
}

impl Judge {
    pub(crate) fn new(scene: &SceneDoc, world: &World) -> Self {
        let body = |name: &str| world.body(name);
        let lock = |joint: &sinew_sim::JointDoc| {
            let bodies = [body(&joint.child), joint.parent.as_deref().and_then(body)];
            let place = |id: Option<BodyId>| id.map_or(Pose::IDENTITY, |id| world.pose(id));
            let [frames1, frames2]: [FrameDoc; 2] = match &joint.frames {
                JointFramesDoc::World(frame) => bodies.map(|id| {
                    let inverse = place(id).inverse();
                    FrameDoc {
                        anchor: inverse.transform_point(frame.anchor),
                        axis: inverse.transform_vector(frame.axis),
                        ..*frame
                    }
                }),
                JointFramesDoc::Local(local) => [local.child, local.parent],
            };
            let anchors = [frames1.anchor, frames2.anchor];
            let sizes = bodies.into_iter().zip(anchors).filter_map(|(id, anchor)| {
                let id = id.filter(|&id| world.mechanism().body_kind(id) == BodyKind::Dynamic)?;
                Some(gyration(world, id).max(anchor.distance(world.mechanism().center_of_mass(id))))
            });
            let size = sizes.fold(0.0, f64::max);
            Lock {
                bodies,
                anchors,
                axes: [frames1.axis.normalize(), frames2.axis.normalize()],
                kind: joint.kind,
                size,
            }
        };
        let springs = scene.springs.iter().map(|spring| {
            let end = |end: &sinew_sim::EndDoc| (end.body().and_then(body), end.point());
            let ends = [end(&spring.from), end(&spring.to)];
            Stretch { stiffness: spring.stiffness, rest: spring.rest_length, ends }
        });
        let mut judge = Self {
            locks: scene.joints.iter().map(lock).collect(),
            springs: springs.collect(),
            is_passive: scene.inputs.is_empty()
                && scene.score.is_none()
                && scene.joints.iter().all(|joint| {
                    joint.motor.is_none()
                        && joint.drive.is_none()
                        && joint.spring.is_none()
                        && joint.limits.is_none()
                })
                && scene.flesh.is_empty(),
            start: 0.0,
            free: is_free(scene).then(|| momenta(world)),
            exchanged: 0.0,
            gained: f64::INFINITY,
            wrong: Vec::new(),
            floor: None,
        };
        judge.start = judge.energy(world)[2];
        judge.exchanged = judge.energy(world)[0];
        judge
    }

    pub(crate) fn above(mut self, height: f64) -> Self {
        self.floor = Some(height);
        self
    }

    /// Of motion and springs, of height, and their sum, J.
    pub(crate) fn energy(&self, world: &World) -> [f64; 3] {
        let mechanism = world.mechanism();
        let gravity = world.settings().gravity;
        let mut sums = [0.0; 2];
        for id in mechanism.bodies().filter(|&id| mechanism.body_kind(id) == BodyKind::Dynamic) {
            let (mass, moments) = (mechanism.body_mass(id), mechanism.principal_moments(id));
            let (pose, motion) =
                (world.state().bodies.poses[id.index()], world.state().bodies.motions[id.index()]);
            let spin = pose.rotation.inverse() * motion.angular;
            sums[0] += 0.5 * mass * motion.linear.length_squared() + 0.5 * (spin * spin).dot(moments);
            sums[1] -= mass * gravity.dot(pose.translation);
        }
        for &Stretch { stiffness, rest, ends } in &self.springs {
            let [a, b] = ends.map(|(id, point)| id.map_or(point, |id| world.pose(id).transform_point(point)));
            sums[0] += 0.5 * stiffness * (a.distance(b) - rest).powi(2);
        }
        [sums[0], sums[1], sums[0] + sums[1]]
    }

    fn fault(&mut self, sort: &str, text: String) {
        if !self.wrong.iter().any(|wrong| wrong.starts_with(sort)) {
            self.wrong.push(format!("{sort}: {text}"));
        }
    }

    /// Judges the end of a step; `share` of the run is done.
    pub(crate) fn look(&mut self, world: &World, share: f64) {
        let step = world.time();
        let bodies = &world.state().bodies;
        let is_finite = bodies.poses.iter().all(Pose::is_finite)
            && bodies.motions.iter().all(|motion| motion.linear.is_finite() && motion.angular.is_finite());
        let is_finite = is_finite
            && world.state().flesh.nodes.iter().all(|nodes| nodes.positions.iter().all(|x| x.is_finite()));
        if !is_finite {
            self.fault("finite", format!("not at {step}"));
            return;
        }
        for k in 0..self.locks.len() {
            if let Some(text) = opening(world, &self.locks[k]) {
                self.fault("closed", format!("joint {k} {text} at {step}"));
            }
        }
        let [motion, height, sum] = self.energy(world);
        self.exchanged = self.exchanged.max(motion);
        if self.is_passive && share > 0.5 {
            let rounding = 1e-9 * (height.abs() + self.start.abs()) + 1e-300;
            let excess = (sum - self.start - rounding) / self.exchanged.max(f64::MIN_POSITIVE);
            self.gained = self.gained.min(excess);
            if share >= 1.0 && self.gained > GAINED {
                self.fault("energy", format!("{:e} of {:e} gained", self.gained, self.exchanged));
            }
        }
        if let Some(start) = self.free {
            let now = momenta(world);
            let is_lost = |k: usize| (now[k].0 - start[k].0).length() > KEPT * start[k].1;
            if is_lost(0) || is_lost(1) {
                self.fault("momentum", format!("{start:?} became {now:?} at {step}"));
            }
        }
        if let Some(floor) = self.floor {
            let mechanism = world.mechanism();
            let low = mechanism.bodies().filter(|&id| mechanism.body_kind(id) == BodyKind::Dynamic);
            let low = low.map(|id| world.pose(id).translation.z).fold(f64::INFINITY, f64::min);
            if low < floor {
                self.fault("above", format!("{low} is below {floor} at {step}"));
            }
        }
    }
}

/// Radius of gyration, m.
fn gyration(world: &World, id: BodyId) -> f64 {
    (world.mechanism().principal_moments(id).element_sum() / (2.0 * world.mechanism().body_mass(id))).sqrt()
}

/// How a joint is open, if it is.
fn opening(world: &World, lock: &Lock) -> Option<String> {
    let mut k = 0;
    let [a, b] = lock.bodies.map(|id| {
        let pose = id.map_or(Pose::IDENTITY, |id| world.pose(id));
        k += 1;
        (pose.transform_point(lock.anchors[k - 1]), pose.transform_vector(lock.axes[k - 1]))
    });
    let gap = b.0 - a.0;
    let rounding = 1e-12 * (a.0.length() + b.0.length());
    let off = match lock.kind {
        JointKind::Prismatic | JointKind::Cylindrical => gap.reject_from(b.1).length(),
        JointKind::Ball | JointKind::Hinge | JointKind::Fixed | JointKind::Universal => gap.length(),
        _ => 0.0,
    };
    let lean = match lock.kind {
        JointKind::Hinge | JointKind::Prismatic | JointKind::Cylindrical | JointKind::Fixed => {
            a.1.cross(b.1).length()
        }
        _ => 0.0,
    };
    (off > OPEN * lock.size + rounding || lean > OPEN)
        .then(|| format!("{:?} by {:e} of {:e} m, {lean:e} rad", lock.kind, off, lock.size))
}

/// Whether nothing acts from outside: no gravity, no joint to the world, nothing to touch.
fn is_free(scene: &SceneDoc) -> bool {
    let has_no_hold = scene.joints.iter().all(|joint| joint.parent.is_some()) && scene.springs.is_empty();
    scene.gravity == DVec3::ZERO && has_no_hold && scene.colliders.is_empty() && scene.inputs.is_empty()
}

/// Linear momentum, and angular momentum about the origin: total, and the sum of its parts without their signs.
fn momenta(world: &World) -> [(DVec3, f64); 2] {
    let mechanism = world.mechanism();
    let mut sums = [(DVec3::ZERO, 0.0); 2];
    for id in mechanism.bodies().filter(|&id| mechanism.body_kind(id) == BodyKind::Dynamic) {
        let (pose, motion) =
            (world.state().bodies.poses[id.index()], world.state().bodies.motions[id.index()]);
        let linear = mechanism.body_mass(id) * motion.linear;
        let axes = DMat3::from_quat(pose.rotation);
        let spin = axes * (mechanism.principal_moments(id) * (axes.transpose() * motion.angular));
        for (k, part) in [(0, linear), (1, pose.translation.cross(linear)), (1, spin)] {
            sums[k].0 += part;
            sums[k].1 += part.length();
        }
    }
    sums
}
