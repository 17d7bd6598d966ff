//! Controllers of scenes: names become links, poses become coordinates, tracks become paths.
//!
//! A pose names some joints; the
//! others keep their initial coordinates (in keyframes: those of the key before).

mod march;

mod poses;

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use sinew_control::{
    Act, Actuation, Aim, ControlError, Controller, Facing, Gains, Goal, Guide, Key, MotionClip, Phase,
    Playback, PointPath, PointTarget, PoseGoal, Score, Style, TimeWarp, TurnPath, landing_springs, levels,
};
use sinew_mechanism::{DriveCoordinate, Model, State};
use sinew_recursive::{LinkId, LoopedTree, Tree, TreeState};
use sinew_scene::{
    ControlDoc, CurveDoc, GoalDoc, GuideDoc, InterpolationDoc, KeyframesDoc, LevelDoc, PhaseDoc,
    RootControlDoc, ScoreDoc, StyleDoc, Track, TrackDoc, TrackPoint, WantDoc, WarpDoc,
};

use crate::error::BuildError;

/// Damping of joints where no pose is sought, 1/s.
const SWING_DAMPING: f64 = 20.0;

/// With which they return to the pose that the scene begins with, where nothing holds the character, rad/s.
const RETURN_FREQUENCY: f64 = 20.0;

/// Rate at which directions settle that such a character reaches by recoil alone, 1/s.
const SETTLING: f64 = 15.0;

/// The controller that plays a score, in implicit steps or in joint coordinates.
///
/// # Errors
/// What the score names wrongly, or a pose that is out of reach.
pub fn controller(
    score: &ScoreDoc,
    tracks: &[TrackDoc],
    model: &Model,
    looped: &LoopedTree,
    start: &State,
    is_implicit: bool,
) -> Result<Controller, BuildError> {
    let tree = looped.tree();
    let start = TreeState::from_mechanism(tree, start);
    let actuation = Actuation::new(tree);
    let mut compiler = ScoreCompiler { tracks, model, looped, tree, start, actuation, is_implicit };
    compiler.actuate(score)?;
    let warp = warp(&score.warp).map_err(fault("score.warp"))?;
    let phases = score.phases.iter().enumerate();
    let phases = phases.map(|(i, doc)| compiler.phase(doc, &format!("score.phases[{i}].control")));
    let score = Score { phases: phases.collect::<Result<_, _>>()?, warp };
    Controller::new(looped, compiler.actuation, score).map_err(fault("score"))
}

fn warp(doc: &WarpDoc) -> Result<TimeWarp, ControlError> {
    match doc {
        WarpDoc::None => Ok(TimeWarp::identity()),
        WarpDoc::Sine { amplitude_s, duration_s } => TimeWarp::sine(*amplitude_s, *duration_s),
        WarpDoc::Through(pairs) => {
            TimeWarp::through(pairs.iter().map(|(run, score)| [*run, *score]).collect())
        }
    }
}

fn fault(field: impl Into<String>) -> impl FnOnce(ControlError) -> BuildError {
    move |error| refused(field, error.to_string())
}

fn refused(field: impl Into<String>, message: String) -> BuildError {
    BuildError::Reduced { field: field.into(), message }
}

fn gains(stiffness: f64, damping: f64) -> Gains {
    Gains { stiffness, damping, reach: f64::INFINITY }
}

fn style(doc: StyleDoc) -> Style {
    match doc {
        StyleDoc::Acceleration => Style::Acceleration,
        StyleDoc::Torque => Style::Torque,
        StyleDoc::Velocity => Style::Velocity,
    }
}

/// A guide that also seeks a pose.
fn with_pose(guide: Guide, coordinates: Vec<f64>, gains: Gains) -> Guide {
    guide.with_pose(PoseGoal { coordinates, gains, ramp: 0.0 })
}

/// The positions of a track.
fn point_path(doc: &TrackDoc) -> Result<PointPath, ControlError> {
    let track = Track::new(doc);
    let wave = match &doc.curve {
        CurveDoc::Sine(sine) => Some((sine.center, sine.frequency_hz)),
        CurveDoc::Circle(circle) => Some((circle.center, circle.frequency_hz)),
        _ => None,
    };
    if let Some((center, frequency)) = wave {
        let (start, rate) = (track.sample(0.0), TAU * frequency);
        let sine = if rate == 0.0 { DVec3::ZERO } else { start.velocity / rate };
        return PointPath::wave(center, [start.position - center, sine], rate);
    }
    let points = doc.sample_times().map(|time| (time, track.sample(time)));
    match doc.interpolation {
        InterpolationDoc::Linear => PointPath::new(points.map(|(t, at)| (t, at.position)).collect()),
        InterpolationDoc::Cubic => {
            PointPath::smooth(points.map(|(t, at)| (t, [at.position, at.velocity])).collect())
        }
    }
}

