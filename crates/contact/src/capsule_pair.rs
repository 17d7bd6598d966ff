//! Contacts of two capsules, and nearest points of segments.
//!
//! Crossing capsules touch at the nearest points of their axes. For nearly parallel capsules that pair would move along
//! the axes, so they touch at their ends: one rests on the other without rocking.

use crate::placed::{ContactSpot, WorldShape};
use crate::shape::ContactShape;
use glam::DVec3;
use sinew_math::Shape;

/// Axes are parallel below this square of the sine of their angle (about 3°).
const PARALLEL: f64 = 3e-3;

pub(crate) fn capsules(a: WorldShape<'_>, b: WorldShape<'_>, margin: f64, out: &mut Vec<ContactSpot>) {
    let (Some((ends_a, radius_a)), Some((ends_b, radius_b))) = (axis(a), axis(b)) else { return };
    let otherwise = a.placed.axes.z_axis;
    let mut add = |feature: u64, p: DVec3, q: DVec3| {
        let apart = p - q;
        let length = apart.length();
        let normal = if length > 0.0 { apart / length } else { otherwise };
        let distance = length - radius_a - radius_b;
        if distance <= margin {
            let point = 0.5 * ((p - normal * radius_a) + (q + normal * radius_b));
            out.push(ContactSpot { feature, point, normal, distance });
        }
    };
    let (u, v) = (ends_a[1] - ends_a[0], ends_b[1] - ends_b[0]);
    let (uu, vv) = (u.length_squared(), v.length_squared());
    if u.cross(v).length_squared() > PARALLEL * uu * vv {
        let (s, t) = nearest(ends_a[0] - ends_b[0], u, v);
        add(4, ends_a[0] + u * s, ends_b[0] + v * t);
        return;
    }
    for (i, &end) in ends_a.iter().enumerate() {
        add(i as u64, end, ends_b[0] + v * ((end - ends_b[0]).dot(v) / vv).clamp(0.0, 1.0));
    }
    for (i, &end) in ends_b.iter().enumerate() {
        add(2 + i as u64, ends_a[0] + u * ((end - ends_a[0]).dot(u) / uu).clamp(0.0, 1.0), end);
    }
}

/// Ends of the axis (m, world) and radius.
fn axis(solid: WorldShape<'_>) -> Option<([DVec3; 2], f64)> {
    let ContactShape::Solid(Shape::Capsule { radius, length }) = solid.shape else { return None };
    let half = solid.placed.axes.x_axis * (0.5 * length);
    let centre = solid.placed.pose.translation;
    Some(([centre - half, centre + half], *radius))
}

/// Parameters in [0, 1] of the nearest points of two segments that are not parallel; `w` from the start of the second
/// to that of the first.
pub(crate) fn nearest(w: DVec3, u: DVec3, v: DVec3) -> (f64, f64) {
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let s = ((uv * vw - vv * uw) / (uu * vv - uv * uv)).clamp(0.0, 1.0);
    let t = (uv * s + vw) / vv;
    if (0.0..=1.0).contains(&t) {
        return (s, t);
    }
    let t = t.clamp(0.0, 1.0);
    (((uv * t - uw) / uu).clamp(0.0, 1.0), t)
}
