//! Scores under small changes: a motion that is no accident keeps what its scene expects of it.
//!
//! Each number is a factor within 5 % of one. Times are those of phases, keys, tracks, warps and of the whole run; stiffness is that of flesh, of
//! goals and of landings; masses are those of bodies and flesh; friction is that of all contacts.

use sinew_scene::{
    BodyDoc, ColliderDoc, ControlDoc, CurveDoc, FleshMaterialDoc, InertiaDoc, MassDoc, MeasureDoc, SceneDoc,
    ScoreDoc, WarpDoc,
};
use sinew_sim::{BuildError, run_and_check};
use sinew_testkit::Rng;

/// How far a factor may be from one.
const FAR: f64 = 0.05;

/// Factors of a scene with a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perturbation {
    /// Of times in the score.
    pub times: f64,
    /// Of flesh, goals and landings.
    pub stiffness: f64,
    /// Of bodies and flesh.
    pub mass: f64,
    /// Of contacts.
    pub friction: f64,
    /// Of the step.
    pub dt: f64,
}

impl Perturbation {
    /// None at all.
    pub const NONE: Self = Self { times: 1.0, stiffness: 1.0, mass: 1.0, friction: 1.0, dt: 1.0 };

    /// That of a seed, with the step of the scene.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let [times, stiffness, mass, friction] = std::array::from_fn(|_| rng.uniform(1.0 - FAR, 1.0 + FAR));
        Self { times, stiffness, mass, friction, dt: 1.0 }
    }

    /// A scene with these factors, its generators written out.
    pub fn of(&self, scene: &SceneDoc) -> SceneDoc {
        let mut scene = scene.expanded();
        scene.dt *= self.dt;
        scene.duration_s *= self.times;
        for measure in scene.expect.motions.iter_mut().map(|motion| &mut motion.measure) {
            if let MeasureDoc::Missed { from_s } = measure {
                *from_s *= self.times;
            }
        }
        scene.tracks.iter_mut().for_each(|track| self.stretch(&mut track.curve));
        scene.score.iter_mut().for_each(|score| self.change_score(score));
        scene.bodies.iter_mut().for_each(|body| self.change_mass(body));
        for flesh in &mut scene.flesh {
            flesh.density.iter_mut().for_each(|density| *density *= self.mass);
            let (FleshMaterialDoc::StVenantKirchhoff { young, .. }
            | FleshMaterialDoc::NeoHookean { young, .. }) = &mut flesh.material;
            *young *= self.stiffness;
            flesh.contact.iter_mut().for_each(|contact| contact.friction *= self.friction);
        }
        scene.colliders.iter_mut().for_each(|ColliderDoc { contact, .. }| contact.friction *= self.friction);
        scene
    }

    fn change_mass(&self, body: &mut BodyDoc) {
        match &mut body.mass {
            MassDoc::Density(mass) | MassDoc::Total(mass) => *mass *= self.mass,
            MassDoc::Properties(given) => {
                given.mass *= self.mass;
                match &mut given.inertia {
                    InertiaDoc::Diagonal(moments) => *moments *= self.mass,
                    InertiaDoc::Full { xx, yy, zz, xy, yz, xz } => {
                        [xx, yy, zz, xy, yz, xz].into_iter().for_each(|entry| *entry *= self.mass);
                    }
                }
            }
        }
    }

    fn stretch(&self, curve: &mut CurveDoc) {
        match curve {
            CurveDoc::Scalars(points) => points.iter_mut().for_each(|point| point.0 *= self.times),
            CurveDoc::Points(points) => points.iter_mut().for_each(|point| point.0 *= self.times),
            CurveDoc::Poses(points) => points.iter_mut().for_each(|point| point.0 *= self.times),
            CurveDoc::Sine(sine) => sine.frequency_hz /= self.times,
            CurveDoc::Circle(circle) => circle.frequency_hz /= self.times,
        }
    }

    fn change_score(&self, score: &mut ScoreDoc) {
        match &mut score.warp {
            WarpDoc::None => {}
            WarpDoc::Sine { amplitude_s, duration_s } => {
                [amplitude_s, duration_s].into_iter().for_each(|time| *time *= self.times);
            }
            WarpDoc::Through(pairs) => {
                pairs.iter_mut().for_each(|pair| *pair = (pair.0 * self.times, pair.1 * self.times));
            }
        }
        for phase in &mut score.phases {
            phase.from_s *= self.times;
            match &mut phase.control {
                ControlDoc::Passive => {}
                ControlDoc::Guide(guide) => {
                    guide.goals.iter_mut().for_each(|goal| goal.stiffness *= self.stiffness);
                }
                ControlDoc::Keyframes(frames) => {
                    frames.keys.iter_mut().for_each(|key| key.at_s *= self.times);
                }
                ControlDoc::Land(land) => land.stiffness *= self.stiffness,
            }
        }
    }
}

/// What a scene expects and does not get, with the values.
///
/// # Errors
/// If the scene cannot be built.
pub fn unmet(scene: &SceneDoc) -> Result<Vec<String>, BuildError> {
    let runs = run_and_check(scene)?.runs;
    let mut missed = Vec::new();
    for run in &runs {
        missed.extend(run.non_finite.iter().map(|name| format!("{name} is no longer finite")));
        let expectations = run.expectations.iter().filter(|expectation| !expectation.met);
        missed
            .extend(expectations.map(|e| format!("{}: {:.3}, {} {}", e.what, e.measured, e.bound, e.limit)));
    }
    Ok(missed)
}
