//! A run of one mechanism, judged at every step.
//!
//! | SoakFault | when |
//! |---|---|
//! | not finite | a body is no longer finite |
//! | silent gap | a joint is open by more than a thousandth of the mechanism, or tilted by 1e-3 rad, and health is good |
//! | energy | more than 1 % above what was put in for half a second, and health was good so far |
//! | frozen | a mechanism that gravity sets in motion stays where it is (see `mobility`) |
//! | worse | a stabilization leaves a joint further open than the step did that it follows |
//! | named gap, named energy | the same, but health names a joint: counted, no failure |
//! | energy swing | more than 1 % above what was put in at the end of a step: counted, no failure |

use std::time::Instant;

use sinew_math::Pose;
use sinew_scene::SceneDoc;
use sinew_sim::{BuildError, EnergyAccount, EnergyExcess, Health, StepReport, World};

use crate::mobility::is_frozen;

/// Largest gap of a joint as a share of the mechanism, and largest tilt, rad.
const GAP: f64 = 1e-3;
/// Largest energy above what was put in, as a share of what was exchanged.
const EXCESS: f64 = 0.01;

/// Joint errors that a stabilization may leave beyond those it found: as a share, and m or rad, which is its tolerance.
const ROUNDING: f64 = 1e-6;
const SMALL: f64 = 1e-9;

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SoakFault {
    /// A body is no longer finite.
    NotFinite,
    /// A joint is open and health is good.
    SilentGap,
    /// Energy without a source.
    Energy,
    /// Gravity does not move it although it could.
    Frozen,
    /// A stabilization opens joints.
    Worse,
    /// A joint is open, and health names one.
    NamedGap,
    /// Energy without a source after a step that left a named joint open.
    NamedEnergy,
    /// Energy at the ends of steps above what was put in, for a moment or longer.
    EnergySwing,
}

impl SoakFault {
    /// All of them, the worst first.
    pub const ALL: [Self; 8] = [
        Self::NotFinite,
        Self::SilentGap,
        Self::Energy,
        Self::Frozen,
        Self::Worse,
        Self::NamedGap,
        Self::NamedEnergy,
        Self::EnergySwing,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFinite => "not finite",
            Self::SilentGap => "silent gap",
            Self::Energy => "energy",
            Self::Frozen => "frozen",
            Self::Worse => "worse",
            Self::NamedGap => "named gap",
            Self::NamedEnergy => "named energy",
            Self::EnergySwing => "energy swing",
        }
    }

    /// Whether the run says nothing of it.
    pub fn is_silent(self) -> bool {
        !matches!(self, Self::NamedGap | Self::NamedEnergy | Self::EnergySwing)
    }
}

/// A fault where it first happened.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong.
    pub fault: SoakFault,
    /// When, s.
    pub time: f64,
    /// The worst value of the run: m per m or rad, share of energy, share of the expected motion.
    pub worst: f64,
    /// The joint or body.
    pub place: String,
}

/// Sees every step of a run: the world after it, its report, its excess of energy.
pub type StepWatch<'a> = dyn FnMut(&World, &StepReport, EnergyExcess) + 'a;

/// What a run showed.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// At most one finding per fault.
    pub findings: Vec<Finding>,
    /// Largest gap by the mechanism, largest tilt, largest excess of energy.
    pub gap: f64,
    /// rad.
    pub tilt: f64,
    /// Share.
    pub excess: f64,
    /// Steps made, and those that health names.
    pub steps: u64,
    /// Steps with an open joint by health.
    pub named: u64,
    /// Mean and largest time of a step, s.
    pub mean_s: f64,
    /// s.
    pub longest_s: f64,
}

impl Trial {
    /// Runs a scene.
    ///
    /// # Errors
    /// If the scene cannot be built.
    pub fn of(scene: &SceneDoc) -> Result<Self, BuildError> {
        let mut trial = Self::run(scene, &mut |_, _, _| {})?;
        if let Some(share) = is_frozen(scene)? {
            trial.find(SoakFault::Frozen, 0.0, share, String::new);
        }
        Ok(trial)
    }

    /// Runs a scene without asking whether it is frozen; `watch` sees every step.
    ///
    /// # Errors
    /// If the scene cannot be built.
    pub fn run(scene: &SceneDoc, watch: &mut StepWatch<'_>) -> Result<Self, BuildError> {
        let mut world = World::from_scene(scene)?;
        let mut trial = Self::default();
        let mut account = account(&world);
        let size = size(&world);
        let mut bare = Bare::of(scene)?;
        let steps = (scene.duration_s / scene.dt).round() as u64;
        for _ in 0..steps {
            let before = bare.as_mut().and_then(|bare| bare.step(&world));
            let report = trial.step(&mut world, steps);
            if let Some(before) = before.filter(|_| is_whole(&report)) {
                trial.note_opening(&world, before);
            }
            if let Some(body) = report.health.non_finite {
                let name = || world.mechanism().body_name(body).to_owned();
                trial.find(SoakFault::NotFinite, world.time(), f64::INFINITY, name);
                break;
            }
            trial.note_gap(&world, &report.health, size);
            let excess = account.note(world.model(), world.state(), world.input(), world.settings());
            trial.note_energy(&world, excess);
            watch(&world, &report, excess);
        }
        Ok(trial)
    }

