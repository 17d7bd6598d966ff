//! Joints and springs outside the tree, refined on top of the tree's exact solution (Fau99 on Her11).
//!
//! With `v_a` the tree's solution and `T` its reaction to impulses, the rows `J v + D λ = b` of the loops give
//! ```text
//! (J T Jᵀ + D) λ = b − J v_a,     v = v_a + T Jᵀ λ
//! ```
//! Rigid rows have `D = 0`; a force with impulse `q − κ G v` outside the tree is the row `G v + λ/κ = q/κ`; a soft joint has
//! `D = compliance/h²`. Tree rows hold to rounding whatever `λ` is. Joints that may open (secondary ones and grabs) come
//! last: where they contradict the others, the others are solved once more with the secondary multipliers held.
//!
//! World axes at centres of mass. `λ` is an impulse (N·s, N·m·s); the state keeps forces. Cost: one pass up and down the
//! part of the tree that loops touch per iteration, and one over the whole tree at the end. No allocation once warm.

use glam::DVec3;
use sinew_math::{Force, Motion, Pose, Sym3, quat_to_mat3, symmetric_eigen};
use sinew_solvers::{
    ActivePairs, FreeBodies, FreeMass, Load, LoopReport, LoopRow, LoopRows, LoopScratch, LoopSettings,
    LoopStop, Responder, TreeReaction, TreeResponder, refine, shift_force, shift_motion,
};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::explicit::Evaluation;
use crate::iterate::{ForceSink, Iterate, JointAt, SHORT_ROW, joint_errors};
use crate::model::{ForceSet, JointModel, LoopModel, LoopSpring, Model, WORLD, pose_of};
use crate::rows::RelativeState;
use crate::step::Watch;
use crate::sweep::{SweepReport, add_geometric};
use crate::workspace::{Extras, TreeScratch};
use crate::{Input, LoopState, Loops};

/// Weight of a joint that may open, next to one that may not.
const SECONDARY: f64 = 1e-2;

/// Scratch of the loops of one model.
#[derive(Clone, Debug)]
pub(crate) struct LoopWork {
    rows: LoopRows,
    /// Blocks and rows of joints that may not open.
    primary: (usize, usize),
    /// Multipliers, warm or new: impulses in a step, forces in accelerations.
    pub(crate) lambda: Vec<f64>,
    rhs: Vec<f64>,
    impulses: Vec<Force>,
    reactions: Vec<Motion>,
    parents: Vec<u32>,
    /// The rows of joints that may not open, where the others contradict them.
    primary_rows: LoopRows,
    primary_rhs: Vec<f64>,
    /// Pairs that a response must visit to know the reaction of the loops.
    active: ActivePairs,
    /// Ports of hard grabs that `active` was made for.
    held: Vec<u32>,
    everything: ActivePairs,
    reaction: TreeReaction,
    scratch: LoopScratch,
    masses: Vec<FreeMass>,
    /// Linear part of what each joint outside the tree does to its body 1.
    pub(crate) pulls: Vec<DVec3>,
    /// Block of the rigid rows of each joint outside the tree, `NONE` if it has none.
    blocks: Vec<u32>,
    /// Twist angle of each joint outside the tree where it was linearized.
    twists: Vec<f64>,
}

/// What reacts to the impulses of the loops.
pub(crate) enum Surroundings<'a> {
    /// The factored pairs.
    Pairs,
    /// Bodies on their own, see [`LoopWork::are_bodies_free`].
    Free,
    /// The factored block system.
    Block(&'a mut dyn Responder),
}

/// The loop work of one step, over all its solves.
pub(crate) struct Refinement<'a> {
    pub(crate) settings: Loops,
    /// Iterations that are left of the step's budget.
    left: u32,
    pub(crate) report: LoopReport,
    watch: &'a mut dyn Watch,
}

impl<'a> Refinement<'a> {
    pub(crate) fn new(settings: &Loops, input: &Input, watch: &'a mut dyn Watch) -> Self {
        let left = input.loop_iterations.unwrap_or(u32::MAX);
        Self { settings: *settings, left, report: LoopReport::default(), watch }
    }

    pub(crate) fn done(&mut self, stage: crate::Stage) {
        self.watch.done(stage);
    }

