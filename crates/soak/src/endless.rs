//! Built-in scenes that go on for as long as one likes: their tracks are played to and fro, a score again and again from the start, and
//! [`Disturber`] pushes and holds.
//!
//! Energy is held against an [`EnergyAccount`] that begins anew every five seconds of the scene, with a disturbance: what friction took before would
//! hide a later gain. Scores and prescribed motions have no account, for they put in what they need. Cost per step: the step, the
//! joint errors and the energy.

use sinew_scene::{GeneratorDoc, SceneDoc};
use sinew_sim::{BuildError, EnergyAccount, NoticeCounts, StepReport, World};

use crate::disturbance::{Disturber, moving_mass};
use crate::piles::Pile;
use crate::trial::size;

/// How long an account of energy lasts (s).
const ACCOUNT: f64 = 5.0;
/// Largest reach of a hold, as a share of the scene.
const REACH: f64 = 0.25;

/// What must hold in every step of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoakBounds {
    /// Gap of a joint (m).
    pub gap: f64,
    /// Depth of a contact (m).
    pub depth: f64,
    /// Kinetic energy, J per kilogram of what moves.
    pub kinetic: f64,
    /// Energy above what was put in, for half a second, as a share of what was exchanged.
    pub excess: f64,
}

/// The largest values of some steps, in the units of [`SoakBounds`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SliceWorst {
    /// Steps.
    pub steps: u64,
    /// Steps with a warning.
    pub warned: u64,
    /// Steps whose work is known, so that energy has an account.
    pub accounted: u64,
    /// m.
    pub gap: f64,
    /// m.
    pub depth: f64,
    /// J/kg.
    pub kinetic: f64,
    /// Share.
    pub excess: f64,
    /// Whether something was not finite, or a step could not be made.
    pub is_lost: bool,
}

impl SliceWorst {
    /// The worse of both, and the sum of steps.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            warned: self.warned + other.warned,
            accounted: self.accounted + other.accounted,
            gap: self.gap.max(other.gap),
            depth: self.depth.max(other.depth),
            kinetic: self.kinetic.max(other.kinetic),
            excess: self.excess.max(other.excess),
            is_lost: self.is_lost || other.is_lost,
        }
    }
}

