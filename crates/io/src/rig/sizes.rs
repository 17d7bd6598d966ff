//! How thick bones are, and what they carry, from the skin around them.
//!
//! A bone runs from its origin to its ends. A vertex belongs to bones by its weights; the radius of a bone is the mean distance of its
//! vertices from it. A triangle belongs to the bone that most of its weight goes to; the volume between a bone's triangles and their middle is what
//! the bone carries. Cost: vertices times weights times ends.

use glam::DVec3;
use sinew_math::{Pose, Shape};
use sinew_scene::ShapeDoc;

use super::model::{Rig, RigBone, RigOptions, RigSkin};

/// Radius of a bone over that of the limb: inside flesh, and without flesh.
pub(super) const IN_FLESH: f64 = 0.35;
const BARE: f64 = 0.85;
/// Least radius of a bone, as a share of the size of the rig.
const THINNEST: f64 = 2e-3;

/// Gives bones their shapes and loads; those without an end get one by their skin.
pub(crate) fn size_bones(rig: &mut Rig, skin: &RigSkin, options: &RigOptions) {
    let size = extent(
        skin.positions.iter().chain(&rig.bones.iter().map(|b| b.pose.translation).collect::<Vec<_>>()),
    );
    let middles = middles(rig.bones.len(), skin);
    let thinnest = THINNEST * size;
    end_bones(rig, &middles, thinnest);
    let radii = radii(rig, skin, thinnest);
    let volumes = volumes(&middles, skin);
    for (number, bone) in rig.bones.iter_mut().enumerate() {
        let head = bone.pose.translation;
        let radius = radii[number];
        let longest = bone.ends.iter().map(|end| end.distance(head)).fold(0.0, f64::max);
        let least = radius * radius * longest.max(radius);
        let middle = middles[number].unwrap_or(head);
        bone.load = (options.density * volumes[number].max(least), middle, radius);
        let thick = radius * if options.flesh { IN_FLESH } else { BARE };
        bone.shapes = bone_shapes(&bone.pose, &bone.ends, thick.max(thinnest));
    }
}

/// Drops ends at the origin of their bone; bones without an end get one beyond the middle of their skin.
fn end_bones(rig: &mut Rig, middles: &[Option<DVec3>], thinnest: f64) {
    for (bone, middle) in rig.bones.iter_mut().zip(middles) {
        let head = bone.pose.translation;
        let far = |end: &DVec3| end.distance(head) > thinnest;
        bone.ends.retain(far);
        if let (true, Some(middle)) = (bone.ends.is_empty(), middle) {
            let end = head + (*middle - head) * 1.8;
            bone.ends.extend(Some(end).filter(far));
        }
    }
}

/// Capsules from the origin of a bone to its ends (world), rounded within them; a ball if there are none. In the bone's frame.
pub(crate) fn bone_shapes(pose: &Pose, ends: &[DVec3], radius: f64) -> Vec<ShapeDoc> {
    if ends.is_empty() {
        return vec![ShapeDoc::centred(Shape::Sphere { radius })];
    }
    let from_world = pose.inverse();
    let capsule = |&end: &DVec3| {
        let end = from_world.transform_point(end);
        let radius = radius.min(0.45 * end.length());
        let along = end.normalize_or(DVec3::X) * radius;
        ShapeDoc::capsule(along, end - along, radius)
    };
    ends.iter().map(capsule).collect()
}

/// Height of the lowest point of all bones, which are capsules and balls.
pub(crate) fn lowest(rig: &Rig) -> f64 {
    let bottom = |bone: &RigBone, shape: &ShapeDoc| {
        let at = bone.pose.compose(&shape.at.to_pose());
        let (radius, length) = match shape.solid {
            Shape::Capsule { radius, length } => (radius, length),
            Shape::Sphere { radius } => (radius, 0.0),
            _ => (0.0, 0.0),
        };
        at.translation.z - 0.5 * length * at.transform_vector(DVec3::X).z.abs() - radius
    };
    let all = rig.bones.iter().flat_map(|bone| bone.shapes.iter().map(move |shape| bottom(bone, shape)));
    all.fold(f64::INFINITY, f64::min)
}

/// The longest side of the box around points.
pub(crate) fn extent<'a>(points: impl Iterator<Item = &'a DVec3>) -> f64 {
    let (low, high) = bounds(points);
    (high - low).max_element().max(0.0)
}

/// The lowest and the highest corner of the box around points.
pub(crate) fn bounds<'a>(points: impl Iterator<Item = &'a DVec3>) -> (DVec3, DVec3) {
    points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

/// The middle of the skin of each bone.
fn middles(n_bones: usize, skin: &RigSkin) -> Vec<Option<DVec3>> {
    let mut sums = vec![(DVec3::ZERO, 0.0); n_bones];
    for (&x, weights) in skin.positions.iter().zip(&skin.weights) {
        for &(bone, weight) in weights {
            sums[bone].0 += weight * x;
            sums[bone].1 += weight;
        }
    }
    sums.into_iter().map(|(sum, weight)| (weight > 1e-6).then(|| sum / weight)).collect()
}

/// Mean distance of the skin of each bone from it.
fn radii(rig: &Rig, skin: &RigSkin, thinnest: f64) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); rig.bones.len()];
    for (&x, weights) in skin.positions.iter().zip(&skin.weights) {
        for &(bone, weight) in weights.iter().filter(|(_, weight)| *weight > 0.25) {
            let at = &rig.bones[bone];
            let distance = at.ends.iter().map(|&end| from_segment(x, at.pose.translation, end));
            let distance = distance.fold(f64::INFINITY, f64::min).min(x.distance(at.pose.translation));
            sums[bone].0 += weight * distance;
            sums[bone].1 += weight;
        }
    }
    sums.into_iter()
        .map(|(sum, weight)| if weight > 0.0 { (sum / weight).max(thinnest) } else { thinnest })
        .collect()
}

fn from_segment(x: DVec3, from: DVec3, to: DVec3) -> f64 {
    let along = to - from;
    let share = ((x - from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
    x.distance(from + along * share)
}

/// Volume between the skin of each bone and its middle; at least zero.
fn volumes(middles: &[Option<DVec3>], skin: &RigSkin) -> Vec<f64> {
    let mut volumes = vec![0.0_f64; middles.len()];
    for corners in &skin.triangles {
        let mut shares: std::collections::BTreeMap<usize, f64> = std::collections::BTreeMap::new();
        for &(bone, weight) in corners.iter().flat_map(|&corner| &skin.weights[corner as usize]) {
            *shares.entry(bone).or_default() += weight;
        }
        let owner = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(bone, _)| bone);
        let Some((owner, middle)) = owner.and_then(|owner| Some((owner, middles[owner]?))) else { continue };
        let [a, b, c] = corners.map(|corner| skin.positions[corner as usize] - middle);
        volumes[owner] += a.dot(b.cross(c)) / 6.0;
    }
    volumes.iter_mut().for_each(|volume| *volume = volume.max(0.0));
    volumes
}
