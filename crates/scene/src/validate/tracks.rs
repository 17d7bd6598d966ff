//! Rules for tracks: samples in order of time, circles in a plane, and the kind of value that their users need.

use std::collections::BTreeMap;

use super::issues::Issues;
use super::lookup::{characters, joint_tracks};
use super::regions::muscle_tracks;
use crate::doc::{CurveDoc, SceneDoc, TrackDoc};
use crate::error::SceneIssueKind as Kind;

/// Tracks made of samples have at least one, at increasing times.
pub(super) fn tracks_have_samples_in_order(scene: &SceneDoc, issues: &mut Issues) {
    for (i, track) in scene.tracks.iter().enumerate() {
        let n = track.curve.n_samples();
        if n == 0 && !matches!(track.curve, CurveDoc::Sine(_) | CurveDoc::Circle(_)) {
            let message = format!("the track `{}` has no samples", track.name);
            issues.add(Kind::Empty, format!("tracks[{i}].curve"), message, "list at least one sample");
        }
        for k in 1..n {
            let (before, time) = (track.curve.sample_time(k - 1), track.curve.sample_time(k));
            issues.require_later(Some(before), time, || format!("tracks[{i}].curve[{k}]"));
        }
    }
}

/// Largest cosine between the normal of a circle and its start that counts as perpendicular.
const PERPENDICULAR: f64 = 1e-6;

/// Circles have a normal, and a start perpendicular to it.
pub(super) fn formulas_make_sense(scene: &SceneDoc, issues: &mut Issues) {
    for (i, track) in scene.tracks.iter().enumerate() {
        let CurveDoc::Circle(circle) = &track.curve else { continue };
        issues.require_direction(circle.normal, || format!("tracks[{i}].curve.normal"));
        let along = circle.normal.dot(circle.start).abs();
        if along > PERPENDICULAR * circle.normal.length() * circle.start.length() {
            let message = "the start is not perpendicular to the normal";
            let hint = "use a start in the plane of the circle";
            issues.add(Kind::BadDirection, format!("tracks[{i}].curve.start"), message, hint);
        }
    }
}

/// What a track must give to whoever follows it.
#[derive(Clone, Copy)]
pub(super) struct TrackUse {
    fits: fn(&TrackDoc) -> bool,
    noun: &'static str,
    hint: &'static str,
}

pub(super) const NUMBERS: TrackUse =
    TrackUse { fits: TrackDoc::is_scalar, noun: "numbers", hint: "use a track of Scalars or a Sine" };
pub(super) const POINTS: TrackUse = TrackUse {
    fits: TrackDoc::is_position,
    noun: "points",
    hint: "use a track of Points or Poses, a Sine or a Circle",
};
pub(super) const POSES: TrackUse =
    TrackUse { fits: TrackDoc::is_pose, noun: "poses", hint: "use a track of Poses" };

impl TrackUse {
    /// A track of the right type. Unknown tracks are left to another rule.
    pub(super) fn require(self, issues: &mut Issues, track: Option<&&TrackDoc>, field: String) {
        if let Some(track) = track.filter(|track| !(self.fits)(track)) {
            let message = format!("the track `{}` does not give {}", track.name, self.noun);
            issues.add(Kind::WrongTrack, field, message, self.hint);
        }
    }
}

/// All tracks by name.
pub(super) fn tracks_by_name(scene: &SceneDoc) -> BTreeMap<&str, &TrackDoc> {
    scene.tracks.iter().map(|track| (track.name.as_str(), track)).collect()
}

/// Tracks of numbers drive joints and muscles and scale wrenches; tracks of points move bodies.
pub(super) fn tracks_fit_their_use(scene: &SceneDoc, issues: &mut Issues) {
    let tracks = tracks_by_name(scene);
    let mut require = |name: &str, wanted: TrackUse, field: String| {
        wanted.require(issues, tracks.get(name), field);
    };
    for (field, track) in joint_tracks(scene).chain(muscle_tracks(scene)) {
        require(track, NUMBERS, field);
    }
    for (i, character) in characters(scene) {
        for (k, follow) in character.follow.iter().enumerate() {
            require(&follow.track, NUMBERS, format!("generators[{i}].follow[{k}].track"));
        }
    }
    for (i, input) in scene.inputs.iter().enumerate() {
        let field = format!("inputs[{i}].track");
        match input.tracks() {
            (Some(track), _) => require(track, POINTS, field),
            (None, Some(track)) => require(track, NUMBERS, field),
            (None, None) => {}
        }
    }
}
