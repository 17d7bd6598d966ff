//! Rows of joints, springs and hard grabs outside the tree, at a linearization point of a step.
//!
//! The linearization is that of the tree (`tree::point`), on the twists of both bodies. Twists of immovable bodies go
//! to the right-hand side. A plain ball joint holds two points together in world axes; other joints go through the row
//! library. Linear in the rows.

use glam::DVec3;
use sinew_math::{Force, shift_force};
use sinew_solvers::{LoopRow, LoopRows};
use sinew_topology::NONE;
use smallvec::SmallVec;

use crate::input::Grab;
use crate::loops::{
    ForceRows, LoopTerms, LoopWorkspace, OpeningPolicy, PointPair, Treatment, release, rigid_rows, soften,
    spring_rows,
};
use crate::model::{JointModel, LoopModel, LoopSpring, SECONDARY, WORLD, motion_of, pose_of};
use crate::tree::{BodyLoads, IslandPoints, JointAt, LinearizationPoint, TreeReport, add_geometric};

/// What a solve asks of the loops beyond their rows.
pub(crate) struct LoopDemand<'a> {
    /// What becomes of joints that may open.
    pub(crate) opening: OpeningPolicy,
    /// Share of a whole step that is made: what may open closes no faster in a part of one.
    pub(crate) share: f64,
    /// Compliance of every row outside the tree, in terms of the masses of its trees.
    pub(crate) yielding: f64,
    /// Forces of the joints outside the tree in the solve before, N, for the geometric stiffness; empty if that is off.
    pub(crate) joint_forces: &'a [DVec3],
    /// Whether tensions of ropes stiffen what they pull, as joint forces do.
    pub(crate) stiffens: bool,
}

impl Default for LoopDemand<'_> {
    fn default() -> Self {
        Self { opening: OpeningPolicy::Yield, share: 1.0, yielding: 0.0, joint_forces: &[], stiffens: false }
    }
}

impl LoopWorkspace {
    /// Rows at a linearization point. What the loops do to single bodies (geometric stiffness under the joint forces of the last
    /// solve, constant impulses) goes to `loads`, before the tree is solved. Returns the errors of joints that are
    /// to be met, and the largest gap of all, m.
    pub(crate) fn linearize(
        &mut self,
        at: &LinearizationPoint<'_>,
        demand: &LoopDemand<'_>,
        loads: &mut BodyLoads,
    ) -> (TreeReport, f64) {
        self.clear();
        self.yielded.clear();
        let yielded = &mut self.yielded;
        let seen = TreeReport::default();
        let points = &at.by_island();
        let rows = &mut self.rows;
        let mut linearizer = Linearizer { at, points, demand, rows, loads, seen, largest_gap: 0.0, yielded };
        let mut is_primary = true;
        for (i, looped) in at.model.loops.iter().enumerate() {
            if is_primary && !looped.is_primary {
                is_primary = false;
                linearizer.springs();
                linearizer.transmissions(&self.lambda);
                self.primary.end_at(linearizer.rows);
            }
            let first = linearizer.rows.blocks().len() as u32;
            let terms = &mut self.terms[i];
            *terms = LoopTerms { span: (first, first), twist: terms.twist, ..LoopTerms::default() };
            if at.input.releases(looped.joint) {
                release(linearizer.rows, &mut self.lambda, at.model, looped);
                terms.twist = at.twists[looped.joint as usize];
                continue;
            }
            let joint = &at.model.joints[looped.joint as usize];
            linearizer.turn_to(&[joint.body1, joint.body2]);
            (terms.rigid, terms.twist) = linearizer.joint(looped, &mut terms.constant);
            terms.span.1 = linearizer.rows.blocks().len() as u32;
            if let Some(&force) = demand.joint_forces.get(i) {
                linearizer.stiffen(looped, force);
            }
        }
        if is_primary {
            linearizer.springs();
            linearizer.transmissions(&self.lambda);
            self.primary.end_at(linearizer.rows);
        }
        let first = linearizer.rows.blocks().len();
        for grab in at.input.hard_grabs(at.model) {
            linearizer.grab(grab);
        }
        self.grabbed = first..linearizer.rows.blocks().len();
        let found = (linearizer.seen, linearizer.largest_gap);
        self.lambda.resize(self.rows.len(), 0.0);
        self.activate(at.model, at.input);
        found
    }
}

