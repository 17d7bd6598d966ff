//! Parts of solids between planes: cutting them in two, and the points whose hull is the hull of the part. Metres.
//!
//! A part is a solid inside a convex cell, the points below all its planes. It has the pieces of the surface in the cell and the corners of the cell inside the solid: the
//! points where three planes meet. Every other extreme point of the part is a corner of a piece, so caps over the cuts are not needed. Both halves of a cut have the points
//! of the cut, so their hulls share a face. Cost of a cut: linear in the pieces, quadratic in the planes.

use crate::tri_mesh::TriMesh;
use glam::{DMat3, DVec3};

/// How far beside a corner the solid is looked for, in units of the slack.
const BESIDE: f64 = 1e3;

/// A plane; what is below it has a negative height (m).
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutPlane {
    normal: DVec3,
    offset: f64,
}

impl CutPlane {
    /// The plane through a point; none if the normal has no direction.
    pub(crate) fn through(point: DVec3, normal: DVec3) -> Option<Self> {
        let normal = normal.try_normalize()?;
        Some(Self { normal, offset: normal.dot(point) })
    }

    fn height(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }

    fn turned(&self) -> Self {
        Self { normal: -self.normal, offset: -self.offset }
    }
}

/// The part of a solid in a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellPart {
    /// Triangles on the surface of the solid.
    pieces: Vec<[DVec3; 3]>,
    /// The cell is below all of them.
    sides: Vec<CutPlane>,
    /// Corners of the cell inside the solid.
    corners: Vec<DVec3>,
}

impl CellPart {
    /// The whole solid.
    pub(crate) fn whole(solid: &TriMesh) -> Self {
        let pieces = (0..solid.triangles().len() as u32).map(|face| solid.corners_of(face)).collect();
        Self { pieces, ..Self::default() }
    }

    /// The points whose hull is that of the part, each once.
    pub(crate) fn points(&self) -> Vec<DVec3> {
        let mut points: Vec<DVec3> = self.pieces.iter().flatten().chain(&self.corners).copied().collect();
        points
            .sort_unstable_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
        points.dedup();
        points
    }

    /// What is left of a segment inside the cell.
    pub(crate) fn clip(&self, [mut from, mut to]: [DVec3; 2]) -> Option<[DVec3; 2]> {
        for side in &self.sides {
            let (a, b) = (side.height(from), side.height(to));
            match (a > 0.0, b > 0.0) {
                (true, true) => return None,
                (true, false) => from = from.lerp(to, a / (a - b)),
                (false, true) => to = from.lerp(to, a / (a - b)),
                (false, false) => {}
            }
        }
        Some([from, to])
    }

    /// The part below a plane, or all of it if that is what is below.
    pub(crate) fn below(self, plane: CutPlane, slack: f64, solid: &TriMesh) -> Self {
        if self.pieces.iter().flatten().chain(&self.corners).all(|&p| plane.height(p) <= slack) {
            return self;
        }
        let [below, _] = self.split(plane, slack, solid);
        below
    }

    /// The parts below and above a plane. Points nearer to the plane than `slack` (m) are on it.
    pub(crate) fn split(&self, plane: CutPlane, slack: f64, solid: &TriMesh) -> [Self; 2] {
        let mut halves = [plane, plane.turned()].map(|side| {
            let sides = self.sides.iter().copied().chain([side]).collect();
            Self { sides, ..Self::default() }
        });
        for &piece in &self.pieces {
            let heights = piece.map(|p| Some(plane.height(p)).filter(|h| h.abs() > slack).unwrap_or(0.0));
            if heights.iter().all(|&h| h == 0.0) {
                // a face in the plane belongs to the solid behind it
                let [a, b, c] = piece;
                let is_above = (b - a).cross(c - a).dot(plane.normal) < 0.0;
                halves[usize::from(is_above)].pieces.push(piece);
                continue;
            }
            halves[0].keep(piece, heights);
            halves[1].keep(piece, heights.map(|h| -h));
        }
        for half in &mut halves {
            half.corners = self.corners.iter().copied().filter(|&p| half.holds(p, slack)).collect();
            half.add_corners(slack, solid);
        }
        halves
    }

    /// Adds what is below a plane of a piece, by the heights of its corners, unless it is but an edge or a corner.
    fn keep(&mut self, piece: [DVec3; 3], heights: [f64; 3]) {
        if heights.iter().all(|&h| h >= 0.0) {
            return;
        }
        let (mut around, mut n) = ([DVec3::ZERO; 4], 0);
        for k in 0..3 {
            let next = (k + 1) % 3;
            let (a, b) = (heights[k], heights[next]);
            if a <= 0.0 {
                (around[n], n) = (piece[k], n + 1);
            }
            if (a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0) {
                (around[n], n) = (crossing([piece[k], piece[next]], [a, b]), n + 1);
            }
        }
        self.pieces.extend((2..n).map(|k| [around[0], around[k - 1], around[k]]));
    }

    fn holds(&self, point: DVec3, slack: f64) -> bool {
        self.sides.iter().all(|side| side.height(point) <= slack)
    }

    /// Adds the corners at the last side of the cell where there is something of the solid beside them.
    fn add_corners(&mut self, slack: f64, solid: &TriMesh) {
        let Some((last, others)) = self.sides.split_last() else { return };
        for (i, a) in others.iter().enumerate() {
            for b in &others[..i] {
                let normals = DMat3::from_cols(last.normal, a.normal, b.normal).transpose();
                if normals.determinant().abs() < 1e-6 {
                    continue;
                }
                let inverse = normals.inverse();
                let point = inverse * DVec3::new(last.offset, a.offset, b.offset);
                if self.holds(point, slack) && is_filled(point, inverse, slack, solid) {
                    self.corners.push(point);
                }
            }
        }
    }
}

/// Whether a corner of a cell is inside a solid, or on its surface with the solid in the cell beside it. The columns of `into` lead out of the cell, each along two of its sides.
fn is_filled(corner: DVec3, into: DMat3, slack: f64, solid: &TriMesh) -> bool {
    let height = solid.distance(corner).distance;
    let beside = |k: u32| {
        let share = |axis: u32| if k >> axis & 1 == 1 { 1.0 } else { 0.05 };
        let way = into * DVec3::new(share(0), share(1), share(2));
        solid.distance(corner - way.normalize_or_zero() * (BESIDE * slack)).distance < -slack
    };
    height < -slack || (height <= slack && (1..8).any(beside))
}

/// Where an edge crosses a plane, by the heights of its ends: the same bits from whichever end it is seen.
fn crossing([p, q]: [DVec3; 2], [a, b]: [f64; 2]) -> DVec3 {
    let (low, high, share) = if a < b { (p, q, a / (a - b)) } else { (q, p, b / (b - a)) };
    low + (high - low) * share
}
