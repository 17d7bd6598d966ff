//! Convex decomposition: a closed mesh as the union of a few convex hulls, which reach out of it by at most a tolerance. Frame of the collider, metres.
//!
//! The closed pieces of the mesh are *solids*; they may overlap, and a cavity belongs to the solid around it. Solids are cut (`hull_cutting.rs`), and hulls that need not be
//! apart are joined (`hull_joining.rs`). Every point of the solids is in a part, up to slivers of 1e-6 of the size. Parts beside each other share the face of a cut. Everything happens in a fixed order.
//! The reasons are in ADR 0040.

use crate::convex_hull::ConvexHull;
use crate::error::ContactError;
use crate::hull_cutting::HullCutter;
use crate::hull_joining::joined;
use crate::hull_reach::{ReachMeter, ReachingHull};
use crate::refit_tree::NodeBox;
use crate::tri_mesh::TriMesh;

/// The tolerance, if none is given, relative to the diagonal of the mesh.
const TOLERANCE: f64 = 0.01;
/// What parts may reach out of the tolerance, and the error of measuring it: together they are the tolerance.
const ALLOWED: f64 = 0.8;
const PRECISION: f64 = 0.2;
/// The finest measure, relative to the diagonal.
const FINEST: f64 = 1e-3;
/// Points nearer to a plane than this part of the diagonal are on it.
const SLACK: f64 = 1e-9;
/// How many more parts there are before parts are joined, at most.
const SPARE: usize = 32;

/// How finely a mesh is decomposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecomposeOptions {
    /// The largest number of parts. Pieces of the mesh that do not touch are parts of their own, however many.
    pub max_parts: usize,
    /// How far parts may reach out of the mesh (m); a hundredth of its diagonal if not given.
    pub tolerance: Option<f64>,
}

impl Default for DecomposeOptions {
    fn default() -> Self {
        Self { max_parts: 32, tolerance: None }
    }
}

/// Convex parts that together fill a closed mesh.
///
/// ```
/// use glam::DVec3;
/// use sinew_contact::{DecomposeOptions, Decomposition, TriMesh};
///
/// // A prism over an L: one notch, two parts.
/// let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
/// let points: Vec<DVec3> = [0.0, 1.0].iter().flat_map(|&z| outline.map(|[x, y]| DVec3::new(x, y, z))).collect();
/// let mut triangles = vec![[0, 3, 1], [1, 3, 2], [0, 5, 4], [0, 4, 3]];
/// triangles.extend([[6, 7, 9], [7, 8, 9], [6, 10, 11], [6, 9, 10]]);
/// triangles.extend((0..6).flat_map(|i| [[i, (i + 1) % 6, i + 6], [(i + 1) % 6, (i + 1) % 6 + 6, i + 6]]));
/// let mesh = TriMesh::new(&points, &triangles, Some(true))?;
/// let found = Decomposition::of(&mesh, &DecomposeOptions::default())?;
/// assert_eq!(found.parts().len(), 2);
/// # Ok::<(), sinew_contact::ContactError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Decomposition {
    parts: Vec<ConvexHull>,
    reach: f64,
    is_within_tolerance: bool,
}

impl Decomposition {
    /// Decomposes a solid mesh.
    ///
    /// # Errors
    /// [`ContactError::Mesh`] for a mesh that is not solid, no parts, or a tolerance that is not positive; [`ContactError::Hull`] for a mesh without volume.
    pub fn of(mesh: &TriMesh, options: &DecomposeOptions) -> Result<Self, ContactError> {
        let fault = |message: &str| Err(ContactError::Mesh(message.to_owned()));
        let size = 2.0 * mesh.extent().half.length();
        let (most, tolerance) = (options.max_parts, options.tolerance.unwrap_or(TOLERANCE * size));
        if !mesh.is_solid() {
            let at = mesh.features.open_at.unwrap_or_default();
            return fault(&format!(
                "only a closed mesh can be decomposed, with all triangles counter-clockwise from outside; it is not at ({:.6}, {:.6}, {:.6}). \
                 Close it, or use TriMesh",
                at.x, at.y, at.z
            ));
        } else if most == 0 || tolerance.is_nan() || tolerance <= 0.0 {
            return fault("a decomposition needs at least one part and a positive tolerance");
        }
        let solids = solids(mesh)?;
        let (allowed, precision) = (ALLOWED * tolerance, (PRECISION * tolerance).max(FINEST * size));
        let meter = ReachMeter { solids: &solids, allowed, precision };
        let slack = SLACK * size;
        let cut = HullCutter { meter: &meter, slack }.cut(most.saturating_add(most.min(SPARE)))?;
        let joined = joined(cut, &meter, most, slack);
        let full = |part: &ReachingHull| match part.reach {
            reach if reach.distance <= meter.far() => reach.distance,
            _ => meter.reach(&part.hull, f64::INFINITY).distance,
        };
        let reach = joined.iter().map(full).fold(0.0, f64::max);
        let parts = joined.into_iter().map(|part| part.hull).collect();
        Ok(Self { parts, reach, is_within_tolerance: reach <= allowed })
    }

    /// The parts.
    pub fn parts(&self) -> &[ConvexHull] {
        &self.parts
    }

    /// How far parts reach out of the mesh (m), to a fifth of the tolerance or a thousandth of the diagonal.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Whether all parts are within the tolerance; otherwise there are too few of them.
    pub fn is_within_tolerance(&self) -> bool {
        self.is_within_tolerance
    }
}

/// The closed pieces of a mesh, each with its cavities.
fn solids(mesh: &TriMesh) -> Result<Vec<TriMesh>, ContactError> {
    let mut piece: Vec<usize> = (0..mesh.vertices().len()).collect();
    let root = |piece: &mut Vec<usize>, mut i: usize| {
        while piece[i] != i {
            piece[i] = piece[piece[i]];
            i = piece[i];
        }
        i
    };
    for &[a, b, c] in mesh.triangles() {
        for other in [b, c] {
            let (a, b) = (root(&mut piece, a as usize), root(&mut piece, other as usize));
            piece[a.max(b)] = a.min(b);
        }
    }
    let mut found: Vec<(usize, Vec<[u32; 3]>)> = Vec::new();
    let mut number = vec![usize::MAX; piece.len()];
    for t in mesh.triangles() {
        let first = root(&mut piece, t[0] as usize);
        if number[first] == usize::MAX {
            number[first] = found.len();
            found.push((first, Vec::new()));
        }
        found[number[first]].1.push(*t);
    }
    let place = |&i: &u32| mesh.vertices()[i as usize];
    let signed = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| place(&i) - mesh.extent().centre);
        a.dot(b.cross(c))
    };
    let (mut solid, turned): (Vec<_>, Vec<_>) =
        found.into_iter().map(|(_, t)| t).partition(|t| t.iter().map(signed).sum::<f64>() > 0.0);
    let around = |t: &[[u32; 3]]| NodeBox::around(t.iter().flatten().map(place));
    for cavity in turned {
        let inner = around(&cavity);
        let holds = |t: &Vec<[u32; 3]>| {
            let outer = around(t);
            outer.low.cmple(inner.low).all() && outer.high.cmpge(inner.high).all()
        };
        match solid.iter().position(holds) {
            Some(k) => solid[k].extend(cavity),
            None => solid.push(cavity),
        }
    }
    solid.iter().map(|t| TriMesh::new(mesh.vertices(), t, Some(true))).collect()
}
