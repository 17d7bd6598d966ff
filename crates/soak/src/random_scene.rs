//! A random mechanism as a scene: bars in a tree, loops closed where the bars are, forces in the joints, hands that pull.
//!
//! Every joint is made from one frame in the world at the initial poses, so all loops are closed at the start and free bodies
//! move as one rigid body: no joint error is put in. What is prescribed (a moved base, a hard grab) stands still from half of the
//! run on; then energy can only fall. The same seed gives the same scene on every machine. SI units.

use glam::{DQuat, DVec3};
use sinew_mechanism::rotation_to_axis;
use sinew_scene::{
    BodyDoc, BodyKindDoc, CurveDoc, EndDoc, FrameDoc, GrabDoc, InputDoc, JointDoc, JointFramesDoc, JointKind,
    KinematicDoc, MassDoc, PoseDoc, RotationDoc, SceneDoc, Shape, ShapeDoc, SpringDoc, TrackDoc, VelocityDoc,
    WrenchDoc,
};
use sinew_testkit::Rng;

use crate::random_forces::{Strength, add_forces, power_of_ten};

/// How the bars of a mechanism lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// In any direction.
    Space,
    /// In one plane, all pins across it: every loop has redundant rows.
    Plane,
    /// On one line: singular where it is pushed.
    Line,
}

/// What holds a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    World,
    Nothing,
    Moved,
}

/// A scene under way.
struct Draft {
    rng: Rng,
    scene: SceneDoc,
    layout: Layout,
    /// Normal of the plane, or direction of the line.
    axis: DVec3,
    /// Start and end of every bar.
    bars: Vec<[DVec3; 2]>,
}

/// The mechanism of a seed, for a run of some seconds.
pub fn random_scene(seed: u64, seconds: f64) -> SceneDoc {
    let mut draft = Draft::new(seed, seconds);
    let base = [Base::World, Base::World, Base::Nothing, Base::Moved][draft.rng.below(4)];
    if base == Base::Nothing && draft.rng.chance(0.7) {
        draft.scene.gravity = DVec3::ZERO;
    }
    draft.add_tree();
    draft.add_base(base);
    draft.close_loops();
    draft.weigh(3.0);
    if base == Base::Nothing {
        draft.set_in_motion();
    }
    if draft.rng.chance(0.6) {
        add_forces(&mut draft.rng, &mut draft.scene, &Strength::FIRM);
    }
    draft.add_springs();
    draft.add_hands();
    draft.scene
}

/// A mechanism that nothing holds or pulls, with loops unless it is to be a tree, with forces in its joints.
pub fn random_floating(seed: u64, seconds: f64, is_tree: bool, strength: &Strength) -> SceneDoc {
    let mut draft = Draft::new(seed, seconds);
    draft.scene.gravity = DVec3::ZERO;
    draft.add_tree();
    if !is_tree {
        draft.close_loops();
    }
    draft.weigh(if *strength == Strength::FIRM { 1.0 } else { 0.0 });
    draft.set_in_motion();
    add_forces(&mut draft.rng, &mut draft.scene, strength);
    draft.scene
}

/// Mass of a bar, kg.
pub(crate) fn total_mass(body: &BodyDoc) -> f64 {
    if let MassDoc::Total(mass) = body.mass { mass } else { 0.0 }
}

impl Draft {
    fn new(seed: u64, seconds: f64) -> Self {
        let mut rng = Rng::new(seed);
        let layout = [Layout::Space, Layout::Space, Layout::Plane, Layout::Line][rng.below(4)];
        let axis = rng.unit_vec();
        let scene = SceneDoc { name: format!("soak_{seed}"), duration_s: seconds, ..SceneDoc::default() };
        Self { rng, scene, layout, axis, bars: Vec::new() }
    }

    fn direction(&mut self) -> DVec3 {
        match self.layout {
            Layout::Space => self.rng.unit_vec(),
            Layout::Plane => loop {
                let across = self.rng.unit_vec().cross(self.axis);
                if across.length() > 0.1 {
                    return across.normalize();
                }
            },
            Layout::Line => self.axis,
        }
    }

    fn name(bar: usize) -> String {
        format!("bar{bar}")
    }

    /// Bars, each at an end of an earlier one.
    fn add_tree(&mut self) {
        let most = if self.rng.chance(0.7) { 10 } else { 38 };
        let n = 3 + self.rng.below(most);
        let chain = [1.0, 0.8, 0.3][self.rng.below(3)];
        for bar in 0..n {
            let parent = if bar == 0 {
                None
            } else if self.layout == Layout::Line || self.rng.chance(chain) {
                Some(bar - 1)
            } else {
                Some(self.rng.below(bar))
            };
            let from = parent.map_or(DVec3::ZERO, |parent| self.bars[parent][1]);
            let length = self.rng.uniform(0.2, 1.0);
            let to = from + self.direction() * length;
            self.bars.push([from, to]);
            self.add_bar(bar, from, to);
            if let Some(parent) = parent {
                let kind = self.tree_kind();
                self.add_joint(kind, bar, Some(parent), from);
            }
        }
    }

