//! Expansion of meshes of bars.
//!
//! Vertices (i, j) of an n × n grid, row by row; from each a bar to (i+1, j), to (i, j+1) and to (i+1, j+1), as far
//! as these exist. At a vertex where d bars end, d − 1 ball joints tie each of them to the first. Bars end exactly
//! at the vertices: joint frames are fixed to the bars where the bars fit, so that assembly brings scattered bars
//! back. Cost: linear in the number of bars.

use glam::DVec3;
use sinew_math::exp_so3;

use super::placement::{LinkPlacement, ball, bar, link_name, rotation_to};
use crate::doc::{
    EndDoc, FrameDoc, JointDoc, JointFramesDoc, LocalFramesDoc, MeshDoc, PoseDoc, SceneDoc, SurfaceDoc,
};

/// Adds the bodies, joints and surface of a mesh.
pub(super) fn expand(mesh: &MeshDoc, scene: &mut SceneDoc) {
    let n = mesh.n as usize;
    let mut places: Vec<LinkPlacement> = Vec::new();
    // Bars that end at each vertex: which, and the joint frame on it.
    let mut ends: Vec<Vec<(usize, FrameDoc)>> = vec![Vec::new(); n * n];
    for (j, i) in (0..n).flat_map(|j| (0..n).map(move |i| (j, i))) {
        for (di, dj) in [(1, 0), (0, 1), (1, 1)] {
            if i + di < n && j + dj < n {
                let place = edge(mesh, [i, j], [di, dj]);
                ends[j * n + i].push((places.len(), end_frame(&place, -0.5)));
                ends[(j + dj) * n + i + di].push((places.len(), end_frame(&place, 0.5)));
                places.push(place);
            }
        }
    }
    let mut scatter = Scatter(0x5EED);
    for (i, place) in places.iter().enumerate() {
        let name = link_name(&mesh.name, i + 1);
        let mut body = bar(name, place, mesh.radius, mesh.mass_per_length * place.length);
        if mesh.scatter != 0.0 {
            body.pose = scatter.displaced(place, mesh);
        }
        scene.bodies.push(body);
    }
    if mesh.surface {
        // Every vertex goes with the first of its bars.
        let hubs = ends.iter().filter_map(|ends| ends.first());
        let point = |(bar, frame): &(usize, FrameDoc)| EndDoc::Body {
            name: link_name(&mesh.name, bar + 1),
            point: frame.anchor,
        };
        let (name, points) = (mesh.name.clone(), hubs.map(point).collect());
        scene.surfaces.push(SurfaceDoc { name, columns: mesh.n, points, ..SurfaceDoc::default() });
    }
    let mut n_joints = 0;
    for ends in &ends {
        let Some(((hub, parent), others)) = ends.split_first() else { continue };
        for (other, child) in others {
            n_joints += 1;
            let [name, child_name, hub_name] =
                [n_joints, other + 1, hub + 1].map(|i| link_name(&mesh.name, i));
            let frames = JointFramesDoc::Local(LocalFramesDoc { child: *child, parent: *parent });
            scene.joints.push(JointDoc { frames, ..ball(name, child_name, Some(hub_name), mesh.damping) });
        }
    }
}

/// The bar from a vertex over a number of squares.
fn edge(mesh: &MeshDoc, [i, j]: [usize; 2], [di, dj]: [usize; 2]) -> LinkPlacement {
    let on_grid = |i: usize, j: usize| DVec3::new(i as f64, j as f64, 0.0) * mesh.spacing;
    let along = on_grid(di, dj);
    LinkPlacement { start: mesh.start + on_grid(i, j), rotation: rotation_to(along), length: along.length() }
}

/// The joint frame at ±½ of the length of a bar.
fn end_frame(place: &LinkPlacement, side: f64) -> FrameDoc {
    let bar_from_world = place.rotation.inverse();
    FrameDoc {
        anchor: DVec3::X * (side * place.length),
        axis: bar_from_world * DVec3::X,
        reference: Some(bar_from_world * DVec3::Y),
    }
}

/// Pseudo-random displacements with a fixed seed (SplitMix64, Steele et al. 2014).
struct Scatter(u64);

impl Scatter {
    /// Initial pose of a scattered bar.
    fn displaced(&mut self, place: &LinkPlacement, mesh: &MeshDoc) -> PoseDoc {
        let shift = self.vector() * mesh.scatter;
        let turn = exp_so3(self.vector() * (mesh.scatter / mesh.spacing));
        let middle = place.middle() + shift;
        let rotation = (turn * place.rotation).normalize();
        LinkPlacement { start: middle - rotation * (DVec3::X * (0.5 * place.length)), rotation, ..*place }
            .pose()
    }

    /// A vector with components from −1 to 1.
    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}
