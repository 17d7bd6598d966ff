//! Serialization of `EmbeddedBody`, with a format number. What is read is checked.
//!
//! Checks: mesh and surface are valid ([`TetMesh::new`], [`Surface::new`]), every list has one entry per element, fill
//! ratios are from 0 to 1, masses are positive, and every anchor is at its vertex.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_math::{SurfacePoint, TetMesh};

use crate::{embed::EmbeddedBody, error::MeshError, surface::Surface};

/// The only format so far.
const FORMAT: u32 = 1;
/// Largest distance of an anchor from its vertex, as a share of the surface's extent: numbers in files may be rounded.
const ANCHOR_TOLERANCE: f64 = 1e-6;

/// The serialized form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EmbeddedBodyDoc {
    format: u32,
    nodes: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
    fill: Vec<f64>,
    masses: Vec<f64>,
    #[serde(default)]
    n_raised: usize,
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    anchors: Vec<SurfacePoint>,
}

impl Serialize for EmbeddedBody {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let doc = EmbeddedBodyDoc {
            format: FORMAT,
            nodes: self.nodes().to_vec(),
            tets: self.tets().to_vec(),
            fill: self.fill.clone(),
            masses: self.masses.clone(),
            n_raised: self.n_raised,
            vertices: self.surface.positions().to_vec(),
            triangles: self.surface.triangles().to_vec(),
            anchors: self.surface_points.clone(),
        };
        doc.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EmbeddedBody {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        EmbeddedBodyDoc::deserialize(deserializer)?.check().map_err(serde::de::Error::custom)
    }
}

impl EmbeddedBodyDoc {
    fn check(self) -> Result<EmbeddedBody, MeshError> {
        if self.format != FORMAT {
            let problem = format!("format {} is unknown; this version reads format {FORMAT}", self.format);
            return Err(MeshError::Format { problem });
        }
        let mesh = TetMesh::new(self.nodes, self.tets)?;
        let surface = Surface::new(self.vertices, self.triangles)?;
        let lengths = [
            ("fill", self.fill.len(), mesh.tets().len()),
            ("masses", self.masses.len(), mesh.positions().len()),
            ("anchors", self.anchors.len(), surface.positions().len()),
        ];
        if let Some((what, n, wanted)) = lengths.into_iter().find(|(_, n, wanted)| n != wanted) {
            let problem = format!("{what}: the list has {n} entries and must have {wanted}");
            return Err(MeshError::Format { problem });
        }
        let first_bad = |list: &[f64], good: &dyn Fn(f64) -> bool| list.iter().position(|&x| !good(x));
        if let Some(index) = first_bad(&self.fill, &|w| (0.0..=1.0).contains(&w)) {
            return Err(MeshError::Stored { what: "fill", index, problem: "must be from 0 to 1".into() });
        }
        if let Some(index) = first_bad(&self.masses, &|m| m.is_finite() && m > 0.0) {
            return Err(MeshError::Stored { what: "masses", index, problem: "must be positive".into() });
        }
        check_anchors(&mesh, &surface, &self.anchors)?;
        Ok(EmbeddedBody {
            mesh,
            fill: self.fill,
            masses: self.masses,
            surface,
            surface_points: self.anchors,
            n_raised: self.n_raised,
        })
    }
}

/// Checks that every anchor has an existing tetrahedron and is at its vertex.
fn check_anchors(mesh: &TetMesh, surface: &Surface, anchors: &[SurfacePoint]) -> Result<(), MeshError> {
    let tolerance = ANCHOR_TOLERANCE * surface.bounds().size().max_element();
    for (index, (anchor, &vertex)) in anchors.iter().zip(surface.positions()).enumerate() {
        let wrong = |problem: String| Err(MeshError::Stored { what: "anchors", index, problem });
        if anchor.tet as usize >= mesh.tets().len() {
            return wrong(format!(
                "refers to tetrahedron {}, but there are only {}",
                anchor.tet,
                mesh.tets().len()
            ));
        }
        let at = mesh.point(anchor, mesh.positions());
        let sum: f64 = anchor.weights.iter().sum();
        // written so that NaN fails
        if !((sum - 1.0).abs() <= ANCHOR_TOLERANCE && at.distance(vertex) <= tolerance) {
            return wrong(format!(
                "its position {at} differs from the position {vertex} of its vertex: make them equal"
            ));
        }
    }
    Ok(())
}
