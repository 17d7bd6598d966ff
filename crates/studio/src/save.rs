//! Saving a recording as a scene: mouse grabs become grabs on tracks, changed settings become changes. Running the
//! saved scene gives the same bits.
//!
//! A track has one sample per step, at the end of the step, where the step evaluates it; linear interpolation returns
//! the sample unchanged. RON keeps every bit of a number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glam::DVec3;
use sinew_scene::{
    CurveDoc, FleshGrabDoc, GrabDoc, InputDoc, InterpolationDoc, SamplesDoc, SceneDoc, Steps, TrackDoc,
};
use sinew_sim::FleshGrab;

use crate::session::Session;
use crate::timeline::{Numbered, Timeline};

/// Why a recording cannot be saved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// Nothing was recorded.
    #[error("nothing was recorded yet: play first")]
    Nothing,
}

/// One grab over its whole duration.
struct Pull {
    body: usize,
    doc: GrabDoc,
    points: Vec<(f64, DVec3)>,
}

/// One grab of flesh over its whole duration: the first of it, its document and its targets.
type FleshPull = (FleshGrab, FleshGrabDoc, Vec<(f64, DVec3)>);

impl Session {
    /// The recording as a scene of the same name and the duration of the recording. Fails if nothing was recorded.
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
        let mut names = names;
        for (pull, name) in pulls(timeline).into_iter().zip(&mut names) {
            let body =
                self.overview().bodies.get(pull.body).map_or_else(String::new, |body| body.name.clone());
            scene.tracks.push(TrackDoc {
                name: name.clone(),
                interpolation: InterpolationDoc::Linear,
                curve: CurveDoc::Points(pull.points),
            });
            scene.inputs.push(InputDoc::Grab(GrabDoc { body, track: name, ..pull.doc }));
        }
        for ((grab, doc, points), name) in flesh_pulls(timeline).into_iter().zip(names) {
            let flesh = self.world().flesh_name(grab.flesh as usize).to_owned();
            let (interpolation, curve) = (InterpolationDoc::Linear, CurveDoc::Points(points));
            scene.tracks.push(TrackDoc { name: name.clone(), interpolation, curve });
            scene.inputs.push(InputDoc::FleshGrab(FleshGrabDoc { flesh, track: name, ..doc }));
        }
        Ok(scene)
    }

    /// The recording as a scene to be written to `path`: relative paths in it are converted to that folder. Fails if
    /// nothing was recorded.
    pub fn recorded_scene_at(&self, path: &Path) -> Result<SceneDoc, SaveError> {
        let mut scene = self.recorded_scene()?;
        if let (Some(from), Some(to)) = (self.path().and_then(Path::parent), path.parent()) {
            scene.rename_files(|name| match Path::new(name).is_absolute() {
                true => name.to_owned(),
                false => named_from(to, &from.join(name)),
            });
        }
        Ok(scene)
    }
}

/// Path of a file relative to a folder; absolute if there is no relative one.
fn named_from(folder: &Path, file: &Path) -> String {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let places = here.canonicalize().and_then(|here| Ok((here, file.canonicalize()?)));
    let Ok((here, there)) = places else { return file.to_string_lossy().into_owned() };
    let (here, there): (Vec<_>, Vec<_>) = (here.components().collect(), there.components().collect());
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return there.iter().collect::<PathBuf>().to_string_lossy().into_owned();
    }
    let up = here[shared..].iter().map(|_| "..".into());
    let down = there[shared..].iter().map(|part| part.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The grabs of a recording, each with its targets over time.
fn pulls(timeline: &Timeline) -> Vec<Pull> {
    let mut pulls = BTreeMap::<u32, Pull>::new();
    for of_step in timeline.grabs().values() {
        for numbered in &of_step.grabs {
            let grab = &numbered.grab;
            let pull = pulls.entry(numbered.number).or_insert_with(|| Pull {
                body: grab.body.index(),
                doc: GrabDoc {
                    point: grab.point,
                    stiffness: grab.stiffness,
                    damping: grab.damping,
                    from_s: of_step.start,
                    ..GrabDoc::default()
                },
                points: Vec::new(),
            });
            pull.points.push((of_step.end, grab.target));
            pull.doc.to_s = Some(of_step.end);
        }
    }
    pulls.into_values().collect()
}

/// The grabs of flesh of a recording, each with its targets over time.
fn flesh_pulls(timeline: &Timeline) -> Vec<FleshPull> {
    let mut pulls = BTreeMap::new();
    for of_step in timeline.grabs().values() {
        for Numbered { number, grab } in &of_step.skin {
            let begin = || FleshGrabDoc {
                place: Some((grab.point.tet, grab.point.weights)),
                stiffness: grab.stiffness,
                damping: grab.damping,
                from_s: of_step.start,
                ..FleshGrabDoc::default()
            };
            let (_, doc, points) = pulls.entry(*number).or_insert_with(|| (*grab, begin(), Vec::new()));
            points.push((of_step.end, grab.target));
            doc.to_s = Some(of_step.end);
        }
    }
    pulls.into_values().collect()
}
