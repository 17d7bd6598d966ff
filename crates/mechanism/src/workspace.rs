//! Scratch memory of a step. Losing it never changes a result: it is rebuilt from the model.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Motion, Pose};
use sinew_solvers::{Load, PairFactor};
use sinew_topology::NONE;

use crate::coupling::companion::CompanionWork;
use crate::forces::scalar::MotorTarget;
use crate::loops::work::LoopWork;
use crate::model::mechanism::Model;
use crate::tree::block_form::BlockScratch;
use crate::tree::held_limits::HeldLimits;
use crate::tree::loads::BodyLoads;
use crate::tree::report::TreeReport;
use crate::tree::scratch::{SweepStack, TreeScratch, stack_depth};

/// Pairs per parallel task: large enough to pay for a hand-over of some microseconds.
const GRAIN: usize = 512;

/// Scratch of [`crate::step`], sized for one model. After the first step of a scheme a step allocates nothing while the
/// input touches at most 64 bodies.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The layout of the model this was made for.
    stamp: u64,
    pub(crate) tree: TreeScratch,
    pub(crate) points: Linearization,
    pub(crate) extras: BodyLoads,
    pub(crate) targets: Vec<MotorTarget>,
    /// Per grab of the last input: its wrench on the body.
    pub(crate) grab_wrenches: Vec<Force>,
    /// Made when there are loops.
    pub(crate) loops: Option<Box<LoopWork>>,
    /// Made when there is a companion.
    pub(crate) together: Option<Box<CompanionWork>>,
    /// Made when the block form is first used.
    pub(crate) block: Option<Box<BlockScratch>>,
    /// Made when the displacement stepper is first used.
    pub(crate) displacement: Option<Box<DisplacementScratch>>,
    /// Made when the explicit stepper is first used.
    pub(crate) explicit: Option<Box<ExplicitScratch>>,
}

/// Linearization point other than the state itself, per body in the user's order; filled on demand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linearization {
    pub(crate) poses: Vec<Pose>,
    /// The poses before a stabilization.
    pub(crate) extra_poses: Vec<Pose>,
    /// The best poses of an assembly.
    pub(crate) best_poses: Vec<Pose>,
    /// `v_k`, which is also the displacement `d` in the poses.
    pub(crate) velocities: Vec<Motion>,
    /// `v̂` of the second-order scheme.
    pub(crate) base: Vec<Motion>,
    /// Net joint force on each body in the last iterate.
    pub(crate) pulls: Vec<DVec3>,
    /// Force in each joint outside the tree in the last iterate.
    pub(crate) loop_pulls: Vec<DVec3>,
    /// TwoJoints at the ends of their ranges in the last iterate of an assembly.
    pub(crate) stops: HeldLimits,
}

impl Workspace {
    /// Scratch for a model.
    pub fn new(model: &Model) -> Self {
        let n = model.pairs.len();
        let schedule = model.plan.schedule(GRAIN);
        let depth = stack_depth(model);
        let mut tree = TreeScratch {
            factor: PairFactor::new(model.pairs.iter().map(|p| usize::from(p.free))),
            motions: vec![Motion::ZERO; n],
            twists: vec![0.0; n],
            schedule,
            lanes: Vec::new(),
        };
        tree.lanes = (0..=tree.schedule.tasks.len())
            .map(|task| {
                let bound = tree.schedule.tasks.get(task).map_or(depth, |t| t.pairs.len().min(depth));
                SweepStack {
                    stack: Vec::with_capacity(bound + 1),
                    pulls: Vec::with_capacity(bound + 1),
                    report: TreeReport::default(),
                }
            })
            .collect();
        let has_motor = model.forces.iter().any(|f| f.motor().is_some());
        let targets = if has_motor { vec![MotorTarget::default(); model.joints.len()] } else { Vec::new() };
        let room = model.ground_springs.len() + 2 * model.loops.len() + EXTRA_ROOM;
        let extras = BodyLoads {
            slots: vec![NONE; n],
            loads: Vec::with_capacity(room),
            touched: Vec::with_capacity(room),
            held: Vec::new(),
        };
        let stamp = model.stamp;
        Self {
            stamp,
            tree,
            points: Linearization::default(),
            extras,
            targets,
            grab_wrenches: Vec::with_capacity(EXTRA_ROOM),
            loops: None,
            together: None,
            block: None,
            displacement: None,
            explicit: None,
        }
    }

    /// Whether this was made for a model laid out like `model`.
    pub(crate) fn fits(&self, model: &Model) -> bool {
        self.stamp == model.stamp
    }

    /// What each grab of the last implicit step did to its body, in the order of the input: torque about the centre of mass
    /// (N·m) and force (N), world axes. The opposite is what the hand feels.
    pub fn grab_wrenches(&self) -> &[Force] {
        &self.grab_wrenches
    }

    /// Bytes held, for the memory report; without the scratch of loops, of assembly, of the block form, and of the
    /// explicit and displacement steppers.
    pub fn bytes(&self) -> usize {
        use std::mem::size_of;
        let lanes: usize = self.tree.lanes.iter().map(|l| l.stack.capacity() * size_of::<Load>()).sum();
        self.tree.factor.bytes()
            + self.tree.motions.len() * size_of::<Motion>()
            + self.tree.twists.len() * 8
            + lanes
            + self.extras.slots.len() * 4
            + self.points.poses.len() * size_of::<Pose>()
            + (self.points.velocities.len() + self.points.base.len()) * size_of::<Motion>()
            + self.points.pulls.len() * size_of::<DVec3>()
    }
}

/// Bodies with input wrenches or grabs that need no allocation.
const EXTRA_ROOM: usize = 64;

/// Stage storage, per body in the user's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplicitScratch {
    pub(crate) poses: Vec<Pose>,
    pub(crate) motions: Vec<Motion>,
    pub(crate) slopes: Vec<BodyDerivative>,
    pub(crate) sums: Vec<BodyDerivative>,
    pub(crate) external: Vec<Force>,
}

/// Time derivative of one body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyDerivative {
    pub(crate) rotation: DQuat,
    pub(crate) velocity: DVec3,
    pub(crate) acceleration: Motion,
}

impl BodyDerivative {
    pub(crate) const ZERO: Self = Self {
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        velocity: DVec3::ZERO,
        acceleration: Motion::ZERO,
    };

    pub(crate) fn add(&mut self, other: &Self, weight: f64) {
        self.rotation += other.rotation * weight;
        self.velocity += other.velocity * weight;
        self.acceleration += other.acceleration * weight;
    }
}

/// Per body in the user's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisplacementScratch {
    /// Wrenches on the bodies.
    pub(crate) forces: Vec<Force>,
    /// `(ℓ, Δx)`.
    pub(crate) carried: Vec<Motion>,
    /// `θ'`.
    pub(crate) turns: Vec<DVec3>,
    /// The poses so far.
    pub(crate) poses: Vec<Pose>,
}
