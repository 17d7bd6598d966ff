//! Writes the seeds of all targets, a folder each: `seeds FOLDER`. They are the project's own scenes and models, and what its writers make of them.

// Its counters are those of libFuzzer.
use libfuzzer_sys as _;

use std::fs;
use std::path::{Path, PathBuf};

use glam::DVec3;
use sinew_io::{BvhOptions, Clip, GlbOptions, bvh, glb, obj, vtu};
use sinew_mesh::{EmbeddedBody, Filling, Lattice, Surface, beam, gmsh_text, tetgen_text, vtk_text};
use sinew_scene::SceneDoc;
use sinew_sim::{Recording, World, state_to_bytes, state_to_text};

#[path = "../../../crates/io/tests/all/glb.rs"]
mod rigs;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Largest seed (bytes): small ones are mutated more often.
const LARGEST: u64 = 40_000;

struct Seeds(PathBuf);

impl Seeds {
    fn write(&self, target: &str, name: &str, bytes: impl AsRef<[u8]>) -> Outcome {
        let folder = self.0.join(target);
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join(name), bytes)?)
    }

    /// Copies the small files of a folder with some ending.
    fn copy(&self, target: &str, folder: &Path, ending: &str) -> Outcome {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let small = path.metadata()?.len() <= LARGEST;
            if small && path.extension().is_some_and(|found| found == ending) {
                self.write(
                    target,
                    &path.file_name().unwrap_or_default().to_string_lossy(),
                    fs::read(&path)?,
                )?;
            }
        }
        Ok(())
    }
}

