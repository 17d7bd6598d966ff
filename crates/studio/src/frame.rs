//! What the window needs of one moment: a snapshot that the simulation writes and the interface reads.

use std::path::PathBuf;
use std::sync::Arc;

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{ChangeDoc, SceneDoc};
use sinew_show::DrawList;
use sinew_sim::{JointReading, StepReport};

use crate::{Cast, Gizmo, Sample, Tint};

/// Everything about one moment. A frame that is filled again reuses its memory.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// What is known of the scene; another value after every opening.
    pub cast: Arc<Cast>,
    /// The document in force.
    pub doc: Arc<SceneDoc>,
    /// Everything that a change can say, as it is now.
    pub said: ChangeDoc,
    /// Counts openings: the camera is set anew when it changes.
    pub opening: u64,
    /// The file that was opened, if the scene came from one.
    pub path: Option<PathBuf>,
    /// Steps made before this moment.
    pub step: u64,
    /// Steps recorded.
    pub n_steps: u64,
    /// Time, s.
    pub time: f64,
    /// Length of a step, s.
    pub dt: f64,
    /// Whether time goes on by itself.
    pub is_playing: bool,
    /// Whether time goes slower than asked.
    pub is_late: bool,
    /// Whether bodies were posed by hand and are not in a moment of the run.
    pub is_posed: bool,
    /// Shapes, joints, lines, surfaces.
    pub draw: DrawList,
    /// Body frames in the world.
    pub poses: Vec<Pose>,
    /// Coordinates of joints, on scenes that have a score.
    pub readings: Vec<JointReading>,
    /// Nodes of flesh (m), if they are asked for.
    pub nodes: Vec<Vec<DVec3>>,
    /// How each point of the surface of flesh is coloured, if that is asked for: 0 blue, 1/2 white, 1 red.
    pub tints: Vec<Vec<f64>>,
    /// Contacts of the last step: places (m) and forces on the first side (N), if they are asked for.
    pub contacts: Vec<(DVec3, DVec3)>,
    /// Forces of joints on their first bodies (N), if they are asked for.
    pub joint_forces: Vec<DVec3>,
    /// Ranges of joints, if they are asked for.
    pub limits: Vec<Gizmo>,
    /// Points that are pinned, m.
    pub pins: Vec<DVec3>,
    /// What the last step did.
    pub report: StepReport,
    /// The measures of this moment.
    pub sample: Sample,
    /// Names and wall-clock times (ms) of the stages of a recent step.
    pub stages: Vec<(&'static str, f64)>,
    /// Bytes taken by the recording.
    pub bytes: usize,
    /// Fingerprint of the state.
    pub digest: u64,
}

impl Frame {
    /// Middle of a box around everything, and half its diagonal, m.
    pub fn extent(&self) -> (DVec3, f64) {
        let flesh = self.draw.flesh.iter().flat_map(|flesh| flesh.points.iter().copied());
        self.draw.extent_with(self.poses.iter().map(|pose| pose.translation).chain(flesh))
    }

    /// Gravity in force (m/s²); as it is written if there is none, so that there is an up.
    pub fn gravity(&self) -> DVec3 {
        self.said.gravity.filter(|&gravity| gravity != DVec3::ZERO).unwrap_or(self.doc.gravity)
    }
}

/// What a frame should hold besides shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Nodes of flesh.
    pub nodes: bool,
    /// Colours of flesh.
    pub tint: Tint,
    /// Forces of contacts.
    pub contacts: bool,
    /// Forces in joints.
    pub joint_forces: bool,
    /// Ranges of joints.
    pub limits: bool,
    /// The fingerprint of the state.
    pub digest: bool,
    /// The joint whose coordinate is measured.
    pub joint: Option<usize>,
}
