//! What was done, as a scene: holds become grabs on tracks, settings that were changed are changes, so that a run of the file gives
//! the same bits.
//!
//! A track has one sample per step, at the end of the step, where a step looks for it; linear pieces give it back unchanged.
//! The samples are those of the recording, and RON keeps every bit of a number.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sinew_scene::{CurveDoc, GrabDoc, InputDoc, InterpolationDoc, SamplesDoc, SceneDoc, Steps, TrackDoc};

use crate::Session;
use crate::timeline::Timeline;

/// Why a recording is not a scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SaveError {
    /// Nothing was recorded.
    #[error("nothing was recorded yet: play first")]
    Nothing,
}

/// One hold over the time it lasted.
struct Pull {
    body: usize,
    doc: GrabDoc,
    points: Vec<(f64, DVec3)>,
}

impl Session {
    /// The recording as a scene, named after this one, that ends where the recording does.
    ///
    /// # Errors
    /// If nothing was recorded.
    pub fn recorded_scene(&self) -> Result<SceneDoc, SaveError> {
        let timeline = self.timeline();
        if timeline.n_steps() == 0 {
            return Err(SaveError::Nothing);
        }
        let last = timeline.changes().last().map_or_else(|| self.doc(), |change| &change.doc);
        let mut scene = SceneDoc::clone(last);
        scene.duration_s = Steps::of(&scene).time_after(timeline.n_steps());
        scene.samples = SamplesDoc::default();
        scene.sweep.clear();
        scene.expect = Default::default();
        let taken: BTreeSet<String> = scene.tracks.iter().map(|track| track.name.clone()).collect();
        let names = (1u32..).map(|i| format!("hold_{i}")).filter(|name| !taken.contains(name));
        for (pull, name) in pulls(timeline).into_iter().zip(names) {
            let body = self.cast().bodies.get(pull.body).map_or_else(String::new, |body| body.name.clone());
            scene.tracks.push(TrackDoc {
                name: name.clone(),
                interpolation: InterpolationDoc::Linear,
                curve: CurveDoc::Points(pull.points),
            });
            scene.inputs.push(InputDoc::Grab(GrabDoc { body, track: name, ..pull.doc }));
        }
        Ok(scene)
    }
}

/// The holds of a recording, each with its way.
fn pulls(timeline: &Timeline) -> Vec<Pull> {
    let mut pulls = BTreeMap::<u32, Pull>::new();
    for hands in timeline.hands().values() {
        for hold in &hands.holds {
            let grab = &hold.grab;
            let pull = pulls.entry(hold.number).or_insert_with(|| Pull {
                body: grab.body.index(),
                doc: GrabDoc {
                    point: grab.point,
                    stiffness: grab.stiffness,
                    damping: grab.damping,
                    from_s: hands.start,
                    ..GrabDoc::default()
                },
                points: Vec::new(),
            });
            pull.points.push((hands.end, grab.target));
            pull.doc.to_s = Some(hands.end);
        }
    }
    pulls.into_values().collect()
}
