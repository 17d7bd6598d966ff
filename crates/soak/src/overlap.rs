//! Overlap of boxes by separating axes, written apart from the contact crate so that it can judge it.
//!
//! Two boxes overlap by the smallest overlap of their shadows on the three axes of each and on the nine products of these. World axes, metres.
//! Cost: 15 axes per pair of neighbours.

use glam::{DMat3, DVec3};
use sinew_math::Pose;

/// A box of half sizes `half` at `pose`.
#[derive(Clone, Copy, Debug)]
pub struct PlacedBox {
    /// World from box.
    pub pose: Pose,
    /// Half of its sizes, m.
    pub half: DVec3,
}

impl PlacedBox {
    fn axes(&self) -> DMat3 {
        self.pose.rotation_matrix()
    }

    /// Half of the length of its shadow on a unit vector.
    fn reach(&self, along: DVec3) -> f64 {
        let local = self.axes().transpose() * along;
        local.abs().dot(self.half)
    }

    /// Depth of its lowest corner below the plane `z = 0`.
    pub fn below_ground(&self) -> f64 {
        self.reach(DVec3::Z) - self.pose.translation.z
    }

    /// Depth of the overlap with another box; negative if some axis separates them.
    pub fn overlap(&self, other: &Self) -> f64 {
        let apart = other.pose.translation - self.pose.translation;
        let (a, b) = (self.axes(), other.axes());
        let (a, b) = ([a.x_axis, a.y_axis, a.z_axis], [b.x_axis, b.y_axis, b.z_axis]);
        let across = a.iter().flat_map(|p| b.iter().map(move |q| p.cross(*q)));
        // Edges that are parallel have no product: their axes are among the others.
        let across = across.filter(|axis| axis.length_squared() > 1e-6).map(DVec3::normalize);
        let shared = |axis: DVec3| self.reach(axis) + other.reach(axis) - apart.dot(axis).abs();
        a.into_iter().chain(b).chain(across).map(shared).fold(f64::INFINITY, f64::min)
    }
}

/// The largest overlap of any two boxes but those that are `joined`, and the largest depth in the ground `z ≤ 0`; 0 if there is none.
pub fn largest_overlap(boxes: &[PlacedBox], joined: &dyn Fn(usize, usize) -> bool) -> (f64, f64) {
    let ground = boxes.iter().map(PlacedBox::below_ground).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    let low = |i: usize| boxes[i].pose.translation.x - boxes[i].half.length();
    order.sort_by(|&i, &j| low(i).total_cmp(&low(j)));
    let mut most = 0.0_f64;
    for (at, &i) in order.iter().enumerate() {
        let high = boxes[i].pose.translation.x + boxes[i].half.length();
        let near = order[at + 1..].iter().take_while(|&&j| low(j) <= high);
        for &j in near.filter(|&&j| !joined(i, j)) {
            most = most.max(boxes[i].overlap(&boxes[j]));
        }
    }
    (most, ground)
}
