//! Closed surfaces of implicit functions: smooth unions of round shapes, meshed by marching tetrahedra.
//!
//! A shape is the set where a function is negative; near its surface the function is the distance from it. Where two
//! shapes are closer than the blend length `k`, the smooth union `min(a, b) − h²/(4k)`, `h = max(k − |a − b|, 0)`,
//! rounds the crease (quadratic polynomial blend, C¹).
//!
//! The box around the shapes is cut into bricks of six tetrahedra. In each tetrahedron the zero set is one or two
//! triangles with corners on its edges. Neighbours share the corners on common edges, so the surface is closed and does
//! not intersect itself, if the function is positive on the outer bricks. Corners keep a distance from the ends of
//! their edges: this moves the surface by less than a tenth of a brick and prevents flat triangles.
//!
//! Metres. Cost: one evaluation per corner of a brick.

use glam::DVec3;

use crate::brick_tets::{bricks, check_cells};
use crate::{box_tree::Bounds, error::MeshError, surface::Surface};

/// Corners stay this share of an edge away from its ends.
const CLEARANCE: f64 = 0.06;

/// A round shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RoundShape {
    /// A capsule whose radius changes linearly from one end to the other.
    Capsule {
        /// The ends of the segment (m).
        ends: [DVec3; 2],
        /// The radii there (m).
        radii: [f64; 2],
    },
    /// An ellipsoid with axes along x, y and z.
    Ellipsoid {
        /// Its centre (m).
        centre: DVec3,
        /// Its half axes (m).
        half: DVec3,
    },
}

impl RoundShape {
    /// Negative inside, positive outside, near the surface about the distance from it (m).
    pub fn distance(&self, x: DVec3) -> f64 {
        match *self {
            Self::Capsule { ends: [a, b], radii } => {
                let axis = b - a;
                let t = ((x - a).dot(axis) / axis.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                (x - a - axis * t).length() - (radii[0] + (radii[1] - radii[0]) * t)
            }
            Self::Ellipsoid { centre, half } => {
                // level over slope of |x/half| − 1
                let scaled = (x - centre) / half;
                let (level, slope) = (scaled.length(), (scaled / half).length());
                if slope > 0.0 { level * (level - 1.0) / slope } else { -half.min_element() }
            }
        }
    }

    fn bounds(&self) -> Bounds {
        match *self {
            Self::Capsule { ends, radii } => {
                let ball = |k: usize| Bounds { lo: ends[k], hi: ends[k] }.grown(radii[k]);
                ball(0).union(ball(1))
            }
            Self::Ellipsoid { centre, half } => Bounds { lo: centre - half, hi: centre + half },
        }
    }
}

/// The surface of the smooth union of shapes: `blend` (m) is how far from each other shapes begin to melt together,
/// `cell` (m) the sides of the bricks.
///
/// # Errors
/// No shapes, sizes that are not positive, more than [`crate::MAX_CELLS`] bricks, shapes too small for the bricks.
pub fn mesh_shapes(shapes: &[RoundShape], blend: f64, cell: DVec3) -> Result<Surface, MeshError> {
    for (what, value) in
        [("the cell", cell.x), ("the cell", cell.y), ("the cell", cell.z), ("the blend length", blend)]
    {
        if !(value.is_finite() && value > 0.0) {
            return Err(MeshError::Setting { what, value, allowed: "positive and finite (m)" });
        }
    }
    if shapes.is_empty() {
        return Err(MeshError::NoTriangles);
    }
    let around = shapes.iter().map(RoundShape::bounds).fold(Bounds::EMPTY, Bounds::union);
    // a blend adds at most a quarter of its length per shape; one brick of air all around
    let around = around.grown(0.25 * blend * shapes.len().min(4) as f64);
    let around = Bounds { lo: around.lo - cell, hi: around.hi + cell };
    let count = |n: f64| n.ceil().min(f64::from(u32::MAX)) as u32;
    let cells = (around.size() / cell).to_array().map(count);
    check_cells(cells)?;
    let (nodes, tets) = bricks(around.lo, cell, cells);
    let union = |x: DVec3| {
        shapes.iter().map(|shape| shape.distance(x)).fold(f64::INFINITY, |a, b| smooth_min(a, b, blend))
    };
    let values: Vec<f64> = nodes.iter().map(|&x| union(x)).collect();
    let (positions, triangles) = march(&nodes, &tets, &values);
    Surface::new(positions, triangles)
}

fn smooth_min(a: f64, b: f64, blend: f64) -> f64 {
    if a.is_infinite() {
        return b;
    }
    let h = (blend - (a - b).abs()).max(0.0);
    a.min(b) - h * h / (4.0 * blend)
}

/// The zero set of a function given at the nodes of tetrahedra, negative inside.
fn march(nodes: &[DVec3], tets: &[[u32; 4]], values: &[f64]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let inside = |node: u32| values[node as usize] < 0.0;
    // corners by the edges they lie on, inner end first
    let mut corners: Vec<[[u32; 2]; 3]> = Vec::new();
    for &tet in tets {
        let n_inside = tet.iter().filter(|&&node| inside(node)).count();
        if n_inside == 0 || n_inside == 4 {
            continue;
        }
        // inner nodes first; the order keeps the orientation of the tetrahedron
        let [a, b, c, d] = sorted(tet, inside);
        match n_inside {
            1 => corners.push([[a, b], [a, c], [a, d]]),
            2 => corners.extend([[[a, c], [b, d], [b, c]], [[a, c], [a, d], [b, d]]]),
            _ => corners.push([[a, d], [b, d], [c, d]]),
        }
    }
    let mut edges: Vec<[u32; 2]> = corners.iter().flatten().copied().collect();
    edges.sort_unstable();
    edges.dedup();
    let position = |&[inner, outer]: &[u32; 2]| {
        let [p, q] = [inner, outer].map(|i| values[i as usize]);
        let t = (p / (p - q)).clamp(CLEARANCE, 1.0 - CLEARANCE);
        nodes[inner as usize].lerp(nodes[outer as usize], t)
    };
    let name = |edge: [u32; 2]| edges.partition_point(|other| *other < edge) as u32;
    let triangles = corners.iter().map(|t| t.map(name)).collect();
    (edges.iter().map(position).collect(), triangles)
}

/// The nodes of a tetrahedron, inner ones first, without changing its orientation.
fn sorted(tet: [u32; 4], inside: impl Fn(u32) -> bool) -> [u32; 4] {
    let mut order = tet;
    let mut swaps = 0;
    for i in 0..4 {
        for j in (i + 1..4).rev() {
            if inside(order[j]) && !inside(order[j - 1]) {
                order.swap(j, j - 1);
                swaps += 1;
            }
        }
    }
    if swaps % 2 == 1 {
        // two nodes on the same side of the surface may change places
        let n_inside = tet.iter().filter(|&&node| inside(node)).count();
        if n_inside >= 2 { order.swap(0, 1) } else { order.swap(2, 3) }
    }
    order
}
