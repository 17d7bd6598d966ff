//! GLB files made by tests: a tube along y around a row of joints, with a seam, an animation, and variants.

use serde_json::{Value, json};

/// Joints of the tube, one every [`STEP`] from the ground up.
pub(crate) const JOINTS: usize = 4;
/// Distance of joints (m).
pub(crate) const STEP: f64 = 0.2;
/// Radius of the tube (m).
pub(crate) const RADIUS: f64 = 0.08;
/// Vertices around; one more closes the seam.
const AROUND: usize = 12;
const RINGS: usize = 17;

/// Binary data and the JSON around it.
pub(crate) struct Glb {
    pub(crate) json: Value,
    pub(crate) bin: Vec<u8>,
}

impl Glb {
    /// A file without anything.
    pub(crate) fn empty() -> Self {
        let lists = ["buffers", "bufferViews", "accessors", "nodes", "meshes", "skins", "animations"];
        let mut json = json!({"asset": {"version": "2.0"}});
        for list in lists {
            json[list] = json!([]);
        }
        Self { json, bin: Vec::new() }
    }

    /// Appends an entry to a list and returns its number.
    pub(crate) fn push(&mut self, list: &str, entry: Value) -> usize {
        let list = self.json[list].as_array_mut().expect("a list");
        list.push(entry);
        list.len() - 1
    }

    /// Appends data as an accessor; `component` is the type's number.
    pub(crate) fn accessor(&mut self, kind: &str, component: u32, count: usize, data: &[u8]) -> usize {
        while !self.bin.len().is_multiple_of(4) {
            self.bin.push(0);
        }
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": data.len()});
        self.bin.extend(data);
        let view = self.push("bufferViews", view);
        self.push(
            "accessors",
            json!({"bufferView": view, "componentType": component, "count": count, "type": kind}),
        )
    }

    pub(crate) fn floats(&mut self, kind: &str, numbers: &[f64]) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let data: Vec<u8> = numbers.iter().flat_map(|&number| (number as f32).to_le_bytes()).collect();
        self.accessor(kind, 5126, numbers.len() / width, &data)
    }

    pub(crate) fn corners(&mut self, corners: &[u32]) -> usize {
        let data: Vec<u8> = corners.iter().flat_map(|&corner| (corner as u16).to_le_bytes()).collect();
        self.accessor("SCALAR", 5123, corners.len(), &data)
    }

    fn finished(&self) -> Value {
        let mut json = self.json.clone();
        json["buffers"] = json!([{"byteLength": self.bin.len()}]);
        json
    }

    /// The file as GLB.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = self.finished().to_string().into_bytes();
        while !text.len().is_multiple_of(4) {
            text.push(b' ');
        }
        let total = 12 + 8 + text.len() + 8 + self.bin.len();
        let mut out = b"glTF".to_vec();
        for word in [2, total as u32, text.len() as u32, 0x4E4F_534A] {
            out.extend(word.to_le_bytes());
        }
        out.extend(&text);
        out.extend((self.bin.len() as u32).to_le_bytes());
        out.extend(0x004E_4942_u32.to_le_bytes());
        out.extend(&self.bin);
        out
    }

    /// The file as JSON that names its buffer.
    pub(crate) fn with_uri(&self, uri: &str) -> Vec<u8> {
        let mut json = self.finished();
        json["buffers"][0]["uri"] = json!(uri);
        json.to_string().into_bytes()
    }
}

/// Base64 by the definition: six bits a letter.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let letters = (bytes.len() * 8).div_ceil(6);
    let letter =
        |n: usize| char::from(LETTERS[(0..6).fold(0, |value, k| value * 2 + bit(6 * n + k)) as usize]);
    let mut text: String = (0..letters).map(letter).collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Triangles of a tube whose ends are closed if `closed`; positions as (radius, height, turn).
