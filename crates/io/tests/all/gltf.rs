//! Rigs and meshes in glTF: what comes back, what runs, what is refused.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};
use serde_json::json;
use sinew_io::{Clip, Files, ImportError, ImportOptions, Imported, Outcome, read_gltf};
use sinew_math::{Pose, exp_so3, log_so3};
use sinew_scene::{BodyKindDoc, CurveDoc, JointFramesDoc, SceneDoc};
use sinew_sim::World;
use sinew_testkit::{Rng, assert_close, soak_scale};

use crate::glb::{Glb, JOINTS, RADIUS, STEP, base64, bend, worm, worm_of};

fn nothing() -> Files {
    Files::in_memory(BTreeMap::new())
}

fn options(flesh: bool) -> ImportOptions {
    let mut options = ImportOptions::default();
    options.rig.flesh = flesh;
    options
}

fn read(glb: &Glb, flesh: bool) -> Result<Imported, ImportError> {
    read_gltf(&glb.bytes(), "worm.glb", &nothing(), &options(flesh))
}

fn upright(v: DVec3) -> DVec3 {
    DVec3::new(v.x, -v.z, v.y)
}

fn found(read: &Imported, outcome: Outcome, what: &str) -> bool {
    read.report.of(outcome).any(|finding| finding.what.contains(what))
}

#[test]
fn joints_are_where_they_were_bound() {
    let scene = read(&worm(true, false), false).expect("a rig").scene;
    assert_eq!(scene.bodies.len(), JOINTS);
    for (k, body) in scene.bodies.iter().enumerate() {
        assert_eq!(body.name, format!("bone_{k}"));
        assert_close!(body.pose.to_pose().translation, DVec3::Z * STEP * k as f64, 1e-6);
    }
    assert_eq!(scene.joints.len(), JOINTS - 1);
}

#[test]
fn skins_become_flesh_vertex_by_vertex() {
    let glb = worm(true, false);
    let read = read(&glb, true).expect("a rig");
    assert!(found(&read, Outcome::Repaired, "17 vertices at the places of others"), "{}", read.report);
    let world = World::from_scene(&read.scene).expect("a world");
    let mut clip = Clip::new("worm", &world);
    clip.push(&world);
    let points = &clip.frames[0].skins[0];
    // Positions are the first data of the file.
    let n = 17 * 13 + 2;
    let number = |at: usize| {
        f64::from(f32::from_le_bytes(glb.bin[4 * at..4 * at + 4].try_into().expect("four bytes")))
    };
    assert_eq!(points.len(), n - 17);
    for vertex in 0..n {
        let x = upright(DVec3::new(number(3 * vertex), number(3 * vertex + 1), number(3 * vertex + 2)));
        let nearest = points.iter().map(|point| point.distance(x)).fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-9, "vertex {vertex} is {nearest} m away");
    }
    let held: usize = read.scene.flesh[0].attach.len();
    assert_eq!(held, JOINTS, "every bone holds flesh");
}

#[test]
fn fleshy_rigs_run_with_good_health() {
    for animated in [false, true] {
        let read = read(&worm(true, animated), true).expect("a rig");
        let mut world = World::from_scene(&read.scene).expect("a world");
        for _ in 0..120 {
            let report = world.step();
            assert!(report.health.is_good(), "{:?}", report.health);
        }
        assert!(world.violation().position < 1e-4, "{:?}", world.violation());
        let mut clip = Clip::new("worm", &world);
        clip.push(&world);
        // Flesh stays around its bones: no vertex is far from all of them.
        let bones: Vec<Pose> =
            (0..JOINTS).map(|k| world.pose(world.body(&format!("bone_{k}")).expect("a bone"))).collect();
        for &x in &clip.frames[0].skins[0] {
            let along = |pose: &Pose| {
                let local = pose.inverse().transform_point(x);
                // Bones are along their y, as in the file.
                local.distance(DVec3::Y * local.y.clamp(0.0, STEP))
            };
            let nearest = bones.iter().map(along).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1.6 * RADIUS, "a vertex is {nearest} m from all bones");
        }
    }
}

/// The rotation that the motors of a joint go to at a time.
fn target(scene: &SceneDoc, bone: &str, time: f64) -> DQuat {
    let joint = scene.joints.iter().find(|joint| joint.name == bone).expect("a joint");
    let JointFramesDoc::Local(frames) = &joint.frames else { panic!("local frames") };
    let half_tangent = |axis: &str| {
        let track =
            scene.tracks.iter().find(|track| track.name == format!("{bone}_{axis}")).expect("a track");
        let CurveDoc::Scalars(samples) = &track.curve else { panic!("scalars") };
        let nearest = samples.iter().min_by(|a, b| (a.0 - time).abs().total_cmp(&(b.0 - time).abs()));
        let (at, angle) = nearest.copied().expect("a sample");
        assert_close!(at, time, 1e-6);
        let (sin, cos) = sinew_math::ops::sin_cos(0.5 * angle);
        sin / cos
    };
    let [x, y, z] = ["x", "y", "z"].map(half_tangent);
    let middle = frames.parent.to_pose().rotation * frames.child.to_pose().rotation.conjugate();
    middle * DQuat::from_xyzw(x, y, z, 1.0).normalize()
}

