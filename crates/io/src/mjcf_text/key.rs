//! The keyframe: the state at the beginning, in the order of `qpos`, `qvel` and `ctrl`.

use sinew_math::Pose;

use super::places::begins_at_zero;
use super::writer::MjcfWriter;
use crate::export_report::ExportReport;
use crate::outgoing::JointMove;

/// The name of the keyframe.
pub(super) const KEY: &str = "initial";

/// Coordinates of a ball joint that moves in a frame of its body: how it is turned from the pose of the file, and whether it is at all.
pub(super) fn qpos_of_ball(step: &JointMove, frame: &Pose) -> ([f64; 4], bool) {
    if !begins_at_zero(step) {
        return ([1.0, 0.0, 0.0, 0.0], false);
    }
    let turned = frame.rotation * step.rotation * frame.rotation.inverse();
    let [x, y, z, w] = turned.to_array();
    ([w, x, y, z], turned.xyz().length() > 1e-9)
}

impl MjcfWriter<'_, '_> {
    /// Writes the state at the beginning if the pose of the file does not tell it.
    pub(super) fn write_key(&mut self, report: &mut ExportReport) {
        let key = std::mem::take(&mut self.key);
        let has_controls = key.controls.iter().any(|control| *control != 0.0);
        if !(key.has_coordinates || key.has_rates || has_controls) {
            return;
        }
        self.xml.begin("keyframe");
        self.xml.begin("key").put("name", KEY).numbers("qpos", &key.coordinates);
        if key.has_rates {
            self.xml.numbers("qvel", &key.rates);
        }
        if has_controls {
            self.xml.numbers("ctrl", &key.controls);
        }
        self.xml.end();
        self.xml.end();
        report.count("keyframes", 1);
        let what = "velocities, targets of motors and turned ball joints are in the keyframe `initial`; a program begins \
                    without them unless it loads it (Sinew: --key initial)";
        report.approximated("the state at the beginning", what);
    }
}
