//! Scratch memory of a step. Losing it never changes a result: it is rebuilt from the model.
//!
//! Scratch that only some steps need is made at their first use. The scratch of all steppers is declared here and not in their
//! modules, because [`Workspace`] is below them.

use glam::{DQuat, DVec3};
use sinew_math::{Force, Motion, Pose};
use sinew_solvers::Load;

use crate::coupling::CompanionScratch;
use crate::forces::{BandLaw, CoordinateLaws, HeldLimits, MotorTarget};
use crate::input::Input;
use crate::input_index::InputIndex;
use crate::loops::LoopWorkspace;
use crate::measure::Energy;
use crate::model::{JointId, Model, State};
use crate::reactions::Reactions;
use crate::sources::KnownMotor;
use crate::tree::{BlockScratch, BodyLoads, Mixing, Rotor, SweepStack, TreeScratch};

/// Scratch of [`crate::step`], sized for one model. After the first step of a scheme a step allocates nothing while the
/// input touches at most 64 bodies. The default fits no model yet; a step makes it fit.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The layout of the model this was made for.
    stamp: u64,
    /// Factor and solution of the tree.
    pub(crate) tree: TreeScratch,
    /// Linearization points beside the state.
    pub(crate) points: PointScratch,
    /// Loads on single bodies at the present point.
    pub(crate) loads: BodyLoads,
    /// Motor targets per joint; empty if no joint has a motor.
    pub(crate) targets: Vec<MotorTarget>,
    /// Tables of the input.
    pub(crate) input_index: InputIndex,
    /// Wrenches of joints and accelerations of the last step.
    pub(crate) reactions: Reactions,
    /// Per grab of the last input: its wrench on the body.
    pub(crate) grab_wrenches: Vec<Force>,
    /// Made when there are loops.
    pub(crate) loops: Option<Box<LoopWorkspace>>,
    /// Made when there is a companion.
    pub(crate) companion: Option<Box<CompanionScratch>>,
    /// Made when the block form is first used.
    pub(crate) block: Option<Box<BlockScratch>>,
    /// Laws of joints under review.
    pub(crate) next_laws: Vec<(u32, [CoordinateLaws; 2])>,
    /// Momenta and energies of the islands.
    pub(crate) islands: IslandScratch,
    pub(crate) part: PartScratch,
    /// Made when the displacement stepper is first used.
    pub(crate) displacement: Option<Box<DisplacementScratch>>,
    /// Made when the explicit stepper is first used.
    pub(crate) explicit: Option<Box<ExplicitScratch>>,
}

/// Springs and slides at the end of the step, as the last solve has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedEnds {
    /// Gap of each spring, m.
    pub(crate) gaps: Vec<DVec3>,
    /// Of slides with forces, m.
    pub(crate) slides: Vec<f64>,
}

/// Linearization points other than the state itself, per body in the user's order; filled on demand.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointScratch {
    /// `q_k`, or the poses before a displacement of an assembly.
    pub(crate) poses: Vec<Pose>,
    /// The poses before a stabilization.
    pub(crate) extra_poses: Vec<Pose>,
    /// The best poses of an assembly.
    pub(crate) best_poses: Vec<Pose>,
    /// `v_k`, which is also the displacement `d` in the poses.
    pub(crate) velocities: Vec<Motion>,
    /// Laws of bounded forces and limits, per joint; empty if there are none.
    pub(crate) laws: Vec<[CoordinateLaws; 2]>,
    /// Laws of ropes and gears.
    pub(crate) bands: Vec<BandLaw>,
    /// End of the step, where Newton iterations measure.
    pub(crate) ends: Vec<Pose>,
    /// The best twists of the Newton iterations, per pair.
    pub(crate) best_motions: Vec<Motion>,
    /// Multipliers of the loops that belong to them.
    pub(crate) best_multipliers: Vec<f64>,
    /// What the last solve takes springs and slides for.
    pub(crate) expected: ExpectedEnds,
    /// `v̂` of the second-order scheme.
    pub(crate) base: Vec<Motion>,
    /// Net force of its joints on each body in the last solve.
    pub(crate) joint_forces: Vec<DVec3>,
    /// Force in each joint outside the tree in the last solve.
    pub(crate) loop_forces: Vec<DVec3>,
    /// Bodies that spin, and what solves assumed of them.
    pub(crate) rotors: Vec<Rotor>,
    pub(crate) mixing: Mixing,
    /// Joints at their limits in the last solve of an assembly.
    pub(crate) held: HeldLimits,
}