    fn solve(
        &mut self,
        rows: &LoopRows,
        responder: &mut dyn Responder,
        free_mass: &dyn Fn(u32) -> FreeMass,
        (rhs, lambda): (&[f64], &mut [f64]),
        scratch: &mut LoopScratch,
    ) -> LoopStop {
        let Self { left, report, watch, .. } = self;
        let solve = self.settings.solve;
        let settings = LoopSettings { iterations: solve.iterations.min(*left), ..solve };
        let before = report.iterations;
        let mut keep_going = |n: u32, residual: f64| watch.keep_refining(before + n, residual);
        let one = refine(rows, responder, free_mass, rhs, lambda, &settings, scratch, &mut keep_going);
        *left = if one.stop == LoopStop::Asked { 0 } else { left.saturating_sub(one.iterations) };
        let iterations = before + one.iterations;
        *report = LoopReport { iterations, restarts: report.restarts + one.restarts, ..one };
        one.stop
    }
}

impl LoopWork {
    pub(crate) fn new(model: &Model, tree: &TreeScratch) -> Self {
        let n = model.pairs.len();
        let parents: Vec<u32> = model.pairs.iter().map(|p| p.parent).collect();
        Self {
            rows: LoopRows::default(),
            primary: (0, 0),
            lambda: vec![0.0; model.n_loop_multipliers()],
            rhs: Vec::new(),
            impulses: vec![Force::ZERO; n],
            reactions: vec![Motion::ZERO; n],
            active: ActivePairs::new(&parents, model.loop_ports()),
            held: Vec::new(),
            primary_rows: LoopRows::default(),
            primary_rhs: Vec::new(),
            everything: ActivePairs::all(n),
            parents,
            reaction: TreeReaction::new(&tree.factor),
            scratch: LoopScratch::default(),
            masses: Vec::new(),
            pulls: vec![DVec3::ZERO; model.loops.len()],
            blocks: vec![NONE; model.loops.len()],
            twists: vec![0.0; model.loops.len()],
        }
    }

