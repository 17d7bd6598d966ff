//! From checked records and an elimination plan to the tables that a step reads.
//!
//! Pairs are stored in elimination order with all that the sweep needs, so that a step streams through memory. Springs are sorted
//! by how they are solved: across a tree joint, to something immovable, or in the loops. Cost: linear in bodies and joints.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew_math::{JointKind, Motion, Pose};
use sinew_topology::{ConstraintId, EliminationPlan, Graph, NONE, Role, VariableId};

use crate::forces::{ForceSet, PointSpring};
use crate::model::{
    AnchorInertia, BodyInertia, BodyModel, Carried, DerivedTables, Islands, JointModel, JointSide,
    LinearInertia, LoopModel, LoopSpring, MechanismError, ModelNames, ModelSprings, ModelStructure,
    NameTable, PairForces, PairModel, PairPath, RotorModel, TransmissionModel, TreeExtent, WORLD,
    check_names, motion_of, pose_of,
};
use crate::{BodyKind, History, JointId, LoopState, Model, Spring, State, relative_rotation, twist_angle};

/// Bodies, joints and springs as the model stores them, before they are planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) bodies: Vec<BodyModel>,
    pub(crate) joints: Vec<JointModel>,
    /// Unique force sets.
    pub(crate) forces: Vec<ForceSet>,
    /// All springs, not yet sorted.
    pub(crate) springs: Vec<PointSpring>,
    pub(crate) transmissions: Vec<TransmissionModel>,
    pub(crate) body_names: Vec<Arc<str>>,
    pub(crate) joint_names: Vec<Arc<str>>,
    pub(crate) transmission_names: Vec<Arc<str>>,
    /// Initial central poses and twists.
    pub(crate) poses: Vec<Pose>,
    pub(crate) motions: Vec<Motion>,
}

impl Records {
    /// The structure of a planned graph, whose variables are the dynamic bodies in order.
    pub(crate) fn structure(&self, (graph, plan): (Graph, EliminationPlan)) -> Arc<ModelStructure> {
        let dynamic = |b: &(usize, &BodyModel)| b.1.kind == BodyKind::Dynamic;
        let body_of_variable =
            self.bodies.iter().enumerate().filter(dynamic).map(|(i, _)| i as u32).collect();
        Arc::new(ModelStructure { graph, plan, body_of_variable })
    }

    /// Takes the names out. None may be given twice.
    pub(crate) fn take_names(&mut self) -> Result<Arc<ModelNames>, MechanismError> {
        let table = |kind, names: &mut Vec<Arc<str>>| {
            let table = NameTable::new(std::mem::take(names));
            check_names(kind, &table).map(|()| table)
        };
        Ok(Arc::new(ModelNames {
            bodies: table("body", &mut self.body_names)?,
            joints: table("joint", &mut self.joint_names)?,
            transmissions: table("rope or gear", &mut self.transmission_names)?,
        }))
    }
}

/// Makes the model of a planned graph: its variables are the dynamic bodies in order, its constraints the joints. Fails if a motor is to compensate
/// a weight that is not its own.
pub(crate) fn lay_out(
    records: Records,
    names: Arc<ModelNames>,
    structure: Arc<ModelStructure>,
) -> Result<Model, MechanismError> {
    let Records { bodies, joints, forces, springs, transmissions, poses, motions, .. } = records;
    let mut pair_of_body = vec![NONE; bodies.len()];
    for (variable, body) in structure.body_of_variable.iter().enumerate() {
        pair_of_body[*body as usize] = structure.plan.position_of(VariableId::new(variable)) as u32;
    }
    let kinematic = bodies.iter().enumerate().filter(|(_, b)| b.kind == BodyKind::Kinematic);
    let mut model = Model {
        kinematic: kinematic.map(|(i, _)| i as u32).collect(),
        linear: bodies.iter().map(|b| LinearInertia { mass: b.mass, damping: b.linear_damping }).collect(),
        spins_free: vec![false; bodies.len()],
        twist_joints: Vec::new(),
        bodies,
        joints,
        forces,
        springs: ModelSprings { transmissions, ..ModelSprings::default() },
        pairs: Vec::new(),
        derived: DerivedTables::default(),
        loops: Vec::new(),
        stamp: 0,
        structure,
        pair_of_body,
        names,
        initial: State::default(),
    };
    model.attach_springs(&springs);
    model.fill_pairs();
    model.fill_loops();
    model.derived.extents = TreeExtent::of(&model.pairs);
    model.derived = DerivedTables::of(&model);
    model.mark_pairs();
    model.derived.rotors = RotorModel::of(&model);
    model.derived.carried = Carried::by_motors(&model)?;
    model.mark_skew();
    model.stamp = model.layout_stamp();
    model.initial = model.state_of(poses, motions);
    Ok(model)
}

