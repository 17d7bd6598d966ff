//! Cubic tracks that go far beyond their samples: a lift that waits and then rises fast sinks first.
//!
//! Cost: eight values per sample.

use glam::DVec3;
use sinew_scene::{InterpolationDoc, SceneDoc, SceneIssue, SceneIssueKind, Track, TrackDoc};

/// Values between two samples.
const BETWEEN: u32 = 8;

/// By how many extents of all samples a track may pass the two around it.
const BEYOND: f64 = 2.0;

/// Tracks that overshoot: the place, and the fix.
pub(crate) fn overshooting(scene: &SceneDoc) -> impl Iterator<Item = SceneIssue> + '_ {
    scene.tracks.iter().enumerate().filter_map(|(i, doc)| {
        let (time, beyond) = overshoot(doc)?;
        Some(SceneIssue {
            field: format!("tracks[{i}].interpolation"),
            kind: SceneIssueKind::OutOfRange,
            message: format!("`{}` passes the samples around {time:.4} s by {beyond:.3}", doc.name),
            hint: "use `interpolation: Linear`, or add samples where it turns from slow to fast".to_owned(),
        })
    })
}

/// Where a track passes the samples around it the most, and by how much, if that is far (s, and m or rad).
fn overshoot(doc: &TrackDoc) -> Option<(f64, f64)> {
    if doc.interpolation != InterpolationDoc::Cubic {
        return None;
    }
    let track = Track::new(doc);
    let at = |time: f64| track.sample(time).position;
    let times: Vec<f64> = doc.sample_times().collect();
    let samples = || times.iter().map(|&time| at(time));
    let extent = samples().reduce(DVec3::max)? - samples().reduce(DVec3::min)?;
    let between =
        |span: &[f64], part: u32| span[0] + (span[1] - span[0]) * f64::from(part) / f64::from(BETWEEN);
    let places = times.windows(2).flat_map(|span| (1..BETWEEN).map(move |part| (span, between(span, part))));
    let passed = places.map(|(span, time)| {
        let (from, to, value) = (at(span[0]), at(span[1]), at(time));
        let beyond = (value - from.max(to)).max(from.min(to) - value);
        let is_far = (0..3).any(|axis| beyond[axis] > BEYOND * extent[axis]);
        (time, if is_far { beyond.max_element() } else { 0.0 })
    });
    passed.reduce(|a, b| if b.1 > a.1 { b } else { a }).filter(|(_, beyond)| *beyond > 0.0)
}