    /// The scratch, made if needed; `None` if there is nothing to refine.
    pub(crate) fn of<'a>(
        model: &Model,
        input: &Input,
        tree: &TreeScratch,
        slot: &'a mut Option<Box<Self>>,
    ) -> Option<&'a mut Self> {
        model.has_loops(input).then(|| &mut **slot.get_or_insert_with(|| Box::new(Self::new(model, tree))))
    }

    /// Multipliers to start from: the forces of the last step over `h`, or nothing.
    pub(crate) fn start(&mut self, state: &LoopState, warm: bool, h: f64) {
        self.lambda.clear();
        self.lambda.extend(state.forces.iter().map(|f| if warm { f * h } else { 0.0 }));
    }

    /// Rows at a linearization point. What the loops do to single bodies (geometric stiffness under the `pulls` of the last
    /// solve, constant impulses) goes to `extras`, before the tree is solved.
    pub(crate) fn linearize(
        &mut self,
        at: &Iterate<'_>,
        pulls: &[DVec3],
        extras: &mut Extras,
    ) -> SweepReport {
        self.rows.clear();
        let mut seen = SweepReport::default();
        let mut linearizer = Linearizer { at, rows: &mut self.rows, extras, seen: &mut seen };
        let is_loaded = !at.pulls.is_empty();
        let mut is_primary = true;
        for (i, looped) in at.model.loops.iter().enumerate() {
            if is_primary && !looped.is_primary {
                is_primary = false;
                linearizer.springs();
                self.primary = (linearizer.rows.blocks().len(), linearizer.rows.len());
            }
            (self.blocks[i], self.twists[i]) = linearizer.joint(looped);
            if is_loaded {
                linearizer.stiffen(looped, pulls[i]);
            }
        }
        if is_primary {
            linearizer.springs();
            self.primary = (linearizer.rows.blocks().len(), linearizer.rows.len());
        }
        for grab in at.input.hard_grabs(at.model) {
            linearizer.grab(grab);
        }
        self.lambda.resize(self.rows.len(), 0.0);
        self.activate(at.model, at.input);
        seen
    }

    /// Rows at the acceleration level: `λ` are forces, forces inside joints act from outside.
    pub(crate) fn accelerate(&mut self, at: &Evaluation<'_>) -> SweepReport {
        self.rows.clear();
        let mut seen = SweepReport::default();
        let rows = &mut self.rows;
        let mut is_primary = true;
        for (i, looped) in at.model.loops.iter().enumerate() {
            if is_primary && !looped.is_primary {
                is_primary = false;
                idle(rows, 3 * at.model.loop_springs.len());
                self.primary = (rows.blocks().len(), rows.len());
            }
            let joint = &at.model.joints[looped.joint as usize];
            let weight = looped.weight(joint);
            self.blocks[i] = NONE;
            if looped.is_point {
                let points = [joint.frames.point1, joint.frames.point2];
                let gap =
                    accelerated_point(at, rows, looped.ports, [joint.body1, joint.body2], points, weight);
                seen.gap_squared = seen.gap_squared.max(gap);
                continue;
            }
            let (relative, found) = at.rows(looped.joint, joint);
            self.twists[i] = relative.twist;
            if joint.compliance == 0.0 {
                let (gap, lean) = joint_errors(joint, &found);
                seen.gap_squared = seen.gap_squared.max(gap * gap);
                seen.lean_squared = seen.lean_squared.max(lean * lean);
            }
            let rhs = at.demands(joint, &found);
            let row = |k: usize| {
                let [on1, on2] = [found.jacobian1[k], found.jacobian2[k]].map(Force::from_array);
                LoopRow { on1, on2, rhs: rhs[k], compliance: 0.0 }
            };
            let rigid = |k| if joint.compliance > 0.0 { INACTIVE } else { row(k) };
            let written: SmallVec<[LoopRow; 6]> = (0..found.n).map(rigid).collect();
            if !written.is_empty() {
                rows.push(looped.ports, &written, weight);
            }
            let armature = armature_rows(&at.model.forces[joint.forces as usize], &relative, at.shift(joint));
            if !armature.is_empty() {
                rows.push(looped.ports, &armature, weight);
            }
        }
        if is_primary {
            idle(rows, 3 * at.model.loop_springs.len());
            self.primary = (rows.blocks().len(), rows.len());
        }
        for grab in at.input.hard_grabs(at.model) {
            let body = grab.body.index();
            let points = [at.model.bodies[body].central_point(grab.point), grab.target];
            let ports = [at.model.port(body as u32), NONE];
            accelerated_point(at, rows, ports, [body as u32, WORLD], points, SECONDARY);
        }
        self.lambda.resize(self.rows.len(), 0.0);
        self.activate(at.model, at.input);
        seen
    }

    /// Visits what hard grabs hold, too.
    fn activate(&mut self, model: &Model, input: &Input) {
        let held = input.hard_grabs(model).map(|g| model.port(g.body.index() as u32));
        if !self.held.iter().copied().eq(held.clone()) {
            self.held.clear();
            self.held.extend(held);
            self.active.refill(&self.parents, model.loop_ports().chain(self.held.iter().copied()));
        }
    }

    /// Inverse masses of bodies that no tree joint holds; false if there is a tree after all, or a load that couples
    /// rotation and translation.
    pub(crate) fn are_bodies_free(&mut self, at: &Iterate<'_>) -> bool {
        let is_free = at.model.is_loose() && at.extras.iter().all(is_decoupled);
        if is_free {
            self.masses.clear();
            self.masses.extend((0..at.model.pairs.len()).map(|k| loaded_mass(at, k)));
        }
        is_free
    }

    /// Closes the loops: adds their reaction to `tree.motions`.
    pub(crate) fn close(
        &mut self,
        model: &Model,
        poses: &[Pose],
        tree: &mut TreeScratch,
        surroundings: Surroundings<'_>,
        run: &mut Refinement<'_>,
    ) {
        if self.rows.is_empty() {
            return;
        }
        let free_mass = |port: u32| free_mass(model, poses, port);
        let Self { rows, lambda, rhs, impulses, reactions, parents, reaction, scratch, .. } = self;
        let TreeScratch { factor, motions, .. } = tree;
        rhs.resize(rows.len(), 0.0);
        rows.gather(motions, rhs);
        rhs.iter_mut().zip(rows.rhs()).for_each(|(x, b)| *x = b - *x);

        let mut free = FreeBodies { masses: &self.masses };
        let mut pairs = TreeResponder { factor, parents, active: &self.active, scratch: reaction };
        let (is_whole, responder): (bool, &mut dyn Responder) = match surroundings {
            Surroundings::Pairs => (false, &mut pairs),
            Surroundings::Free => (true, &mut free),
            Surroundings::Block(other) => (true, other),
        };
        let stop = run.solve(rows, responder, &free_mass, (rhs, lambda), scratch);
        let (n_blocks, n_first) = self.primary;
        if stop != LoopStop::Converged && n_first > 0 && n_first < rows.len() {
            // b − J v_a − J T J₂ᵀλ₂ with the multipliers λ₂ of joints that may open held, for the other rows alone.
            let Self { primary_rows, primary_rhs, .. } = self;
            primary_rows.copy_blocks(rows, n_blocks);
            let found: SmallVec<[f64; 64]> = SmallVec::from_slice(&lambda[..n_first]);
            lambda[..n_first].fill(0.0);
            rows.scatter(lambda, impulses);
            responder.respond(impulses, reactions);
            rows.clear_ports(impulses);
            primary_rhs.resize(n_first, 0.0);
            primary_rows.gather(reactions, primary_rhs);
            primary_rhs.iter_mut().zip(rhs.iter()).for_each(|(x, b)| *x = b - *x);
            lambda[..n_first].copy_from_slice(&found);
            let open = run.report;
            run.solve(primary_rows, responder, &free_mass, (primary_rhs, &mut lambda[..n_first]), scratch);
            // What is left open is what the report is about.
            run.report =
                LoopReport { iterations: run.report.iterations, restarts: run.report.restarts, ..open };
        }

        rows.scatter(lambda, impulses);
        if is_whole {
            responder.respond(impulses, reactions);
        } else {
            let active = &self.everything;
            TreeResponder { factor, parents, active, scratch: reaction }.respond(impulses, reactions);
        }
        motions.iter_mut().zip(reactions.iter()).for_each(|(v, dv)| *v += *dv);
        for (pull, &block) in self.pulls.iter_mut().zip(&self.blocks) {
            *pull = if block == NONE {
                DVec3::ZERO
            } else {
                rows.impulse_on_first(block as usize, lambda).linear
            };
        }
    }

    /// Takes the impulses of the loops out of the net joint impulses of the bodies (per body, over `h`), and clears them.
    pub(crate) fn settle(&mut self, model: &Model, per_h: f64, pulls: &mut [DVec3]) {
        for port in self.rows.touched_ports() {
            let body = model.pairs[port as usize].body as usize;
            pulls[body] -= self.impulses[port as usize].linear * per_h;
        }
        self.rows.clear_ports(&mut self.impulses);
    }

    /// Clears the impulses of a solution that nothing else asks for.
    pub(crate) fn forget(&mut self) {
        self.rows.clear_ports(&mut self.impulses);
    }

    /// Leaves the continuous twist angles in the state.
    pub(crate) fn store_twists(&self, model: &Model, twists: &mut [f64]) {
        for (looped, twist) in model.loops.iter().zip(&self.twists) {
            if model.joints[looped.joint as usize].tracks_twist {
                twists[looped.joint as usize] = *twist;
            }
        }
    }

    /// Leaves the forces for the next step.
    pub(crate) fn store(&self, state: &mut LoopState, per_h: f64) {
        for (force, lambda) in state.forces.iter_mut().zip(&self.lambda) {
            *force = lambda * per_h;
        }
        for (to, pull) in state.pulls.iter_mut().zip(&self.pulls) {
            *to = *pull * per_h;
        }
    }

    /// Impulses of the hard grabs on their bodies, in the order of the input.
    pub(crate) fn grab_impulses(&self) -> impl Iterator<Item = Force> + '_ {
        let first = self.rows.blocks().len() - self.held.len().min(self.rows.blocks().len());
        (first..self.rows.blocks().len()).map(|block| self.rows.impulse_on_first(block, &self.lambda))
    }
}

