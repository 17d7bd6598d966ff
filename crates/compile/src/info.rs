//! Facts about the run of a scene: name, steps, sample times, outcome of the assembly.

use sinew_mechanism::AssemblyReport;
use sinew_scene::{SamplesDoc, SceneDoc, SceneIssue, Steps};

/// What a scene says about its run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SceneInfo {
    /// Name of the scene.
    pub name: String,
    /// Steps that make up its duration.
    pub n_steps: u64,
    /// When its steps are.
    pub steps: Steps,
    /// Numbers of the steps after which the state is of interest, increasing.
    pub samples: Vec<u64>,
    /// How bringing the initial poses together went; none if the scene did not ask for it.
    pub assembly: Option<AssemblyReport>,
    /// What is probably not meant, such as a file in millimetres: the scene runs, but should be looked at.
    pub doubts: Vec<SceneIssue>,
}

impl SceneInfo {
    /// With the steps of a scene that differs in its changes and its duration only.
    #[must_use]
    pub fn of_steps(&self, scene: &SceneDoc) -> Self {
        Self { assembly: self.assembly, doubts: self.doubts.clone(), ..Self::of(scene) }
    }

    /// Of a scene, apart from what is known once it is built: how it was assembled, and doubts.
    pub fn of(scene: &SceneDoc) -> Self {
        let steps = Steps::of(scene);
        let n_steps = steps.reaching(scene.duration_s);
        let (short, long) = steps.lengths(n_steps);
        let mut samples: Vec<u64> = match &scene.samples {
            // The product has at most 1e6 · 1e12 by the rules of the format.
            SamplesDoc::Count(n) if short >= long => {
                (1..=u64::from(*n)).map(|i| (i * n_steps).div_ceil(u64::from(*n))).collect()
            }
            SamplesDoc::Count(n) => {
                let time = |i: u32| scene.duration_s * f64::from(i) / f64::from(*n);
                (1..=*n).map(|i| steps.reaching(time(i)).min(n_steps)).collect()
            }
            SamplesDoc::Times(times) => times.iter().map(|&time| steps.reaching(time).min(n_steps)).collect(),
        };
        samples.dedup();
        Self { name: scene.name.clone(), n_steps, steps, samples, ..Self::default() }
    }
}
