//! Validated closed triangle surfaces.
//!
//! A [`Surface`] bounds a solid: every edge has two triangles, which run along it in opposite directions; no triangle
//! is flat; none crosses or touches another except at common corners and edges; closed parts are nested with
//! alternating orientation (a cavity faces inward). So integrals over the inside are well defined. Triangles are
//! counter-clockwise seen from outside. A surface that faces inward as a whole is flipped; [`Surface::was_flipped`]
//! reports it.
//!
//! Positions in metres. Checking takes O(n log n) in triangles. The first fault is an error that names the place.

use glam::DVec3;
use sinew_math::{MassProperties, MeshMassError, Triangles, ops};
use sinew_topology::DisjointSets;

use crate::box_tree::{Bounds, BoxTree};
use crate::triangles::{check_indices, weld};
use crate::{error::MeshError, self_intersection::first_intersection};

/// A triangle is flat if twice its area is at most this fraction of the product of two sides.
const FLAT: f64 = 1e-15;

/// A closed, oriented triangle surface without self-intersections.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "SurfaceData", into = "SurfaceData"))]
pub struct Surface {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    volume: f64,
    flipped: bool,
}

impl Surface {
    /// Checks a surface given by vertex positions (m) and triangles; flips it if it faces inward as a whole.
    ///
    /// # Errors
    /// [`MeshError`] names the first vertex, triangle, edge or pair of triangles at fault.
    pub fn new(positions: Vec<DVec3>, mut triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        check_triangles(&positions, &triangles)?;
        let edges = matched_edges(&positions, &triangles)?;
        let mut mass = MassProperties::from_mesh(&positions, &triangles, 1.0);
        let flipped = matches!(mass, Err(MeshMassError::Inverted { .. }));
        if flipped {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
            mass = MassProperties::from_mesh(&positions, &triangles, 1.0);
        }
        let volume = match mass {
            Ok(properties) => properties.mass,
            Err(MeshMassError::NoVolume { volume }) => return Err(MeshError::NoVolume { volume }),
            Err(other) => return Err(MeshError::Format { problem: other.to_string() }),
        };
        if let Some((pair, at)) = first_intersection(&positions, &triangles) {
            return Err(MeshError::SelfIntersection { triangles: pair, at });
        }
        check_parts(&positions, &triangles, &edges)?;
        Ok(Self { positions, triangles, volume, flipped })
    }

    /// Joins vertices at equal positions, then checks like [`Surface::new`]. Vertices keep the order of their first
    /// use.
    ///
    /// # Errors
    /// As [`Surface::new`].
    pub fn welded(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        Self::try_from(weld(positions, triangles)?)
    }

    /// The same surface, every position times a positive factor.
    ///
    /// # Errors
    /// As [`Surface::new`]: rounding may make triangles touch that are extremely close.
    pub fn scaled(self, factor: f64) -> Result<Self, MeshError> {
        match factor {
            1.0 => Ok(self),
            _ => {
                let positions = self.positions.iter().map(|&p| p * factor).collect();
                let flipped = self.flipped;
                Self::new(positions, self.triangles).map(|scaled| Self { flipped, ..scaled })
            }
        }
    }

    /// Vertex positions (m).
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Triangles, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The enclosed volume (m³).
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Area (m²).
    pub fn area(&self) -> f64 {
        let each = self.triangles.iter().map(|&[a, b, c]| {
            let [a, b, c] = [a, b, c].map(|i| self.positions[i as usize]);
            0.5 * (b - a).cross(c - a).length()
        });
        each.sum()
    }

    /// Whether the triangles faced inward and were flipped.
    pub fn was_flipped(&self) -> bool {
        self.flipped
    }

    /// Mass, centre and inertia of the solid at `density` (kg/m³).
    ///
    /// # Errors
    /// Only for a volume that is zero up to rounding.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MeshMassError> {
        MassProperties::from_mesh(&self.positions, &self.triangles, density)
    }

    /// The corners of every triangle.
    pub(crate) fn facets(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles.iter().map(|t| t.map(|i| self.positions[i as usize]))
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds::of(self.positions.iter().copied())
    }
}

impl TryFrom<Triangles> for Surface {
    type Error = MeshError;

    /// Checks as [`Surface::new`] does.
    fn try_from(read: Triangles) -> Result<Self, MeshError> {
        Self::new(read.positions, read.triangles)
    }
}

impl From<Surface> for Triangles {
    fn from(surface: Surface) -> Self {
        Self { positions: surface.positions, triangles: surface.triangles }
    }
}