fn tube(offset: [f64; 3], closed: bool) -> (Vec<[f64; 3]>, Vec<u32>) {
    let (mut positions, mut corners) = (Vec::new(), Vec::new());
    let height = JOINTS as f64 * STEP;
    for ring in 0..RINGS {
        for k in 0..=AROUND {
            // The last vertex is at the place of the first one, to the bit.
            let (sin, cos) =
                sinew_math::ops::sin_cos((k % AROUND) as f64 * std::f64::consts::TAU / AROUND as f64);
            let y = height * ring as f64 / (RINGS - 1) as f64;
            positions.push([offset[0] + RADIUS * cos, offset[1] + y, offset[2] + RADIUS * sin]);
        }
    }
    let at = |ring: usize, k: usize| (ring * (AROUND + 1) + k) as u32;
    for ring in 0..RINGS - 1 {
        for k in 0..AROUND {
            let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1)];
            corners.extend([a, c, b, b, c, d]);
        }
    }
    if closed {
        for (ring, out) in [(0, false), (RINGS - 1, true)] {
            let middle = positions.len() as u32;
            let y = height * ring as f64 / (RINGS - 1) as f64;
            positions.push([offset[0], offset[1] + y, offset[2]]);
            for k in 0..AROUND {
                let (a, b) = (at(ring, k), at(ring, k + 1));
                corners.extend(if out { [a, middle, b] } else { [a, b, middle] });
            }
        }
    }
    (positions, corners)
}

/// The angle of the second and third joint about z at a key of the animation (rad).
pub(crate) fn bend(key: usize) -> f64 {
    [0.0, 0.5, -0.3, 0.2][key]
}

/// A tube with its joints, bound as it stands, with an animation of 1.5 s that bends two joints.
pub(crate) fn worm(closed: bool, animated: bool) -> Glb {
    worm_of(&[[0.0; 3]], closed, animated)
}

/// The same with several tubes, which may cross.
pub(crate) fn worm_of(tubes: &[[f64; 3]], closed: bool, animated: bool) -> Glb {
    let mut glb = Glb::empty();
    let (mut positions, mut corners) = (Vec::new(), Vec::new());
    for &offset in tubes {
        let (more, triangles) = tube(offset, closed);
        let first = positions.len() as u32;
        positions.extend(more);
        corners.extend(triangles.into_iter().map(|corner| corner + first));
    }
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for [_, y, _] in &positions {
        // From joint to joint in the middle half of each piece.
        let along = (y / STEP - 0.5).clamp(0.0, (JOINTS - 1) as f64);
        let lower = (along.floor() as usize).min(JOINTS - 2);
        let share = along - lower as f64;
        joints.extend([lower as u8, lower as u8 + 1, 0, 0]);
        weights.extend([1.0 - share, share, 0.0, 0.0]);
    }
    let flat: Vec<f64> = positions.iter().flatten().copied().collect();
    let n = positions.len();
    let position = glb.floats("VEC3", &flat);
    let joint = glb.accessor("VEC4", 5121, n, &joints);
    let weight = glb.floats("VEC4", &weights);
    let index = glb.corners(&corners);
    let attributes = json!({"POSITION": position, "JOINTS_0": joint, "WEIGHTS_0": weight});
    let mesh = glb.push("meshes", json!({"primitives": [{"attributes": attributes, "indices": index}]}));
    let mut inverse = Vec::new();
    for k in 0..JOINTS {
        let mut node =
            json!({"name": format!("bone_{k}"), "translation": [0, if k > 0 { STEP } else { 0.0 }, 0]});
        if k + 1 < JOINTS {
            node["children"] = json!([k + 1]);
        }
        glb.push("nodes", node);
        let y = -STEP * k as f64;
        inverse.extend([1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., y, 0., 1.]);
    }
    let inverse = glb.floats("MAT4", &inverse);
    let list: Vec<usize> = (0..JOINTS).collect();
    let skin = glb.push("skins", json!({"name": "worm", "joints": list, "inverseBindMatrices": inverse}));
    glb.push("nodes", json!({"name": "body", "mesh": mesh, "skin": skin}));
    if animated {
        let times = glb.floats("SCALAR", &[0.0, 0.5, 1.0, 1.5]);
        let turn = |key: usize| {
            let (sin, cos) = sinew_math::ops::sin_cos(0.5 * bend(key));
            [0.0, 0.0, sin, cos]
        };
        let turns: Vec<f64> = (0..4).flat_map(turn).collect();
        let turns = glb.floats("VEC4", &turns);
        let channel = |node: usize| json!({"sampler": 0, "target": {"node": node, "path": "rotation"}});
        let sampler = json!({"input": times, "output": turns});
        let bends = json!({"name": "bend", "samplers": [sampler], "channels": [channel(1), channel(2)]});
        glb.push("animations", bends);
        glb.push("animations", json!({"name": "other", "samplers": [], "channels": []}));
    }
    glb
}
