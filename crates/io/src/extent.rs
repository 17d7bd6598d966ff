//! Where a motion is: its outermost points, the ball about them, the floor below it.
//!
//! Outermost points are found along 70 directions, of at most 90 frames; bodies without shapes count as points; points far inside a known extent are skipped by the ball about their mesh.

use std::collections::BTreeSet;

use glam::DVec3;
use sinew_math::ops;

use crate::clip::{Clip, ClipFrame, ClipMesh};

/// Directions, besides the axes, and frames that are looked at.
const DIRECTIONS: usize = 64;
const FRAMES: usize = 90;

/// Where a motion is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MotionExtent {
    /// Outermost points (m).
    pub(crate) hull: Vec<DVec3>,
    /// Middle of the box about everything, and distance of the farthest point from it (m).
    pub(crate) focus: DVec3,
    pub(crate) reach: f64,
    /// Middles of meshes, and some points of skins, in some frames (m).
    pub(crate) places: Vec<DVec3>,
}

/// The farthest points along directions.
struct Farthest {
    directions: Vec<DVec3>,
    best: Vec<(f64, DVec3)>,
}

impl Farthest {
    fn new() -> Self {
        let turn = std::f64::consts::PI * (3.0 - 5.0f64.sqrt());
        let spiral = (0..DIRECTIONS).map(|i| {
            let height = 1.0 - (2 * i + 1) as f64 / DIRECTIONS as f64;
            let (sine, cosine) = ops::sin_cos(turn * i as f64);
            (DVec3::new(cosine, sine, 0.0) * (1.0 - height * height).sqrt()).with_z(height)
        });
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let directions: Vec<DVec3> = axes.into_iter().flat_map(|axis| [axis, -axis]).chain(spiral).collect();
        Self { best: vec![(f64::NEG_INFINITY, DVec3::ZERO); directions.len()], directions }
    }

    fn note(&mut self, point: DVec3) {
        if point.is_finite() {
            for (direction, best) in self.directions.iter().zip(&mut self.best) {
                let far = point.dot(*direction);
                if far > best.0 {
                    *best = (far, point);
                }
            }
        }
    }

    /// Notes a moment with the places of bodies without meshes, and adds middles of meshes and some points of skins to `places`.
    fn note_frame(
        &mut self,
        frame: &ClipFrame,
        (outlines, bare): (&[Outline], &[usize]),
        places: &mut Vec<DVec3>,
    ) {
        for outline in outlines {
            let Some(pose) = frame.poses.get(outline.body) else { continue };
            let middle = pose.transform_point(outline.middle);
            places.push(middle);
            if self.may_grow(middle, outline.radius) {
                outline.points.iter().for_each(|&point| self.note(pose.transform_point(point)));
            }
        }
        for pose in bare.iter().filter_map(|&body| frame.poses.get(body)) {
            self.note(pose.translation);
        }
        for skin in &frame.skins {
            skin.iter().for_each(|&point| self.note(point));
            places.extend(skin.iter().step_by(skin.len().div_ceil(200).max(1)));
        }
        for (from, to, _) in &frame.lines {
            [*from, *to].into_iter().for_each(|point| self.note(point));
        }
    }

    /// Whether a ball may reach farther than what is known.
    fn may_grow(&self, middle: DVec3, radius: f64) -> bool {
        self.directions
            .iter()
            .zip(&self.best)
            .any(|(direction, best)| middle.dot(*direction) + radius > best.0)
    }

    fn points(&self) -> Vec<DVec3> {
        self.best.iter().filter(|best| best.0.is_finite()).map(|best| best.1).collect()
    }
}

/// The outermost points of a mesh, and the ball about it.
struct Outline {
    body: usize,
    points: Vec<DVec3>,
    middle: DVec3,
    radius: f64,
}

impl Outline {
    fn of(mesh: &ClipMesh) -> Option<Self> {
        let body = mesh.body?;
        let mut farthest = Farthest::new();
        mesh.positions.iter().for_each(|&point| farthest.note(point));
        let points = farthest.points();
        let middle = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        let radius = points.iter().fold(0.0f64, |radius, point| radius.max(point.distance(middle)));
        Some(Self { body, points, middle, radius })
    }
}

impl MotionExtent {
    pub(crate) fn of(clip: &Clip) -> Self {
        let outlines: Vec<Outline> = clip.meshes.iter().filter_map(Outline::of).collect();
        let shaped: BTreeSet<usize> = outlines.iter().map(|outline| outline.body).collect();
        let bare: Vec<usize> = (0..clip.bodies.len()).filter(|body| !shaped.contains(body)).collect();
        let (mut farthest, mut places) = (Farthest::new(), Vec::new());
        let every = clip.frames.len().div_ceil(FRAMES).max(1);
        for frame in clip.frames.iter().step_by(every).chain(clip.frames.last()) {
            farthest.note_frame(frame, (&outlines, &bare), &mut places);
        }
        let mut hull = farthest.points();
        hull.dedup();
        let (low, high) = hull.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &point| {
            (low.min(point), high.max(point))
        });
        let focus = if hull.is_empty() { DVec3::ZERO } else { 0.5 * (low + high) };
        let reach = hull.iter().fold(0.0f64, |reach, point| reach.max(point.distance(focus)));
        Self { hull, focus, reach: reach.max(1e-3), places }
    }

    /// A floor below everything: a point, and the free direction. None without gravity, and where there is scenery.
    pub(crate) fn floor(&self, clip: &Clip) -> Option<(DVec3, DVec3)> {
        let is_empty = clip.planes.is_empty() && clip.meshes.iter().all(|mesh| mesh.body.is_some());
        let up = (-clip.gravity).try_normalize().filter(|_| is_empty)?;
        let heights = self.hull.iter().map(|point| point.dot(up));
        Some((up * heights.fold(f64::INFINITY, f64::min), up)).filter(|(point, _)| point.is_finite())
    }
}
