//! The flesh suite: KP08 Figure 5 and Table 1 measured here, growth with the size, explicit and implicit steps.
//!
//! Everything runs on one thread, which the caller provides, except where threads are compared.

use crate::control_suite::{PaperModel, TABLE_2};
use crate::flesh_implicit::{ImplicitRow, ImplicitRun};
use crate::flesh_scenes::{ExplicitRun, FleshMotion, cantilever, only_flesh, pinned};
use crate::flesh_shares::{deform, time_flesh};
use crate::subjects::fixture;
use crate::{
    Clock, FigureGoal, MeasureEffort, SceneRun, StepTimes, Subject, Suite, SuiteFailure, SuiteOptions,
};
use allocation_counter::measure;
use glam::DVec3;
use sinew_fem::{
    Attachments, Diagonalize, FemModel, FemOptions, FemScratch, FemState, Material, StepScratch,
    elastic_forces,
};
use sinew_flesh::{FleshBody, FleshOptions};
use sinew_scene::CharacterKindDoc;
use sinew_sim::World;
use sinew_soak::n_cores;

/// Shares of largely deformed elements.
pub(crate) const SHARES: [f64; 8] = [0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0];
/// Who pays for the SVD.
pub(crate) const MODES: [Diagonalize; 3] = [Diagonalize::Selective, Diagonalize::Always, Diagonalize::Never];
/// Bricks of the beams whose cost is compared: 702 to 1,001,472 tetrahedra.
pub(crate) const BEAMS: [[u32; 3]; 6] =
    [[13, 3, 3], [33, 6, 6], [68, 13, 13], [112, 21, 21], [140, 28, 28], [163, 32, 32]];
/// Bricks of the cantilever: 7,128 tetrahedra.
const CANTILEVER: [u32; 3] = [33, 6, 6];
/// Names and stiffnesses (Pa) of the cantilevers.
const CANTILEVERS: [(&str, f64); 2] = [("cantilever, 1e6 Pa", 1e6), ("cantilever, 1e8 Pa", 1e8)];
/// Steps of the cantilever, from rest.
const CANTILEVER_STEPS: u64 = 60;
/// Fixtures in implicit steps; the last one has a goal.
const FIXTURES: [&str; 4] = ["worm", "fish", "finger", "hand_flesh"];
/// The last of them with a hard grab instead of a soft one, and how much longer its steps may take.
const PINNED: &str = "hand_flesh, pinned";
const PINNED_LIMIT: f64 = 1.3;
/// Share at which sizes are compared.
const USUAL_SHARE: f64 = 0.1;
/// The body of flesh that is not of the paper's.
const BEAM: &str = "beam";

/// What KP08 Table 1 printed: motion, body, average ratio, speed-up.
pub(crate) const TABLE_1: [(&str, &str, f64, f64); 8] = [
    ("worm jump", "worm", 0.33, 1.76),
    ("worm jump 2", "worm", 0.29, 1.85),
    ("worm waving", "worm", 0.18, 2.21),
    ("worm bending", "worm", 0.18, 2.21),
    ("worm limping", "worm", 0.30, 1.83),
    ("worm rolling", "worm", 0.47, 1.43),
    ("fish escaping", "fish", 0.45, 1.33),
    ("finger manipulation", "finger", 0.11, 1.23),
];

/// Flesh of which a share is deformed largely.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShareRow {
    /// Whose flesh.
    pub(crate) body: &'static str,
    /// Number of tetrahedra.
    pub(crate) n_tets: usize,
    /// The share asked for.
    pub(crate) asked: f64,
    /// The share there is.
    pub(crate) share: f64,
    /// Who pays for the SVD.
    pub(crate) mode: Diagonalize,
    /// Time of the forces.
    pub(crate) forces: Clock,
    /// Time of an explicit step of the nodes, forces included.
    pub(crate) step: Clock,
}

/// A motion in explicit steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MotionRow {
    /// The motion.
    pub(crate) motion: FleshMotion,
    /// Number of tetrahedra.
    pub(crate) n_tets: usize,
    /// Share of the elements that were deformed largely, on average.
    pub(crate) share: f64,
    /// Sub-steps of the flesh per step.
    pub(crate) substeps: f64,
    /// Time of flesh and of bones per step, selective, s.
    pub(crate) selective: [f64; 2],
    /// The same if all elements are diagonalized, s.
    pub(crate) always: [f64; 2],
}

impl MotionRow {
    /// Always over selective, whole steps.
    pub(crate) fn gain(&self) -> f64 {
        self.always.iter().sum::<f64>() / self.selective.iter().sum::<f64>()
    }
}