impl LoopModel {
    fn weight(&self, joint: &JointModel) -> f64 {
        joint.weight * if self.is_primary { 1.0 } else { SECONDARY }
    }
}

impl Model {
    /// Whether a step has anything to refine.
    pub(crate) fn has_loops(&self, input: &Input) -> bool {
        !self.loops.is_empty() || !self.loop_springs.is_empty() || input.hard_grabs(self).next().is_some()
    }

    /// Pairs that joints and springs outside the tree act on.
    pub(crate) fn loop_ports(&self) -> impl Iterator<Item = u32> + '_ {
        let joints = self.loops.iter().flat_map(|l| l.ports);
        joints.chain(self.loop_springs.iter().flat_map(|s| s.ports)).filter(|&port| port != NONE)
    }

    /// Whether no joint is in the tree.
    fn is_loose(&self) -> bool {
        self.pairs.iter().all(|p| p.joint == WORLD)
    }
}

/// Whether a load couples no rotation with translation and weighs the same in all directions.
fn is_decoupled(load: &Load) -> bool {
    let m = &load.mass;
    let l = &m.linear;
    m.coupling == glam::DMat3::ZERO && l.xx == l.yy && l.xx == l.zz && [l.xy, l.xz, l.yz] == [0.0; 3]
}

/// Inverse mass of a body on its own; what a preconditioner needs.
fn free_mass(model: &Model, poses: &[Pose], port: u32) -> FreeMass {
    if port == NONE {
        return FreeMass::IMMOVABLE;
    }
    let pair = &model.pairs[port as usize];
    let rotation = quat_to_mat3(poses[pair.body as usize].rotation);
    let inertia = Sym3::diagonal(pair.inertia.moments).rotated_by(&rotation);
    FreeMass { inverse_mass: 1.0 / pair.mass, inverse_inertia: inertia.inverse().unwrap_or(Sym3::ZERO) }
}

