//! Cameras: the viewpoints from which a scene is drawn. World axes, metres, radians.

use glam::DVec3;

document! {
    /// A camera that looks at a point; up in its picture is against gravity.
    pub struct CameraDoc {
        /// Name, unique among cameras.
        pub name: String,
        /// Position of the camera, in the world (m).
        pub from: DVec3,
        /// What is in the middle of the picture, in the world (m); not the position of the camera.
        pub at: DVec3,
        /// Angle that the shorter side of the picture spans (rad), above 0 and below π; about 0.49 if left out.
        [omit] pub field_of_view: Option<f64>,
    }
}
