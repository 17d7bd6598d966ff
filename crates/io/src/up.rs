//! Axes of files in which y is up.

use glam::{DMat3, DQuat, DVec3};

/// The rotation that takes up (against gravity) to y, and the first level axis of the world to x.
pub(crate) fn y_up(gravity: DVec3) -> DQuat {
    let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
    let level = |axis: DVec3| {
        let level = (axis - up * axis.dot(up)).try_normalize();
        level.filter(|_| axis.dot(up).abs() < 0.9)
    };
    let east = level(DVec3::X).or_else(|| level(DVec3::Y)).unwrap_or_else(|| up.any_orthonormal_vector());
    DQuat::from_mat3(&DMat3::from_cols(east, up, east.cross(up)).transpose()).normalize()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::y_up;

    #[test]
    fn up_becomes_y() {
        for gravity in [DVec3::NEG_Z, DVec3::NEG_Y, DVec3::X, DVec3::new(1.0, -2.0, 3.0), DVec3::ZERO] {
            let up = (-gravity).try_normalize().unwrap_or(DVec3::Z);
            assert!((y_up(gravity) * up).distance(DVec3::Y) < 1e-12, "{gravity}");
        }
        assert!((y_up(DVec3::NEG_Z) * DVec3::X).distance(DVec3::X) < 1e-12);
    }
}