/// A beam on a number of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SizeRow {
    /// Number of tetrahedra.
    pub(crate) n_tets: usize,
    /// Number of threads.
    pub(crate) n_threads: usize,
    /// Share of largely deformed elements.
    pub(crate) share: f64,
    /// Time of the forces.
    pub(crate) forces: Clock,
    /// Time of an explicit step, forces included.
    pub(crate) step: Clock,
    /// Bytes per tetrahedron that model says it holds, and that the allocator gave to model, state and scratch.
    pub(crate) bytes: [f64; 2],
}

/// The suite with all it has measured so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FleshSuite {
    /// Figure 5.
    pub(crate) shares: Vec<ShareRow>,
    /// Table 1.
    pub(crate) motions: Vec<MotionRow>,
    /// Growth.
    pub(crate) sizes: Vec<SizeRow>,
    /// Implicit steps: cantilevers first.
    pub(crate) implicit: Vec<ImplicitRow>,
}

impl Suite for FleshSuite {
    const NAME: &'static str = "flesh";

    fn measure(&mut self, options: &SuiteOptions) -> Result<(), SuiteFailure> {
        let effort = &options.effort();
        self.measure_shares(effort)?;
        self.shares_table().show();
        self.measure_motions(effort)?;
        self.motions_table().show();
        self.gains_table().show();
        self.measure_sizes(effort)?;
        self.sizes_table().show();
        self.measure_implicit(effort)?;
        self.implicit_table().show();
        Ok(())
    }

    fn goals(&self) -> Vec<FigureGoal> {
        let mut goals = Vec::new();
        for body in ["worm", BEAM] {
            if let Some(row) = self.share_row(body, USUAL_SHARE, Diagonalize::Selective) {
                let name = format!("{body}: forces at 10 % large, ns per tetrahedron");
                goals.push(FigureGoal::at_most(name, row.forces.best * 1e9 / row.n_tets as f64, 40.0));
            }
        }
        for (motion, body, ratio, paper) in TABLE_1 {
            if let Some(gain) = self.gain_at(body, ratio) {
                let name = format!("{motion}: speed-up at the paper's ratio {ratio}, times");
                goals.push(FigureGoal::at_least(name, gain, paper));
            }
        }
        for row in self.motions.iter().filter(|row| row.motion.kind == CharacterKindDoc::Worm) {
            let (name, time) = (row.motion.name, row.selective.iter().sum::<f64>());
            goals.push(FigureGoal::at_most(format!("{name}: explicit step, µs"), time * 1e6, 60.0));
        }
        for row in self.sizes.iter().filter(|row| row.n_tets >= 1_000_000 && row.n_threads == 1) {
            let name = "1,000,000 tetrahedra: forces, ns per tetrahedron";
            goals.push(FigureGoal::at_most(name, row.forces.best * 1e9 / row.n_tets as f64, 60.0));
        }
        for row in &self.implicit {
            let limit = match row.name.as_str() {
                name if name == CANTILEVERS[0].0 => 10.0,
                name if name == FIXTURES[3] => 8.3,
                _ => continue,
            };
            let name = format!("{}: implicit step, ms", row.name);
            goals.push(FigureGoal::at_most(name, row.times.best() * 1e3, limit));
        }
        let time = |name: &str| self.implicit.iter().find(|row| row.name == name).map(|row| row.times.best());
        if let (Some(free), Some(pinned)) = (time(FIXTURES[3]), time(PINNED)) {
            goals.push(FigureGoal::at_most(
                format!("{PINNED}: times the step without"),
                pinned / free,
                PINNED_LIMIT,
            ));
        }
        goals
    }

    /// Implicit steps of the cantilever.
    fn run_few_steps() -> Result<(), SuiteFailure> {
        let mut run = SceneRun::new(&cantilever(1e6, CANTILEVER))?;
        (0..10).for_each(|_| run.step());
        Ok(())
    }
}

impl FleshSuite {
    /// Measures forces and steps over the share of largely deformed elements: the paper's bodies and a beam.
    fn measure_shares(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        for PaperModel { name, .. } in TABLE_2 {
            let motion = FleshMotion::ALL.into_iter().find(|motion| motion.name.starts_with(name));
            let motion = motion.ok_or("a body of the paper has no motion")?;
            self.measure_shares_of(name, &World::from_scene(&motion.scene())?, effort)?;
        }
        self.measure_shares_of(BEAM, &World::from_scene(&cantilever(1e6, CANTILEVER))?, effort)
    }

    fn measure_shares_of(
        &mut self,
        name: &'static str,
        world: &World,
        effort: &MeasureEffort,
    ) -> Result<(), SuiteFailure> {
        let (body, poses) = (only_flesh(world)?, &world.state().bodies.poses);
        for asked in SHARES {
            let (positions, share) = deform(body.fem(), asked);
            for mode in MODES {
                let [forces, step] = time_flesh(body, poses, &positions, mode, effort)?;
                let n_tets = body.fem().n_tets();
                self.shares.push(ShareRow { body: name, n_tets, asked, share, mode, forces, step });
            }
        }
        Ok(())
    }

