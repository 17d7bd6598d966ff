//! Cubic tracks that go far beyond their samples: a lift that waits and then rises fast sinks first.
//!
//! Cost: eight values per sample.

use glam::DVec3;
use sinew_scene::{InterpolationDoc, SceneDoc, SceneIssue, SceneIssueKind, Track, TrackDoc};

/// Values between two samples.
const BETWEEN: u32 = 8;

/// Share of the extent of all samples by which a track may pass the two around it.
const BEYOND: f64 = 0.25;

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
    let mut worst: Option<(f64, f64, f64)> = None;
    for span in times.windows(2) {
        let (from, to) = (at(span[0]), at(span[1]));
        for part in 1..BETWEEN {
            let time = span[0] + (span[1] - span[0]) * f64::from(part) / f64::from(BETWEEN);
            let value = at(time);
            let beyond = (value - from.max(to)).max(from.min(to) - value);
            for axis in 0..3 {
                let share = beyond[axis] / extent[axis];
                if share > worst.map_or(BEYOND, |(_, _, share)| share) {
                    worst = Some((time, beyond[axis], share));
                }
            }
        }
    }
    worst.map(|(time, beyond, _)| (time, beyond))
}