#[test]
fn animations_come_back_from_tracks() {
    let read = read(&worm(true, true), false).expect("a rig");
    assert!(found(&read, Outcome::Ignored, "--animation \"other\" plays it"), "{}", read.report);
    for key in 0..4 {
        for bone in ["bone_1", "bone_2"] {
            // The first frame is where the rig begins from rest.
            let time = if key == 0 { 0.4 } else { 0.5 + 0.5 * key as f64 };
            let turn = target(&read.scene, bone, time);
            // About z of the file in the frame of the bone, which is as in the file.
            let expected = exp_so3(DVec3::Z * bend(key));
            let off = log_so3(expected.conjugate() * turn).length();
            assert!(off < 1e-6, "{bone} at key {key}: {off} rad");
        }
    }
    assert_eq!(read.scene.bodies[0].kind, BodyKindDoc::Kinematic);
}

#[test]
fn bones_follow_an_animation() {
    let scene = read(&worm(true, true), false).expect("a rig").scene;
    let mut world = World::from_scene(&scene).expect("a world");
    let mut most = 0.0_f64;
    for step in 1..=120 {
        assert!(world.step().health.is_good());
        let time = step as f64 / 60.0 - 0.5;
        if !(0.1..=1.5).contains(&time) {
            continue;
        }
        let key = ((time / 0.5) as usize).min(2);
        let angle = bend(key) + (time / 0.5 - key as f64) * (bend(key + 1) - bend(key));
        let [upper, lower] =
            ["bone_2", "bone_1"].map(|bone| world.pose(world.body(bone).expect("a bone")).rotation);
        most = most.max(log_so3(lower.conjugate() * upper * exp_so3(DVec3::Z * -angle)).length());
    }
    assert!(most < 0.12, "{most} rad off");
}

#[test]
fn data_uris_and_files_say_the_same_as_glb() {
    let glb = worm(true, true);
    let as_glb = read(&glb, false).expect("a rig");
    let uri = format!("data:application/octet-stream;base64,{}", base64(&glb.bin));
    let inside = read_gltf(&glb.with_uri(&uri), "worm.gltf", &nothing(), &options(false)).expect("a rig");
    assert_eq!(as_glb.scene, inside.scene);
    let files = Files::in_memory(BTreeMap::from([("a b.bin".to_owned(), glb.bin.clone())]));
    let beside = read_gltf(&glb.with_uri("a%20b.bin"), "worm.gltf", &files, &options(false)).expect("a rig");
    assert_eq!(as_glb.scene, beside.scene);
    let error =
        read_gltf(&glb.with_uri("http://x/y"), "worm.gltf", &Files::beside("/".as_ref()), &options(false));
    let error = error.expect_err("nothing is fetched").to_string();
    assert!(error.contains("buffer 0") && error.contains("nothing is fetched"), "{error}");
}

#[test]
fn strides_normalized_weights_and_sparse_positions_are_read() {
    let mut glb = worm(true, false);
    let mut options = options(true);
    // Thickness depends on weights, a little.
    options.rig.cells = Some(9);
    let read = |glb: &Glb| read_gltf(&glb.bytes(), "worm.glb", &nothing(), &options).expect("a rig").scene;
    let plain = read(&glb);
    // Weights as bytes, positions with a stride of 16 bytes, one of them wrong but for a sparse replacement.
    let n = 17 * 13 + 2;
    let float =
        |glb: &Glb, at: usize| f32::from_le_bytes(glb.bin[at..at + 4].try_into().expect("four bytes"));
    let mut strided: Vec<u8> =
        (0..n).flat_map(|k| [&glb.bin[12 * k..12 * k + 12], &[9_u8; 4]].concat()).collect();
    let sixth: Vec<u8> = strided[5 * 16..5 * 16 + 12].to_vec();
    strided[5 * 16..5 * 16 + 4].copy_from_slice(&7.0_f32.to_le_bytes());
    let position = glb.accessor("VEC3", 5126, n, &strided);
    let index = glb.accessor("SCALAR", 5121, 1, &[5]);
    let value = glb.accessor("VEC3", 5126, 1, &sixth);
    let [view, places, values] =
        [position, index, value].map(|accessor| glb.json["accessors"][accessor]["bufferView"].clone());
    glb.json["bufferViews"][view.as_u64().expect("a view") as usize]["byteStride"] = json!(16);
    glb.json["accessors"][position]["sparse"] = json!({
        "count": 1,
        "indices": {"bufferView": places, "componentType": 5121},
        "values": {"bufferView": values},
    });
    let weights = glb.json["accessors"][2]["bufferView"].as_u64().expect("a view") as usize;
    let offset = glb.json["bufferViews"][weights]["byteOffset"].as_u64().expect("an offset") as usize;
    let bytes: Vec<u8> = (0..4 * n).map(|k| (255.0 * float(&glb, offset + 4 * k)).round() as u8).collect();
    let weight = glb.accessor("VEC4", 5121, n, &bytes);
    glb.json["accessors"][weight]["normalized"] = json!(true);
    let attributes = &mut glb.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["POSITION"] = json!(position);
    attributes["WEIGHTS_0"] = json!(weight);
    let other = read(&glb);
    assert!(plain.files == other.files, "the same flesh");
    for (one, two) in plain.bodies.iter().zip(&other.bodies) {
        assert_close!(one.mass_properties().mass, two.mass_properties().mass, 0.02);
    }
}