    /// Measures the motions in explicit steps, selectively and always diagonalized.
    fn measure_motions(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        let n_steps = if effort.is_quick() { 500 } else { 2000 };
        for motion in FleshMotion::ALL {
            self.motions.push(measure_motion(motion, n_steps, effort.n_batches)?);
        }
        Ok(())
    }

    /// Measures beams of all sizes up to the effort's, on one thread and on all. Fails if that changes a force.
    fn measure_sizes(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        let size = |cells: &[u32; 3]| 6 * cells.iter().product::<u32>() as usize;
        let most = effort.max_links.saturating_add(effort.max_links / 100);
        for cells in BEAMS.iter().filter(|cells| size(cells) <= most) {
            self.measure_size(*cells, effort)?;
        }
        Ok(())
    }

    fn measure_size(&mut self, cells: [u32; 3], effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        let mut built = None;
        let held = measure(|| built = Some(beam(cells).map(|model| (all_of(&model), model))));
        let ((state, _, _), model) = built.expect("the closure ran")?;
        let (n_tets, n_nodes) = (model.n_tets(), model.n_nodes());
        let bytes = [model.bytes_per_tet(), held.bytes_current as f64 / n_tets as f64];
        drop(state);
        let (positions, share) = deform(&model, USUAL_SHARE);
        let free = Attachments::none(n_nodes);
        let body = FleshBody::new(model, free, vec![], vec![], FleshOptions::default())?;
        let mut found: Option<Vec<DVec3>> = None;
        for n_threads in [1, n_cores().max(2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?;
            let ([forces, step], values) = pool.install(|| -> Result<_, SuiteFailure> {
                let mut values = vec![DVec3::ZERO; n_nodes];
                let mut scratch = FemScratch::new(body.fem());
                elastic_forces(body.fem(), &positions, Diagonalize::Selective, &mut scratch, &mut values);
                Ok((time_flesh(&body, &[], &positions, Diagonalize::Selective, effort)?, values))
            })?;
            if found.get_or_insert_with(|| values.clone()) != &values {
                return Err("the number of threads changed a force".into());
            }
            self.sizes.push(SizeRow { n_tets, n_threads, share, forces, step, bytes });
        }
        Ok(())
    }

    /// Measures implicit steps of scenes from beginning to end.
    fn measure_implicit(&mut self, effort: &MeasureEffort) -> Result<(), SuiteFailure> {
        for (name, young) in CANTILEVERS {
            let run = SceneRun::new(&cantilever(young, CANTILEVER))?;
            self.measure_in_turn([ImplicitRun::new(name, run, CANTILEVER_STEPS)?], effort)?;
        }
        let [others @ .., hand] = FIXTURES;
        for name in others {
            self.measure_in_turn([ImplicitRun::whole(name, SceneRun::fixture(name)?)?], effort)?;
        }
        // Compared with each other, so in turn: the speed of a machine changes within minutes.
        let held = SceneRun::new(&pinned(fixture(hand)?))?;
        let both = [ImplicitRun::whole(hand, SceneRun::fixture(hand)?)?, ImplicitRun::whole(PINNED, held)?];
        self.measure_in_turn(both, effort)
    }

    /// Measures scenes in turn.
    fn measure_in_turn<const N: usize>(
        &mut self,
        mut runs: [ImplicitRun; N],
        effort: &MeasureEffort,
    ) -> Result<(), SuiteFailure> {
        for _ in 0..effort.n_batches.div_ceil(2) {
            for run in &mut runs {
                run.measure()?;
            }
        }
        self.implicit.extend(runs.map(|run| run.row));
        Ok(())
    }

    /// The row of a body at a share and mode.
    fn share_row(&self, body: &str, asked: f64, mode: Diagonalize) -> Option<&ShareRow> {
        let is_asked = |row: &&ShareRow| row.body == body && (row.asked - asked).abs() < 1e-9;
        self.shares.iter().filter(is_asked).find(|row| row.mode == mode)
    }

    /// Time of the bones of a body in its main motion, s.
    fn bones_time(&self, body: &str) -> f64 {
        self.motions.iter().find(|row| row.motion.name.starts_with(body)).map_or(0.0, |row| row.selective[1])
    }

    /// What `Selective` wins over `Always` at a ratio, by the measured curve, bones included, as KP08 estimates it.
    pub(crate) fn gain_at(&self, body: &str, ratio: f64) -> Option<f64> {
        let curve = |mode| {
            let rows = self.shares.iter().filter(move |row| row.body == body && row.mode == mode);
            rows.map(|row| (row.share, row.step.best)).collect::<Vec<_>>()
        };
        let bones = self.bones_time(body);
        let at = |mode| interpolate(&curve(mode), ratio).map(|time| time + bones);
        Some(at(Diagonalize::Always)? / at(Diagonalize::Selective)?)
    }
}

/// A beam of flesh without bones.
fn beam(cells: [u32; 3]) -> Result<FemModel, SuiteFailure> {
    let mesh = sinew_mesh::beam(DVec3::from(cells.map(f64::from)) * 0.01, cells)?;
    let material = Material::st_venant_kirchhoff(1e5, 0.4)?;
    Ok(FemModel::new(mesh, material, &FemOptions::default())?)
}

/// What explicit steps of a model need beside it.
fn all_of(model: &FemModel) -> (FemState, StepScratch, Vec<DVec3>) {
    (FemState::at_rest(model), StepScratch::new(model), vec![DVec3::ZERO; model.n_nodes()])
}

fn measure_motion(motion: FleshMotion, n_steps: usize, n_batches: usize) -> Result<MotionRow, SuiteFailure> {
    let (mut share, mut substeps, mut n_tets) = (0.0, 0.0, 0);
    let mut times = [(); 4].map(|()| StepTimes::new(n_steps));
    for _ in 0..n_batches {
        for (mode, times) in MODES.into_iter().zip(times.chunks_mut(2)) {
            let mut run = ExplicitRun::new(&motion)?;
            run.settings_mut().diagonalize = mode;
            n_tets = run.n_tets();
            let (mut large, mut made) = (0, 0);
            for step in 0..n_steps {
                let (report, seconds) = run.step();
                times.iter_mut().zip(seconds).for_each(|(times, seconds)| times.add(step, seconds));
                (large, made) = (large + report.elements.n_diagonalized, made + report.substeps);
            }
            if mode == Diagonalize::Selective {
                share = large as f64 / (n_steps * n_tets) as f64;
                substeps = f64::from(made) / n_steps as f64;
            }
        }
    }
    let [flesh, bones, flesh_always, bones_always] = times.map(|times| times.best());
    let (selective, always) = ([flesh, bones], [flesh_always, bones_always]);
    Ok(MotionRow { motion, n_tets, share, substeps, selective, always })
}

/// The value of a polyline at `x`; points in order.
fn interpolate(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let pair = points.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&x))?;
    let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
    Some(if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y0 })
}