    fn add_bar(&mut self, bar: usize, from: DVec3, to: DVec3) {
        let length = from.distance(to);
        let rotation = rotation_to_axis((to - from) / length).unwrap_or_default();
        let DQuat { x, y, z, w } = rotation;
        let (wide, high) = (self.rng.uniform(0.05, 0.3) * length, self.rng.uniform(0.05, 0.3) * length);
        self.scene.bodies.push(BodyDoc {
            name: Self::name(bar),
            pose: PoseDoc { position: 0.5 * (from + to), rotation: RotationDoc::Quaternion { w, x, y, z } },
            shapes: vec![ShapeDoc::centred(Shape::Box { size: DVec3::new(length, wide, high) })],
            ..BodyDoc::default()
        });
    }

    fn tree_kind(&mut self) -> JointKind {
        use JointKind::{Ball, Cylindrical, Fixed, Free, Hinge, PointOnLine, Prismatic, Screw, Universal};
        let pitch = self.rng.uniform(-0.1, 0.1);
        match self.layout {
            Layout::Plane => [Hinge, Hinge, Hinge, Hinge, Fixed][self.rng.below(5)],
            Layout::Line => [Ball, Ball, Ball, Universal, Hinge][self.rng.below(5)],
            Layout::Space => {
                let often = [Ball, Hinge, Hinge, Universal];
                let rare = [Cylindrical, Fixed, Free, PointOnLine, Prismatic, Screw { pitch }];
                if self.rng.chance(0.8) { often[self.rng.below(4)] } else { rare[self.rng.below(6)] }
            }
        }
    }

    /// A joint of both bodies where they are; `None` is the world.
    fn add_joint(&mut self, kind: JointKind, bar: usize, parent: Option<usize>, anchor: DVec3) {
        let axis = match (self.layout, kind) {
            (Layout::Plane, JointKind::Prismatic) => self.direction(),
            (Layout::Plane, _) => self.axis,
            _ => self.rng.unit_vec(),
        };
        let parent = parent.map(Self::name);
        self.push_joint(kind, Self::name(bar), parent, FrameDoc { anchor, axis, ..FrameDoc::default() });
    }

    fn push_joint(&mut self, kind: JointKind, child: String, parent: Option<String>, frame: FrameDoc) {
        let name = format!("joint{}", self.scene.joints.len());
        let frames = JointFramesDoc::World(frame);
        self.scene.joints.push(JointDoc { name, kind, child, parent, frames, ..JointDoc::default() });
    }

    fn add_base(&mut self, base: Base) {
        match base {
            Base::Nothing => {}
            Base::World => {
                let kind = self.tree_kind();
                self.add_joint(kind, 0, None, self.bars[0][0]);
            }
            Base::Moved => {
                let (name, start) = ("base".to_owned(), self.bars[0][0]);
                let pose = PoseDoc { position: start, ..PoseDoc::default() };
                let kind = BodyKindDoc::Kinematic;
                self.scene.bodies.push(BodyDoc { name: name.clone(), kind, pose, ..BodyDoc::default() });
                let kind = self.tree_kind();
                let frame = FrameDoc { anchor: start, axis: self.axis, ..FrameDoc::default() };
                self.push_joint(kind, Self::name(0), Some(name.clone()), frame);
                let track = self.add_track("base_track", start, 0.3);
                self.scene.inputs.push(InputDoc::Kinematic(KinematicDoc { body: name, track }));
            }
        }
    }

    /// Up to ten further joints between any two bars, or a bar and the world; some repeat what others say.
    fn close_loops(&mut self) {
        let n = if self.rng.chance(0.3) { 0 } else { 1 + self.rng.below(10) };
        let is_held = self.scene.joints.iter().any(|joint| joint.parent.is_none());
        for _ in 0..n {
            if self.rng.chance(0.2) {
                self.repeat_joint();
                continue;
            }
            let bar = self.rng.below(self.bars.len());
            let other = self.rng.below(self.bars.len());
            let parent = if other != bar { Some(other) } else { None };
            if parent.is_none() && !is_held {
                continue;
            }
            let anchor = self.bars[bar][1];
            let kind = self.closing_kind();
            self.add_joint(kind, bar, parent, anchor);
        }
    }

    /// The same joint once more; a hinge elsewhere on its axis, as on a door.
    fn repeat_joint(&mut self) {
        let pick = self.rng.below(self.scene.joints.len());
        let joint = self.scene.joints[pick].clone();
        let JointFramesDoc::World(mut frame) = joint.frames else { return };
        if joint.kind == JointKind::Hinge {
            frame.anchor += frame.axis * self.rng.uniform(0.1, 1.0);
        }
        self.push_joint(joint.kind, joint.child, joint.parent, frame);
    }

