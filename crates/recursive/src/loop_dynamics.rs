//! Forward dynamics of trees with closed loops.
//!
//! ```text
//! M q̈ + bias = τ + Jᵀλ,      J q̈ + J̇v = −γ_v J v − γ_p φ
//! Â λ = −(J q̈₀ + J̇v + γ_v J v + γ_p φ),   Â = JM⁻¹Jᵀ,   q̈ = q̈₀ + M⁻¹Jᵀλ
//! ```
//! `q̈₀` are the accelerations of the open tree (`hybrid`), `Â` comes from its elimination (`loop_response`), and the wrenches of the loops are added
//! to the response (`added_wrenches`), once more with what rounding left. `φ`, `J` and `J̇v` are the rows of
//! `sinew_mechanism::evaluate_rows` in their acceleration form: axis rows are sines of angles, the rows of rolling bodies
//! restrict velocities only. `Jᵀλ` are the wrenches of the closing joints on their bodies 1, and the opposite on bodies 2. With
//! prescribed joints the same holds for the others. Gains are zero unless they are set: accelerations are exact, and what an integrator drifts
//! off is brought back by [`LoopDynamics::project_coordinates`] and [`LoopDynamics::project_rates`].
//!
//! World axes, SI units. Cost: linear in links, plus that of `loop_response`. Nothing allocates, nothing fails: dependent and contradictory
//! rows are counted and what they leave is told.

use std::ops::Range;

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, shift_force};
use sinew_mechanism::{JointId, PairState, RelativeState, RowForm, Rows, evaluate_rows};
use sinew_topology::NONE;

use crate::command::{HybridCommand, HybridReport, TreeLoads};
use crate::dynamics::Dynamics;
use crate::loop_response::LoopResponse;
use crate::loop_torques::LoopTorques;
use crate::looped_tree::{LoopClosure, LoopEnd, LoopedTree};
use crate::tree::LinkId;

/// How closed loops are held.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClosureSettings {
    /// `γ_v`, 1/s, at least 0.
    pub rate_gain: f64,
    /// `γ_p`, 1/s², at least 0.
    pub position_gain: f64,
    /// Rows count as dependent if the square of what sets them apart is not above this part of the whole: 1e-8 is an angle of 1e-4 rad.
    pub dependence: f64,
}

impl Default for ClosureSettings {
    fn default() -> Self {
        Self { rate_gain: 0.0, position_gain: 0.0, dependence: 1e-8 }
    }
}

/// Report of forward dynamics with loops.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[must_use = "names a joint that was locked, and tells how far loops are unmet"]
pub struct ClosureReport {
    /// Of the open tree.
    pub open: HybridReport,
    /// Number of rows that other rows, or the tree, hold already.
    pub dependent: usize,
    /// Largest acceleration that loops leave (m/s², rad/s²): rounding, unless rows contradict each other.
    pub unmet: f64,
    /// Of a step: parts that its inertial motion was made in.
    pub parts: u32,
}

