//! Meshes of flesh: generated, read from files of the scene, or those of a character. Metres; errors name the field.

use sinew_mesh::characters::{Character, CharacterLook, finger, fish, hand, worm, worm_with_cells};
use sinew_mesh::{EmbeddedBody, Filling, Lattice, MeshError, Surface, TetFile, TetMesh, beam};
use sinew_scene::{CharacterKindDoc, FleshDoc, FleshMeshDoc, SceneDoc};

use crate::error::BuildError;

/// Density of flesh that has none of its own (kg/m³).
const WATER: f64 = 1000.0;

/// A mesh, and for characters the bone of each node.
pub(super) struct FleshMesh {
    pub(super) body: EmbeddedBody,
    pub(super) character: Option<CharacterNodes>,
    /// What is drawn instead of the surface.
    pub(super) look: Option<CharacterLook>,
    /// The number that its file gives each tetrahedron, if it does.
    pub(super) file_regions: Vec<f64>,
}

/// Which bone of a character each node follows.
pub(super) struct CharacterNodes {
    pub(super) bone_names: Vec<String>,
    /// For each node the bone, and whether the node is fixed to it.
    pub(super) nodes: Vec<(usize, bool)>,
}

/// The mesh of a document; `path` is the place of the flesh in the scene.
pub(super) fn flesh_mesh(scene: &SceneDoc, doc: &FleshDoc, path: &str) -> Result<FleshMesh, BuildError> {
    let fault = |message: String| BuildError::Flesh { field: format!("{path}.mesh"), message };
    let bad = |error: MeshError| fault(error.to_string());
    let file = |name: &str| {
        let missing = || fault(format!("the file `{name}` was not read; load the scene from its folder"));
        scene.files.get(name).ok_or_else(missing)
    };
    let filling = Filling { density: doc.density.unwrap_or(WATER), mass_floor: doc.mass_floor };
    let tets = |mesh: TetMesh| EmbeddedBody::from_tets(mesh, &filling).map_err(bad);
    let mut file_regions = Vec::new();
    let mut read = |found: TetFile, scale: f64| {
        file_regions = found.regions;
        let nodes = found.mesh.positions().iter().map(|&x| x * scale).collect();
        tets(TetMesh::new(nodes, found.mesh.tets().to_vec()).map_err(|error| bad(error.into()))?)
    };
    let body = match &doc.mesh {
        FleshMeshDoc::Beam { size, cells } => tets(beam(*size, *cells).map_err(bad)?)?,
        FleshMeshDoc::Tets { nodes, tets: corners } => {
            tets(TetMesh::new(nodes.clone(), corners.clone()).map_err(|error| bad(error.into()))?)?
        }
        FleshMeshDoc::TetGen { node, ele, scale } => {
            read(TetFile::from_tetgen(file(node)?, file(ele)?).map_err(bad)?, *scale)?
        }
        FleshMeshDoc::TetFile { file: name, scale } => {
            read(TetFile::from_bytes(name, file(name)?).map_err(bad)?, *scale)?
        }
        FleshMeshDoc::Embedded { file: name } => {
            let text = String::from_utf8_lossy(file(name)?);
            ron::from_str(&text).map_err(|error| fault(format!("`{name}`: {error}")))?
        }
        FleshMeshDoc::Surface { file: name, cells, scale } => {
            let surface = Surface::from_bytes(name, file(name)?);
            let surface = surface.and_then(|surface| surface.scaled(*scale)).map_err(bad)?;
            EmbeddedBody::in_lattice(surface, &Lattice::longest(*cells), &filling)
                .map_err(bad)?
                .with_fill_floor(filling.mass_floor)
        }
        FleshMeshDoc::Character { kind } => return Ok(character_mesh(character(*kind))),
    };
    Ok(FleshMesh { body, character: None, look: None, file_regions })
}

/// Density of the filled volume (kg/m³): as written, else that of the file of an embedded body, else that of water.
pub(super) fn density(doc: &FleshDoc, mesh: &EmbeddedBody) -> f64 {
    let own = || match doc.mesh {
        FleshMeshDoc::Embedded { .. } => mesh.masses().iter().sum::<f64>() / mesh.surface().volume(),
        _ => WATER,
    };
    doc.density.unwrap_or_else(own)
}

fn character_mesh(character: Character) -> FleshMesh {
    let Character { flesh, holds, bones, look, .. } = character;
    let bone_names = bones.iter().map(|bone| bone.name.to_string()).collect();
    let nodes = holds.iter().map(|hold| (hold.bone as usize, hold.fixed)).collect();
    let character = Some(CharacterNodes { bone_names, nodes });
    FleshMesh { body: flesh, character, look, file_regions: Vec::new() }
}

fn character(kind: CharacterKindDoc) -> Character {
    match kind {
        CharacterKindDoc::Worm => worm(),
        CharacterKindDoc::WormFine { cells } => worm_with_cells(cells),
        CharacterKindDoc::Fish => fish(),
        CharacterKindDoc::Finger => finger(),
        CharacterKindDoc::Hand => hand(),
    }
}
