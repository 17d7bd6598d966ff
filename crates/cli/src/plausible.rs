//! Plausibility of a state: numbers are finite, speeds are bounded, joints hold.
//!
//! A run can be meaningless although all numbers are finite: under a gravity of 1e30 m/s² a chain comes apart by 1e27
//! m. The bounds are far beyond those of realistic scenes. Cost: one pass over bodies and nodes per step.

use sinew_show::extent;
use sinew_sim::{BodyId, HealthNotice, StepReport, World};

use crate::text::quantity;

/// Largest displacement in one step, relative to the initial size of the scene.
const FAR: f64 = 1e9;
/// Largest rotation of a body in one step (rad).
const FAST: f64 = 1e3;
/// Largest error of a tree joint, relative to the initial size of the scene plus the initial error.
const APART: f64 = 10.0;

/// Bounds of a plausible state.
pub(crate) struct PlausibleBounds {
    /// Displacement in one step (m).
    displacement: f64,
    /// Position error of a tree joint (m).
    gap: f64,
}

impl PlausibleBounds {
    /// Bounds of a world at its initial state.
    pub(crate) fn of(world: &World) -> Self {
        let reach = extent(world).1;
        Self { displacement: FAR * reach, gap: APART * (reach + world.violation().tree).max(1.0) }
    }

    /// The first violation after a step: what it is, and in words with who it is.
    pub(crate) fn violated(&self, world: &World, report: &StepReport) -> Option<(HealthNotice, String)> {
        let body = || (0..world.state().bodies.poses.len()).find_map(|i| self.violated_by_body(world, i));
        let flesh = || (0..world.state().flesh.nodes.len()).find_map(|i| self.violated_by_flesh(world, i));
        let tet = report.health.non_finite_tet;
        body()
            .or_else(flesh)
            .or_else(|| tet.map(|tet| (HealthNotice::NonFiniteTet, violated_by_tet(world, tet))))
            .or_else(|| Some((HealthNotice::Implausible, self.violated_by_joint(world, report)?)))
    }

    fn violated_by_body(&self, world: &World, i: usize) -> Option<(HealthNotice, String)> {
        let (pose, motion, dt) =
            (&world.state().bodies.poses[i], &world.state().bodies.motions[i], world.settings().dt);
        let (displacement, turn) = (dt * motion.linear.length(), dt * motion.angular.length());
        let (notice, how) = if !(pose.is_finite() && motion.is_finite()) {
            (HealthNotice::NonFinite, "is no longer finite".to_owned())
        } else if displacement > self.displacement {
            per_step("moves", displacement, "m")
        } else if turn > FAST {
            per_step("turns", turn, "rad")
        } else {
            return None;
        };
        Some((notice, format!("body `{}` {how}", world.mechanism().body_name(BodyId::from_index(i)))))
    }

    fn violated_by_flesh(&self, world: &World, i: usize) -> Option<(HealthNotice, String)> {
        let (nodes, dt) = (&world.state().flesh.nodes[i], world.settings().dt);
        let displacement = dt * nodes.velocities.iter().fold(0.0, |most: f64, v| most.max(v.length()));
        let (notice, how) = if !nodes.positions.iter().all(|point| point.is_finite()) {
            (HealthNotice::NonFinite, "is no longer finite".to_owned())
        } else if displacement > self.displacement {
            per_step("moves", displacement, "m")
        } else {
            return None;
        };
        Some((notice, format!("flesh `{}` {how}", world.flesh_name(i))))
    }

    fn violated_by_joint(&self, world: &World, report: &StepReport) -> Option<String> {
        // The error known from the step avoids a full measurement.
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

/// The report has the number of the tetrahedron, but not its flesh: all that have so many are named.
fn violated_by_tet(world: &World, tet: usize) -> String {
    let bodies = world.model().flesh().map_or(&[][..], |flesh| flesh.bodies());
    let possible = (0..bodies.len()).filter(|&i| tet < bodies[i].fem().n_tets());
    let names: Vec<String> = possible.map(|i| format!("`{}`", world.flesh_name(i))).collect();
    format!("the force of tetrahedron {tet} of flesh {} is no longer finite", names.join(" or "))
}

fn per_step(how: &str, amount: f64, unit: &str) -> (HealthNotice, String) {
    (HealthNotice::Implausible, format!("{how} by {} {unit} in a step", quantity(amount)))
}
