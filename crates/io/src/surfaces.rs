//! A frame of a motion as surfaces: Wavefront OBJ text. World axes, metres. Linear cost.

use std::fmt::Write as _;

use glam::DVec3;

use crate::clip::Clip;

/// A frame as OBJ text: an object for each body with shapes, for what the world is made of, and for each surface that deforms. None without this frame.
pub fn obj(clip: &Clip, frame: usize) -> Option<String> {
    let moment = clip.frames.get(frame)?;
    let mut out = ObjText::default();
    let _ = writeln!(out.text, "# {} at {} s", line(&clip.name), moment.time);
    let bodies = (0..clip.bodies.len()).map(Some).chain([None]);
    for body in bodies {
        let meshes = || clip.meshes.iter().filter(|mesh| mesh.body == body);
        if meshes().next().is_none() {
            continue;
        }
        out.begin(body.map_or("scenery", |body| &clip.bodies[body].name));
        let pose = body.and_then(|body| moment.poses.get(body));
        for mesh in meshes() {
            let place = |point: &DVec3| pose.map_or(*point, |pose| pose.transform_point(*point));
            out.push(mesh.positions.iter().map(place), &mesh.triangles);
        }
    }
    for (skin, points) in clip.skins.iter().zip(&moment.skins) {
        out.begin(if skin.name.is_empty() { "sheet" } else { &skin.name });
        out.push(points.iter().copied(), &skin.triangles);
    }
    Some(out.text)
}

/// A name without ends of lines.
fn line(name: &str) -> String {
    name.replace(char::is_control, " ")
}

#[derive(Default)]
struct ObjText {
    text: String,
    n_points: u32,
}

impl ObjText {
    fn begin(&mut self, name: &str) {
        let _ = writeln!(self.text, "o {}", line(name).split_whitespace().collect::<Vec<_>>().join("_"));
    }

    fn push(&mut self, points: impl Iterator<Item = DVec3>, triangles: &[[u32; 3]]) {
        let first = self.n_points + 1;
        for point in points {
            let _ = writeln!(self.text, "v {} {} {}", point.x as f32, point.y as f32, point.z as f32);
            self.n_points += 1;
        }
        for corners in triangles {
            let [a, b, c] = corners.map(|corner| first + corner);
            let _ = writeln!(self.text, "f {a} {b} {c}");
        }
    }
}
