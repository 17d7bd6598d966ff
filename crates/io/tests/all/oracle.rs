//! An imported model against numbers of another tool: masses, mass matrix, bias, accelerations.

use std::path::Path;

use glam::{DMat3, DQuat, DVec3};
use sinew_io::{Files, ImportOptions, Imported, import};
use sinew_math::{Pose, quat_to_mat3};
use sinew_recursive::{Dynamics, HybridCommand, Tree, TreeState};
use sinew_scene::{JointDoc, PriorityDoc, SceneDoc};
use sinew_sim::World;
use sinew_testkit::golden::{Value, list, number, numbers, vector};
use sinew_testkit::{Dense, worst_difference};

/// Of the largest entry.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// A file below the tests of this crate.
pub(crate) fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The models of a golden file.
pub(crate) fn golden(name: &str) -> Value {
    let text = std::fs::read_to_string(path("golden").join(name)).expect("a golden file");
    serde_json::from_str(&text).expect("JSON")
}

pub(crate) fn read(path: &Path, options: &ImportOptions) -> Imported {
    import(path, &Files::beside(path), options).unwrap_or_else(|error| panic!("{error}"))
}

/// The tree of a scene without what closes loops and without gears, ropes and contact.
pub(crate) fn tree_of(scene: &SceneDoc, is_loop: impl Fn(&JointDoc) -> bool) -> (World, Tree) {
    let mut scene = scene.clone();
    scene.joints.retain(|joint| !is_loop(joint) && joint.priority == PriorityDoc::Auto);
    scene.joints.iter_mut().for_each(|joint| joint.drive = None);
    scene.gears.clear();
    scene.ropes.clear();
    scene.springs.clear();
    scene.colliders.clear();
    scene.pairs.clear();
    let world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    let tree = Tree::from_model(world.mechanism()).unwrap_or_else(|error| panic!("{error}"));
    (world, tree)
}

/// A joint of the other tool: its numbers there, and its link here.
struct JointMap {
    kind: String,
    q: usize,
    v: usize,
    link: sinew_recursive::LinkId,
    doc: Option<JointDoc>,
}

/// The state of a tree, and the map from the rates of the other tool to ours.
struct OracleMap<'t> {
    tree: &'t Tree,
    joints: Vec<JointMap>,
    /// Whether the linear rates of free joints come first, in world axes; otherwise they are in the axes of the body.
    in_world: bool,
}

impl OracleMap<'_> {
    /// Our state; our rates are `rates_from` times theirs, and their time derivative has the products besides.
    fn state(&self, q: &[f64], v: &[f64]) -> (TreeState, Dense, Vec<f64>) {
        let Self { tree, joints, in_world } = self;
        let n = tree.n_dofs();
        let (mut state, mut rates_from, mut products) =
            (tree.neutral_state(), Dense::zeros(n, n), vec![0.0; n]);
        for joint in joints {
            let (at, dof) = (tree.coordinates(joint.link), tree.dofs(joint.link).start);
            let own = &q[joint.q..];
            let place = &mut state.coordinates[at];
            let mut add = |row: usize, column: usize, block: DMat3| {
                for i in 0..3 {
                    for j in 0..3 {
                        rates_from[(dof + row + i, joint.v + column + j)] = block.col(j)[i];
                    }
                }
            };
            match joint.kind.as_str() {
                "free" => {
                    let rotation = DQuat::from_xyzw(own[4], own[5], own[6], own[3]).normalize();
                    let world_from_body = Pose::new(rotation, DVec3::from_slice(own));
                    let body_from_link = tree.body_frame(joint.link).inverse();
                    let link = world_from_body.compose(&body_from_link);
                    let [x, y, z, w] = link.rotation.to_array();
                    place[..4].copy_from_slice(&[w, x, y, z]);
                    place[4..].copy_from_slice(&link.translation.to_array());
                    // The twist of the link: spins turned, and the velocity at the arm of the link.
                    let turn = quat_to_mat3(body_from_link.rotation).transpose();
                    let arm = body_from_link.translation;
                    let cross =
                        DMat3::from_cols(DVec3::X.cross(arm), DVec3::Y.cross(arm), DVec3::Z.cross(arm));
                    let to_body =
                        if *in_world { quat_to_mat3(rotation).transpose() } else { DMat3::IDENTITY };
                    add(0, 3, turn);
                    add(3, 3, turn * cross);
                    add(3, 0, turn * to_body);
                    if *in_world {
                        let (velocity, spin) =
                            (DVec3::from_slice(&v[joint.v..]), DVec3::from_slice(&v[joint.v + 3..]));
                        let product = turn * (to_body * velocity).cross(spin);
                        products[dof + 3..dof + 6].copy_from_slice(&product.to_array());
                    }
                }
                "ball" => {
                    place.copy_from_slice(&own[..4]);
                    add(0, 0, DMat3::IDENTITY);
                }
                _ => {
                    place[0] = own[0];
                    rates_from[(dof, joint.v)] = 1.0;
                }
            }
        }
        state.rates = rates_from.mul_vec(v);
        (state, rates_from, products)
    }

    /// Forces of springs and dampers of the scene's joints, along the rates of the other tool.
    fn passive(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut forces = vec![0.0; v.len()];
        for joint in &self.joints {
            let Some(doc) = &joint.doc else { continue };
            let spring = doc.spring.unwrap_or_default();
            let n = if joint.kind == "ball" { 3 } else { 1 };
            for k in 0..n {
                forces[joint.v + k] -= doc.damping * v[joint.v + k];
            }
            if joint.kind == "ball" {
                let [w, x, y, z] = [q[joint.q], q[joint.q + 1], q[joint.q + 2], q[joint.q + 3]];
                let turn = sinew_math::log_so3(DQuat::from_xyzw(x, y, z, w)) * spring.stiffness;
                (0..3).for_each(|k| forces[joint.v + k] -= turn[k]);
            } else if joint.kind != "free" {
                forces[joint.v] -= spring.stiffness * (q[joint.q] - spring.rest);
            }
        }
        forces
    }
}