    fn closing_kind(&mut self) -> JointKind {
        use JointKind::{
            Ball, Cylindrical, Fixed, Hinge, Orientation, Planar, PointOnLine, PointOnPlane, Prismatic,
            Screw, Universal,
        };
        let pitch = self.rng.uniform(-0.1, 0.1);
        let kinds = [
            Ball,
            Ball,
            Ball,
            PointOnPlane,
            PointOnPlane,
            PointOnLine,
            PointOnLine,
            Universal,
            Cylindrical,
            Hinge,
            Planar,
            Orientation,
            Prismatic,
            Screw { pitch },
            Fixed,
        ];
        match self.layout {
            Layout::Plane if self.rng.chance(0.7) => [Hinge, Ball, Cylindrical, Planar][self.rng.below(4)],
            _ => kinds[self.rng.below(kinds.len())],
        }
    }

    /// Masses over up to twice so many decades.
    fn weigh(&mut self, most: f64) {
        let decades = most.min([0.0, 0.0, 1.0, 3.0][self.rng.below(4)]);
        for body in self.scene.bodies.iter_mut().filter(|body| body.kind == BodyKindDoc::Dynamic) {
            let exponent = self.rng.uniform(-decades, decades);
            body.mass = MassDoc::Total(self.rng.uniform(0.5, 2.0) * power_of_ten(exponent));
        }
    }

    /// All bodies as one rigid body, about its centre of mass.
    fn set_in_motion(&mut self) {
        let (spin, drift) = (self.rng.unit_vec() * self.rng.uniform(0.0, 10.0), self.rng.vec3(-1.0, 1.0));
        let (mut mass, mut moment) = (0.0, DVec3::ZERO);
        for body in &self.scene.bodies {
            mass += total_mass(body);
            moment += total_mass(body) * body.pose.position;
        }
        for body in &mut self.scene.bodies {
            let linear = drift + spin.cross(body.pose.position - moment / mass);
            body.velocity = VelocityDoc { angular: spin, linear };
        }
    }

    /// Springs between points, a little stretched.
    fn add_springs(&mut self) {
        if !self.rng.chance(0.3) {
            return;
        }
        for k in 0..1 + self.rng.below(3) {
            let (a, b) = (self.rng.below(self.bars.len()), self.rng.below(self.bars.len()));
            if a == b {
                continue;
            }
            let stiffness = power_of_ten(self.rng.uniform(0.0, 8.0));
            // The middles of the bars; energy of a joule or so.
            let middle = |bar: usize| 0.5 * (self.bars[bar][0] + self.bars[bar][1]);
            let length = middle(a).distance(middle(b));
            let stretch = (2.0 * self.rng.uniform(0.0, 1.0) / stiffness).sqrt();
            let end = |bar| EndDoc::Body { name: Self::name(bar), point: DVec3::ZERO };
            let damping = if self.rng.chance(0.5) { 0.0 } else { 0.01 * stiffness };
            self.scene.springs.push(SpringDoc {
                name: format!("spring{k}"),
                from: end(a),
                to: end(b),
                stiffness,
                damping,
                rest_length: (length - stretch).max(0.0),
            });
        }
    }

    /// Soft and hard grabs, and constant forces for a while.
    fn add_hands(&mut self) {
        if !self.rng.chance(0.4) {
            return;
        }
        let bar = self.rng.below(self.bars.len());
        let half = 0.5 * self.scene.duration_s;
        let (body, end) = (Self::name(bar), self.bars[bar][1]);
        let point = DVec3::X * (0.5 * self.bars[bar][0].distance(end));
        let mass = self.scene.bodies.iter().map(total_mass).sum::<f64>();
        match self.rng.below(3) {
            0 => {
                // Some times the weight of the bar: light bars would spin.
                let own = total_mass(&self.scene.bodies[bar]);
                let force = self.rng.unit_vec() * (self.rng.uniform(0.0, 50.0) * own);
                let to_s = Some(self.rng.uniform(0.1, 1.0) * half);
                let wrench = WrenchDoc { body, point: Some(point), force, to_s, ..WrenchDoc::default() };
                self.scene.inputs.push(InputDoc::Wrench(wrench));
            }
            pick => {
                let track = self.add_track("hand", end, 0.5);
                let soft = mass * power_of_ten(self.rng.uniform(0.0, 4.0));
                let stiffness = if pick == 1 { soft } else { f64::INFINITY };
                let damping = if self.rng.chance(0.5) { 0.0 } else { 0.1 * soft };
                let to_s = if self.rng.chance(0.5) { Some(0.7 * self.scene.duration_s) } else { None };
                let grab = GrabDoc { body, point, track, stiffness, damping, to_s, ..GrabDoc::default() };
                self.scene.inputs.push(InputDoc::Grab(grab));
            }
        }
    }

    /// A smooth path that begins at a point and rests from half of the run on.
    fn add_track(&mut self, name: &str, start: DVec3, reach: f64) -> String {
        let half = 0.5 * self.scene.duration_s;
        let mut points = vec![(0.0, start)];
        for k in 1..=4 {
            points.push((half * f64::from(k) / 4.0, start + self.rng.vec3(-reach, reach)));
        }
        let curve = CurveDoc::Points(points);
        self.scene.tracks.push(TrackDoc { name: name.to_owned(), curve, ..TrackDoc::default() });
        name.to_owned()
    }
}
