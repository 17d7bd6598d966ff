//! Whether a run still makes sense: numbers are finite, bodies stay within bounds, joints hold.
//!
//! Absurd scenes need not lead to numbers that are not finite: a chain under a gravity of 1e30 m/s² comes apart by 1e27 m and would go on
//! like that. The bounds are far beyond what any sensible scene needs. Cost: one pass over bodies and nodes per step.

use sinew_show::extent;
use sinew_sim::{BodyId, StepReport, World};

use crate::svg::quantity;

/// Furthest that something goes in a step, per size of the scene at its beginning.
const FAR: f64 = 1e9;
/// Furthest that a body turns in a step (rad).
const FAST: f64 = 1e3;
/// Furthest that joints of the tree come apart, per size of the scene and of what they were apart at its beginning.
const APART: f64 = 10.0;

/// Bounds of what makes sense.
pub(crate) struct Sense {
    /// Way in a step (m).
    way: f64,
    /// Gap in a joint of the tree (m).
    gap: f64,
}

impl Sense {
    /// The bounds of a world that is about to begin.
    pub(crate) fn of(world: &World) -> Self {
        let reach = extent(world).1;
        Self { way: FAR * reach, gap: APART * (reach + world.violation().tree).max(1.0) }
    }

    /// What is wrong after a step, in words, if anything is.
    pub(crate) fn lost(&self, world: &World, report: &StepReport) -> Option<String> {
        let body = || (0..world.state().bodies.poses.len()).find_map(|i| self.lost_body(world, i));
        let flesh = || (0..world.state().flesh.nodes.len()).find_map(|i| self.lost_flesh(world, i));
        let tet = report.health.non_finite_tet;
        body()
            .or_else(flesh)
            .or_else(|| tet.map(|tet| format!("the force of tetrahedron {tet} is no longer finite")))
            .or_else(|| self.lost_joint(world, report))
    }

    fn lost_body(&self, world: &World, i: usize) -> Option<String> {
        let (pose, motion, dt) =
            (&world.state().bodies.poses[i], &world.state().bodies.motions[i], world.settings().dt);
        let (way, turn) = (dt * motion.linear.length(), dt * motion.angular.length());
        let how = if !(pose.is_finite() && motion.is_finite()) {
            "is no longer finite".to_owned()
        } else if way > self.way {
            astray("moves", way, "m")
        } else if turn > FAST {
            astray("turns", turn, "rad")
        } else {
            return None;
        };
        Some(format!("body `{}` {how}", world.mechanism().body_name(BodyId::from_index(i))))
    }

    fn lost_flesh(&self, world: &World, i: usize) -> Option<String> {
        let (nodes, dt) = (&world.state().flesh.nodes[i], world.settings().dt);
        let way = dt * nodes.velocities.iter().fold(0.0, |most: f64, v| most.max(v.length()));
        let how = if !nodes.positions.iter().all(|point| point.is_finite()) {
            "is no longer finite".to_owned()
        } else if way > self.way {
            astray("moves", way, "m")
        } else {
            return None;
        };
        Some(format!("flesh `{}` {how}", world.flesh_name(i)))
    }

    fn lost_joint(&self, world: &World, report: &StepReport) -> Option<String> {
        // What the step saw on its way costs nothing.
        if report.mechanism.position_error <= self.gap {
            return None;
        }
        let violation = world.violation();
        if violation.tree <= self.gap {
            return None;
        }
        let widest = violation.joint.filter(|&joint| world.mechanism().is_tree_joint(joint));
        let name = widest
            .map_or("of the tree".to_owned(), |joint| format!("`{}`", world.mechanism().joint_name(joint)));
        Some(format!("joint {name} is apart by {} m", quantity(violation.tree)))
    }
}

fn astray(how: &str, far: f64, unit: &str) -> String {
    format!("{how} by {} {unit} in a step", quantity(far))
}
