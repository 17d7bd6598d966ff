//! Quality of an embedded body: element shapes, fill ratios and masses.
//!
//! Dihedral angles are those between the faces of a tetrahedron. The best value is 70.5° at all six edges; small angles
//! make elements stiff, large angles make them flat. The aspect is the longest edge over the inscribed diameter, scaled
//! to 1 for the regular tetrahedron.

use glam::DVec3;
use sinew_math::ops;
use sinew_topology::DisjointSets;

use crate::{barycentric::signed_volume, embed::EmbeddedBody};

/// Shapes, fill ratios and masses of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Quality {
    /// The smallest and largest dihedral angle (rad).
    pub dihedral: [f64; 2],
    /// The largest aspect, 1 for regular tetrahedra.
    pub max_aspect: f64,
    /// Volume of the largest over that of the smallest tetrahedron.
    pub volume_ratio: f64,
    /// The smallest fill ratio, from 0 to 1.
    pub min_fill: f64,
    /// The mean fill ratio, weighted by volume.
    pub mean_fill: f64,
    /// Mass of the heaviest over that of the lightest node.
    pub mass_ratio: f64,
    /// Sum of nodal masses (kg).
    pub mass: f64,
    /// Number of connected pieces.
    pub n_pieces: usize,
    /// How many nodes were raised to the mass floor.
    pub n_raised: usize,
}

impl EmbeddedBody {
    /// Measures element shapes, fill ratios and masses.
    pub fn quality(&self) -> Quality {
        let (mut dihedral, mut max_aspect) = ([f64::INFINITY, 0.0f64], 0.0f64);
        let mut pieces = DisjointSets::new(self.nodes().len());
        let (mut total, mut filled) = (0.0, 0.0);
        let mut volumes = MinMax::EMPTY;
        for (tet, nodes) in self.tets().iter().enumerate() {
            let corners = self.mesh.corners(tet);
            for angle in dihedral_angles(corners) {
                dihedral = [dihedral[0].min(angle), dihedral[1].max(angle)];
            }
            max_aspect = max_aspect.max(aspect(corners));
            nodes.windows(2).for_each(|pair| _ = pieces.join(pair[0], pair[1]));
            let volume = signed_volume(corners);
            volumes.add(volume);
            total += volume;
            filled += volume * self.fill[tet];
        }
        let (mut fills, mut masses) = (MinMax::EMPTY, MinMax::EMPTY);
        self.fill.iter().for_each(|&w| fills.add(w));
        self.masses.iter().for_each(|&m| masses.add(m));
        Quality {
            dihedral,
            max_aspect,
            volume_ratio: volumes.hi / volumes.lo,
            min_fill: fills.lo,
            mean_fill: filled / total,
            mass_ratio: masses.hi / masses.lo,
            mass: self.masses.iter().sum(),
            n_pieces: pieces.numbered().1,
            n_raised: self.n_raised,
        }
    }
}

struct MinMax {
    lo: f64,
    hi: f64,
}

impl MinMax {
    const EMPTY: Self = Self { lo: f64::INFINITY, hi: f64::NEG_INFINITY };

    fn add(&mut self, x: f64) {
        (self.lo, self.hi) = (self.lo.min(x), self.hi.max(x));
    }
}

/// Outward area normals of the faces, each opposite the corner of its place.
fn face_normals([a, b, c, d]: [DVec3; 4]) -> [DVec3; 4] {
    let normal = |p: DVec3, q: DVec3, r: DVec3| (q - p).cross(r - p) * 0.5;
    [normal(b, c, d), normal(a, d, c), normal(a, b, d), normal(a, c, b)]
}

fn dihedral_angles(corners: [DVec3; 4]) -> [f64; 6] {
    let n = face_normals(corners);
    // π minus the angle between outward normals
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        .map(|(i, j)| ops::atan2(n[i].cross(n[j]).length(), -n[i].dot(n[j])))
}

fn aspect(corners: [DVec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let volume = signed_volume(corners);
    let area: f64 = face_normals(corners).iter().map(|n| n.length()).sum();
    let longest = [a - b, a - c, a - d, b - c, b - d, c - d]
        .iter()
        .map(|e| e.length_squared())
        .fold(0.0, f64::max)
        .sqrt();
    // inscribed radius 3V/A; the regular tetrahedron has longest edge 2√6 r
    longest * area / (3.0 * volume * 24f64.sqrt())
}
