//! Distance of a point from a surface, and boxes around shapes. Metres, in the frame of the shape.

use glam::{DMat3, DVec3};

/// Distance of a point from a surface and the unit normal of the surface towards the free side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) distance: f64,
    pub(crate) normal: DVec3,
}

/// Centre and half extents of a box along the axes of a frame (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LocalBox {
    pub(crate) centre: DVec3,
    pub(crate) half: DVec3,
}

impl LocalBox {
    /// Whether a point is inside, or outside by at most `margin` along each axis. False for NaN.
    #[inline]
    pub(crate) fn holds(&self, point: DVec3, margin: f64) -> bool {
        (point - self.centre).abs().cmple(self.half + DVec3::splat(margin)).all()
    }

    /// Half extents of the enclosing box along other axes; `m` is the rotation to them.
    pub(crate) fn turned(&self, m: DMat3) -> DVec3 {
        m.x_axis.abs() * self.half.x + m.y_axis.abs() * self.half.y + m.z_axis.abs() * self.half.z
    }
}