fn main() -> Outcome {
    let seeds = Seeds(std::env::args_os().nth(1).ok_or("a folder is needed")?.into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let models = root.join("crates/io/tests/models");
    seeds.copy("urdf", &models, "urdf")?;
    seeds.copy("mjcf", &models, "xml")?;
    seeds.copy("sdf", &models, "sdf")?;
    seeds.copy("obj", &models.join("meshes"), "obj")?;
    for folder in ["fixtures/mechanisms", "fixtures/invalid"] {
        seeds.copy("scene", &root.join(folder), "ron")?;
    }
    seeds.write("scene", "state", include_str!("../../scenes/state.ron"))?;
    seeds.write("scene", "recording", include_str!("../../scenes/recording.ron"))?;
    rigs_and_motions(&seeds)?;
    meshes(&seeds)?;
    states(&seeds)?;
    settings(&seeds)?;
    seeds.write("page", "numbers", (0..=255).cycle().take(1000).collect::<Vec<u8>>())?;
    seeds.write("page", "still", [100; 300])
}

fn rigs_and_motions(seeds: &Seeds) -> Outcome {
    for (name, closed, animated) in [("still", true, false), ("bends", true, true), ("open", false, true)] {
        let rig = rigs::worm(closed, animated);
        seeds.write("gltf", &format!("{name}.glb"), rig.bytes())?;
        seeds.write(
            "gltf",
            &format!("{name}.gltf"),
            rig.with_uri(&format!("data:;base64,{}", rigs::base64(&rig.bin))),
        )?;
    }
    let clip = clip(include_str!("../../scenes/state.ron"), 20)?;
    seeds.write("gltf", "written.glb", glb(&clip, &GlbOptions::default())?)?;
    seeds.write("vtu", "flesh.vtu", vtu(&clip, 3).ok_or("no frame")?)?;
    seeds.write("obj", "frame.obj", obj(&clip, 3).ok_or("no frame")?)?;
    let tree = clip_of_tree()?;
    seeds.write("bvh", "tree.bvh", bvh(&tree, &BvhOptions::default())?)?;
    seeds.write("gltf", "tree.glb", glb(&tree, &GlbOptions::default())?)
}

fn clip(text: &str, n: usize) -> Result<Clip, Box<dyn std::error::Error>> {
    let scene = SceneDoc::from_ron(text, "seed.ron")?;
    let mut world = World::from_scene(&scene)?;
    let mut clip = Clip::new("seed", &world);
    for _ in 0..n {
        world.step();
        clip.push(&world);
    }
    Ok(clip)
}

fn clip_of_tree() -> Result<Clip, Box<dyn std::error::Error>> {
    clip(
        r#"(format: 1, dt: 0.03, generators: [Tree(name: "t", branching: 2, depth: 2, link: (shapes: [Box(size: (0.3, 0.05, 0.05))]), joint: (kind: Ball))])"#,
        5,
    )
}

fn meshes(seeds: &Seeds) -> Outcome {
    let mesh = beam(DVec3::new(1.0, 0.5, 0.5), [2, 1, 1])?;
    let regions: Vec<f64> = (0..mesh.tets().len()).map(|i| (i % 2) as f64).collect();
    let (node, ele) = tetgen_text(&mesh, &regions);
    seeds.write("tetgen", "beam", format!("{node}\n===\n{ele}"))?;
    seeds.write("gmsh", "beam.msh", gmsh_text(&mesh, &regions))?;
    seeds.write("gmsh", "four.msh", GMSH_4)?;
    seeds.write("vtk", "beam.vtk", vtk_text(&mesh))?;
    seeds.write("vtk", "bytes.vtk", vtk_bytes(&mesh))?;
    seeds.write("vtu", "text.vtu", VTU)?;
    seeds.write("ply", "text.ply", PLY)?;
    let header =
        PLY.split_once("end_header\n").ok_or("no header")?.0.replace("ascii", "binary_little_endian");
    let mut bytes = format!("{header}end_header\n").into_bytes();
    let points = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    bytes.extend(points.iter().flatten().flat_map(|x| x.to_le_bytes()));
    for corners in [[0i32, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        bytes.push(3);
        bytes.extend(corners.iter().flat_map(|corner| corner.to_le_bytes()));
    }
    seeds.write("ply", "bytes.ply", bytes)?;
    let wedge = Surface::from_obj(include_bytes!("../../../crates/io/tests/models/meshes/wedge.obj"))?;
    seeds.write("stl", "text.stl", stl_text(&wedge))?;
    seeds.write("stl", "bytes.stl", stl_bytes(&wedge))?;
    let lattice = Lattice::longest(2);
    let body = EmbeddedBody::in_lattice(wedge, &lattice, &Filling::default())?;
    seeds.write("embedded", "wedge.ron", ron::to_string(&body)?)
}

fn facets(surface: &Surface) -> impl Iterator<Item = [[f32; 3]; 3]> {
    let corner = |i: u32| surface.positions()[i as usize].as_vec3().to_array();
    surface.triangles().iter().map(move |corners| corners.map(corner))
}

fn stl_text(surface: &Surface) -> String {
    let facet = |corners: [[f32; 3]; 3]| {
        let lines = corners.map(|[x, y, z]| format!("vertex {x} {y} {z}\n")).concat();
        format!("facet normal 0 0 0\nouter loop\n{lines}endloop\nendfacet\n")
    };
    format!("solid a\n{}endsolid a\n", facets(surface).map(facet).collect::<String>())
}

fn stl_bytes(surface: &Surface) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((surface.triangles().len() as u32).to_le_bytes());
    for corners in facets(surface) {
        bytes.extend([0; 12]);
        bytes.extend(corners.iter().flatten().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn vtk_bytes(mesh: &sinew_mesh::TetMesh) -> Vec<u8> {
    let (n, n_nodes) = (mesh.tets().len(), mesh.positions().len());
    let mut bytes = b"# vtk DataFile Version 2.0\nbeam\nBINARY\nDATASET UNSTRUCTURED_GRID\n".to_vec();
    bytes.extend(format!("POINTS {n_nodes} double\n").bytes());
    mesh.positions().iter().flat_map(|x| x.to_array()).for_each(|x| bytes.extend(x.to_be_bytes()));
    bytes.extend(format!("\nCELLS {n} {}\n", 5 * n).bytes());
    mesh.tets().iter().for_each(|tet| [4].iter().chain(tet).for_each(|i| bytes.extend(i.to_be_bytes())));
    bytes.extend(format!("\nCELL_TYPES {n}\n").bytes());
    (0..n).for_each(|_| bytes.extend(10_i32.to_be_bytes()));
    bytes
}

fn states(seeds: &Seeds) -> Outcome {
    let scene = SceneDoc::from_ron(include_str!("../../scenes/state.ron"), "state.ron")?;
    let mut world = World::from_scene(&scene)?;
    for (name, steps) in [("start", 0), ("later", 30)] {
        (0..steps).for_each(|_| _ = world.step());
        seeds.write("state", &format!("{name}.bytes"), state_to_bytes(world.state()))?;
        seeds.write("state", &format!("{name}.text"), state_to_text(world.state()))?;
    }
    let scene = SceneDoc::from_ron(include_str!("../../scenes/recording.ron"), "recording.ron")?;
    let mut world = World::from_scene(&scene)?;
    let mut recording = Recording::new(&world, 2);
    (0..5).for_each(|_| _ = recording.step(&mut world));
    let mut bytes = Vec::new();
    ciborium::into_writer(&recording, &mut bytes)?;
    seeds.write("recording", "cbor", bytes)
}

fn settings(seeds: &Seeds) -> Outcome {
    let lines = [
        "dt=0.02",
        "bodies[0].mass=Total(2)",
        "bodies[\"crank\"].shapes[0]=Sphere(radius: 0.1)",
        "gravity=(0, 0, 1)",
        "stepper=Explicit(method: Rk2)",
        "joints[\"O\"].spring.stiffness=10",
        "flesh[0].material=NeoHookean(young: 1e4, poisson: 0.3)",
        "joints[0].limits=(min: -1, max: 1, stiffness: 100)",
        "changes=[(at_s: 0.1, friction: 0.5)]",
        "colliders[0].contact.friction=0.3",
    ];
    for (i, line) in lines.iter().enumerate() {
        seeds.write("set", &format!("line_{i}"), line)?;
    }
    seeds.write("set", "all", lines.join("\n"))
}

const GMSH_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 5 \"soft part\"\n$EndPhysicalNames\n$Entities\n1 0 0 1\n\
1 0 0 0 0\n7 0 0 0 1 1 1 1 5 0\n$EndEntities\n$Nodes\n2 5 2 40\n0 1 0 1\n2\n0.5 0.5 0.5\n3 7 0 4\n10\n20\n30\n40\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n\
$EndNodes\n$Elements\n2 2 1 2\n2 1 2 1\n1 10 20 30\n3 7 4 1\n2 10 30 20 40\n$EndElements\n";

const VTU: &str = "<?xml version=\"1.0\"?><VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt32\">\
<UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\
0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points><Cells><DataArray type=\"Int32\" Name=\"connectivity\">0 1 2 3</DataArray>\
<DataArray type=\"Int32\" Name=\"offsets\">4</DataArray><DataArray type=\"UInt8\" Name=\"types\">10</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>";

const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n\
property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