#[test]
fn open_ends_are_closed_and_crossings_wrapped() {
    let open = read(&worm(false, false), true).expect("a rig");
    assert!(found(&open, Outcome::Repaired, "2 holes are filled"), "{}", open.report);
    let crossing = read(&worm_of(&[[0.0; 3], [0.05, 0.03, 0.0]], true, false), true).expect("a rig");
    assert!(found(&crossing, Outcome::Approximated, "wrapped around it"), "{}", crossing.report);
    let mut world = World::from_scene(&crossing.scene).expect("a world");
    for _ in 0..30 {
        assert!(world.step().health.is_good());
    }
}

#[test]
fn sheets_hold_no_flesh_and_the_error_says_what_to_do() {
    let mut glb = worm(true, false);
    let corners = glb.corners(&[0, 13, 1]);
    glb.json["meshes"][0]["primitives"][0]["indices"] = json!(corners);
    let error = read(&glb, true).expect_err("a sheet").to_string();
    assert!(error.starts_with("worm.glb: skin 0 `worm`: the skin cannot hold flesh"), "{error}");
    assert!(error.contains("Remesh"), "{error}");
}

#[test]
fn joints_without_a_tree_are_joined_by_their_skin() {
    let mut glb = worm(true, false);
    for k in 0..JOINTS {
        glb.json["nodes"][k]["translation"] = json!([0, STEP * k as f64, 0]);
        glb.json["nodes"][k].as_object_mut().expect("a node").remove("children");
    }
    let scene = read(&glb, false).expect("a rig").scene;
    assert_eq!(scene.joints.len(), JOINTS - 1);
    for joint in &scene.joints {
        let number = |name: &str| name.trim_start_matches("bone_").parse::<i32>().expect("a number");
        let parent = joint.parent.as_deref().expect("a parent");
        assert_eq!((number(&joint.child) - number(parent)).abs(), 1, "{} on {parent}", joint.child);
    }
}

#[test]
fn meshes_without_a_skin_are_bodies() {
    let mut glb = worm(true, false);
    glb.json["nodes"] = json!([
        {"name": "stone", "mesh": 0, "translation": [0, 1, 0], "scale": [2, 1, 1]},
        {"name": "pillar", "mesh": 0, "translation": [3, 0, 0], "extras": {"mass": 0}},
        {"name": "post", "mesh": 0, "translation": [-3, 1, 0], "extras": {"mass": 7}},
        {"name": "eye"},
    ]);
    let read = read(&glb, false).expect("bodies");
    let kinds: Vec<_> = read.scene.bodies.iter().map(|body| body.kind).collect();
    assert_eq!(kinds, [BodyKindDoc::Dynamic, BodyKindDoc::Fixed, BodyKindDoc::Dynamic]);
    assert_close!(read.scene.bodies[2].mass_properties().mass, 7.0, 1e-9);
    // A prism of twelve sides, twice as wide along x.
    let area = 6.0 * RADIUS * RADIUS;
    let (sin, _) = sinew_math::ops::sin_cos(std::f64::consts::TAU / 12.0);
    let expected = 1000.0 * 2.0 * area * sin * STEP * JOINTS as f64;
    assert_close!(read.scene.bodies[0].mass_properties().mass, expected, 1e-4 * expected);
    assert!(found(&read, Outcome::Ignored, "it has no mesh and is no joint"), "{}", read.report);
    let mut world = World::from_scene(&read.scene).expect("a world");
    for _ in 0..60 {
        assert!(world.step().health.is_good());
    }
}

