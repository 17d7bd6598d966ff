//! The scenes of a sweep: one per combination of its values.

use sinew_scene::{SceneDoc, SceneErrors};

/// One member of a sweep.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SweptScene {
    /// Paths and values that were set.
    pub set: Vec<(String, f64)>,
    /// The scene with those values.
    pub scene: SceneDoc,
}

/// The scene once per combination of its sweep values, the last entry changing fastest; just the scene if it has
/// no sweep.
///
/// # Errors
/// If a value does not fit where the sweep puts it.
pub fn sweep_runs(scene: &SceneDoc) -> Result<Vec<SweptScene>, SceneErrors> {
    let base = SceneDoc { sweep: Vec::new(), ..scene.clone() };
    let mut runs = vec![SweptScene { set: Vec::new(), scene: base }];
    for sweep in &scene.sweep {
        let mut next = Vec::with_capacity(runs.len() * sweep.values.len());
        for run in &runs {
            for &value in &sweep.values {
                let mut run = run.clone();
                run.scene.set(&sweep.path, &format!("{value:?}"))?;
                run.set.push((sweep.path.clone(), value));
                next.push(run);
            }
        }
        runs = next;
    }
    Ok(runs)
}