/// Inverse of all that a free body's block of the implicit system holds.
fn loaded_mass(at: &Iterate<'_>, k: usize) -> FreeMass {
    let pair = &at.model.pairs[k];
    let rotation = quat_to_mat3(at.poses[pair.body as usize].rotation);
    let mut load = Load::ZERO;
    crate::sweep::add_own(at, k, pair, &rotation, &mut load);
    FreeMass {
        inverse_mass: 1.0 / load.mass.linear.xx,
        inverse_inertia: load.mass.angular.inverse().unwrap_or(Sym3::ZERO),
    }
}

/// Writes rows.
struct Linearizer<'a, 'b> {
    at: &'a Iterate<'b>,
    rows: &'a mut LoopRows,
    extras: &'a mut Extras,
    seen: &'a mut SweepReport,
}

impl Linearizer<'_, '_> {
    /// The rows of a joint; returns the block of its rigid ones, and its twist angle.
    fn joint(&mut self, looped: &LoopModel) -> (u32, f64) {
        let at = self.at;
        let joint = &at.model.joints[looped.joint as usize];
        let weight = looped.weight(joint);
        let block = self.rows.blocks().len() as u32;
        let bodies = [joint.body1, joint.body2];
        if looped.is_point && at.measured.is_none() {
            let points = [joint.frames.point1, joint.frames.point2];
            let gap = self.point(looped.ports, bodies, points, weight);
            self.seen.gap_squared = self.seen.gap_squared.max(gap.length_squared());
            return (block, 0.0);
        }
        let here = at.joint_at(looped.joint);
        if joint.compliance == 0.0 {
            let (gap, lean) = (here.position_error, here.rotation_error);
            self.seen.gap_squared = self.seen.gap_squared.max(gap * gap);
            self.seen.lean_squared = self.seen.lean_squared.max(lean * lean);
        }
        self.rigid_rows(looped, &here, weight);
        let mut forces = ForceRows { shift: here.end.shift, rows: SmallVec::new(), constant: Force::ZERO };
        at.add_forces(&here, &mut forces);
        self.push(looped.ports, bodies, &mut forces.rows, weight);
        if forces.constant != Force::ZERO {
            let reaction = shift_force(forces.constant, here.end.shift) * -1.0;
            for (body, impulse) in bodies.into_iter().zip([forces.constant, reaction]) {
                if let Some(load) = self.extras.on(at.model, body as usize) {
                    load.momentum += impulse;
                }
            }
        }
        (if here.rows.n == 0 { NONE } else { block }, here.relative.twist)
    }

    fn rigid_rows(&mut self, looped: &LoopModel, here: &JointAt<'_>, weight: f64) {
        let at = self.at;
        let joint = here.joint;
        let soft = joint.compliance / (at.h * at.h);
        let mut rows: SmallVec<[LoopRow; 6]> = SmallVec::new();
        for i in 0..here.rows.n {
            let [on1, on2] =
                [here.rows.jacobian1[i], here.rows.jacobian2[i]].map(|row| Force::from_array(row));
            let square = on1.dot(Motion::from_array(on1.to_array()));
            let mut rhs = at.rhs_of(here, i);
            if square < SHORT_ROW * SHORT_ROW {
                rhs *= square / (SHORT_ROW * SHORT_ROW);
                self.seen.regularized += 1;
            }
            let compliance = if joint.compliance > 0.0 { soft } else { 0.0 };
            rows.push(if compliance.is_finite() { LoopRow { on1, on2, rhs, compliance } } else { INACTIVE });
        }
        self.push(looped.ports, [joint.body1, joint.body2], &mut rows, weight);
    }