fn assert_near((found, expected): (&[f64], &[f64]), tolerance: f64, what: &str) {
    let largest = expected.iter().fold(1e-6f64, |most, x| most.max(x.abs()));
    let difference = worst_difference(found, expected) / largest;
    assert!(difference <= tolerance, "{what}: {difference:e} of the largest entry");
}

/// Checks an imported scene against what another tool says of its file.
pub(crate) fn check(name: &str, scene: &SceneDoc, model: &Value, (in_world, tolerance): (bool, f64)) {
    let names: Vec<&str> =
        list(&model["joints"]).iter().map(|joint| joint["name"].as_str().expect("a name")).collect();
    let is_loop = |joint: &JointDoc| {
        !names.contains(&joint.name.as_str()) && joint.kind != sinew_scene::JointKind::Fixed
            || joint.name.contains("weld")
    };
    let (world, tree) = tree_of(scene, is_loop);
    let mechanism = world.mechanism();
    let joints: Vec<JointMap> = list(&model["joints"])
        .iter()
        .map(|joint| {
            let name = joint["name"].as_str().expect("a name");
            let (body, doc) = match world.joint(name) {
                Some(id) => (
                    mechanism.joint_bodies(id).0.expect("a child"),
                    scene.joints.iter().find(|doc| doc.name == name).cloned(),
                ),
                None => (world.body(joint["body"].as_str().expect("a body")).expect("a body"), None),
            };
            let index = |field: &str| number(&joint[field]) as usize;
            let link = tree.link(body).expect("a link");
            let kind = joint["kind"].as_str().expect("a kind").to_owned();
            JointMap { kind, q: index("q"), v: index("v"), link, doc }
        })
        .collect();
    let moving: f64 = tree.links().map(|link| tree.inertia(link).mass).sum();
    assert_near((&[moving], &[number(&model["mass"])]), tolerance, &format!("{name}: mass"));
    if let Some(bodies) = model["bodies"].as_object() {
        for (body, mass) in bodies.iter().filter(|(body, mass)| !body.is_empty() && number(mass) > 0.0) {
            let own = world.body(body).map(|id| mechanism.body_mass(id));
            assert_near(
                (&[own.unwrap_or(0.0)], &[number(mass)]),
                tolerance,
                &format!("{name}: mass of {body}"),
            );
        }
    }
    let map = OracleMap { tree: &tree, joints, in_world };
    for state in list(&model["states"]) {
        check_state(name, scene, (&map, tolerance), state);
    }
}

fn check_state(name: &str, scene: &SceneDoc, (map, tolerance): (&OracleMap<'_>, f64), golden: &Value) {
    let (tree, n) = (map.tree, map.tree.n_dofs());
    let (q, v) = (numbers(&golden["q"]), numbers(&golden["v"]));
    assert_eq!(n, v.len(), "{name}: rates");
    let (state, rates_from, products) = map.state(&q, &v);
    let transposed = rates_from.transpose();
    let mut dynamics = Dynamics::new(tree);
    dynamics.kinematics(tree, &state);

    let center = dynamics.centre_of_mass().to_array();
    assert_near(
        (&center, &vector(&golden["center"]).to_array()),
        tolerance,
        &format!("{name}: centre of mass"),
    );

    let (mut entries, mut bias) = (vec![0.0; n * n], vec![0.0; n]);
    dynamics.fill_mass_matrix(tree, &mut entries);
    let mass = Dense::from_rows(n, n, &entries);
    let mut seen = transposed.mul(&mass).mul(&rates_from);
    let mut armature = vec![0.0; n];
    for joint in &map.joints {
        let dofs = tree.dofs(joint.link);
        let rotor = joint.doc.as_ref().map_or(0.0, |doc| doc.armature);
        for k in 0..dofs.len().min(if joint.kind == "free" { 0 } else { 3 }) {
            seen[(joint.v + k, joint.v + k)] += rotor;
            armature[dofs.start + k] = rotor;
        }
    }
    let mut expected = vec![0.0; n * n];
    for (i, row) in list(&golden["mass_matrix"]).iter().enumerate() {
        for (j, entry) in numbers(row).into_iter().enumerate() {
            (expected[i * n + j], expected[j * n + i]) = (entry, entry);
        }
    }
    assert_near((seen.entries(), &expected), tolerance, &format!("{name}: mass matrix"));

    dynamics.fill_bias(tree, scene.gravity, &[], &mut bias);
    let drift = mass.mul_vec(&products);
    let total: Vec<f64> = bias.iter().zip(&drift).map(|(b, d)| b + d).collect();
    assert_near(
        (&transposed.mul_vec(&total), &numbers(&golden["bias"])),
        tolerance,
        &format!("{name}: bias"),
    );

    let passive = map.passive(&q, &v);
    assert_near((&passive, &numbers(&golden["passive"])), tolerance, &format!("{name}: springs and dampers"));

    let mut command = HybridCommand::passive(tree);
    command.values = transposed.solve(&passive).expect("regular");
    let report = dynamics.respond_resisted(tree, &command, &armature, scene.gravity, &[]);
    assert_eq!(report.singular, None, "{name}");
    let theirs: Vec<f64> = dynamics.accelerations().iter().zip(&products).map(|(a, p)| a - p).collect();
    let found = rates_from.solve(&theirs).expect("regular");
    assert_near((&found, &numbers(&golden["acceleration"])), tolerance, &format!("{name}: accelerations"));
}