#[test]
fn what_has_no_effect_is_listed_with_its_place() {
    let mut glb = worm(true, false);
    glb.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(0);
    glb.push("meshes", json!({"name": "spare", "primitives": []}));
    glb.push("nodes", json!({"name": "eye"}));
    glb.push("nodes", json!({"name": "hat", "mesh": 0}));
    glb.json["materials"] = json!([{"name": "skin"}]);
    let read = read(&glb, false).expect("a rig");
    let lines: Vec<String> = read
        .report
        .of(Outcome::Ignored)
        .map(|finding| format!("{}: {}", finding.place, finding.what))
        .collect();
    for wanted in [
        "node 6 `hat`: this mesh is not bound to the joints of the character",
        "node 5 `eye`: it has no mesh and is no joint",
        "mesh 0: of its vertices NORMAL are not used",
        "mesh 1 `spare`: no node has this mesh",
        "material 0 `skin`: materials are not used",
    ] {
        assert!(lines.iter().any(|line| line.contains(wanted)), "{lines:?}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let refused = |change: &dyn Fn(&mut Glb), wanted: &str| {
        let mut glb = worm(true, true);
        change(&mut glb);
        let error = read(&glb, false).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    };
    refused(
        &|glb| glb.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]),
        "KHR_draco_mesh_compression",
    );
    refused(&|glb| glb.json["asset"]["version"] = json!("1.0"), "export it as glTF 2.0");
    refused(&|glb| glb.json["nodes"][3]["children"] = json!([0]), "go round");
    refused(&|glb| glb.json["accessors"][0]["count"] = json!(1_000_000_000), "accessor 0");
    refused(&|glb| glb.json["bufferViews"][0]["byteOffset"] = json!(u64::MAX), "bufferView 0");
    refused(&|glb| glb.json["skins"][0]["joints"] = json!([0, 1]), "joint that is not there");
    refused(&|glb| glb.json["nodes"][1]["rotation"] = json!([0, 0, 0, 0]), "node 1 `bone_1`");
    let bytes = worm(true, false).bytes();
    let error = read_gltf(&bytes[..bytes.len() / 2], "worm.glb", &nothing(), &options(false));
    assert!(error.expect_err("cut off").to_string().contains("cut off"));
}

#[test]
fn damaged_files_are_refused_or_read_but_never_panic() {
    let bytes = worm(true, true).bytes();
    let mut rng = Rng::new(7);
    let (mut good, n) = (0, 2000 * soak_scale());
    for _ in 0..n {
        let mut damaged = bytes.clone();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(damaged.len());
            match rng.below(4) {
                0 => damaged[at] ^= 1 << rng.below(8),
                1 => damaged[at] = b"0123456789,:[]{}\"-e."[rng.below(20)],
                2 => damaged[at] = 0xFF,
                _ => damaged.truncate(at.max(1)),
            }
        }
        good += usize::from(read_gltf(&damaged, "worm.glb", &nothing(), &options(false)).is_ok());
    }
    assert!(good > 0 && good < n, "{good} of {n}");
    let json = 20 + u32::from_le_bytes(bytes[12..16].try_into().expect("four bytes")) as usize;
    for _ in 0..60 * soak_scale() {
        let mut damaged = bytes.clone();
        for _ in 0..4 {
            let at = json + 8 + rng.below(damaged.len() - json - 8);
            damaged[at] ^= 1 << rng.below(8);
        }
        let _ = read_gltf(&damaged, "worm.glb", &nothing(), &options(true));
    }
}

/// Nothing of the rig, and of its goals, goes beyond the pose of the skin and the first frame on the way between them.
#[test]
fn the_way_into_an_animation_does_not_swing_back() {
    let mut glb = worm(true, true);
    // The root flies away from the beginning on: 4 m/s.
    let input = glb.floats("SCALAR", &[0.0, 1.0]);
    let output = glb.floats("VEC3", &[1.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
    glb.json["animations"][0] = json!({
        "samplers": [{"input": input, "output": output}],
        "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}],
    });
    let scene = read(&glb, false).expect("a rig").scene;
    let guide = scene.tracks.iter().find(|track| track.name == "bone_0_guide").expect("a track");
    let guide = sinew_scene::Track::new(guide);
    let start = scene.bodies[0].pose.to_pose().translation;
    assert_eq!(guide.sample(0.0).position, start);
    let mut last = guide.sample(0.0);
    for i in 1..1400 {
        let now = guide.sample(f64::from(i) * 1e-3);
        let way = now.position.x - last.position.x;
        assert!(way > -1e-5, "back by {way} m at {i} ms");
        assert!(
            (now.velocity - last.velocity).length() < 0.1,
            "{} to {} at {i} ms",
            last.velocity,
            now.velocity
        );
        last = now;
    }
    // From a tenth of a second on, it is where the animation is.
    for time in [0.15, 0.5, 0.9] {
        assert_close!(guide.sample(0.5 + time).position.x, 1.0 + 4.0 * time, 2e-3);
    }
}