/// Islands over a part of a step; energies, in J, over parts of implicit ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct IslandScratch {
    /// Per body: whether its island falls back to first order while others do not.
    pub(crate) fallen: Vec<bool>,
    /// Angular momenta of the free ones at the start, kg·m²/s.
    pub(crate) momenta: Vec<DVec3>,
    /// Whether energies are looked at in this part.
    pub(crate) is_measured: bool,
    /// Per island: energy at the start and put in since; not a number where work is done that is not known.
    pub(crate) given: Vec<f64>,
    /// Per island: now.
    pub(crate) now: Vec<Energy>,
    pub(crate) motors: Vec<KnownMotor>,
    /// Where the bodies with wrenches start, and how fast.
    pub(crate) pulled: Vec<(Pose, Motion)>,
}

/// Scratch of the explicit stepper, per body in the user's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExplicitScratch {
    /// Where the present stage is.
    pub(crate) poses: Vec<Pose>,
    pub(crate) motions: Vec<Motion>,
    /// Derivatives at the last stage: the next one starts along them.
    pub(crate) derivatives: Vec<BodyDerivative>,
    /// Weighted sum of the derivatives of all stages.
    pub(crate) sums: Vec<BodyDerivative>,
    /// Wrenches that do not pass through tree joints.
    pub(crate) external: Vec<Force>,
    /// Where kinematic bodies are at the end of the step, and how fast.
    pub(crate) end_poses: Vec<Pose>,
    pub(crate) end_motions: Vec<Motion>,
    /// Accelerations of kinematic bodies at the present stage.
    pub(crate) prescribed: Vec<Motion>,
}

/// Time derivative of one body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyDerivative {
    /// `q̇ = ½ ω q` as four numbers.
    pub(crate) rotation: DQuat,
    /// Of the centre of mass, m/s.
    pub(crate) velocity: DVec3,
    /// rad/s² and m/s².
    pub(crate) acceleration: Motion,
}

impl BodyDerivative {
    /// At rest; the rotation is four numbers, not a unit quaternion.
    pub(crate) const ZERO: Self = Self {
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        velocity: DVec3::ZERO,
        acceleration: Motion::ZERO,
    };

    /// Adds a weighted derivative of another stage.
    pub(crate) fn add(&mut self, other: &Self, weight: f64) {
        self.rotation += other.rotation * weight;
        self.velocity += other.velocity * weight;
        self.acceleration += other.acceleration * weight;
    }
}

/// Scratch of the displacement stepper, per body in the user's order.
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

/// A part of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartScratch {
    /// Where it begins, if it may be made again.
    pub(crate) start: State,
    /// Its input, with room for that of the step, where steps may be divided.
    pub(crate) input: Option<Box<Input>>,
}

impl Workspace {
    /// Scratch for a model.
    pub fn new(model: &Model) -> Self {
        let mut workspace = Self::default();
        workspace.refit(model);
        workspace
    }

    /// Makes it fit another model. What the last step left is forgotten; the memory of the factor is kept.
    pub fn refit(&mut self, model: &Model) {
        let mut tree = std::mem::take(&mut self.tree);
        tree.refit(model);
        // Without motors there is nothing to look up per joint.
        let has_motor = model.forces.iter().any(|f| f.motor().is_some());
        let targets = if has_motor { vec![MotorTarget::default(); model.joints.len()] } else { Vec::new() };
        *self = Self {
            stamp: model.stamp,
            tree,
            loads: BodyLoads::new(model),
            targets,
            grab_wrenches: Vec::with_capacity(BodyLoads::ROOM),
            islands: IslandScratch { motors: KnownMotor::all(model), ..IslandScratch::default() },
            ..Self::default()
        };
    }

