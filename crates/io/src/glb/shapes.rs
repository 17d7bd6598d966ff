//! Meshes and materials of a GLB file. Equal lists and equal meshes are stored once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use glam::{DVec3, Vec3};
use sinew_math::ops;

use super::accessors::{Accessors, Use};
use super::binding::SkinBinding;
use crate::clip::{Clip, ClipMesh, ClipSkin};
use crate::extent::MotionExtent;
use crate::json::{JsonFields, list, numbers};

/// Size of the drawn part of a plane, in sizes of the motion.
const PLANE: f64 = 4.0;
const STONE: DVec3 = DVec3::new(0.62, 0.64, 0.68);

/// Meshes and materials.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    meshes: Vec<String>,
    known_meshes: BTreeMap<String, usize>,
    materials: Vec<String>,
    known_materials: BTreeMap<String, usize>,
    /// Attributes and corners of geometries by their numbers.
    geometries: BTreeMap<Vec<u32>, String>,
}

impl Shapes {
    /// The mesh of all solids of a body, or of the world; none without solids.
    pub(super) fn of_body(
        &mut self,
        clip: &Clip,
        body: Option<usize>,
        data: &mut Accessors,
    ) -> Option<usize> {
        let meshes = clip.meshes.iter().filter(|mesh| mesh.body == body && !mesh.triangles.is_empty());
        let primitives: Vec<String> = meshes.map(|mesh| self.primitive(mesh, data)).collect();
        (!primitives.is_empty()).then(|| self.mesh(format!("{{\"primitives\":{}}}", list(primitives))))
    }

    /// A square piece of a plane.
    pub(super) fn plane(
        &mut self,
        (at, up): (DVec3, DVec3),
        extent: &MotionExtent,
        data: &mut Accessors,
    ) -> usize {
        let middle = extent.focus - up * (extent.focus - at).dot(up);
        let (x, y) = up.any_orthonormal_pair();
        let corner = |a: f64, b: f64| middle + (x * a + y * b) * (PLANE * extent.reach);
        let mesh = ClipMesh {
            positions: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
            normals: vec![up; 4],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            color: STONE,
            ..ClipMesh::default()
        };
        let primitive = self.primitive(&mesh, data);
        self.mesh(format!("{{\"primitives\":[{primitive}]}}"))
    }

    /// A surface that deforms: as it is in the first frame, with a target for each key frame. `frames` are its points before joints move them.
    pub(super) fn skin(
        &mut self,
        look: &ClipSkin,
        (frames, binding): (&[Cow<'_, [DVec3]>], Option<&SkinBinding>),
        keys: &[usize],
        data: &mut Accessors,
    ) -> usize {
        let at = |frame: usize| &*frames[frame];
        let (first, first_normals) = (at(0), smooth_normals(at(0), &look.triangles));
        let mut attributes = attributes(first, &first_normals, data, Use::Vertices);
        if let Some(binding) = binding {
            binding.add_attributes(&mut attributes, data);
        }
        let corners = data.push_corners(&look.triangles);
        let targets = keys.iter().map(|&key| {
            let (points, normals) = (at(key), smooth_normals(at(key), &look.triangles));
            let less = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| *a - *b).collect::<Vec<_>>();
            attributes_of_target(&less(points, first), &less(&normals, &first_normals), data)
        });
        let targets = list(targets.collect::<Vec<_>>());
        let material = self.material(look.color, !look.is_flesh);
        let weights = numbers(keys.iter().map(|&key| f64::from(u8::from(key == 0))));
        self.mesh(format!(
            "{{\"primitives\":[{{\"attributes\":{attributes},\"indices\":{corners},\"material\":{material},\
             \"targets\":{targets}}}],\"weights\":{weights}}}"
        ))
    }

    fn primitive(&mut self, mesh: &ClipMesh, data: &mut Accessors) -> String {
        let key = |points: &[DVec3]| {
            points.iter().flat_map(|it| it.as_vec3().to_array()).map(f32::to_bits).collect()
        };
        let corners = mesh.triangles.iter().flatten().copied();
        let bits: Vec<u32> = [key(&mesh.positions), key(&mesh.normals), corners.collect::<Vec<_>>()].concat();
        let material = self.material(mesh.color, false);
        let geometry = self.geometries.entry(bits).or_insert_with(|| {
            let attributes = attributes(&mesh.positions, &mesh.normals, data, Use::Vertices);
            format!("\"attributes\":{attributes},\"indices\":{}", data.push_corners(&mesh.triangles))
        });
        format!("{{{geometry},\"material\":{material}}}")
    }

    fn mesh(&mut self, text: String) -> usize {
        let next = self.meshes.len();
        *self.known_meshes.entry(text).or_insert_with_key(|text| {
            self.meshes.push(text.clone());
            next
        })
    }

    /// A rough material of a colour; glTF takes linear light.
    fn material(&mut self, color: DVec3, both_sides: bool) -> usize {
        let srgb = color.to_array();
        let light = linear(srgb);
        let base = numbers(light.into_iter().chain([1.0]));
        let text = format!(
            "{{\"pbrMetallicRoughness\":{{\"baseColorFactor\":{base},\"metallicFactor\":0,\"roughnessFactor\":0.6}},\
             \"doubleSided\":{both_sides}}}"
        );
        let next = self.materials.len();
        *self.known_materials.entry(text).or_insert_with_key(|text| {
            self.materials.push(text.clone());
            next
        })
    }

    /// Adds the fields `meshes` and `materials`.
    pub(super) fn describe(&self, out: &mut JsonFields) {
        for (name, items) in [("meshes", &self.meshes), ("materials", &self.materials)] {
            if !items.is_empty() {
                out.push(name, list(items.iter().cloned()));
            }
        }
    }
}

/// Linear light of an sRGB colour.
fn linear(color: [f64; 3]) -> [f64; 3] {
    color
        .map(|x| x.clamp(0.0, 1.0))
        .map(|x| if x <= 0.04045 { x / 12.92 } else { ops::pow((x + 0.055) / 1.055, 2.4) })
}

fn attributes(positions: &[DVec3], normals: &[DVec3], data: &mut Accessors, purpose: Use) -> String {
    let units: Vec<DVec3> = normals.iter().map(|normal| normal.normalize_or(DVec3::Z)).collect();
    let [positions, normals] = [positions, &units].map(|it| data.push_floats(&floats(it), 3, purpose));
    format!("{{\"POSITION\":{positions},\"NORMAL\":{normals}}}")
}

fn attributes_of_target(positions: &[DVec3], normals: &[DVec3], data: &mut Accessors) -> String {
    let [positions, normals] = [positions, normals].map(|it| data.push_floats(&floats(it), 3, Use::Vertices));
    format!("{{\"POSITION\":{positions},\"NORMAL\":{normals}}}")
}

fn floats(points: &[DVec3]) -> Vec<f32> {
    points.iter().flat_map(|point| point.as_vec3().to_array()).collect()
}

/// Unit normals of a surface: area-weighted means over triangles, rounded to single precision.
fn smooth_normals(points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; points.len()];
    for &corners in triangles {
        let [a, b, c] = corners.map(|corner| points[corner as usize]);
        corners.into_iter().for_each(|corner| normals[corner as usize] += (b - a).cross(c - a));
    }
    normals.into_iter().map(|it| it.normalize_or(DVec3::Z).as_vec3()).map(|it: Vec3| it.as_dvec3()).collect()
}
