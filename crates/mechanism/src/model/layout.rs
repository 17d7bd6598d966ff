//! From checked records and a plan to the tables that a step reads.

use glam::{DQuat, DVec3};
use sinew_math::{JointKind, Motion, Pose, quat_to_mat3};
use sinew_topology::{ConstraintId, EliminationPlan, Graph, NONE, Role, VariableId};

use crate::forces::point_spring::PointSpring;
use crate::forces::set::ForceSet;
use crate::joints::twist::twist_angle;
use crate::model::body::BodyKind;
use crate::model::ids::JointId;
use crate::model::mechanism::Model;
use crate::model::records::{
    AnchorInertia, BodyModel, JointModel, LinearInertia, LoopModel, LoopSpring, PairModel, PairPath, WORLD,
    pose_of,
};
use crate::model::state::{History, LoopState, State};
use crate::model::tree_extent::TreeExtent;

/// Bodies, joints and springs as the model stores them, before they are planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) bodies: Vec<BodyModel>,
    pub(crate) joints: Vec<JointModel>,
    pub(crate) forces: Vec<ForceSet>,
    pub(crate) springs: Vec<PointSpring>,
    pub(crate) body_names: Vec<String>,
    pub(crate) joint_names: Vec<String>,
    /// Initial central poses and twists.
    pub(crate) poses: Vec<Pose>,
    pub(crate) motions: Vec<Motion>,
}

/// Makes the model of a planned graph: its variables are the dynamic bodies in order, its constraints the joints.
pub(crate) fn lay_out(records: Records, graph: Graph, plan: EliminationPlan) -> Model {
    let Records { bodies, joints, forces, springs, body_names, joint_names, poses, motions } = records;
    let dynamic = |b: &(usize, &BodyModel)| b.1.kind == BodyKind::Dynamic;
    let body_of_variable: Vec<u32> =
        bodies.iter().enumerate().filter(dynamic).map(|(i, _)| i as u32).collect();
    let mut pair_of_body = vec![NONE; bodies.len()];
    for (variable, body) in body_of_variable.iter().enumerate() {
        pair_of_body[*body as usize] = plan.position_of(VariableId::new(variable)) as u32;
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
        joint_springs: Vec::new(),
        ground_springs: Vec::new(),
        pairs: Vec::new(),
        extents: Vec::new(),
        loops: Vec::new(),
        loop_springs: Vec::new(),
        stamp: 0,
        graph,
        plan,
        body_of_variable,
        pair_of_body,
        body_names: keep_names(body_names),
        joint_names: keep_names(joint_names),
        initial: State::default(),
    };
    model.attach_springs(&springs);
    model.fill_pairs();
    model.fill_loops();
    model.extents = TreeExtent::of(&model.pairs);
    let mut is_looped = vec![false; model.pairs.len()];
    for port in model.loops.iter().flat_map(|l| l.ports).filter(|&port| port != NONE) {
        is_looped[port as usize] = true;
    }
    for (k, pair) in model.pairs.iter_mut().enumerate() {
        pair.spins_free = pair.path == PairPath::FreeRoot && !pair.has_children && !is_looped[k];
        model.spins_free[pair.body as usize] = pair.spins_free;
        if pair.joint != WORLD && model.joints[pair.joint as usize].tracks_twist {
            model.twist_joints.push((pair.joint, k as u32));
        }
    }
    model.stamp = model.layout_stamp();
    model.initial = model.state_of(poses, motions);
    model
}

/// Names, if there are any at all.
fn keep_names(names: Vec<String>) -> Vec<String> {
    if names.iter().all(String::is_empty) { Vec::new() } else { names }
}