/// Writes rows.
pub(crate) struct Linearizer<'a, 'b> {
    /// Of what is written next.
    pub(crate) at: &'a LinearizationPoint<'b>,
    points: &'a IslandPoints<'b>,
    pub(crate) demand: &'a LoopDemand<'a>,
    pub(crate) rows: &'a mut LoopRows,
    /// Receives what acts on single bodies.
    pub(crate) loads: &'a mut BodyLoads,
    /// Errors of joints that are to be met.
    seen: TreeReport,
    /// Of all, m.
    largest_gap: f64,
    /// Rows of blocks that yield.
    yielded: &'a mut Vec<(u32, u32)>,
}

impl Linearizer<'_, '_> {
    /// Goes to the linearization point of some bodies.
    pub(crate) fn turn_to(&mut self, bodies: &[u32]) {
        self.at = self.points.at(bodies);
    }

    /// The rows of a joint; returns the block of its rigid ones, and its twist angle. What it does beyond its rows goes to `constant`.
    fn joint(&mut self, looped: &LoopModel, constant: &mut Force) -> (Option<u32>, f64) {
        let at = self.at;
        let joint = &at.model.joints[looped.joint as usize];
        let weight = looped.weight(joint);
        let block = self.rows.blocks().len() as u32;
        let bodies = [joint.body1, joint.body2];
        if looped.is_point {
            let points = [joint.frames.point1, joint.frames.point2];
            let opening = (!looped.is_primary, joint.weight);
            let gap = self.point(looped.ports, bodies, points, weight, opening);
            self.mark_whole(joint);
            self.see(looped.is_primary, looped.ports, (gap.length(), 0.0));
            return (Some(block), 0.0);
        }
        let here = JointAt::new(at, looped.joint);
        if joint.compliance == 0.0 {
            self.see(looped.is_primary, looped.ports, (here.position_error, here.rotation_error));
        }
        self.rigid_rows(looped, &here, weight);
        let mut forces = ForceRows { shift: here.shift, rows: SmallVec::new(), constant: Force::ZERO };
        here.add_forces(&mut forces);
        self.push(looped.ports, bodies, &mut forces.rows, weight);
        *constant = forces.constant;
        if forces.constant != Force::ZERO {
            let reaction = shift_force(forces.constant, here.shift) * -1.0;
            for (body, impulse) in bodies.into_iter().zip([forces.constant, reaction]) {
                if let Some(load) = self.loads.on(at.model, body as usize) {
                    load.momentum += impulse;
                }
            }
        }
        ((here.rows.n > 0).then_some(block), here.measured.twist)
    }

    /// The rows of the joint itself. Rows that a degenerate pose has shortened ask for less, as in the tree.
    fn rigid_rows(&mut self, looped: &LoopModel, here: &JointAt<'_>, weight: f64) {
        let joint = here.joint;
        let treatment = if looped.is_primary || joint.compliance > 0.0 {
            Treatment::RIGID
        } else {
            self.treat(looped.ports, (here.position_error, here.rotation_error))
        };
        let weight = if treatment.counts { weight } else { 0.0 };
        let kept = treatment.kept(&self.at.step, !looped.is_primary);
        let (mut rows, degenerate) = rigid_rows(self.at, here, kept);
        self.seen.regularized += degenerate;
        self.push(looped.ports, [joint.body1, joint.body2], &mut rows, weight);
        if here.rows.n > 0 && joint.compliance == 0.0 {
            self.soften(&treatment, joint.weight);
        }
        if here.rows.n > 0 {
            self.mark_whole(joint);
        }
    }