#[cfg(test)]
mod tests {
    use super::{
        FleshMotion, FleshSuite, ImplicitRun, MeasureEffort, SceneRun, Suite, cantilever, interpolate,
        measure_motion,
    };
    use crate::SuiteReport;

    #[test]
    fn small_flesh_meets_what_does_not_depend_on_time() {
        let effort = &MeasureEffort { n_batches: 1, batch_work: 1, max_links: 1_000 };
        let mut suite = FleshSuite::default();
        suite.measure_sizes(effort).unwrap();
        assert_eq!(suite.sizes.len(), 2);
        suite.measure_shares(effort).unwrap();
        for motion in [FleshMotion::ALL[0], FleshMotion::ALL[5]] {
            suite.motions.push(measure_motion(motion, 50, 1).unwrap());
        }
        let beam = SceneRun::new(&cantilever(1e6, [5, 1, 1])).unwrap();
        let finger = SceneRun::fixture("finger").unwrap();
        let runs = [("cantilever, 1e6 Pa", beam), ("finger", finger)];
        let runs = runs.map(|(name, run)| ImplicitRun::new(name, run, 5).unwrap());
        suite.measure_in_turn(runs, effort).unwrap();
        for row in &suite.implicit {
            assert!(row.solves >= 1.0 && row.iterations > 0.0, "{row:?}");
        }
        assert!(suite.motions.iter().all(|row| row.substeps >= 1.0 && row.share < 0.9));
        assert!(suite.gain_at("worm", 0.33).unwrap() > 0.0);
        let goals = suite.goals();
        for name in ["worm jump 2", "cantilever"] {
            assert!(goals.iter().any(|goal| goal.name.contains(name)), "{name}");
        }
        let json = suite.to_json();
        assert_eq!(json["shares"][0]["name"], "worm 0 Selective");
        assert!(suite.shares_table().to_string().contains("finger"));
        assert!(suite.gains_table().to_string().contains("2.21"));
        assert!(suite.figure().to_svg("").contains("worm, selective"));
    }

    #[test]
    fn curves_are_interpolated() {
        let points = [(0.0, 1.0), (0.5, 2.0), (1.0, 4.0)];
        assert_eq!(interpolate(&points, 0.75), Some(3.0));
        assert_eq!(interpolate(&points, 1.5), None);
    }
}