    /// Rows on the relative twist, less what immovable bodies do.
    fn push(&mut self, ports: [u32; 2], bodies: [u32; 2], rows: &mut [LoopRow], weight: f64) {
        if rows.is_empty() {
            return;
        }
        for (port, (body, side)) in ports.into_iter().zip(bodies.into_iter().zip([0, 1])) {
            if port == NONE {
                let motion = self.at.motion(self.at.motions, body);
                for row in rows.iter_mut() {
                    row.rhs -= if side == 0 { row.on1 } else { row.on2 }.dot(motion);
                }
            }
        }
        self.rows.push(ports, rows, weight);
    }

    /// Holds two points (central frames, or world) together; returns the gap between them.
    fn point(&mut self, ports: [u32; 2], bodies: [u32; 2], points: [DVec3; 2], weight: f64) -> DVec3 {
        let at = self.at;
        let [end1, end2] = [0, 1].map(|i| {
            let pose = pose_of(at.poses, bodies[i]);
            let arm = pose.rotation * points[i];
            let velocity = |motions: &[Motion]| shift_motion(at.motion(motions, bodies[i]), arm).linear;
            let moved = at.displaced.map_or(DVec3::ZERO, velocity);
            let given = if ports[i] == NONE { velocity(at.motions) } else { DVec3::ZERO };
            (arm, pose.translation + arm, moved - given)
        });
        let gap = end1.1 - end2.1;
        let rhs = (end1.2 - end2.2) - gap * at.per_h;
        self.rows.push_point(ports, [end1.0, end2.0], rhs, weight);
        gap
    }

    fn grab(&mut self, grab: &crate::Grab) {
        let body = grab.body.index();
        let point = self.at.model.bodies[body].central_point(grab.point);
        let ports = [self.at.model.port(body as u32), NONE];
        self.point(ports, [body as u32, WORLD], [point, grab.target], SECONDARY);
    }

    /// Springs outside the tree: along themselves and, as far as they are stretched, across.
    fn springs(&mut self) {
        for LoopSpring { spring, ports } in &self.at.model.loop_springs {
            let at = self.at;
            let bodies = [spring.body1, spring.body2];
            let ends = [(spring.body1, spring.point1), (spring.body2, spring.point2)].map(|(body, point)| {
                let pose = pose_of(at.poses, body);
                let arm = pose.rotation * point;
                let moved =
                    at.displaced.map_or(DVec3::ZERO, |d| shift_motion(at.motion(d, body), arm).linear);
                (arm, pose.translation + arm, moved)
            });
            let (gap, carried) = (ends[0].1 - ends[1].1, ends[0].2 - ends[1].2);
            let (h, k, slack) = (at.h, spring.stiffness, spring.rest_length);
            let length = gap.length();
            let is_short = length <= f64::MIN_POSITIVE;
            let along = if is_short { DVec3::X } else { gap / length };
            let (across1, across2) = along.any_orthonormal_pair();
            let ratio = if is_short { f64::from(u8::from(slack == 0.0)) } else { 1.0 - slack / length };
            let mut rows: SmallVec<[LoopRow; 6]> = SmallVec::new();
            for (axis, is_along) in [(along, !is_short), (across1, false), (across2, false)] {
                let stiff = h * h * k * if is_along { 1.0 } else { ratio.max(0.0) };
                let damped = if is_along || slack == 0.0 { h * spring.damping } else { 0.0 };
                let q = stiff * carried.dot(axis) - h * k * ratio * gap.dot(axis);
                let on = |arm: DVec3, axis: DVec3| Force::new(arm.cross(axis), axis);
                let (on1, on2) = (on(ends[0].0, axis), on(ends[1].0, -axis));
                rows.push(force_row(on1, on2, q, stiff + damped));
            }
            self.push(*ports, bodies, &mut rows, 1.0);
        }
    }