/// Scratch and results of the dynamics of one [`LoopedTree`].
///
/// The only memory is the number of turns of screws that close loops, from one call to the next.
///
/// ```
/// use glam::DVec3;
/// use sinew_math::{MassProperties, Pose};
/// use sinew_mechanism::{BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, rotation_to_axis};
/// use sinew_recursive::{Dynamics, HybridCommand, LoopDynamics, LoopedTree, TreeLoads, TreeState};
///
/// // A parallelogram of three rods of 1 m and 1 kg in the plane of x and z, on four hinges about y. Seen in space it has three rows too many.
/// let rod = |along: DVec3| MassProperties::cuboid(along + DVec3::splat(1e-3), 1.0 / (1.001 * 1e-6));
/// let y = rotation_to_axis(DVec3::Y).expect("not zero");
/// let mut builder = MechanismBuilder::new();
/// let left = builder.add_body(BodySpec::dynamic("left", Pose::from_translation(DVec3::new(0.5, 0.0, 0.0)), rod(DVec3::X)));
/// let bar = builder.add_body(BodySpec::dynamic("bar", Pose::from_translation(DVec3::new(1.0, 0.0, 0.5)), rod(DVec3::Z)));
/// let right = builder.add_body(BodySpec::dynamic("right", Pose::from_translation(DVec3::new(0.5, 0.0, 1.0)), rod(DVec3::X)));
/// let places = [(left, None, [0.0, 0.0]), (bar, Some(left), [1.0, 0.0]), (right, Some(bar), [1.0, 1.0]), (right, None, [0.0, 1.0])];
/// for (body, parent, [x, z]) in places {
///     let above = parent.map_or(Pose::IDENTITY, |b| builder.body_pose(b));
///     let at = Pose::new(y, DVec3::new(x, 0.0, z));
///     let frames = JointFrames::coincident(&builder.body_pose(body), &above, &at);
///     builder.add_joint(JointSpec::new("", JointKind::Hinge, body, parent, frames));
/// }
/// let model = builder.build()?;
/// let looped = LoopedTree::from_model(&model)?;
/// let tree = looped.tree();
/// assert_eq!((tree.n_dofs(), looped.n_rows()), (3, 5));
///
/// let (mut dynamics, mut loops) = (Dynamics::new(tree), LoopDynamics::new(&looped));
/// let state = TreeState::from_mechanism(tree, &model.initial_state());
/// dynamics.kinematics(tree, &state);
/// let gravity = TreeLoads::gravity(DVec3::Z * -9.81);
/// let report = loops.respond(&looped, &mut dynamics, &HybridCommand::passive(tree), &gravity);
/// assert_eq!(report.dependent, 3);
/// // Two rods that turn and a bar that falls: (2/3 + 1) q̈ = (1/2 + 1/2 + 1) g
/// let fall = dynamics.acceleration_at(tree.link_named("bar").expect("a link"), DVec3::new(1.0, 0.0, 0.5));
/// assert!((fall.linear.z + 9.81 * 1.2).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoopDynamics {
    /// How loops are held.
    pub settings: ClosureSettings,
    /// Twist angles of the closures last seen, rad.
    twists: Vec<f64>,
    /// Per closure.
    pub(crate) rows: Vec<Rows>,
    /// From the centre of mass of body 1 to its joint frame, per closure, world axes.
    arms: Vec<DVec3>,
    pub(crate) response: LoopResponse,
    pub(crate) multipliers: Vec<f64>,
    /// Right-hand side, then the change of the multipliers.
    pub(crate) wanted: Vec<f64>,
    /// Per link, at central frames.
    pub(crate) wrenches: Vec<Force>,
    violation: Vec<f64>,
    /// Per closure: whether it lets go.
    released: Vec<bool>,
    /// Two vectors of one number per dof.
    pub(crate) scratch: [Vec<f64>; 2],
    pub(crate) inverse: LoopTorques,
}

/// Central pose of an end of a closure.
fn pose_of(looped: &LoopedTree, dynamics: &Dynamics, end: &LoopEnd) -> Pose {
    if end.link == NONE {
        end.fixed
    } else {
        dynamics.central_pose(looped.tree(), LinkId::from_index(end.link as usize))
    }
}

/// Central twist of an end of a closure.
fn motion_of(looped: &LoopedTree, dynamics: &Dynamics, end: &LoopEnd) -> Motion {
    if end.link == NONE {
        Motion::ZERO
    } else {
        dynamics.central_motion(looped.tree(), LinkId::from_index(end.link as usize))
    }
}

/// Rows on something of both ends.
fn on_ends(rows: &Rows, k: usize, [one, two]: [Motion; 2]) -> f64 {
    Force::from_array(rows.jacobian1[k]).dot(one) + Force::from_array(rows.jacobian2[k]).dot(two)
}