    /// Whether this was made for a model laid out like `model`.
    pub(crate) fn fits(&self, model: &Model) -> bool {
        self.stamp == model.stamp
    }

    /// Leaves the continuous twist angles of the last solve in the state.
    pub(crate) fn store_twists(&self, model: &Model, state: &mut State) {
        self.tree.store_twists(model, &mut state.twists);
        if let Some(loops) = &self.loops {
            loops.store_twists(model, &mut state.twists);
        }
    }

    /// What each joint did to its body 1 in the last step, springs, limits, motors, drives and friction in it included: torque about
    /// the anchor on body 1 (N·m) and force (N), world axes; body 2 feels the opposite at the same point. Empty unless
    /// [`crate::Settings::reactions`] asked for them or a joint of the model may break.
    ///
    /// They balance the bodies as the step does: `Σ wrenches + gravity + other forces = d(momentum)/dt`, forces to rounding, torques
    /// to the order of the step.
    ///
    /// | Step | Wrenches |
    /// |---|---|
    /// | implicit, first order | mean over the step, its parts included; anchors where it was linearized, which is its start |
    /// | implicit, second order | at the end of the step |
    /// | explicit | mean over the stages |
    /// | displacement | at the start of the step; none unless [`crate::Displacement`] has its default directions and rotations, and where it had to assemble bodies at their predicted poses |
    ///
    /// What a stabilization or [`crate::Settings::keep_momentum`] changes after a step is not counted. Hard and soft grabs are no joints:
    /// see [`Workspace::grab_wrenches`].
    pub fn joint_wrenches(&self) -> &[Force] {
        &self.reactions.wrenches
    }

    /// The joints that broke at the end of the last step ([`crate::JointSpec::breaks_at`]), in the order of the model.
    pub fn broke(&self) -> &[JointId] {
        &self.reactions.broke
    }

    /// Forgets which joints broke in the last step: to be called where the state is not the one that it led to.
    pub fn forget_broke(&mut self) {
        self.reactions.broke.clear();
    }

    /// Mean acceleration of each body in the last step, at its centre of mass, world axes, rad/s² and m/s²: the change of its twist
    /// over the length of the step. Empty unless [`crate::Settings::reactions`] asked for it.
    pub fn accelerations(&self) -> &[Motion] {
        &self.reactions.accelerations
    }

    /// What each grab of the last implicit step did to its body, in the order of the input: torque about the centre of mass
    /// (N·m) and force (N), world axes. The opposite is what the hand feels.
    pub fn grab_wrenches(&self) -> &[Force] {
        &self.grab_wrenches
    }

    /// Bytes held, for the memory report; without the scratch of loops, of companions, of assembly, and of the explicit and
    /// displacement steppers.
    pub fn bytes(&self) -> usize {
        let Self { tree, points, loads, .. } = self;
        let stack = |s: &SweepStack| {
            s.loads.capacity() * size_of::<Load>() + s.joint_forces.capacity() * size_of::<DVec3>()
        };
        let lists =
            loads.loads.capacity() * size_of::<Load>() + 4 * (loads.slots.len() + loads.touched.capacity());
        let motions =
            tree.motions.len() + points.velocities.len() + points.base.len() + points.best_motions.len();
        tree.factor.bytes()
            + tree.twists.len() * 8
            + tree.schedule.trunk.len() * 4
            + tree.stacks.iter().map(stack).sum::<usize>()
            + lists
            + motions * size_of::<Motion>()
            + (points.poses.len() + points.ends.len()) * size_of::<Pose>()
            + points.laws.len() * size_of::<[CoordinateLaws; 2]>()
            + points.joint_forces.len() * size_of::<DVec3>()
            + self.targets.len() * size_of::<MotorTarget>()
            + self.grab_wrenches.capacity() * size_of::<Force>()
            + self.block.as_ref().map_or(0, |block| block.bytes())
    }
}