/// What a scene of a long soak is made of.
#[derive(Clone, Copy, Debug)]
enum EndlessSource {
    /// A built-in scene.
    BuiltIn(&'static str),
    /// Boxes on the ground.
    OfPile(Pile),
}

/// Name, source and bounds of the gap and the depth (mm).
type EndlessRow = (&'static str, EndlessSource, f64, f64);

use EndlessSource::{BuiltIn, OfPile};

const SCENES: [EndlessRow; 8] = [
    ("hand", BuiltIn("hand"), 1.0, 0.0),
    ("hand_flesh", BuiltIn("hand_flesh"), 5.0, 10.0),
    ("ladder", BuiltIn("ladder_12_4"), 1.0, 0.0),
    ("worm", BuiltIn("worm"), 2.0, 10.0),
    ("crawl", BuiltIn("worm_crawl"), 0.1, 10.0),
    ("puppet", BuiltIn("puppet"), 1.0, 20.0),
    ("heap", BuiltIn("heap_40"), 0.0, 15.0),
    ("ragdolls", OfPile(Pile::Ragdolls(4)), 1.0, 15.0),
];
/// Speed of everything (m/s) whose kinetic energy a scene may have beyond that of its start and that of a fall by its size.
const SPEED: f64 = 10.0;
/// Bound of the excess.
const EXCESS: f64 = 0.01;
/// Damping of the joints of ladders (N·m·s/rad): without any, pushes heat a ladder up for as long as they go on.
const LADDER_DAMPING: f64 = 1.0;

/// A scene that goes on and on.
pub struct EndlessRun {
    name: &'static str,
    title: String,
    bounds: SoakBounds,
    world: World,
    disturber: Disturber,
    account: EnergyAccount,
    mass: f64,
    /// Length of its script (s), and whether it is a score.
    lap: f64,
    is_scored: bool,
    /// Steps since the beginning, and when the account began (s).
    steps: u64,
    account_from: f64,
    /// Of the laps before this one.
    notices: NoticeCounts,
}

impl EndlessRun {
    /// All scenes of the long soak whose names contain `part`, disturbed by a seed.
    ///
    /// # Errors
    /// If a scene cannot be built.
    pub fn all(part: &str, seed: u64) -> Result<Vec<Self>, BuildError> {
        let chosen = SCENES.iter().filter(|row| row.0.contains(part));
        chosen.map(|row| Self::new(row, seed)).collect()
    }

    fn new(&(name, source, gap, depth): &EndlessRow, seed: u64) -> Result<Self, BuildError> {
        let scene = match source {
            BuiltIn(title) => damped(built_in(title)),
            OfPile(pile) => pile.scene(seed, 10.0),
        };
        let world = World::from_scene(&scene)?;
        let (mass, size) = (moving_mass(&world), size(&world));
        let fall = world.settings().gravity.length() * size;
        let kinetic = world.energy().kinetic / mass + fall + 0.5 * SPEED * SPEED;
        let bounds = SoakBounds { gap: 1e-3 * gap, depth: 1e-3 * depth, kinetic, excess: EXCESS };
        Ok(Self {
            name,
            title: scene.name.clone(),
            bounds,
            disturber: Disturber::new(&world, seed, REACH * size),
            account: EnergyAccount::new(world.model(), world.state(), world.input(), world.settings()),
            mass,
            lap: scene.duration_s,
            is_scored: scene.score.is_some(),
            world,
            steps: 0,
            account_from: 0.0,
            notices: NoticeCounts::default(),
        })
    }

    /// What it is called in tables.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The name of its scene.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What must hold.
    pub fn bounds(&self) -> &SoakBounds {
        &self.bounds
    }

    /// The world now.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Time of the scene since the beginning, all laps together (s).
    pub fn seconds(&self) -> f64 {
        self.steps as f64 * self.world.settings().dt
    }

    /// What the steps told so far.
    pub fn notices(&self) -> NoticeCounts {
        let mut all = self.notices.clone();
        all.merge(self.world.notices());
        all
    }

    /// Makes a step.
    pub fn step(&mut self) -> SliceWorst {
        let time = self.seconds();
        if self.is_scored && self.world.time() >= self.lap {
            self.notices.merge(self.world.notices());
            self.world.reset();
            self.begin_account(time);
        }
        let mut input = self.world.input_at(self.script_time(time));
        let is_new = self.disturber.disturb(&self.world, time, &mut input);
        if is_new && time - self.account_from >= ACCOUNT {
            self.begin_account(time);
        }
        let report = self.world.step_with(&input);
        self.steps += 1;
        self.judge(&report)
    }

    /// The time of the script: to and fro over its length, or that of the score.
    fn script_time(&self, time: f64) -> f64 {
        if self.is_scored {
            return self.world.time();
        }
        let phase = time.rem_euclid(2.0 * self.lap);
        phase.min(2.0 * self.lap - phase)
    }

    fn begin_account(&mut self, time: f64) {
        let world = &self.world;
        self.account = EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
        self.account_from = time;
    }

    /// Whether nothing was prescribed in the last step.
    fn is_accounted(&self) -> bool {
        let input = self.world.input();
        !self.is_scored && input.kinematic.is_empty() && input.drives.is_empty()
    }

    fn judge(&mut self, report: &StepReport) -> SliceWorst {
        let world = &self.world;
        let excess = self.account.note(world.model(), world.state(), world.input(), world.settings());
        let kinetic = world.energy().kinetic / self.mass;
        SliceWorst {
            steps: 1,
            warned: u64::from(!report.health.is_good()),
            accounted: u64::from(self.is_accounted()),
            gap: world.violation().position,
            depth: report.flesh.contacts.depth,
            kinetic,
            excess: excess.lasting,
            is_lost: report.health.non_finite.is_some() || !kinetic.is_finite(),
        }
    }
}

/// The scene with damping in the joints of its ladders.
fn damped(mut scene: SceneDoc) -> SceneDoc {
    for generator in &mut scene.generators {
        if let GeneratorDoc::Ladder(ladder) = generator {
            ladder.damping = LADDER_DAMPING;
        }
    }
    scene
}

/// The document of a built-in scene.
///
/// # Panics
/// If there is none of that name, which a test excludes.
fn built_in(name: &str) -> SceneDoc {
    let scene = sinew_scenes::SCENES.iter().find(|(known, _)| *known == name);
    let text = scene.unwrap_or_else(|| panic!("no scene {name}")).1;
    SceneDoc::from_ron(text, name).unwrap_or_else(|errors| panic!("{errors}"))
}
