//! The rope ladders and the four methods of Fau99 table 2, and the times printed there.
//!
//! A ladder `(p, r)` has `r` rungs and strings of `p` bars between them, each 1 m and 1 kg, and is bent downwards where
//! it begins. Single solves find it turning like a rigid body, 1 rad/s, so that all joints fit and every loop is loaded;
//! steps release it from rest, because the far end of the longest one would otherwise move 10 m in a step. Built by the
//! scene's own generator.

use crate::SuiteFailure;
use glam::DVec3;
use sinew_mechanism::{Assembly, Model, Settings};
use sinew_scene::{
    ExplicitDoc, ExplicitMethodDoc, GeneratorDoc, LadderDoc, LadderPoseDoc, LoopSolverDoc, LoopsDoc,
    SceneDoc, StepperDoc,
};
use sinew_sim::World;

/// Precision of the paper: largest residual, m/s² at the acceleration level.
pub(crate) const PAPER_PRECISION: f64 = 1e-3;

/// More than any ladder needs.
const MAX_ITERATIONS: u32 = 10_000;

/// Largest distance between the points of a joint that counts as closed, m.
pub(crate) const CLOSED: f64 = 1e-8;

/// A rope ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ladder {
    /// Bars of each string between two rungs.
    pub(crate) p: u32,
    /// Rungs.
    pub(crate) r: u32,
}

impl Ladder {
    /// Those of the paper.
    pub(crate) const ALL: [Self; 5] = [
        Self { p: 12, r: 1 },
        Self { p: 12, r: 4 },
        Self { p: 1, r: 48 },
        Self { p: 1, r: 96 },
        Self { p: 6, r: 96 },
    ];

    /// As in the paper.
    pub(crate) fn name(&self) -> String {
        format!("({},{})", self.p, self.r)
    }

    /// Accelerations of the swinging ladder, to the paper's precision, from a cold start.
    pub(crate) fn acceleration(&self, method: Method) -> Result<(Model, Settings), SuiteFailure> {
        let explicit = ExplicitDoc { method: ExplicitMethodDoc::Euler, baumgarte: 0.0, most_substeps: 1 };
        let scene = SceneDoc {
            stepper: StepperDoc::Explicit(explicit),
            loops: LoopsDoc {
                solver: method.solver,
                precision: PAPER_PRECISION,
                iterations: MAX_ITERATIONS,
                warm_start: false,
                ..LoopsDoc::default()
            },
            ..SceneDoc::default()
        };
        self.build(scene, DVec3::Y)
    }

    /// Implicit steps of length `dt` (s) with one solve each, to the paper's precision in m/s, released from rest.
    pub(crate) fn implicit(&self, dt: f64, warm_start: bool) -> Result<(Model, Settings), SuiteFailure> {
        let loops = LoopsDoc { precision: PAPER_PRECISION, warm_start, ..LoopsDoc::default() };
        self.build(SceneDoc { dt, loops, ..SceneDoc::default() }, DVec3::ZERO)
    }

    /// Implicit steps of 1/60 s that end with every joint closed to [`CLOSED`], released from rest; velocities keep the
    /// joints closed, too, if asked for.
    pub(crate) fn closed(&self, velocities: bool) -> Result<(Model, Settings), SuiteFailure> {
        let (model, mut settings) = self.implicit(1.0 / 60.0, true)?;
        let mut assembly = Assembly::default();
        assembly.tolerance = CLOSED;
        assembly.iterations = 10;
        assembly.velocities = velocities;
        settings.stabilize = Some(assembly);
        Ok((model, settings))
    }

    fn build(&self, scene: SceneDoc, angular_velocity: DVec3) -> Result<(Model, Settings), SuiteFailure> {
        let ladder = LadderDoc {
            p: self.p,
            r: self.r,
            pose: LadderPoseDoc::Swing,
            angular_velocity,
            ..LadderDoc::default()
        };
        let scene = SceneDoc { generators: vec![GeneratorDoc::Ladder(ladder)], ..scene };
        let world = World::from_scene(&scene)?;
        let settings = world.settings().mechanism().ok_or("a ladder in joint coordinates")?;
        Ok((world.mechanism().clone(), settings))
    }
}

/// One of the four methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Method {
    /// Name in JSON.
    pub(crate) key: &'static str,
    /// Name in the paper.
    pub(crate) title: &'static str,
    /// Name in scenes.
    pub(crate) solver: LoopSolverDoc,
    /// What the paper printed for each ladder, ms; it left one out.
    pub(crate) paper_ms: [Option<f64>; 5],
}

impl Method {
    /// In the order of the paper.
    pub(crate) const ALL: [Self; 4] = [
        Self {
            key: "full_dense",
            title: "full dense",
            solver: LoopSolverDoc::FullDense,
            paper_ms: [Some(16.0), Some(405.0), Some(1733.0), Some(13034.0), None],
        },
        Self {
            key: "full_iterative",
            title: "full iterative",
            solver: LoopSolverDoc::FullIterative,
            paper_ms: [Some(4.4), Some(50.0), Some(121.0), Some(370.0), Some(2501.0)],
        },
        Self {
            key: "structured_dense",
            title: "structured dense",
            solver: LoopSolverDoc::StructuredDense,
            paper_ms: [Some(3.1), Some(21.0), Some(323.0), Some(1350.0), Some(4612.0)],
        },
        Self {
            key: "structured_iterative",
            title: "structured iterative",
            solver: LoopSolverDoc::StructuredIterative,
            paper_ms: [Some(4.5), Some(15.0), Some(35.0), Some(68.0), Some(208.0)],
        },
    ];

    /// Whether the loop matrix is written out.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.solver, LoopSolverDoc::FullDense | LoopSolverDoc::StructuredDense)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ladder, Method};

    #[test]
    fn ladders_have_the_rows_of_the_paper() {
        let rows = [(75, 3), (300, 12), (432, 144), (864, 288), (3744, 288)];
        let structured = Method::ALL[3];
        for (ladder, (tree, loops)) in Ladder::ALL.into_iter().zip(rows) {
            let (model, _) = ladder.acceleration(structured).unwrap();
            assert_eq!(model.n_rows(), (tree, loops), "{}", ladder.name());
            let (full, _) = ladder.acceleration(Method::ALL[1]).unwrap();
            assert_eq!(full.n_rows(), (0, tree + loops), "{}", ladder.name());
        }
    }
}