impl Model {
    /// Sorts springs into those across a tree joint, those to something immovable, and the rest.
    fn attach_springs(&mut self, springs: &[PointSpring]) {
        let mut across: Vec<(u32, PointSpring)> = Vec::new();
        for spring in springs {
            let (pair1, pair2) = (self.port(spring.body1), self.port(spring.body2));
            match (pair1 == NONE, pair2 == NONE) {
                (true, true) => {}
                (false, true) => self.springs.to_ground.push(*spring),
                (true, false) => self.springs.to_ground.push(spring.swapped()),
                (false, false) => {
                    let Some(joint) = self.joint_between(pair1, pair2) else {
                        self.springs.in_loops.push(LoopSpring { spring: *spring, ports: [pair1, pair2] });
                        continue;
                    };
                    let declared = self.joints[joint as usize].body1 == spring.body1;
                    across.push((joint, if declared { *spring } else { spring.swapped() }));
                }
            }
        }
        across.sort_by_key(|(joint, _)| *joint);
        for joint in &mut self.joints {
            joint.springs = (0, 0);
        }
        for (joint, spring) in across {
            let end = self.springs.across_joints.len() as u32;
            let range = &mut self.joints[joint as usize].springs;
            *range = if range.0 == range.1 { (end, end + 1) } else { (range.0, end + 1) };
            self.springs.across_joints.push(spring);
        }
    }

    /// Marks bodies without joints, and tree joints with a continuous twist angle.
    fn mark_pairs(&mut self) {
        let mut is_looped = vec![false; self.pairs.len()];
        let joined = self.loops.iter().flat_map(|l| l.ports).chain(self.transmission_ports());
        for port in joined.filter(|&port| port != NONE) {
            is_looped[port as usize] = true;
        }
        for (k, pair) in self.pairs.iter_mut().enumerate() {
            pair.spins_free = pair.path == PairPath::FreeRoot && !pair.has_children && !is_looped[k];
            self.spins_free[pair.body as usize] = pair.spins_free;
            if pair.joint != WORLD && self.joints[pair.joint as usize].tracks_twist {
                self.twist_joints.push((pair.joint, k as u32));
            }
        }
    }

    /// Pair of a body, `NONE` if forces do not move it.
    pub(crate) fn port(&self, body: u32) -> u32 {
        if body == WORLD { NONE } else { self.pair_of_body[body as usize] }
    }

    /// The twist that a solve found for a body: one per pair, and that in `given` (per body) where forces do not move it.
    #[inline]
    pub(crate) fn found_motion(&self, found: &[Motion], given: &[Motion], body: u32) -> Motion {
        match self.port(body) {
            NONE => motion_of(given, body),
            port => found[port as usize],
        }
    }

    /// The joints outside the tree; those that may open come last.
    fn fill_loops(&mut self) {
        let loops = self.structure.plan.loop_constraints().iter().map(|c| self.as_loop(c.index() as u32));
        self.loops = loops.collect();
        // A stable sort: multipliers keep their order among equals, and a state its meaning.
        self.loops.sort_by_key(|l| !l.is_primary);
    }

    /// A joint, as if it were outside the tree.
    pub(crate) fn as_loop(&self, index: u32) -> LoopModel {
        let joint = &self.joints[index as usize];
        let forces = &self.forces[joint.forces as usize];
        let plain = joint.n_driven() == 0 && joint.compliance == 0.0;
        LoopModel {
            joint: index,
            ports: [self.port(joint.body1), self.port(joint.body2)],
            ends: self.anchors(joint),
            is_primary: !joint.may_open,
            is_point: joint.kind == JointKind::Ball && plain && forces.n_rows() == 0,
        }
    }