/// The rotations of a track.
fn turn_path(doc: &TrackDoc) -> Result<TurnPath, ControlError> {
    let track = Track::new(doc);
    let turn = |at: &TrackPoint| at.rotation.unwrap_or(DQuat::IDENTITY);
    let points = doc.sample_times().map(|time| (time, track.sample(time)));
    match doc.interpolation {
        InterpolationDoc::Linear => TurnPath::new(points.map(|(t, at)| (t, turn(&at))).collect()),
        InterpolationDoc::Cubic => {
            TurnPath::smooth(points.map(|(t, at)| (t, (turn(&at), at.angular_velocity))).collect())
        }
    }
}

/// Compiles the documents of a score.
struct ScoreCompiler<'a> {
    tracks: &'a [TrackDoc],
    model: &'a Model,
    looped: &'a LoopedTree,
    tree: &'a Tree,
    start: TreeState,
    actuation: Actuation,
    is_implicit: bool,
}

impl ScoreCompiler<'_> {
    /// The link that hangs on a joint.
    fn joint(&self, name: &str, field: &str) -> Result<LinkId, BuildError> {
        let joint = self.model.joint(name);
        let found = self.tree.links().find(|link| joint.is_some() && self.tree.joint(*link) == joint);
        let closes = joint.is_some_and(|joint| self.looped.rows(joint).is_some());
        let message = || match closes {
            true => format!(
                "`{name}` closes a loop, where no actuator acts; give it `priority: Primary`, so that another joint of the loop closes it"
            ),
            false => format!("`{name}` is not the joint of a moving body; use one that is"),
        };
        found.ok_or_else(|| refused(field, message()))
    }

    fn bone(&self, name: &str, field: &str) -> Result<LinkId, BuildError> {
        let found = self.model.body(name).and_then(|body| self.tree.link(body));
        found.ok_or_else(|| refused(field, format!("`{name}` is not moved by forces, so the controller cannot steer it: make it dynamic, or leave it out of the score")))
    }

    /// Which joints are driven, and how far they go.
    fn actuate(&mut self, score: &ScoreDoc) -> Result<(), BuildError> {
        for link in self.tree.links() {
            // A body that is fixed or led has no link, but a joint to it is one between two bodies.
            let ends = self.tree.joint(link).map(|joint| self.model.joint_bodies(joint));
            let is_inner = matches!(ends, Some((Some(_), Some(_))));
            let by_default = is_inner || (ends.is_some() && score.root == RootControlDoc::Active);
            self.actuation.set_active(link, score.actuators.is_empty() && by_default);
        }
        for (k, name) in score.actuators.iter().enumerate() {
            let link = self.joint(name, &format!("score.actuators[{k}]"))?;
            self.actuation.set_active(link, true);
        }
        let acts = score.phases.iter().any(|phase| !matches!(phase.control, ControlDoc::Passive));
        if acts && !self.tree.links().any(|link| self.actuation.is_active(link)) {
            let message = "no joint is an actuator, so no phase can act: join two bodies, or use root: Active for joints to the world";
            return Err(refused("score", message.to_owned()));
        }
        for (k, (name, weight)) in score.weights.iter().enumerate() {
            let field = format!("score.weights[{k}]");
            let link = self.joint(name, &field)?;
            self.actuation.set_weight(self.tree, link, *weight).map_err(fault(field))?;
        }
        for (k, (name, limit)) in score.torque_limits.iter().enumerate() {
            let field = format!("score.torque_limits[{k}]");
            let link = self.joint(name, &field)?;
            self.actuation.set_torque_limit(link, *limit).map_err(fault(field))?;
        }
        self.limit_joints()
    }

    /// Whether an actuator hangs on a joint that nothing moves but recoil, such as that of a free root. Joints of loops follow the actuators.
    fn is_loose(&self) -> bool {
        let is_active = |link: &LinkId| self.actuation.is_active(*link);
        let is_led = |link: LinkId| is_active(&link) || self.looped.is_tied(link);
        let above = |link: LinkId| std::iter::successors(Some(link), |link| self.tree.parent(*link));
        self.tree.links().filter(is_active).any(|link| !above(link).all(is_led))
    }

    /// The limits of joints are those of their actuators.
    fn limit_joints(&mut self) -> Result<(), BuildError> {
        for link in self.tree.links() {
            let Some(joint) = self.tree.joint(link) else { continue };
            for along in [DriveCoordinate::Twist, DriveCoordinate::Slide] {
                if let Some(limits) = self.model.coordinate_limits(joint, along) {
                    let rate = self.tree.joint_kind(link).rate_index(along);
                    self.actuation
                        .set_limits(self.tree, link, rate, limits)
                        .map_err(fault("score.actuators"))?;
                }
            }
        }
        Ok(())
    }

    fn phase(&self, doc: &PhaseDoc, path: &str) -> Result<Phase, BuildError> {
        let act = match &doc.control {
            ControlDoc::Passive => Act::Passive,
            ControlDoc::Land(land) => Act::Land(landing_springs(
                self.tree,
                &self.actuation,
                land.stiffness,
                land.damping,
                self.start.coordinates.clone(),
            )),
            ControlDoc::Keyframes(frames) => Act::Keyframes(self.playback(frames, doc.from_s, path)?),
            ControlDoc::Guide(guide) => Act::Guide(self.guide(guide, path)?),
        };
        Ok(Phase { start: doc.from_s, act })
    }

    fn guide(&self, doc: &GuideDoc, path: &str) -> Result<Guide, BuildError> {
        let style = style(doc.style);
        let level =
            |level: LevelDoc| doc.levels.iter().position(|named| *named == level).map(|k| k as u8 + 1);
        let mut goals = Vec::new();
        for (k, goal) in doc.goals.iter().enumerate() {
            let kind = match goal.want {
                WantDoc::Follow { .. } | WantDoc::Turn { .. } => LevelDoc::Drags,
                _ => LevelDoc::Constraints,
            };
            if let Some(level) = level(kind) {
                goals.push(self.goal(goal, &format!("{path}.goals[{k}]"))?.at_level(level));
            }
        }
        let mut guide = Guide::new(style, goals);
        if let (Some(pose), Some(level)) = (&doc.pose, level(LevelDoc::Pose)) {
            let mut coordinates = self.start.coordinates.clone();
            self.put(&pose.joints, &format!("{path}.pose.joints"), &mut coordinates)?;
            guide = with_pose(guide, coordinates, gains(pose.stiffness, pose.damping));
            guide.pose_level = level;
        } else if style != Style::Velocity {
            // Joints that no goal needs would swing on, or up, without end. In long steps recoil would wind up those that nothing holds.
            let returns = self.is_implicit && self.is_loose();
            let damper = Gains::damper(SWING_DAMPING);
            let swing = if returns { Gains::critical(RETURN_FREQUENCY) } else { damper };
            guide = with_pose(guide, self.start.coordinates.clone(), swing);
        }
        if style != Style::Velocity && self.is_loose() {
            guide.settling = SETTLING;
        }
        guide.limits_level = level(LevelDoc::Limits).unwrap_or(levels::LIMITS);
        if level(LevelDoc::Limits).is_none() {
            guide.limits = gains(0.0, 0.0);
        }
        Ok(guide)
    }

    fn goal(&self, doc: &GoalDoc, path: &str) -> Result<Goal, BuildError> {
        let bone = self.bone(&doc.bone, &format!("{path}.bone"))?;
        let aim = match &doc.want {
            WantDoc::Follow { track, relative } => {
                let drag =
                    point_path(self.track(track, path)?).map_err(fault(format!("{path}.want.track")))?;
                Aim::Position(if *relative { PointTarget::Beside(drag) } else { PointTarget::Along(drag) })
            }
            WantDoc::Turn { track } => {
                let turns = turn_path(self.track(track, path)?);
                Aim::Orientation(Facing::Along(turns.map_err(fault(format!("{path}.want.track")))?))
            }
            WantDoc::KeepPosition => Aim::Position(PointTarget::Held),
            WantDoc::KeepHeight => Aim::Height(PointTarget::Held),
            WantDoc::KeepOrientation => Aim::Orientation(Facing::Held),
            WantDoc::Stop => Aim::Velocity(DVec3::ZERO),
            WantDoc::Coast => Aim::Acceleration(DVec3::ZERO),
        };
        let gains = gains(doc.stiffness, doc.damping);
        Ok(Goal { bone, point: doc.point, aim, gains, level: levels::HOLD })
    }

    fn track(&self, name: &str, path: &str) -> Result<&TrackDoc, BuildError> {
        let missing = || refused(format!("{path}.want.track"), format!("there is no track called `{name}`"));
        self.tracks.iter().find(|track| track.name == name).ok_or_else(missing)
    }

    fn playback(&self, doc: &KeyframesDoc, from: f64, path: &str) -> Result<Playback, BuildError> {
        let mut coordinates = self.start.coordinates.clone();
        let mut keys = vec![Key { time: from, coordinates: coordinates.clone() }];
        let (mut asked, mut leading) = (vec![(from, None)], vec![Vec::new()]);
        for (k, key) in doc.keys.iter().enumerate() {
            let mut before = coordinates.clone();
            self.put(&key.joints, &format!("{path}.keys[{k}].joints"), &mut coordinates)?;
            if !key.reach.is_empty() {
                self.reach(&key.reach, &format!("{path}.keys[{k}].reach"), &mut coordinates)?;
                before.clone_from(&coordinates);
            }
            let named = key.joints.iter().filter_map(|(name, _)| self.joint(name, path).ok());
            let named: Vec<LinkId> = named.filter(|link| self.looped.is_tied(*link)).collect();
            let yields = self.lead(&before, &named, &format!("{path}.keys[{k}]"), &mut coordinates)?;
            asked.push((from + key.at_s, yields));
            leading.push(if yields.is_none() && key.reach.is_empty() { named } else { Vec::new() });
            keys.push(Key { time: from + key.at_s, coordinates: coordinates.clone() });
        }
        let clip = |keys: &[Key]| {
            MotionClip::new(self.tree, &self.actuation, keys).map_err(fault(format!("{path}.keys")))
        };
        let mut curve = clip(&keys)?;
        if leading.iter().any(|named| self.follow(named)) {
            curve = clip(&self.between(&curve, &keys, &leading))?;
        }
        Ok(Playback::new(curve.with_keys(asked)).from_here())
    }
}