impl Model {
    /// Sorts springs into those across a tree joint, those to something immovable, and the rest.
    fn attach_springs(&mut self, springs: &[PointSpring]) {
        let mut across: Vec<(u32, PointSpring)> = Vec::new();
        for spring in springs {
            let (pair1, pair2) = (self.port(spring.body1), self.port(spring.body2));
            match (pair1 == NONE, pair2 == NONE) {
                (true, true) => {}
                (false, true) => self.ground_springs.push(*spring),
                (true, false) => self.ground_springs.push(spring.swapped()),
                (false, false) => {
                    let Some(joint) = self.joint_between(pair1, pair2) else {
                        self.loop_springs.push(LoopSpring { spring: *spring, ports: [pair1, pair2] });
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
            let end = self.joint_springs.len() as u32;
            let range = &mut self.joints[joint as usize].springs;
            *range = if range.0 == range.1 { (end, end + 1) } else { (range.0, end + 1) };
            self.joint_springs.push(spring);
        }
    }

    /// Pair of a body, `NONE` if forces do not move it.
    pub(crate) fn port(&self, body: u32) -> u32 {
        if body == WORLD { NONE } else { self.pair_of_body[body as usize] }
    }

    /// The joints outside the tree; those that may open come last.
    fn fill_loops(&mut self) {
        let entry = |constraint: &ConstraintId| {
            let joint = &self.joints[constraint.index()];
            let forces = &self.forces[joint.forces as usize];
            let plain = joint.n_driven() == 0 && joint.compliance == 0.0;
            LoopModel {
                joint: constraint.index() as u32,
                ports: [self.port(joint.body1), self.port(joint.body2)],
                ends: self.anchors(joint),
                is_primary: !joint.may_open,
                is_point: joint.kind == JointKind::Ball && plain && forces.n_rows() == 0,
            }
        };
        self.loops = self.plan.loop_constraints().iter().map(entry).collect();
        self.loops.sort_by_key(|l| !l.is_primary);
    }

    /// What the geometric stiffness needs of the ends of a joint on its bodies 1 and 2.
    fn anchors(&self, joint: &JointModel) -> [AnchorInertia; 2] {
        if joint.kind.locked_mask() == Some(0) || joint.kind == JointKind::Orientation {
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
        let pairs = self.plan.pairs();
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
        let mut has_children = vec![false; self.plan.pairs().len()];
        let mut pairs = Vec::with_capacity(self.plan.pairs().len());
        for pair in self.plan.pairs() {
            let body = self.body_of_variable[pair.variable.index()];
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

    fn pair_model(&self, body: u32, joint: u32, parent: u32, first_child: bool) -> PairModel {
        let inertial = &self.bodies[body as usize];
        let zero = DVec3::ZERO;
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
            complex: false,
            tracks_twist: false,
            spins_free: false,
            forces: 0,
            mass: inertial.mass,
            inertia: inertial.inertia,
            linear_damping: inertial.linear_damping,
            angular_damping: inertial.angular_damping,
            point: zero,
            parent_point: zero,
            own_end: AnchorInertia::default(),
            parent_end: AnchorInertia::default(),
            axis: zero,
            parent_axis: zero,
            reference: zero,
            parent_reference: zero,
            frame_from_parent_frame: DQuat::IDENTITY,
            stiffness: 0.0,
            damping: 0.0,
            rest: 0.0,
        };
        if joint == WORLD {
            return pair;
        }
        let j = &self.joints[joint as usize];
        let f = &j.frames;
        pair.flipped = j.body1 != body;
        pair.parent_body = if pair.flipped { j.body1 } else { j.body2 };
        pair.free = j.free_dimension() as u8;
        pair.forces = j.forces;
        let ends = [(f.rotation1, f.point1), (f.rotation2, f.point2)];
        let [own, other] = if pair.flipped { [ends[1], ends[0]] } else { ends };
        (pair.point, pair.parent_point) = (own.1, other.1);
        let [end1, end2] = self.anchors(j);
        [pair.own_end, pair.parent_end] = if pair.flipped { [end2, end1] } else { [end1, end2] };
        (pair.axis, pair.parent_axis) = (own.0 * DVec3::X, other.0 * DVec3::X);
        (pair.reference, pair.parent_reference) = (own.0 * DVec3::Y, other.0 * DVec3::Y);
        pair.frame_from_parent_frame = own.0 * other.0.conjugate();
        pair.path = self.path_of(j);
        let forces = &self.forces[j.forces as usize];
        match pair.path {
            PairPath::Hinge => {
                if let Some(twist) = &forces.twist {
                    (pair.stiffness, pair.damping) = (twist.spring.stiffness, twist.spring.damping);
                    pair.rest = twist.spring.rest;
                    pair.complex = !twist.is_simple() || twist.armature != 0.0;
                    pair.tracks_twist = true;
                }
            }
            PairPath::Ball => {
                if let Some(rotation) = &forces.rotation {
                    (pair.stiffness, pair.damping) = (rotation.stiffness, rotation.damping);
                }
            }
            PairPath::FreeRoot | PairPath::General => {}
        }
        pair
    }

    /// The fused paths take plain hinges and balls; the rest goes through the row library.
    fn path_of(&self, joint: &JointModel) -> PairPath {
        let forces = &self.forces[joint.forces as usize];
        let plain = joint.n_driven() == 0 && joint.compliance == 0.0 && joint.springs.0 == joint.springs.1;
        match joint.kind {
            JointKind::Hinge if plain && forces.rotation.is_none() => PairPath::Hinge,
            JointKind::Ball if plain => match &forces.rotation {
                Some(r) if r.cone.is_some() || r.friction != 0.0 || r.armature != 0.0 => PairPath::General,
                _ => PairPath::Ball,
            },
            _ => PairPath::General,
        }
    }

    /// FNV-1a over the tree, the free dimensions and the table sizes.
    fn layout_stamp(&self) -> u64 {
        let sizes = [self.bodies.len() as u32, self.joints.len() as u32, self.ground_springs.len() as u32];
        let has_motor = u32::from(self.forces.iter().any(|f| f.motor().is_some()));
        let rows = |joint: u32| self.joints.get(joint as usize).map_or(0, |j| j.n_rows() as u32);
        let pairs =
            self.pairs.iter().flat_map(|p| [p.parent, p.body, p.joint, u32::from(p.free), rows(p.joint)]);
        let mix = |hash: u64, word: u32| (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3);
        let loops = self.loops.iter().flat_map(|l| {
            let multipliers = self.loop_multipliers(l) as u32;
            [l.joint, l.ports[0], l.ports[1], rows(l.joint), multipliers, u32::from(l.is_primary)]
        });
        let springs = self.loop_springs.iter().flat_map(|s| s.ports);
        let all = sizes.into_iter().chain([has_motor]).chain(pairs).chain(loops).chain(springs);
        all.fold(0xcbf2_9ce4_8422_2325, mix)
    }

    fn state_of(&self, poses: Vec<Pose>, motions: Vec<Motion>) -> State {
        let twists = (0..self.joints.len()).map(|joint| self.principal_twist(joint, &poses)).collect();
        let pulls = vec![DVec3::ZERO; poses.len()];
        let loops = LoopState {
            forces: vec![0.0; self.n_loop_multipliers()],
            pulls: vec![DVec3::ZERO; self.loops.len()],
        };
        State { time: 0.0, poses, motions, twists, pulls, loops, history: History::default() }
    }

    /// Twist angle of a joint within ±π at the given poses; 0 where it is not tracked.
    pub(crate) fn principal_twist(&self, joint: usize, poses: &[Pose]) -> f64 {
        let joint = &self.joints[joint];
        if !joint.tracks_twist {
            return 0.0;
        }
        let frame = |body: u32, rotation| pose_of(poses, body).rotation * rotation;
        let frame2 = frame(joint.body2, joint.frames.rotation2);
        twist_angle(&quat_to_mat3(frame2.conjugate() * frame(joint.body1, joint.frames.rotation1)))
    }

    /// Whether a joint is in the tree.
    pub fn is_tree_joint(&self, joint: JointId) -> bool {
        matches!(self.plan.role(ConstraintId::new(joint.index())), Role::Forest(_))
    }
}