    /// What the geometric stiffness needs of the ends of a joint on its bodies 1 and 2.
    fn anchors(&self, joint: &JointModel) -> [AnchorInertia; 2] {
        let holds_no_point = match joint.kind {
            JointKind::Masked { translations, .. } => translations == 0,
            kind => matches!(kind, JointKind::Free | JointKind::Orientation),
        };
        if holds_no_point {
            return [AnchorInertia::default(); 2];
        }
        [(joint.body1, joint.frames.point1), (joint.body2, joint.frames.point2)].map(|(body, point)| {
            let reach = point.length();
            let about = |b: &BodyModel| b.inertia.moments.min_element() + b.mass * reach * reach;
            AnchorInertia { reach, inertia: self.bodies.get(body as usize).map_or(0.0, about) }
        })
    }

    /// The tree joint between two pairs, if one is the other's parent.
    fn joint_between(&self, pair1: u32, pair2: u32) -> Option<u32> {
        let pairs = self.structure.plan.pairs();
        let (first, second) = (pairs[pair1 as usize], pairs[pair2 as usize]);
        let constraint = if first.parent == pair2 {
            first.constraint
        } else if second.parent == pair1 {
            second.constraint
        } else {
            None
        };
        constraint.map(|c| c.index() as u32)
    }

    /// The pair table in elimination order.
    fn fill_pairs(&mut self) {
        let mut has_children = vec![false; self.structure.plan.pairs().len()];
        let mut pairs = Vec::with_capacity(self.structure.plan.pairs().len());
        for pair in self.structure.plan.pairs() {
            let body = self.structure.body_of_variable[pair.variable.index()];
            let joint = pair.constraint.map_or(WORLD, |c| c.index() as u32);
            let first_child = pair.parent != NONE && !has_children[pair.parent as usize];
            if pair.parent != NONE {
                has_children[pair.parent as usize] = true;
            }
            pairs.push(self.pair_model(body, joint, pair.parent, first_child));
        }
        for (pair, has) in pairs.iter_mut().zip(has_children) {
            pair.has_children = has;
        }
        self.pairs = pairs;
    }

    /// The entry of a body and its tree joint; a body without one is a free root.
    fn pair_model(&self, body: u32, joint: u32, parent: u32, first_child: bool) -> PairModel {
        let &BodyModel { mass, inertia, linear_damping, angular_damping, .. } = &self.bodies[body as usize];
        let mut pair = PairModel {
            body,
            parent_body: WORLD,
            parent,
            joint,
            path: PairPath::FreeRoot,
            free: 6,
            flipped: false,
            first_child,
            has_children: false,
            spins_free: false,
            is_skew: false,
            inertial: BodyInertia { mass, inertia, linear_damping, angular_damping },
            forces: PairForces::default(),
            own: JointSide::default(),
            other: JointSide::default(),
            frame_from_parent_frame: DQuat::IDENTITY,
        };
        if joint != WORLD {
            self.add_joint(&mut pair, &self.joints[joint as usize]);
        }
        pair
    }

    /// Fills in the tree joint of a pair.
    fn add_joint(&self, pair: &mut PairModel, joint: &JointModel) {
        let f = &joint.frames;
        pair.flipped = joint.body1 != pair.body;
        pair.parent_body = if pair.flipped { joint.body1 } else { joint.body2 };
        pair.free = joint.free_dimension() as u8;
        pair.path = self.path_of(joint);
        pair.forces = self.pair_forces(joint, pair.path);
        let [anchor1, anchor2] = self.anchors(joint);
        let side = |rotation: DQuat, point, anchor| JointSide {
            point,
            anchor,
            axis: rotation * DVec3::X,
            reference: rotation * DVec3::Y,
        };
        let (side1, side2) = (side(f.rotation1, f.point1, anchor1), side(f.rotation2, f.point2, anchor2));
        (pair.own, pair.other) = if pair.flipped { (side2, side1) } else { (side1, side2) };
        let [own, other] = if pair.flipped { [f.rotation2, f.rotation1] } else { [f.rotation1, f.rotation2] };
        pair.frame_from_parent_frame = own * other.conjugate();
    }

    /// What the fused paths need of the forces of a joint.
    fn pair_forces(&self, joint: &JointModel, path: PairPath) -> PairForces {
        let mut out = PairForces { set: joint.forces, ..PairForces::default() };
        let forces = &self.forces[joint.forces as usize];
        if let (PairPath::Hinge, Some(twist)) = (path, &forces.twist) {
            out = PairForces {
                spring: twist.spring,
                tracks_twist: true,
                is_complex: !twist.is_spring(),
                ..out
            };
        }
        if let (PairPath::Ball, Some(rotation)) = (path, &forces.rotation) {
            out.spring = Spring { stiffness: rotation.stiffness, damping: rotation.damping, rest: 0.0 };
        }
        out
    }

