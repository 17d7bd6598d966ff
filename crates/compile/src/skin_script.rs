//! Recorded grabs, pressures and winds on flesh, with names resolved. Each acts in the steps whose middle is in its time window.

use glam::DVec3;
use sinew_mechanism::{FleshGrab, SkinInput, SkinPressure, SkinWind};
use sinew_scene::TrackPoint;

/// A time window, s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeWindow {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl TimeWindow {
    pub(crate) fn contains(&self, time: f64) -> bool {
        self.from <= time && time < self.to
    }
}

/// What acts on flesh over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkinScript {
    /// Grabs, their points in the frame of the mesh at rest (m), and the tracks of their targets.
    pub(crate) grabs: Vec<(TimeWindow, FleshGrab, DVec3, usize)>,
    /// Pressures and winds, and the tracks that multiply them.
    pub(crate) pressures: Vec<(TimeWindow, SkinPressure, Option<usize>)>,
    pub(crate) winds: Vec<(TimeWindow, SkinWind, Option<usize>)>,
}

impl SkinScript {
    /// Writes what acts in a step, from its middle (s) and the tracks at its end.
    pub(crate) fn fill(&self, middle: f64, points: &[TrackPoint], input: &mut SkinInput) {
        let factor = |track: &Option<usize>| track.map_or(1.0, |track| points[track].position.x);
        let SkinInput { grabs, pressures, winds } = input;
        fill(grabs, &self.grabs, |entry| {
            let target = points[entry.3].carry(entry.2);
            entry.0.contains(middle).then_some(FleshGrab { target, ..entry.1 })
        });
        fill(pressures, &self.pressures, |(window, load, track)| {
            let pressure = load.pressure * factor(track);
            window.contains(middle).then_some(SkinPressure { pressure, ..*load })
        });
        fill(winds, &self.winds, |(window, load, track)| {
            let velocity = load.velocity * factor(track);
            window.contains(middle).then_some(SkinWind { velocity, ..*load })
        });
    }
}

/// Writes what entries give, with memory for all of them.
fn fill<E, T>(out: &mut Vec<T>, entries: &[E], give: impl Fn(&E) -> Option<T>) {
    out.clear();
    out.reserve(entries.len());
    out.extend(entries.iter().filter_map(give));
}
