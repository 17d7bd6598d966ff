//! The joint-space suite: dynamics, matrices and derivatives of two robots of thirty hinges, beside Pinocchio in the same run.
//!
//! Every call starts from the state alone: kinematics included. Batches of ours and of Pinocchio's follow each other in turn, so that both
//! see the same machine; before, both must have found the same numbers.

use std::time::Instant;

use crate::joint_space_quantities::{PeerQuantity, QUANTITIES, RobotRun};
use crate::pinocchio::{PinocchioRobot, built_program};
use crate::{Clock, FigureGoal, ROBOT_HINGES, Suite, SuiteFailure, SuiteOptions};

/// Largest difference of numbers, of the largest of their kind.
const TOLERANCE: f64 = 1e-10;
/// Time of a batch of calls (s), and how many batches there are.
const BATCH_SECONDS: f64 = 5e-4;
const BATCHES: [usize; 2] = [40, 400];
/// Evaluations of each quantity where instructions are counted.
const FEW_CALLS: usize = 20;

/// The robots: name, limbs, and whether they hang on a free body.
pub(crate) const ROBOTS: [(&str, usize, bool); 2] = [("chain", 1, false), ("limbs", 5, true)];

/// Pinocchio's fastest function for a quantity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PeerTime {
    pub(crate) function: &'static str,
    /// Time of a call, s.
    pub(crate) clock: Clock,
    /// Largest difference of its numbers from ours, of the largest of their kind.
    pub(crate) difference: f64,
}

/// A quantity of a robot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantityRow {
    pub(crate) robot: &'static str,
    pub(crate) quantity: &'static str,
    /// Time of a call, s.
    pub(crate) ours: Clock,
    pub(crate) peer: Option<PeerTime>,
}

impl QuantityRow {
    /// A time per hinge, ns.
    pub(crate) fn per_hinge(seconds: f64) -> f64 {
        seconds * 1e9 / ROBOT_HINGES as f64
    }

    /// Our time over Pinocchio's: of the fastest batches, and of the middle ones.
    pub(crate) fn ratios(&self) -> Option<[f64; 2]> {
        let peer = self.peer.as_ref()?.clock;
        Some([self.ours.best / peer.best, self.ours.median / peer.median])
    }
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JointSpaceSuite {
    pub(crate) rows: Vec<QuantityRow>,
    /// Versions of Pinocchio and its compiler.
    pub(crate) peer: Option<String>,
}

impl Suite for JointSpaceSuite {
    const NAME: &'static str = "joint_space";
    const FLAGS: &'static [&'static str] = &["--pinocchio", "--callgrind"];

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        let program = options.has("--pinocchio").then(built_program).transpose()?;
        let n_batches = BATCHES[usize::from(!options.is_quick())];
        for (name, limbs, is_floating) in ROBOTS {
            let mut run = RobotRun::new(limbs, is_floating)?;
            let mut peer = match &program {
                Some(program) => Some(PinocchioRobot::start(program, &run.described())?),
                None => None,
            };
            for quantity in &QUANTITIES {
                self.rows.push(measure_quantity(name, quantity, &mut run, peer.as_mut(), n_batches)?);
            }
            self.peer = peer.map(|peer| peer.version.clone());
            self.table(name).show();
        }
        Ok(())
    }

    fn goals(&self) -> Vec<FigureGoal> {
        let goal = |row: &QuantityRow| {
            let name = format!("{}: {}, over Pinocchio", row.robot, row.quantity);
            row.ratios().map(|[best, _]| FigureGoal::at_most(name, best, 1.0))
        };
        self.rows.iter().filter_map(goal).collect()
    }

    fn run_few_steps() -> Result<(), SuiteFailure> {
        for (_, limbs, is_floating) in ROBOTS {
            let mut run = RobotRun::new(limbs, is_floating)?;
            for quantity in &QUANTITIES {
                (0..FEW_CALLS).for_each(|_| run.evaluate(quantity));
            }
        }
        Ok(())
    }
}

