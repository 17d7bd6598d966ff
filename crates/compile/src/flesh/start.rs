//! Initial node positions of flesh in the world (m): at rest, or displaced as the scene says. Linear in nodes.

use glam::DVec3;
use sinew_math::exp_so3;
use sinew_mesh::EmbeddedBody;
use sinew_scene::{DisturbanceDoc, FleshDoc};

/// Where the nodes begin, in the world.
pub(super) fn initial_positions(doc: &FleshDoc, mesh: &EmbeddedBody) -> Vec<DVec3> {
    let world_from_mesh = doc.pose.to_pose();
    let nodes = mesh.nodes();
    let (low, high) =
        nodes.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let middle = (low + high) * 0.5;
    let mut random = match doc.disturbed {
        DisturbanceDoc::Random { seed, .. } => Splitmix(seed),
        _ => Splitmix(0),
    };
    let moved = |x: &DVec3| match doc.disturbed {
        DisturbanceDoc::None => *x,
        DisturbanceDoc::Random { amount, .. } => {
            *x + DVec3::new(random.next(), random.next(), random.next()) * amount
        }
        DisturbanceDoc::Scaled(factors) => middle + (*x - middle) * factors,
        DisturbanceDoc::Twisted(angle) => {
            let size = high - low;
            let axis = longest_axis(size);
            let share = (*x - low).dot(axis) / size.dot(axis);
            middle + exp_so3(axis * (angle * share)) * (*x - middle)
        }
    };
    nodes.iter().map(moved).map(|x| world_from_mesh.transform_point(x)).collect()
}

/// The axis along which a box is longest.
fn longest_axis(size: DVec3) -> DVec3 {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z].into_iter();
    axes.max_by(|a, b| size.dot(*a).total_cmp(&size.dot(*b))).unwrap_or(DVec3::X)
}

/// Numbers from −1 to 1 that are the same everywhere (Steele, Lea and Flood's SplitMix64).
struct Splitmix(u64);

impl Splitmix {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