impl LoopDynamics {
    /// Buffers for a tree with loops; nothing allocates afterwards.
    pub fn new(looped: &LoopedTree) -> Self {
        let (rows, dofs) = (vec![0.0; looped.n_rows()], vec![0.0; looped.tree().n_dofs()]);
        Self {
            settings: ClosureSettings::default(),
            twists: looped.closures.iter().map(|closure| closure.twist).collect(),
            rows: vec![Rows::default(); looped.closures.len()],
            arms: vec![DVec3::ZERO; looped.closures.len()],
            response: LoopResponse::new(looped),
            multipliers: rows.clone(),
            wanted: rows.clone(),
            wrenches: vec![Force::ZERO; looped.tree().n_links()],
            violation: rows,
            released: vec![false; looped.closures.len()],
            scratch: [dofs.clone(), dofs],
            inverse: LoopTorques::new(looped),
        }
    }

    /// Rows of all closures at the state of the last [`Dynamics::kinematics`].
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn kinematics(&mut self, looped: &LoopedTree, dynamics: &Dynamics) {
        self.evaluate(looped, dynamics, RowForm::Acceleration);
    }

    pub(crate) fn evaluate(&mut self, looped: &LoopedTree, dynamics: &Dynamics, form: RowForm) {
        assert_eq!(self.violation.len(), looped.n_rows(), "the workspace belongs to another tree");
        for (c, closure) in looped.closures.iter().enumerate() {
            let (rows, twist) = (&mut self.rows[c], &mut self.twists[c]);
            let [end1, end2] = &closure.ends;
            let pair = PairState {
                pose1: pose_of(looped, dynamics, end1),
                pose2: pose_of(looped, dynamics, end2),
                motion1: motion_of(looped, dynamics, end1),
                motion2: motion_of(looped, dynamics, end2),
                previous_twist: *twist,
            };
            let state = RelativeState::new(&closure.frames, &pair);
            (*twist, self.arms[c]) = (state.twist, state.arm1);
            *rows = evaluate_rows(closure.kind, &state, &[], form);
            if self.released[c] {
                *rows = Rows { n: rows.n, ..Rows::default() };
            }
            self.violation[closure.rows.clone()].copy_from_slice(&rows.residual[..rows.n]);
        }
    }

    /// Lets the joints go that close loops and that `is_released` names; the others hold. Their rows do nothing, and count as dependent.
    pub fn release(&mut self, looped: &LoopedTree, is_released: impl Fn(JointId) -> bool) {
        for (released, joint) in self.released.iter_mut().zip(looped.joints()) {
            *released = is_released(joint);
        }
    }

    /// The joint whose rows are violated most in the last call, and by how much (m, or rad).
    pub fn worst(&self, looped: &LoopedTree) -> Option<(JointId, f64)> {
        let open = looped.closures.iter().map(|closure| largest(&self.violation[closure.rows.clone()]));
        looped.joints().zip(open).reduce(|worst, next| if next.1 > worst.1 { next } else { worst })
    }

    /// Accelerations and torques of all joints with closed loops, at the state of the last [`Dynamics::kinematics`]; as
    /// [`Dynamics::respond_resisted`] without them. The results are in `dynamics`: accelerations, torques, reactions of joints, accelerations of
    /// points.
    ///
    /// # Panics
    /// If an argument belongs to another tree.
    pub fn respond(
        &mut self,
        looped: &LoopedTree,
        dynamics: &mut Dynamics,
        command: &HybridCommand,
        loads: &TreeLoads<'_>,
    ) -> ClosureReport {
        let (tree, TreeLoads { gravity, external, resistance, .. }) = (looped.tree(), *loads);
        let open = dynamics.respond_resisted(tree, command, resistance, gravity, external);
        if looped.n_rows() == 0 {
            return ClosureReport { open, ..ClosureReport::default() };
        }
        self.kinematics(looped, dynamics);
        self.response.factor(looped, dynamics, &self.rows, self.settings.dependence);
        self.multipliers.fill(0.0);
        // once more for what rounding left
        for _ in 0..2 {
            self.find_unmet(looped, dynamics);
            self.answer(looped);
            dynamics.respond_more(tree, command, resistance, &self.wrenches);
        }
        self.find_unmet(looped, dynamics);
        let unmet = largest(&self.wanted);
        ClosureReport { open, dependent: self.response.n_dependent(), unmet, parts: 0 }
    }

