//! Snapshots: what the interface needs to know about one moment. The session writes them, the interface reads them.

use std::{path::PathBuf, sync::Arc};

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{ChangeDoc, SceneDoc};
use sinew_show::{DrawingContext, ShowOptions, VisibleState};
use sinew_sim::{JointReading, StepReport};

use crate::{curves::StepSample, overview::SceneOverview};

/// Everything about one moment. Filling a snapshot again reuses its memory.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Snapshot {
    /// What does not change during a run.
    pub overview: Arc<SceneOverview>,
    /// The document in force.
    pub doc: Arc<SceneDoc>,
    /// Current values of all settings that a change can set.
    pub in_force: ChangeDoc,
    /// Number of openings so far; the camera is reset when it changes.
    pub opening: u64,
    /// The file of the scene, if it came from a file.
    pub path: Option<PathBuf>,
    /// Position in the recording.
    pub clock: SnapshotClock,
    /// Whether the simulation is playing.
    pub is_playing: bool,
    /// Whether playing is slower than requested.
    pub is_late: bool,
    /// Whether bodies were posed by hand, so that this is not a moment of the recording.
    pub is_posed: bool,
    /// World from body frame, by body.
    pub poses: Vec<Pose>,
    /// Joint coordinates; empty unless the scene is stepped in joint coordinates.
    pub readings: Vec<JointReading>,
    /// What there is to draw.
    pub visible: VisibleState,
    /// Measures of the last step.
    pub measured: Measured,
    /// Memory of the recording in bytes.
    pub bytes: usize,
    /// Hash of the state; zero unless requested.
    pub digest: u64,
}

/// Position in the recording.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SnapshotClock {
    /// Steps made before this moment.
    pub step: u64,
    /// Steps recorded.
    pub n_steps: u64,
    /// Simulated time (s).
    pub time: f64,
    /// Step length (s).
    pub dt: f64,
}

/// Measures of a step.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Measured {
    /// Report of the step.
    pub report: StepReport,
    /// Energies, errors and other measures.
    pub sample: StepSample,
    /// Names and wall-clock times (ms) of the stages of a recent step.
    pub stages: Vec<(&'static str, f64)>,
}

impl Snapshot {
    /// Centre and half diagonal of the bounding box of everything (m).
    pub fn extent(&self) -> (DVec3, f64) {
        let list = &self.visible.list;
        let flesh = list.flesh.iter().flat_map(|flesh| flesh.points.iter().copied());
        list.extent_with(self.poses.iter().map(|pose| pose.translation).chain(flesh))
    }

    /// What a drawing needs besides [`Self::visible`].
    pub fn drawing_context(&self, show: ShowOptions) -> DrawingContext<'_> {
        let SceneOverview { looks, scenery, reach, middle, .. } = &*self.overview;
        let (gravity, reach) = (self.gravity(), *reach);
        let below = *middle + gravity.normalize_or_zero() * (1.2 * reach);
        DrawingContext { looks, scenery, floor: scenery.floor(below, gravity), reach, show }
    }

    /// Gravity in force (m/s²); if it is zero, the gravity of the document, so that there is an upward direction.
    pub fn gravity(&self) -> DVec3 {
        self.in_force.gravity.filter(|&gravity| gravity != DVec3::ZERO).unwrap_or(self.doc.gravity)
    }
}

/// Optional content of snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotWishes {
    /// What is shown.
    pub show: ShowOptions,
    /// Hash of the state.
    pub digest: bool,
    /// The joint whose coordinate is measured.
    pub joint: Option<usize>,
}