    /// One step of so many, timed.
    fn step(&mut self, world: &mut World, steps: u64) -> StepReport {
        let clock = Instant::now();
        let report = world.step();
        let elapsed = clock.elapsed().as_secs_f64();
        self.mean_s += elapsed / steps as f64;
        self.longest_s = self.longest_s.max(elapsed);
        self.steps += 1;
        report
    }

    fn note_energy(&mut self, world: &World, excess: EnergyExcess) {
        self.excess = self.excess.max(excess.lasting);
        let gain = if self.named > 0 { SoakFault::NamedEnergy } else { SoakFault::Energy };
        for (fault, share) in [(gain, excess.lasting), (SoakFault::EnergySwing, excess.now)] {
            if share > EXCESS {
                self.find(fault, world.time(), share, String::new);
            }
        }
    }

    /// Whether something is wrong that the run says nothing of.
    pub fn fails(&self) -> bool {
        self.findings.iter().any(|finding| finding.fault.is_silent())
    }

    /// The worst value of a fault, if it has it.
    pub fn worst(&self, fault: SoakFault) -> Option<f64> {
        self.findings.iter().find(|finding| finding.fault == fault).map(|finding| finding.worst)
    }

    /// Whether it has a fault.
    pub fn has(&self, fault: SoakFault) -> bool {
        self.worst(fault).is_some()
    }

    fn note_gap(&mut self, world: &World, health: &Health, size: f64) {
        let violation = world.violation();
        let (gap, tilt) = (violation.position / size, violation.rotation);
        self.gap = self.gap.max(gap);
        self.tilt = self.tilt.max(tilt);
        self.named += u64::from(health.open_joint.is_some() || health.gaining.is_some());
        let worst = gap.max(tilt);
        if worst > GAP {
            let fault = if health.is_good() { SoakFault::SilentGap } else { SoakFault::NamedGap };
            let joint = violation.joint.filter(|_| gap > tilt).or(health.open_joint);
            let place =
                || joint.map_or(String::new(), |joint| world.mechanism().joint_name(joint).to_owned());
            self.find(fault, world.time(), worst, place);
        }
    }

    /// Compares the joints after a stabilization with those before it.
    fn note_opening(&mut self, world: &World, before: f64) {
        let after = largest_error(world);
        if after > (1.0 + ROUNDING) * before + SMALL {
            self.find(SoakFault::Worse, world.time(), after / before, String::new);
        }
    }

    fn find(&mut self, fault: SoakFault, time: f64, worst: f64, place: impl FnOnce() -> String) {
        match self.findings.iter_mut().find(|known| known.fault == fault) {
            Some(known) => known.worst = known.worst.max(worst),
            None => self.findings.push(Finding { fault, time, worst, place: place() }),
        }
    }
}

/// The same scene without stabilization, for the state that a step leaves to it.
struct Bare {
    world: World,
}

impl Bare {
    /// Of a scene with a stabilization.
    fn of(scene: &SceneDoc) -> Result<Option<Self>, BuildError> {
        if scene.stabilize.is_none() {
            return Ok(None);
        }
        let mut scene = scene.clone();
        scene.stabilize = None;
        Ok(Some(Self { world: World::from_scene(&scene)? }))
    }

    /// Largest joint error after a step from the state of another world; none if the step had several parts, each of which is stabilized.
    fn step(&mut self, world: &World) -> Option<f64> {
        self.world.restore(world.state()).ok()?;
        let report = self.world.step();
        is_whole(&report).then(|| largest_error(&self.world))
    }
}

/// Whether a step was made in one part, and joints were not torn before it.
fn is_whole(report: &StepReport) -> bool {
    report.mechanism.substeps == 1 && report.health.mended.is_none()
}

/// The largest gap (m) or tilt (rad) of a joint.
fn largest_error(world: &World) -> f64 {
    let violation = world.violation();
    violation.position.max(violation.rotation)
}

/// The account of energy from the present state on.
fn account(world: &World) -> EnergyAccount {
    EnergyAccount::new(world.model(), world.state(), world.input(), world.settings())
}

/// Size of a mechanism: the diagonal of the box around its bodies, m.
pub(crate) fn size(world: &World) -> f64 {
    let places = world.state().bodies.poses.iter().map(|pose: &Pose| pose.translation);
    let (low, high) = places
        .fold((glam::DVec3::INFINITY, glam::DVec3::NEG_INFINITY), |(low, high), place| {
            (low.min(place), high.max(place))
        });
    low.distance(high).max(0.1)
}