    /// What the loops lack at the accelerations of `dynamics`, into `wanted`.
    fn find_unmet(&mut self, looped: &LoopedTree, dynamics: &Dynamics) {
        let ClosureSettings { rate_gain, position_gain, .. } = self.settings;
        for (closure, rows) in looped.closures.iter().zip(&self.rows) {
            let motions = closure.ends.each_ref().map(|end| motion_of(looped, dynamics, end));
            let rates = closure.ends.map(|end| end_acceleration(looped, dynamics, &end));
            for (k, wanted) in self.wanted[closure.rows.clone()].iter_mut().enumerate() {
                let held = rate_gain * on_ends(rows, k, motions) + position_gain * rows.residual[k];
                *wanted = -(on_ends(rows, k, rates) + rows.bias[k] + held);
            }
        }
    }

    /// [`Self::push`], and adds the multipliers to those found before.
    pub(crate) fn answer(&mut self, looped: &LoopedTree) {
        self.push(looped);
        self.multipliers.iter_mut().zip(&self.wanted).for_each(|(sum, x)| *sum += x);
    }

    /// Turns `wanted` into multipliers, and writes their wrenches on links.
    pub(crate) fn push(&mut self, looped: &LoopedTree) {
        self.response.solve(looped, &mut self.wanted);
        self.wrenches.fill(Force::ZERO);
        for (closure, rows) in looped.closures.iter().zip(&self.rows) {
            add_closure(closure, rows, &self.wanted, &mut self.wrenches);
        }
    }

    /// `λ` of the last call, by rows: N for translations, N·m for rotations; impulses (N·s, N·m·s) after [`Self::project_rates`].
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// What the loops lack at the accelerations of the last [`Self::respond`], by rows (m/s², rad/s²): rounding, unless prescribed joints contradict them.
    pub fn lack(&self) -> &[f64] {
        &self.wanted
    }

    /// `φ` of the last call, by rows: m for translations, rad or sines of angles for rotations.
    pub fn violation(&self) -> &[f64] {
        &self.violation
    }

    /// Wrench of a joint that closes a loop on its body 1 in the last call, world axes, about the origin of joint frame 1. `None` for joints of the
    /// tree, whose wrenches [`Dynamics::reaction`] has.
    pub fn reaction(&self, looped: &LoopedTree, joint: JointId) -> Option<Force> {
        let at = looped.joints().position(|own| own == joint)?;
        let (closure, rows) = (&looped.closures[at], &self.rows[at]);
        let wrench = weighted(&rows.jacobian1, &self.multipliers[closure.rows.clone()]);
        Some(shift_force(wrench, -self.arms[at]))
    }

    /// Adds the wrenches of the loops in the last call to external ones, one per link as in [`Dynamics::hybrid`]. With them an open tree moves as the closed one does:
    /// in the stages of [`Integrator::runge_kutta_with`](crate::Integrator::runge_kutta_with), for instance.
    pub fn add_wrenches(&self, looped: &LoopedTree, external: &mut [Force]) {
        for (closure, rows) in looped.closures.iter().zip(&self.rows) {
            add_closure(closure, rows, &self.multipliers, external);
        }
    }

    /// Writes `J` of the last [`Self::kinematics`] or [`Self::respond`], row by row, `n_rows × n_dofs` numbers.
    ///
    /// # Panics
    /// If `out` has another size.
    pub fn fill_jacobian(&self, looped: &LoopedTree, dynamics: &Dynamics, out: &mut [f64]) {
        fill_jacobian(looped, dynamics, &self.rows, out);
    }