    /// Geometric stiffness of the force of a joint outside the tree on its two bodies.
    fn stiffen(&mut self, looped: &LoopModel, pull: DVec3) {
        let at = self.at;
        let joint = &at.model.joints[looped.joint as usize];
        let strength = pull.length();
        let sides = [(joint.body1, joint.frames.point1, pull), (joint.body2, joint.frames.point2, -pull)];
        for ((body, point, pull), end) in sides.into_iter().zip(looped.ends) {
            let arm = pose_of(at.poses, body).rotation * point;
            if let Some(load) = self.extras.on(at.model, body as usize) {
                add_geometric(at, body, load, (arm, end), (pull, strength));
            }
        }
    }
}

/// Holds two points together at the acceleration level, with Baumgarte terms; returns the squared gap.
fn accelerated_point(
    at: &Evaluation<'_>,
    rows: &mut LoopRows,
    ports: [u32; 2],
    bodies: [u32; 2],
    points: [DVec3; 2],
    weight: f64,
) -> f64 {
    let [end1, end2] = [0, 1].map(|i| {
        let (pose, motion) = (pose_of(at.poses, bodies[i]), at.motion(bodies[i]));
        let arm = pose.rotation * points[i];
        let turning = motion.angular.cross(arm);
        (arm, pose.translation + arm, motion.linear + turning, motion.angular.cross(turning))
    });
    let (gap, rate, bias) = (end1.1 - end2.1, end1.2 - end2.2, end1.3 - end2.3);
    let gamma = at.baumgarte;
    rows.push_point(ports, [end1.0, end2.0], -bias - rate * (2.0 * gamma) - gap * (gamma * gamma), weight);
    gap.length_squared()
}

/// Rows that stand in for forces which act from outside at the acceleration level.
fn idle(rows: &mut LoopRows, n: usize) {
    for _ in 0..n {
        rows.push([NONE; 2], &[INACTIVE], 1.0);
    }
}

/// The inertia of transmissions in a joint outside the tree: `λ = −a ẍ`; idle rows for its other forces.
fn armature_rows(forces: &ForceSet, relative: &RelativeState, shift: DVec3) -> SmallVec<[LoopRow; 6]> {
    let mut sink = ForceRows { shift, rows: SmallVec::new(), constant: Force::ZERO };
    let axis = relative.axes2.x_axis;
    if let Some(twist) = &forces.twist {
        sink.along(Force::new(axis, DVec3::ZERO), 0.0, twist.armature);
    }
    if let Some(slide) = &forces.slide {
        sink.along(Force::new(relative.arm1.cross(axis), axis), 0.0, slide.armature);
    }
    if let Some(rotation) = &forces.rotation {
        sink.turning(Sym3::IDENTITY * rotation.armature, DVec3::ZERO);
        if rotation.cone.is_some() {
            sink.rows.push(INACTIVE);
        }
    }
    sink.rows
}

/// A row that asks for nothing.
const INACTIVE: LoopRow = LoopRow { on1: Force::ZERO, on2: Force::ZERO, rhs: 0.0, compliance: 1.0 };

/// The impulse `q − κ G v` as a row.
fn force_row(on1: Force, on2: Force, q: f64, kappa: f64) -> LoopRow {
    let compliance = 1.0 / kappa;
    if compliance.is_finite() { LoopRow { on1, on2, rhs: q * compliance, compliance } } else { INACTIVE }
}

/// The forces of a joint outside the tree, as rows.
struct ForceRows {
    /// `x₁ − x₂`.
    shift: DVec3,
    rows: SmallVec<[LoopRow; 6]>,
    /// Impulse on body 1 that nothing in the step changes.
    constant: Force,
}

impl ForceSink for ForceRows {
    fn along(&mut self, gradient: Force, q: f64, kappa: f64) {
        let row = force_row(gradient, shift_force(gradient, self.shift) * -1.0, q, kappa);
        if row == INACTIVE {
            self.constant += gradient * q;
        }
        self.rows.push(row);
    }

    fn turning(&mut self, tangent: Sym3, impulse: DVec3) {
        let (values, axes) = symmetric_eigen(tangent);
        for (kappa, axis) in values.to_array().into_iter().zip([axes.x_axis, axes.y_axis, axes.z_axis]) {
            self.along(Force::new(axis, DVec3::ZERO), impulse.dot(axis), kappa.max(0.0));
        }
    }
}