/// Checks that vertices are finite, indices exist and triangles have an area.
fn check_triangles(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), MeshError> {
    if triangles.is_empty() {
        return Err(MeshError::NoTriangles);
    }
    check_indices(positions, triangles)?;
    if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
        return Err(MeshError::NonFiniteVertex { vertex });
    }
    for (triangle, t) in triangles.iter().enumerate() {
        let [a, b, c] = t.map(|i| positions[i as usize]);
        let (u, v) = (b - a, c - a);
        if u.cross(v).length() <= FLAT * u.length() * v.length() {
            return Err(MeshError::FlatTriangle { triangle, at: a });
        }
    }
    Ok(())
}

/// The two triangles of each edge, after checking that they run along it in opposite directions.
fn matched_edges(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<Vec<[u32; 2]>, MeshError> {
    // (lower vertex, higher vertex, runs upward, triangle), sorted so that the uses of one edge are neighbours
    let mut uses: Vec<(u32, u32, bool, u32)> = Vec::with_capacity(3 * triangles.len());
    for (triangle, &[a, b, c]) in triangles.iter().enumerate() {
        let edges = [(a, b), (b, c), (c, a)];
        uses.extend(edges.map(|(from, to)| (from.min(to), from.max(to), from < to, triangle as u32)));
    }
    uses.sort_unstable();
    let mut pairs = Vec::with_capacity(uses.len() / 2);
    for uses in uses.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let edge = [uses[0].0, uses[0].1];
        let at = (positions[edge[0] as usize] + positions[edge[1] as usize]) * 0.5;
        match *uses {
            [one] => return Err(MeshError::OpenEdge { edge, triangle: one.3 as usize, at }),
            [one, two] if one.2 == two.2 => {
                return Err(MeshError::InvertedTriangle { triangles: [one.3 as usize, two.3 as usize], at });
            }
            [one, two] => pairs.push([one.3, two.3]),
            _ => return Err(MeshError::NonManifoldEdge { edge, n_triangles: uses.len(), at }),
        }
    }
    Ok(pairs)
}

/// Checks that closed parts are nested with alternating orientation: the winding number of the others at a part is 1 if
/// it is a cavity, else 0.
fn check_parts(positions: &[DVec3], triangles: &[[u32; 3]], edges: &[[u32; 2]]) -> Result<(), MeshError> {
    let mut sets = DisjointSets::new(triangles.len());
    edges.iter().for_each(|&[a, b]| _ = sets.join(a, b));
    let (part_of, n) = sets.numbered();
    if n == 1 {
        return Ok(());
    }
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (triangle, &part) in part_of.iter().enumerate() {
        parts[part as usize].push(triangle as u32);
    }
    let corners = |t: u32| triangles[t as usize].map(|i| positions[i as usize]);
    let boxes: Vec<Bounds> =
        parts.iter().map(|part| Bounds::of(part.iter().flat_map(|&t| corners(t)))).collect();
    let tree = BoxTree::new(&boxes);
    for (part, members) in parts.iter().enumerate() {
        let at = corners(members[0])[0];
        let volume: f64 =
            members.iter().map(|&t| corners(t).map(|p| p - at)).map(|[a, b, c]| a.dot(b.cross(c))).sum();
        let mut winding = 0.0;
        tree.visit(&Bounds { lo: at, hi: at }, |other| {
            if other as usize != part {
                winding += parts[other as usize].iter().map(|&t| solid_angle(at, corners(t))).sum::<f64>();
            }
        });
        let winding = (winding / (4.0 * std::f64::consts::PI)).round() as i64;
        let problem = match (volume > 0.0, winding) {
            (true, 0) | (false, 1) => continue,
            (true, _) => "lies inside another part and faces outward; flip its triangles to make it a cavity",
            (false, _) => "faces inward, but is no cavity of another part; flip its triangles",
        };
        return Err(MeshError::MisplacedPart { triangle: members[0] as usize, at, problem });
    }
    Ok(())
}

/// Signed solid angle of a triangle seen from a point (Van Oosterom and Strackee 1983), positive from inside.
fn solid_angle(eye: DVec3, triangle: [DVec3; 3]) -> f64 {
    let [a, b, c] = triangle.map(|p| p - eye);
    let [x, y, z] = [a, b, c].map(DVec3::length);
    2.0 * ops::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
}

#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct SurfaceData {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

#[cfg(feature = "serde")]
impl TryFrom<SurfaceData> for Surface {
    type Error = MeshError;

    fn try_from(doc: SurfaceData) -> Result<Self, MeshError> {
        Self::new(doc.positions, doc.triangles)
    }
}

#[cfg(feature = "serde")]
impl From<Surface> for SurfaceData {
    fn from(surface: Surface) -> Self {
        Self { positions: surface.positions, triangles: surface.triangles }
    }
}