    /// The fused paths take plain hinges and balls; the rest goes through the row library.
    fn path_of(&self, joint: &JointModel) -> PairPath {
        let forces = &self.forces[joint.forces as usize];
        let has_rows_only = joint.n_driven() == 0 && joint.compliance == 0.0 && !joint.is_actuated;
        let plain = has_rows_only && joint.springs.0 == joint.springs.1;
        match joint.kind {
            // The fused path knows the angle only where forces act on it.
            JointKind::Hinge
                if plain && forces.rotation.is_none() && joint.tracks_twist == forces.twist.is_some() =>
            {
                PairPath::Hinge
            }
            JointKind::Ball if plain && forces.twist.is_none() => match &forces.rotation {
                Some(r) if r.cone.is_some() || r.friction != 0.0 || r.armature != 0.0 => PairPath::General,
                _ => PairPath::Ball,
            },
            _ => PairPath::General,
        }
    }

    /// FNV-1a over the tree, the free dimensions and the table sizes.
    fn layout_stamp(&self) -> u64 {
        let sizes = [self.bodies.len() as u32, self.joints.len() as u32, self.springs.to_ground.len() as u32];
        let has_motor = u32::from(self.forces.iter().any(|f| f.motor().is_some()));
        let rows = |joint: u32| self.joints.get(joint as usize).map_or(0, |j| j.n_rows() as u32);
        let pairs =
            self.pairs.iter().flat_map(|p| [p.parent, p.body, p.joint, u32::from(p.free), rows(p.joint)]);
        let mix = |hash: u64, word: u32| (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3);
        let loops = self.loops.iter().flat_map(|l| {
            let multipliers = self.loop_multipliers(l) as u32;
            [l.joint, l.ports[0], l.ports[1], rows(l.joint), multipliers, u32::from(l.is_primary)]
        });
        let springs = self.springs.in_loops.iter().flat_map(|s| s.ports);
        let rows = self.transmission_ports();
        let all = sizes.into_iter().chain([has_motor]).chain(pairs).chain(loops).chain(springs).chain(rows);
        all.fold(0xcbf2_9ce4_8422_2325, mix)
    }

    /// The first state: no forces yet, twist angles within half a turn.
    fn state_of(&self, poses: Vec<Pose>, motions: Vec<Motion>) -> State {
        let twists = (0..self.joints.len()).map(|joint| self.principal_twist(joint, &poses)).collect();
        let pulls = vec![DVec3::ZERO; poses.len()];
        let loops = LoopState {
            forces: vec![0.0; self.n_loop_multipliers()],
            pulls: vec![DVec3::ZERO; self.loops.len()],
        };
        let (reserves, broken, parted, history) = (Vec::new(), Vec::new(), Vec::new(), History::default());
        State { time: 0.0, poses, motions, twists, pulls, loops, reserves, broken, parted, history }
    }

    /// Twist angle of a joint within ±π at the given poses; 0 where it is not tracked.
    pub(crate) fn principal_twist(&self, joint: usize, poses: &[Pose]) -> f64 {
        let joint = &self.joints[joint];
        if !joint.tracks_twist {
            return 0.0;
        }
        let (pose1, pose2) = (pose_of(poses, joint.body1), pose_of(poses, joint.body2));
        twist_angle(&relative_rotation(&joint.frames, &pose1, &pose2))
    }

    /// Whether a joint is in the tree.
    pub fn is_tree_joint(&self, joint: JointId) -> bool {
        matches!(self.structure.plan.role(ConstraintId::new(joint.index())), Role::Forest(_))
    }
}