/// Compares numbers and times of a quantity.
fn measure_quantity(
    robot: &'static str,
    quantity: &PeerQuantity,
    run: &mut RobotRun,
    mut peer: Option<&mut PinocchioRobot>,
    n_batches: usize,
) -> Result<QuantityRow, SuiteFailure> {
    run.evaluate(quantity);
    let found = (quantity.values)(run);
    let peers = if peer.is_some() { quantity.peers } else { &[] };
    let mut worst = 0.0_f64;
    for function in peers {
        let values = peer.as_mut().map_or(Ok(vec![]), |peer| peer.values(function))?;
        let difference = difference(&found, &values);
        if difference > TOLERANCE {
            let name = quantity.name;
            return Err(format!("{robot}: {name} differs from {function} by {difference:.1e}").into());
        }
        worst = worst.max(difference);
    }
    let mut ours = |calls: usize| {
        let start = Instant::now();
        (0..calls).for_each(|_| run.evaluate(quantity));
        start.elapsed().as_secs_f64()
    };
    let calls = ((BATCH_SECONDS / ours(100) * 100.0) as usize).max(10);
    let mut times = vec![Vec::new(); 1 + peers.len()];
    for _ in 0..n_batches {
        times[0].push(ours(calls) / calls as f64);
        for (function, times) in peers.iter().zip(&mut times[1..]) {
            if let Some(peer) = &mut peer {
                times.push(peer.seconds(function, calls)? / calls as f64);
            }
        }
    }
    let clocks: Vec<Clock> = times.into_iter().map(Clock::of).collect();
    let theirs = peers.iter().zip(&clocks[1..]).min_by(|(_, a), (_, b)| a.best.total_cmp(&b.best));
    let peer = theirs.map(|(function, clock)| PeerTime { function, clock: *clock, difference: worst });
    Ok(QuantityRow { robot, quantity: quantity.name, ours: clocks[0], peer })
}

/// Largest difference of two lists, of the largest number; infinite if they are not of one length.
fn difference(found: &[f64], expected: &[f64]) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    let largest = expected.iter().fold(1e-6_f64, |most, x| most.max(x.abs()));
    let pairs = found.iter().zip(expected);
    pairs.fold(0.0_f64, |most, (a, b)| if (a - b).is_nan() { f64::INFINITY } else { most.max((a - b).abs()) })
        / largest
}

#[cfg(test)]
mod tests {
    use super::{JointSpaceSuite, ROBOTS, difference, measure_quantity};
    use crate::joint_space_quantities::{QUANTITIES, RobotRun};
    use crate::{Suite, SuiteReport};

    #[test]
    fn a_small_suite_has_a_row_per_quantity() {
        let mut suite = JointSpaceSuite::default();
        for (name, limbs, is_floating) in ROBOTS {
            let mut run = RobotRun::new(limbs, is_floating).unwrap();
            // 14 numbers of a body without its inertia's six, coordinates, rates, two vectors, gravity and the tip
            let (n, coordinates) = (run.tree.n_dofs(), run.tree.n_coordinates());
            assert_eq!(run.described().len(), 1 + 19 * run.tree.n_links() + coordinates + 3 * n + 7);
            for quantity in &QUANTITIES {
                suite.rows.push(measure_quantity(name, quantity, &mut run, None, 1).unwrap());
            }
            assert!(suite.table(name).to_string().contains("Coriolis matrix"));
        }
        assert!(suite.goals().is_empty());
        assert_eq!(suite.to_json()["rows"][1]["name"], "chain, forward dynamics");
        assert!(suite.figure().to_svg("").contains("limbs"));
    }

    #[test]
    fn numbers_that_are_none_differ() {
        assert!(difference(&[1.0, 2.0], &[1.0, 2.0]) < 1e-300);
        assert!(difference(&[1.0, f64::NAN], &[1.0, 2.0]).is_infinite());
        assert!(difference(&[1.0], &[1.0, 2.0]).is_infinite());
    }
}