    /// A joint that may break closes no loop in most cases: it is held as well as one of the tree, however small the inertia of its bodies.
    fn mark_whole(&mut self, joint: &JointModel) {
        if joint.breaks_at.is_some() {
            self.rows.mark_whole();
        }
    }

    /// Softens the last block as a treatment says, or as all blocks are.
    pub(crate) fn soften(&mut self, treatment: &Treatment, importance: f64) {
        let softness = treatment.softness.map(|s| s / importance);
        let (at, given) = (self.at, self.demand.yielding / importance);
        soften((at.model, at.poses), self.rows, self.yielded, softness, given);
    }

    /// How a joint that may open is treated at an error (m, rad).
    fn treat(&self, ports: [u32; 2], error: (f64, f64)) -> Treatment {
        let treatment = self.demand.opening.treat(self.at.model, ports, error);
        Treatment { stride: treatment.stride * self.demand.share, ..treatment }
    }

    /// Rows on the relative twist, less what immovable bodies do.
    fn push(&mut self, ports: [u32; 2], bodies: [u32; 2], rows: &mut [LoopRow], weight: f64) {
        if rows.is_empty() {
            return;
        }
        for (port, (body, side)) in ports.into_iter().zip(bodies.into_iter().zip([0, 1])) {
            if port == NONE {
                let motion = motion_of(self.at.motions, body);
                for row in rows.iter_mut() {
                    row.rhs -= if side == 0 { row.on1 } else { row.on2 }.dot(motion);
                }
            }
        }
        self.rows.push(ports, rows, weight);
    }

    /// Notes errors; joints that are open do not count among those to be met.
    fn see(&mut self, is_primary: bool, ports: [u32; 2], (gap, lean): (f64, f64)) {
        self.largest_gap = self.largest_gap.max(gap);
        if is_primary || !OpeningPolicy::Leave.ignores(self.at.model, ports, (gap, lean)) {
            self.seen.see_errors(gap * gap, lean * lean);
        }
    }

    /// Holds two points (central frames, or world) together; returns the gap between them. The last argument says whether it may
    /// open, and its importance.
    fn point(
        &mut self,
        ports: [u32; 2],
        bodies: [u32; 2],
        points: [DVec3; 2],
        weight: f64,
        (may_open, importance): (bool, f64),
    ) -> DVec3 {
        let at = self.at;
        let PointPair { arms, given, gap } = PointPair::new(at, ports, bodies, points);
        let treatment = if may_open { self.treat(ports, (gap.length(), 0.0)) } else { Treatment::RIGID };
        let weight = if treatment.counts { weight } else { 0.0 };
        let per_h = if may_open { at.step.per_h_open } else { at.step.per_h };
        let rhs = given - gap * (per_h * treatment.stride);
        self.rows.push_point(ports, arms, rhs, weight);
        self.soften(&treatment, importance);
        gap
    }

    /// A hard grab holds a point of a body at its target; it may open.
    fn grab(&mut self, grab: &Grab) {
        let body = grab.body.index();
        self.turn_to(&[body as u32]);
        let point = self.at.model.bodies[body].central_point(grab.point);
        let ports = grab.ports(self.at.model);
        let gap = self.point(ports, [body as u32, WORLD], [point, grab.target], SECONDARY, (true, 1.0));
        self.see(false, ports, (gap.length(), 0.0));
    }

    /// Springs outside the tree: along themselves and, as far as they are stretched, across.
    fn springs(&mut self) {
        for LoopSpring { spring, ports } in &self.at.model.springs.in_loops {
            self.turn_to(&[spring.body1, spring.body2]);
            let mut rows = spring_rows(self.at, spring);
            self.push(*ports, [spring.body1, spring.body2], &mut rows, 1.0);
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
            if let Some(load) = self.loads.on(at.model, body as usize) {
                add_geometric(at, body, load, (arm, end), (pull, strength));
            }
        }
    }
}
