//! GLB files keep the rules of glTF 2.0, and give back the motion.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DMat4, DQuat, DVec3};
use serde_json::Value;
use sinew_io::{Clip, Files, GlbOptions, ImportOptions, glb, read_gltf};
use sinew_scene::{SceneDoc, SceneSource};
use sinew_sim::World;

use crate::clips::moved;

/// A file, taken apart.
struct Glb {
    json: Value,
    data: Vec<u8>,
}

fn at(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a whole number")).expect("a place")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Glb {
    /// Checks the frame of the file (chapter 4 of the specification).
    fn read(bytes: &[u8]) -> Self {
        let word = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().expect("four bytes")) as usize;
        assert_eq!(&bytes[..4], b"glTF");
        assert_eq!((word(4), word(8)), (2, bytes.len()));
        let length = word(12);
        assert_eq!((&bytes[16..20], length % 4), (&b"JSON"[..], 0));
        let json = serde_json::from_slice(&bytes[20..20 + length]).expect("JSON");
        let second = 20 + length;
        assert_eq!((&bytes[second + 4..second + 8], word(second) % 4), (&b"BIN\0"[..], 0));
        assert_eq!(second + 8 + word(second), bytes.len());
        Self { json, data: bytes[second + 8..].to_vec() }
    }

    /// Numbers of an accessor, checked against its view, its range and the buffer.
    fn floats(&self, accessor: &Value) -> (Vec<f32>, usize) {
        let accessor = &self.json["accessors"][at(accessor)];
        let view = &self.json["bufferViews"][at(&accessor["bufferView"])];
        assert_eq!(accessor["componentType"], 5126);
        let width = match accessor["type"].as_str().expect("a type") {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => panic!("{other}"),
        };
        let (first, length) = (at(&view["byteOffset"]), at(&view["byteLength"]));
        assert!(first % 4 == 0 && first + length <= self.data.len());
        let n = at(&accessor["count"]);
        assert!(n > 0 && length == 4 * n * width, "{accessor} {view}");
        let bytes = self.data[first..first + length].chunks_exact(4);
        let numbers: Vec<f32> = bytes.map(|it| f32::from_le_bytes(it.try_into().expect("four"))).collect();
        assert!(numbers.iter().all(|x| x.is_finite()));
        for (name, pick) in [("min", f32::min as fn(f32, f32) -> f32), ("max", f32::max)] {
            for (k, bound) in list(&accessor[name]).iter().enumerate() {
                let part = numbers.iter().skip(k).step_by(width).copied();
                assert_eq!(part.reduce(pick).map(f64::from), bound.as_f64(), "{name} of {accessor}");
            }
        }
        (numbers, width)
    }

    fn vectors(&self, accessor: &Value) -> Vec<DVec3> {
        let (numbers, width) = self.floats(accessor);
        assert_eq!(width, 3);
        let bounds = &self.json["accessors"][at(accessor)]["min"];
        assert_eq!(list(bounds).len(), 3, "positions need bounds");
        numbers.chunks_exact(3).map(|it| DVec3::new(it[0].into(), it[1].into(), it[2].into())).collect()
    }

    fn joints(&self, accessor: &Value) -> Vec<[usize; 4]> {
        let accessor = &self.json["accessors"][at(accessor)];
        let view = &self.json["bufferViews"][at(&accessor["bufferView"])];
        assert_eq!(
            (&accessor["componentType"], &accessor["type"]),
            (&Value::from(5123), &Value::from("VEC4"))
        );
        let first = at(&view["byteOffset"]);
        let bytes = self.data[first..first + 8 * at(&accessor["count"])].chunks_exact(8);
        bytes.map(|it| [0, 2, 4, 6].map(|k| usize::from(u16::from_le_bytes([it[k], it[k + 1]])))).collect()
    }

    fn corners(&self, accessor: &Value) -> Vec<u32> {
        let accessor = &self.json["accessors"][at(accessor)];
        let view = &self.json["bufferViews"][at(&accessor["bufferView"])];
        assert_eq!((&accessor["componentType"], &view["target"]), (&Value::from(5125), &Value::from(34963)));
        let first = at(&view["byteOffset"]);
        let bytes = self.data[first..first + 4 * at(&accessor["count"])].chunks_exact(4);
        bytes.map(|it| u32::from_le_bytes(it.try_into().expect("four"))).collect()
    }

    /// Checks meshes: corners in range, whole triangles, unit normals, targets as long as the mesh.
    fn check_meshes(&self) {
        let n_materials = list(&self.json["materials"]).len();
        for mesh in list(&self.json["meshes"]) {
            for primitive in list(&mesh["primitives"]) {
                let points = self.vectors(&primitive["attributes"]["POSITION"]);
                let normals = self.vectors(&primitive["attributes"]["NORMAL"]);
                assert_eq!(points.len(), normals.len());
                assert!(normals.iter().all(|normal| (normal.length() - 1.0).abs() < 1e-5));
                let corners = self.corners(&primitive["indices"]);
                assert!(
                    corners.len().is_multiple_of(3) && corners.iter().all(|&i| (i as usize) < points.len())
                );
                assert!(at(&primitive["material"]) < n_materials);
                if let Some(weights) = primitive["attributes"].get("WEIGHTS_0") {
                    let (weights, width) = self.floats(weights);
                    assert_eq!((weights.len(), width), (4 * points.len(), 4));
                    let sums = weights.chunks_exact(4).map(|it| it.iter().sum::<f32>());
                    assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 5e-7));
                    assert_eq!(self.joints(&primitive["attributes"]["JOINTS_0"]).len(), points.len());
                }
                let targets = list(&primitive["targets"]);
                assert_eq!(targets.len(), list(&mesh["weights"]).len());
                for target in targets {
                    assert_eq!(self.vectors(&target["POSITION"]).len(), points.len());
                    assert_eq!(self.vectors(&target["NORMAL"]).len(), points.len());
                }
            }
        }
    }

    /// Checks nodes (a tree, each with one above) and channels (times increase from zero, numbers as many as times, unit rotations).
    fn check_nodes(&self) {
        let nodes = list(&self.json["nodes"]);
        let mut above = vec![0; nodes.len()];
        for node in nodes {
            list(&node["children"]).iter().for_each(|child| above[at(child)] += 1);
        }
        assert_eq!(above[0], 0);
        // A mesh that joints place is beside the root.
        let beside = list(&self.json["scenes"][0]["nodes"]);
        for (node, &n) in above.iter().enumerate().skip(1) {
            let is_bound = nodes[node].get("skin").is_some();
            assert_eq!(
                (n, beside.contains(&Value::from(node))),
                (usize::from(!is_bound), is_bound),
                "{above:?}"
            );
        }
        let mut seen = Vec::new();
        for channel in list(&self.json["animations"][0]["channels"]) {
            let sampler = &self.json["animations"][0]["samplers"][at(&channel["sampler"])];
            let (times, _) = self.floats(&sampler["input"]);
            assert!(times[0] == 0.0 && times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
            let input = &self.json["accessors"][at(&sampler["input"])];
            assert!(list(&input["min"]).len() == 1 && list(&input["max"]).len() == 1);
            let (numbers, width) = self.floats(&sampler["output"]);
            let target =
                (at(&channel["target"]["node"]), channel["target"]["path"].as_str().expect("a path"));
            assert!(!seen.contains(&target), "{target:?} twice");
            let each = match target.1 {
                "weights" => list(&self.json["meshes"][at(&nodes[target.0]["mesh"])]["weights"]).len(),
                "rotation" => {
                    assert!(
                        numbers.chunks(4).all(|q| (q.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5)
                    );
                    4
                }
                _ => 3,
            };
            assert_eq!(numbers.len(), each * times.len(), "{target:?}");
            assert!(width == each || target.1 == "weights");
            seen.push(target);
        }
    }

    /// Numbers of a channel at a time, between its key frames; turns by the shortest way.
    fn channel(&self, node: usize, path: &str, time: f32) -> Option<Vec<f64>> {
        let animation = &self.json["animations"][0];
        let is_it = |channel: &&Value| channel["target"]["node"] == node && channel["target"]["path"] == path;
        let channel = list(&animation["channels"]).iter().find(is_it)?;
        let sampler = &animation["samplers"][at(&channel["sampler"])];
        let (times, (numbers, _)) = (self.floats(&sampler["input"]).0, self.floats(&sampler["output"]));
        let n = numbers.len() / times.len();
        let b = times.partition_point(|at| *at < time).min(times.len() - 1);
        let a = if b > 0 && times[b] > time { b - 1 } else { b };
        let part = if b > a { f64::from((time - times[a]) / (times[b] - times[a])) } else { 0.0 };
        let key = |k: usize| numbers[n * k..n * (k + 1)].iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        if path == "rotation" {
            let quaternion = |q: Vec<f64>| DQuat::from_xyzw(q[0], q[1], q[2], q[3]);
            let (from, to) = (quaternion(key(a)), quaternion(key(b)));
            return Some(from.lerp(to, part).to_array().to_vec());
        }
        Some(key(a).into_iter().zip(key(b)).map(|(a, b)| a + (b - a) * part).collect())
    }

    /// Where a node is in the world of the file, and how it is turned.
    fn pose(&self, node: usize, time: f32) -> (DQuat, DVec3) {
        let nodes = list(&self.json["nodes"]);
        let numbers = |name: &str| {
            let own: Vec<f64> = list(&nodes[node][name]).iter().filter_map(Value::as_f64).collect();
            self.channel(node, name, time).or((!own.is_empty()).then_some(own))
        };
        let turn = numbers("rotation").map_or(DQuat::IDENTITY, |q| DQuat::from_xyzw(q[0], q[1], q[2], q[3]));
        let place = numbers("translation").map_or(DVec3::ZERO, |x| DVec3::new(x[0], x[1], x[2]));
        let parent = nodes.iter().position(|it| list(&it["children"]).contains(&Value::from(node)));
        let Some((above, from)) = parent.map(|parent| self.pose(parent, time)) else { return (turn, place) };
        ((above * turn).normalize(), from + above * place)
    }
}

#[test]
fn the_rules_hold_and_the_motion_comes_back() {
    let (_, clip) = moved(50);
    let bytes = glb(&clip, &GlbOptions { speed: 0.5, ..GlbOptions::default() }).expect("a file");
    let file = Glb::read(&bytes);
    file.check_meshes();
    file.check_nodes();
    let nodes = list(&file.json["nodes"]);
    let named = |name: &str| nodes.iter().position(|node| node["name"] == name).expect("a node");
    assert!(list(&nodes[named("rod")]["children"]).contains(&Value::from(named("fore arm"))), "a tree");
    for frame in [0, 7, 23, 49] {
        let time = (clip.frames[frame].time / 0.5) as f32;
        for (body, pose) in clip.bodies.iter().zip(&clip.frames[frame].poses) {
            let (turn, place) = file.pose(named(&body.name), time);
            // z is up in the scene, y in the file.
            let [x, y, z] = pose.translation.to_array();
            assert!(place.distance(DVec3::new(x, z, -y)) < 5e-4, "{}: {place} {x} {y} {z}", body.name);
            let tip = pose.rotation * DVec3::X;
            assert!((turn * DVec3::X).distance(DVec3::new(tip.x, tip.z, -tip.y)) < 1e-3, "{}", body.name);
        }
        let node = named("worm");
        let mesh = &file.json["meshes"][at(&nodes[node]["mesh"])];
        let mut points = file.vectors(&mesh["primitives"][0]["attributes"]["POSITION"]);
        let weights = file.channel(node, "weights", time).expect("weights");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        for (target, weight) in list(&mesh["primitives"][0]["targets"]).iter().zip(weights) {
            let moves = file.vectors(&target["POSITION"]);
            points.iter_mut().zip(moves).for_each(|(point, by)| *point += by * weight);
        }
        for (found, wanted) in points.iter().zip(&clip.frames[frame].skins[0]) {
            assert!(found.distance(*wanted) < 4e-3, "{frame}: {found} {wanted}");
        }
    }
}

#[test]
fn what_does_not_move_has_no_keys_and_what_is_too_large_is_refused() {
    let (_, mut clip) = moved(3);
    let keys = |clip: &sinew_io::Clip| {
        let file = Glb::read(&glb(clip, &GlbOptions::default()).expect("a file"));
        list(&file.json["animations"][0]["channels"]).len()
    };
    let moving = keys(&clip);
    for frame in 1..3 {
        clip.frames[frame].poses = clip.frames[0].poses.clone();
    }
    assert_eq!((moving > 4, keys(&clip)), (true, 1), "the weights of the flesh alone");
    let (_, clip) = moved(9);
    let options = GlbOptions { most_bytes: 50_000, ..GlbOptions::default() };
    let error = glb(&clip, &options).expect_err("a refusal").to_string();
    assert!(
        error.contains("`worm` has ") && error.contains(" key frames, ") && error.contains("--fps"),
        "{error}"
    );
}

/// Linear parts and places of `world_from_node` of joints times their bind matrices, by the rules of glTF.
fn skinned(file: &Glb, node: usize, time: f32) -> Vec<DVec3> {
    let nodes = list(&file.json["nodes"]);
    let skin = &file.json["skins"][at(&nodes[node]["skin"])];
    let primitive = &file.json["meshes"][at(&nodes[node]["mesh"])]["primitives"][0];
    let mut points = file.vectors(&primitive["attributes"]["POSITION"]);
    let weights = file.channel(node, "weights", time).expect("weights of targets");
    for (target, weight) in list(&primitive["targets"]).iter().zip(weights) {
        let moves = file.vectors(&target["POSITION"]);
        points.iter_mut().zip(moves).for_each(|(point, by)| *point += by * weight);
    }
    let inverse = file.floats(&skin["inverseBindMatrices"]).0;
    let placed = list(&skin["joints"]).iter().zip(inverse.chunks_exact(16)).map(|(joint, inverse)| {
        let (turn, place) = file.pose(at(joint), time);
        let inverse: Vec<f64> = inverse.iter().map(|x| f64::from(*x)).collect();
        DMat4::from_rotation_translation(turn, place) * DMat4::from_cols_slice(&inverse)
    });
    let placed: Vec<DMat4> = placed.collect();
    let joints = file.joints(&primitive["attributes"]["JOINTS_0"]);
    let shares = file.floats(&primitive["attributes"]["WEIGHTS_0"]).0;
    let posed = points.iter().zip(joints).zip(shares.chunks_exact(4));
    posed
        .map(|((point, joints), shares)| {
            let parts = joints.iter().zip(shares);
            parts.map(|(joint, share)| placed[*joint].transform_point3(*point) * f64::from(*share)).sum()
        })
        .collect()
}

#[test]
fn flesh_on_bones_is_a_skin_that_moves_as_the_flesh() {
    let (world, mut clip) = moved(50);
    let plain = glb(&clip, &GlbOptions::default()).expect("a file");
    clip.bind(&world);
    let bytes = glb(&clip, &GlbOptions::default()).expect("a file");
    assert!(bytes.len() < plain.len() + 100_000, "{} {}", bytes.len(), plain.len());
    let file = Glb::read(&bytes);
    file.check_meshes();
    file.check_nodes();
    let node = list(&file.json["nodes"]).iter().position(|node| node["name"] == "worm").expect("a node");
    for frame in [0, 7, 23, 49] {
        let points = skinned(&file, node, clip.frames[frame].time as f32);
        for (found, wanted) in points.iter().zip(&clip.frames[frame].skins[0]) {
            let [x, y, z] = wanted.to_array();
            assert!(found.distance(DVec3::new(x, z, -y)) < 5e-3, "{frame}: {found} {wanted}");
        }
    }
}

/// A rig that was written and read again: its bones, and the points of its skin.
#[test]
fn a_character_comes_back_with_its_skeleton_and_its_skin() {
    let text = r#"(format: 1, name: "worm", generators: [Character(name: "worm", kind: Worm)])"#;
    let scene = SceneDoc::from_ron(text, "worm.ron").expect("a scene");
    let world = World::from_scene(&scene).expect("a world");
    let mut clip = Clip::new("worm", &world);
    clip.bind(&world);
    clip.push(&world);
    let bytes = glb(&clip, &GlbOptions::default()).expect("a file");
    let files = Files::in_memory(BTreeMap::new());
    let back = read_gltf(&bytes, "worm.glb", &files, &ImportOptions::default());
    let back = back.unwrap_or_else(|error| panic!("{error}"));
    let names = |it: &SceneDoc| it.bodies.iter().map(|body| body.name.clone()).collect::<BTreeSet<_>>();
    assert_eq!(names(&back.scene), names(&scene.expanded()), "{}", back.report);
    for (body, pose) in clip.bodies.iter().zip(&clip.frames[0].poses) {
        let found = back.scene.bodies.iter().find(|it| it.name == body.name).expect("a body").pose.to_pose();
        let off = pose.inverse().compose(&found);
        assert!(
            off.translation.length() < 1e-6 && off.rotation.xyz().length() < 1e-6,
            "{}: {off:?}",
            body.name
        );
    }
    let pairs = |it: &SceneDoc| {
        let joints = it.joints.iter().filter_map(|joint| Some([joint.child.clone(), joint.parent.clone()?]));
        let sorted = joints.map(|mut pair| {
            pair.sort();
            pair
        });
        sorted.collect::<BTreeSet<_>>()
    };
    assert_eq!(pairs(&back.scene), pairs(&scene.expanded()));
    assert_eq!(back.report.used["vertices"], clip.skins[0].rest.len());
    assert_eq!(back.report.used["triangles"], clip.skins[0].triangles.len());
    // And once more: the flesh that is made of the skin has the surface that was written.
    let mut options = ImportOptions::default();
    options.rig.flesh = true;
    let fleshy = read_gltf(&bytes, "worm.glb", &files, &options).unwrap_or_else(|error| panic!("{error}"));
    let source = SceneSource::new(fleshy.scene.to_ron(), "scene.ron").with_files(fleshy.scene.files.clone());
    let world = World::from_scene(&source.parse().expect("a scene")).expect("a world");
    let surface = &Clip::new("again", &world).skins[0];
    assert_eq!(surface.triangles.len(), clip.skins[0].triangles.len());
    for point in &clip.frames[0].skins[0] {
        let near = surface.rest.iter().map(|other| other.distance(*point)).fold(f64::INFINITY, f64::min);
        assert!(near < 1e-5, "{point} is {near:e} m away");
    }
}