    /// Writes `J̇v` of the last [`Self::kinematics`] or [`Self::respond`], by rows.
    pub fn fill_drift(&self, looped: &LoopedTree, dynamics: &Dynamics, out: &mut [f64]) {
        for (closure, rows) in looped.closures.iter().zip(&self.rows) {
            let products = closure.ends.map(|end| {
                if end.link == NONE {
                    return Motion::ZERO;
                }
                let centre = pose_of(looped, dynamics, &end).translation;
                dynamics.velocity_product_at(looped.tree(), LinkId::from_index(end.link as usize), centre)
            });
            for (k, out) in out[closure.rows.clone()].iter_mut().enumerate() {
                *out = on_ends(rows, k, products) + rows.bias[k];
            }
        }
    }

    /// `J v` of the rows at the rates of the last [`Dynamics::kinematics`], into `wanted`.
    pub(crate) fn find_rates(&mut self, looped: &LoopedTree, dynamics: &Dynamics) {
        for (closure, rows) in looped.closures.iter().zip(&self.rows) {
            let motions = closure.ends.each_ref().map(|end| motion_of(looped, dynamics, end));
            for (k, wanted) in self.wanted[closure.rows.clone()].iter_mut().enumerate() {
                *wanted = on_ends(rows, k, motions);
            }
        }
    }
}

/// World acceleration of an end of a closure at its centre of mass.
fn end_acceleration(looped: &LoopedTree, dynamics: &Dynamics, end: &LoopEnd) -> Motion {
    if end.link == NONE {
        return Motion::ZERO;
    }
    let centre = pose_of(looped, dynamics, end).translation;
    dynamics.acceleration_at(LinkId::from_index(end.link as usize), centre)
}

/// `Σ λ_k row_k`.
fn weighted(rows: &[[f64; 6]; 6], multipliers: &[f64]) -> Force {
    let terms = rows.iter().zip(multipliers);
    terms.fold(Force::ZERO, |sum, (row, x)| sum + Force::from_array(*row) * *x)
}

/// Adds the wrenches of a closure on its links.
fn add_closure(closure: &LoopClosure, rows: &Rows, multipliers: &[f64], out: &mut [Force]) {
    let own: Range<usize> = closure.rows.clone();
    for (end, on) in closure.ends.iter().zip([&rows.jacobian1, &rows.jacobian2]) {
        if end.link != NONE {
            out[end.link as usize] += weighted(on, &multipliers[own.clone()]);
        }
    }
}

/// Largest magnitude; infinite if a number is none.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| if x.is_nan() { f64::INFINITY } else { most.max(x.abs()) })
}

/// Writes `J` by rows.
fn fill_jacobian(looped: &LoopedTree, dynamics: &Dynamics, rows: &[Rows], out: &mut [f64]) {
    let n = looped.tree().n_dofs();
    assert_eq!(out.len(), n * looped.n_rows(), "the matrix has n_rows × n_dofs entries");
    out.fill(0.0);
    each_entry(looped, dynamics, rows, |row, dof, column, (wrench, _)| {
        out[row * n + dof] = column.dot(wrench)
    });
}

/// Visits the entries of `J` that need not be zero: row, dof, and the column and the wrench of which they are the product, about the
/// origin of the dof's link; with the way from there to the joint.
pub(crate) fn each_entry(
    looped: &LoopedTree,
    dynamics: &Dynamics,
    rows: &[Rows],
    mut visit: impl FnMut(usize, usize, Motion, (Force, f64)),
) {
    for (closure, rows) in looped.closures.iter().zip(rows) {
        for (end, on) in closure.ends.iter().zip([&rows.jacobian1, &rows.jacobian2]) {
            let centre = pose_of(looped, dynamics, end).translation;
            let (mut at, mut lever) = (end.link, end.lever);
            while at != closure.meeting {
                let (link, origin) =
                    (&looped.tree().links[at as usize], dynamics.motions[at as usize].origin);
                for (row, on) in closure.rows.clone().zip(on) {
                    let wrench = shift_force(Force::from_array(*on), centre - origin);
                    link.dofs().for_each(|dof| visit(row, dof, dynamics.columns[dof], (wrench, lever)));
                }
                lever += dynamics.motions[at as usize].arm.length();
                at = link.parent;
            }
        }
    }
}