impl DerivedTables {
    /// Of a model whose other tables are complete.
    fn of(model: &Model) -> Self {
        let is_bounded =
            |joint: &u32| model.forces[model.joints[*joint as usize].forces as usize].is_bounded();
        let is_limited = |joint: &u32| {
            !is_bounded(joint) && model.forces[model.joints[*joint as usize].forces as usize].is_limited()
        };
        let mut joint_sizes: Vec<f64> =
            (0..model.joints.len() as u32).map(|joint| model.joint_size(joint)).collect();
        for looped in model.loops.iter().filter(|l| !l.is_primary) {
            joint_sizes[looped.joint as usize] = f64::INFINITY;
        }
        let has_drag = |body: &BodyModel| body.linear_damping != 0.0 || body.angular_damping != 0.0;
        let is_moved = |body: u32| body != WORLD && model.pair_of_body[body as usize] != NONE;
        let is_held =
            model.bodies.iter().zip(0..).map(|(body, index)| !is_moved(index) || has_drag(body)).collect();
        let joints = model.joints.iter().map(|joint| [joint.body1, joint.body2]);
        let springs = model.springs.iter().map(|spring| [spring.body1, spring.body2]);
        let transmissions = model.springs.transmissions.iter().flat_map(|transmission| {
            // Whatever a rope passes between them, its bodies pull each other.
            let bodies = model.transmission_bodies(transmission);
            let first = bodies.iter().copied().find(|&body| is_moved(body));
            first
                .into_iter()
                .flat_map(|first| bodies.iter().map(move |&body| [first, body]))
                .collect::<Vec<_>>()
        });
        let is_elastic = |index: &u32| {
            let joint = &model.joints[*index as usize];
            joint.compliance != 0.0 || model.forces[joint.forces as usize] != ForceSet::default()
        };
        let may_break = |index: &u32| model.joints[*index as usize].breaks_at.is_some();
        let slides = |index: &u32| match model.joints[*index as usize].kind {
            JointKind::Masked { translations, .. } => !matches!(translations, 0b000 | 0b111),
            JointKind::Fixed | JointKind::Hinge | JointKind::Ball | JointKind::Universal => false,
            kind => !matches!(kind, JointKind::Orientation | JointKind::Free),
        };
        let rope_body = |transmission: &TransmissionModel| {
            let mut bodies = model.transmission_bodies(transmission).into_iter();
            bodies.find(|&body| is_moved(body)).unwrap_or(WORLD)
        };
        Self {
            elastic_joints: (0..model.joints.len() as u32).filter(is_elastic).collect(),
            sliding_joints: (0..model.joints.len() as u32).filter(slides).collect(),
            rope_bodies: model.springs.transmissions.iter().map(rope_body).collect(),
            extents: model.derived.extents.clone(),
            smallest_size: joint_sizes.iter().copied().fold(f64::INFINITY, f64::min),
            joint_sizes,
            spring_rates: model.springs.iter().map(|spring| model.spring_rate(spring)).collect(),
            bounded_joints: (0..model.joints.len() as u32).filter(is_bounded).collect(),
            breakable_joints: (0..model.joints.len() as u32).filter(may_break).collect(),
            limited_joints: (0..model.joints.len() as u32).filter(is_limited).collect(),
            has_bounded_loops: model.loops.iter().any(|looped| is_bounded(&looped.joint)),
            islands: Islands::of(is_held, &is_moved, joints.chain(springs).chain(transmissions)),
            is_overconstrained: model.find_overconstrained(),
            has_many_loops: model.find_many_loops(),
            rotors: Vec::new(),
            carried: Vec::new(),
        }
    }
}

impl Model {
    /// Stiffness of a spring over the reduced mass of its bodies, 1/s², and their size, m.
    fn spring_rate(&self, spring: &PointSpring) -> (f64, f64) {
        let ends = [(spring.body1, spring.point1), (spring.body2, spring.point2)];
        let moved = ends.into_iter().filter(|&(body, _)| self.port(body) != NONE);
        let (mut mobility, mut size) = (0.0, 0.0f64);
        for (body, point) in moved {
            let radius = self.derived.extents[self.port(body) as usize].radius;
            mobility += 1.0 / self.bodies[body as usize].mass;
            size = size.max(point.length()).max(radius);
        }
        (spring.stiffness * mobility, size)
    }

    /// Size of the bodies that a joint moves: arms or radii of gyration, m.
    pub(crate) fn joint_size(&self, joint: u32) -> f64 {
        let joint = &self.joints[joint as usize];
        let ends = [(joint.body1, joint.frames.point1), (joint.body2, joint.frames.point2)];
        let of_end = |(body, point): (u32, DVec3)| match self.port(body) {
            NONE => 0.0,
            port => point.length().max(self.derived.extents[port as usize].radius),
        };
        ends.map(of_end).into_iter().fold(f64::MIN_POSITIVE, f64::max)
    }
}
