//! Frames of a motion as VTK's XML files `.vtu`, and their times as `.pvd`, for ParaView.
//!
//! Cells are the tetrahedra of flesh, triangles of bodies, of the world and of sheets, and a vertex per contact. Their data: `part` (0 world, 1 body,
//! 2 flesh, 3 sheet, 4 contact), `body` (its place in the model, −1 if none), `stretch` (largest principal stretch of a tetrahedron, `√` of the largest
//! eigenvalue of `FᵀF`, 1 elsewhere), `volume` (`det F`) and `stress` (of von Mises, Pa; 0 elsewhere). Points have `force` (N), which is zero but at contacts. World axes, metres; numbers of
//! single precision in base64. Linear cost.

use std::fmt::Write as _;

use glam::{DMat3, DVec3};
use sinew_math::signed_svd;

use crate::base64::push_base64;
use crate::clip::{Clip, ClipFrame};

const VERTEX: u8 = 1;
const TRIANGLE: u8 = 5;
const TETRAHEDRON: u8 = 10;

/// Stretch, change of volume and stress of what does not deform.
const UNSTRAINED: [f64; 3] = [1.0, 1.0, 0.0];

/// A frame as a `.vtu` file. None without this frame.
pub fn vtu(clip: &Clip, frame: usize) -> Option<String> {
    let moment = clip.frames.get(frame)?;
    let mut grid = VtuGrid::default();
    for (k, (flesh, nodes)) in clip.flesh.iter().zip(&moment.nodes).enumerate() {
        let first = grid.push_points(nodes.iter().copied());
        let stresses = moment.stresses.get(k).map(Vec::as_slice).unwrap_or_default();
        for (i, tet) in flesh.tets.iter().enumerate() {
            let edges = |points: &[DVec3]| {
                let [a, b, c, d] = tet.map(|node| points[node as usize]);
                DMat3::from_cols(b - a, c - a, d - a)
            };
            let gradient = edges(nodes) * edges(&flesh.rest).inverse();
            let stretch = if gradient.is_finite() { signed_svd(gradient).1.x } else { 1.0 };
            let corners = tet.map(|node| first + node);
            let stress = stresses.get(i).copied().unwrap_or(0.0);
            let values = [stretch, gradient.determinant(), f64::from(stress)];
            grid.push_cell(&corners, TETRAHEDRON, (2.0, -1.0), values);
        }
    }
    grid.push_surfaces(clip, moment);
    for (at, force) in &moment.contacts {
        let place = grid.push_points([*at].into_iter());
        grid.forces.resize(3 * place as usize, 0.0);
        grid.forces.extend(force.as_vec3().to_array());
        grid.push_cell(&[place], VERTEX, (4.0, -1.0), UNSTRAINED);
    }
    Some(grid.finish())
}

/// The collection of frames: their times (s), and names of their files.
pub fn pvd(frames: impl IntoIterator<Item = (f64, String)>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (time, file) in frames {
        let file = file.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let _ = writeln!(text, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{file}\"/>");
    }
    text + "</Collection>\n</VTKFile>\n"
}

/// An unstructured grid.
#[derive(Default)]
struct VtuGrid {
    points: Vec<f32>,
    /// Forces at points; zero beyond its end.
    forces: Vec<f32>,
    corners: Vec<i32>,
    ends: Vec<i32>,
    kinds: Vec<u8>,
    parts: Vec<f32>,
    bodies: Vec<f32>,
    stretches: Vec<f32>,
    volumes: Vec<f32>,
    stresses: Vec<f32>,
}

impl VtuGrid {
    /// Adds points: the place of the first one.
    fn push_points(&mut self, points: impl Iterator<Item = DVec3>) -> u32 {
        let first = self.points.len() / 3;
        self.points.extend(points.flat_map(|point| point.as_vec3().to_array()));
        first as u32
    }

    fn push_cell(
        &mut self,
        corners: &[u32],
        kind: u8,
        (part, body): (f64, f64),
        [stretch, volume, stress]: [f64; 3],
    ) {
        self.corners.extend(corners.iter().map(|&corner| corner as i32));
        self.ends.push(self.corners.len() as i32);
        self.kinds.push(kind);
        self.parts.push(part as f32);
        self.bodies.push(body as f32);
        self.stretches.push(stretch as f32);
        self.volumes.push(volume as f32);
        self.stresses.push(stress as f32);
    }

    fn push_surfaces(&mut self, clip: &Clip, moment: &ClipFrame) {
        for mesh in &clip.meshes {
            let pose = mesh.body.and_then(|body| moment.poses.get(body));
            let place = |point: &DVec3| pose.map_or(*point, |pose| pose.transform_point(*point));
            let first = self.push_points(mesh.positions.iter().map(place));
            let owner = mesh.body.map_or((0.0, -1.0), |body| (1.0, body as f64));
            for corners in &mesh.triangles {
                self.push_cell(&corners.map(|corner| first + corner), TRIANGLE, owner, UNSTRAINED);
            }
        }
        for (skin, points) in clip.skins.iter().zip(&moment.skins).filter(|(skin, _)| !skin.is_flesh) {
            let first = self.push_points(points.iter().copied());
            for corners in &skin.triangles {
                self.push_cell(&corners.map(|corner| first + corner), TRIANGLE, (3.0, -1.0), UNSTRAINED);
            }
        }
    }

    fn finish(mut self) -> String {
        self.forces.resize(self.points.len(), 0.0);
        let (n_points, n_cells) = (self.points.len() / 3, self.kinds.len());
        let mut text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"UInt32\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"{n_points}\" \
             NumberOfCells=\"{n_cells}\">\n<Points>\n"
        );
        push_floats(&mut text, ("Points", 3), &self.points);
        text += "</Points>\n<Cells>\n";
        let whole = |list: &[i32]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        push_array(&mut text, ("connectivity", "Int32", 1), &whole(&self.corners));
        push_array(&mut text, ("offsets", "Int32", 1), &whole(&self.ends));
        push_array(&mut text, ("types", "UInt8", 1), &self.kinds);
        text += "</Cells>\n<PointData Vectors=\"force\">\n";
        push_floats(&mut text, ("force", 3), &self.forces);
        text += "</PointData>\n<CellData Scalars=\"stretch\">\n";
        let lists = [
            ("part", &self.parts),
            ("body", &self.bodies),
            ("stretch", &self.stretches),
            ("volume", &self.volumes),
            ("stress", &self.stresses),
        ];
        for (name, list) in lists {
            push_floats(&mut text, (name, 1), list);
        }
        text + "</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
    }
}

fn push_floats(text: &mut String, (name, width): (&str, usize), list: &[f32]) {
    let bytes: Vec<u8> = list.iter().flat_map(|x| x.to_le_bytes()).collect();
    push_array(text, (name, "Float32", width), &bytes);
}

/// An array: the number of its bytes, and its bytes, as letters.
fn push_array(text: &mut String, (name, kind, width): (&str, &str, usize), bytes: &[u8]) {
    let _ = writeln!(
        text,
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{width}\" format=\"binary\">"
    );
    let head = (bytes.len() as u32).to_le_bytes();
    push_base64(&[&head, bytes].concat(), text);
    *text += "\n</DataArray>\n";
}
