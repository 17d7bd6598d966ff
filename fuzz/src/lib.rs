//! What fuzz targets share: bounds on memory, scenes that are small enough to run, files that imports may name.
//!
//! A target fails by a panic, by more memory than fits its input, or by libFuzzer's limit of time.

use std::collections::BTreeMap;

use sinew_io::{Files, ImportError, ImportOptions, Imported, MeshContact, RootHold};
use sinew_scene::{FleshMeshDoc, FleshSteppingDoc, GeneratorDoc, SceneDoc, StepperDoc};
use sinew_sim::World;

/// Bytes that any input may take, and more per byte of it: deflate packs 1032 bytes in one at best.
const BASE: u64 = 64_000_000;
const PER_BYTE: u64 = 4_000;

/// Most links and bones, tetrahedra and repetitions of a scene that is run.
const MOST_LINKS: u64 = 60;
const MOST_TETS: u32 = 600;
const MOST_TURNS: u32 = 20;

/// Steps of a scene that is run.
const STEPS: usize = 3;

/// Runs a reader and fails if it takes memory out of proportion to its input.
pub fn bounded<T>(input: &[u8], read: impl FnOnce() -> T) -> T {
    let mut result = None;
    let taken = allocation_counter::measure(|| result = Some(read()));
    let most = BASE + PER_BYTE * input.len() as u64;
    assert!(
        taken.bytes_max <= most,
        "{} bytes of memory for {} bytes of input",
        taken.bytes_max,
        input.len()
    );
    result.expect("the reader has run")
}

/// Reads a file of another tool with options that its length chooses, and runs the scene.
pub fn import(data: &[u8], read: impl Fn(&Files, &ImportOptions) -> Result<Imported, ImportError>) {
    let options = options(data.len());
    let imported = bounded(data, || read(&files(), &options));
    let Ok(imported) = imported else { return };
    run(&imported.scene);
}

fn options(choice: usize) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.root = [RootHold::AsWritten, RootHold::Fixed, RootHold::Free][choice % 3];
    options.mesh_contact =
        [MeshContact::Hull, MeshContact::Decomposed, MeshContact::Triangles][choice / 3 % 3];
    options.self_contact = choice / 9 % 2 == 1;
    options.rig.flesh = choice % 4 == 3;
    options.rig.cells = Some(6);
    options
}

/// Files that imports may name.
fn files() -> Files {
    let wedge = include_bytes!("../../crates/io/tests/models/meshes/wedge.obj").to_vec();
    let include = b"<mujoco><worldbody><body><geom size=\"0.1\"/></body></worldbody></mujoco>".to_vec();
    let names = ["wedge.obj", "meshes/wedge.obj", "package://models/meshes/wedge.obj", "a.obj"];
    let mut files: BTreeMap<String, Vec<u8>> =
        names.iter().map(|name| ((*name).to_owned(), wedge.clone())).collect();
    files.extend(["a.xml", "b.xml"].map(|name| (name.to_owned(), include.clone())));
    let model = b"<sdf><model name=\"a\"><link name=\"b\"/></model></sdf>".to_vec();
    files.insert("model://a/model.sdf".to_owned(), model);
    Files::in_memory(files)
}

/// Builds a scene and makes a few steps, if it is small.
pub fn run(scene: &SceneDoc) {
    if !is_small(scene) {
        return;
    }
    if let Ok(mut world) = World::from_scene(scene) {
        for _ in 0..STEPS {
            world.step();
        }
        world.energy();
        world.digest();
    }
}

/// Whether a scene asks for little work.
pub fn is_small(scene: &SceneDoc) -> bool {
    let links: u64 = scene.generators.iter().map(GeneratorDoc::n_links).fold(0, u64::saturating_add);
    let is_fleshy = |generator: &GeneratorDoc| matches!(generator, GeneratorDoc::Character(_));
    let n_fleshy = scene.generators.iter().filter(|generator| is_fleshy(generator)).count();
    let parts = scene.bodies.len() + scene.joints.len() + scene.colliders.len() + scene.inputs.len();
    let columns: usize = scene.surfaces.iter().map(|surface| surface.columns as usize).sum();
    let flesh = scene.flesh.iter().all(|flesh| {
        let is_explicit = matches!(&flesh.stepping, FleshSteppingDoc::Explicit { .. });
        !is_explicit
            && match &flesh.mesh {
                FleshMeshDoc::Beam { cells, .. } => {
                    cells.iter().fold(6u32, |all, n| all.saturating_mul(*n)) <= MOST_TETS
                }
                FleshMeshDoc::Tets { tets, .. } => tets.len() <= MOST_TETS as usize,
                FleshMeshDoc::Surface { cells, .. } => *cells <= 6,
                FleshMeshDoc::TetGen { .. }
                | FleshMeshDoc::TetFile { .. }
                | FleshMeshDoc::Embedded { .. } => true,
                FleshMeshDoc::Character { .. } => false,
            }
    });
    let turns = match &scene.stepper {
        StepperDoc::Implicit(it) => it.newton_iterations.max(it.most_substeps / 2),
        StepperDoc::Explicit(it) => it.most_substeps,
        StepperDoc::Displacement(it) => it.iterations.max(it.most_substeps),
        StepperDoc::Reduced(it) => it.most_substeps,
    };
    let stabilize = scene.stabilize.as_ref().map_or(0, |it| it.iterations);
    links <= MOST_LINKS
        && n_fleshy == 0
        && parts <= 5 * MOST_LINKS as usize
        && columns <= 1000
        && flesh
        && turns.max(stabilize) <= MOST_TURNS
        && scene.loops.iterations.saturating_mul(scene.loops.restarts.saturating_add(1)) <= 50 * MOST_TURNS
        && scene.flesh_solver.iterations <= 20 * MOST_TURNS
}

/// Text in front of a line `===`, and after it.
pub fn two_parts(data: &[u8]) -> (&[u8], &[u8]) {
    let mark = b"\n===\n";
    match data.windows(mark.len()).position(|window| window == mark) {
        Some(at) => (&data[..at], &data[at + mark.len()..]),
        None => (data, &[]),
    }
}
