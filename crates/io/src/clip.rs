//! A recorded motion, as writers of motions take it: what does not change, and frames.
//!
//! World axes, metres, seconds; colours are sRGB from 0 to 1. Memory: poses and points of flesh per frame. Cost of a frame: one pass over
//! bodies, joints, contacts and surface points.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_math::{Pose, Shape};
use sinew_mechanism::{BodyId, JointId};
use sinew_show::{DrawList, LineKind, SceneLooks, Scenery, draw, surface_stretches, tessellated};
use sinew_sim::{JointReading, World};

/// Standard gravity (m/s²), for the scale of forces.
const GRAVITY: f64 = 9.81;

/// A recorded motion.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Clip {
    /// Name of the scene.
    pub name: String,
    /// Gravity at the beginning (m/s²): it points down.
    pub gravity: DVec3,
    /// All bodies, in the order of the model.
    pub bodies: Vec<ClipBody>,
    /// All joints, in the order of the model.
    pub joints: Vec<ClipJoint>,
    /// Meshes that move with a body or stand still.
    pub meshes: Vec<ClipMesh>,
    /// Surfaces that deform: flesh, and sheets through points of bodies.
    pub skins: Vec<ClipSkin>,
    /// Tetrahedra of flesh.
    pub flesh: Vec<ClipFlesh>,
    /// Grounds and walls: a point, and the free direction.
    pub planes: Vec<(DVec3, DVec3)>,
    /// Cameras of the scene.
    pub cameras: Vec<ClipCamera>,
    /// Weight of everything that moves (N), for the scale of forces.
    pub weight: f64,
    /// The frames, in order of time.
    pub frames: Vec<ClipFrame>,
}

/// A camera of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipCamera {
    /// Its name.
    pub name: String,
    /// Where it is (m).
    pub from: DVec3,
    /// What is in the middle of its picture (m).
    pub at: DVec3,
    /// Angle that the shorter side of its picture spans (rad), if the scene says it.
    pub field_of_view: Option<f64>,
}

/// A body of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipBody {
    /// Its name.
    pub name: String,
    /// The body above it in the tree of joints; none for roots.
    pub parent: Option<usize>,
    /// The joint that leads to it, or for roots the first one that ties it to the world.
    pub joint: Option<usize>,
}

/// A joint of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipJoint {
    /// Its name.
    pub name: String,
    /// Its first body, the child.
    pub child: Option<usize>,
    /// Its second body; none for the world.
    pub parent: Option<usize>,
}

/// A mesh that does not deform.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipMesh {
    /// The body that carries it; none for the world.
    pub body: Option<usize>,
    /// Positions in the body frame, or in the world.
    pub positions: Vec<DVec3>,
    /// Unit normals, one a position.
    pub normals: Vec<DVec3>,
    /// Three positions each, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Its colour.
    pub color: DVec3,
    /// Whether flesh covers it.
    pub is_bone: bool,
}

/// A body of flesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipFlesh {
    /// Its name.
    pub name: String,
    /// Nodes at rest (m).
    pub rest: Vec<DVec3>,
    /// Four nodes each.
    pub tets: Vec<[u32; 4]>,
}

/// A surface that deforms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipSkin {
    /// Its name; empty for sheets.
    pub name: String,
    /// Three points each, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Points at rest; for sheets those of the first frame.
    pub rest: Vec<DVec3>,
    /// Its colour.
    pub color: DVec3,
    /// Whether it is flesh, which has a stretch.
    pub is_flesh: bool,
    /// Per point the bodies that it follows, with shares that sum to 1; empty unless [`Clip::bind`] has found them.
    pub holders: Vec<Vec<(usize, f64)>>,
}

/// One moment of a clip.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClipFrame {
    /// Time (s).
    pub time: f64,
    /// `world_from_body`, in the order of the bodies.
    pub poses: Vec<Pose>,
    /// Positions, rates and efforts of joints.
    pub joints: Vec<JointReading>,
    /// Where joints are on their first bodies.
    pub anchors: Vec<DVec3>,
    /// Points of each skin.
    pub skins: Vec<Vec<DVec3>>,
    /// Nodes of each body of flesh.
    pub nodes: Vec<Vec<DVec3>>,
    /// Von Mises stress (Pa) of the tetrahedra of each body of flesh.
    pub stresses: Vec<Vec<f32>>,
    /// Contacts: where, and the force (N).
    pub contacts: Vec<(DVec3, DVec3)>,
    /// Ends of springs, ropes and grabs; whether it is a grab.
    pub lines: Vec<(DVec3, DVec3, bool)>,
    /// Forces of joints on their first bodies (N); none where the stepper does not tell them.
    pub joint_forces: Vec<DVec3>,
    /// Energies and joint errors.
    pub measures: ClipMeasures,
}

/// Numbers of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClipMeasures {
    /// Kinetic energy (J).
    pub kinetic: f64,
    /// Gravitational energy (J).
    pub gravity: f64,
    /// Elastic energy of springs, limits and flesh (J).
    pub elastic: f64,
    /// Largest position error of a joint (m).
    pub position_error: f64,
    /// Largest rotation error of a joint (rad).
    pub rotation_error: f64,
}

impl Clip {
    /// A clip of a world, without frames.
    pub fn new(name: impl Into<String>, world: &World) -> Self {
        let model = world.mechanism();
        let mut clip = Self { name: name.into(), gravity: world.settings().gravity, ..Self::default() };
        let index = |body: Option<BodyId>| body.map(BodyId::index);
        clip.bodies.extend(model.bodies().map(|body| ClipBody {
            name: model.body_name(body).to_owned(),
            parent: None,
            joint: None,
        }));
        for joint in model.joints() {
            let (child, parent) = model.joint_bodies(joint);
            let (child, parent) = (index(child), index(parent));
            clip.joints.push(ClipJoint { name: model.joint_name(joint).to_owned(), child, parent });
        }
        let bodies = world.model().flesh().into_iter().flat_map(|flesh| flesh.bodies());
        clip.flesh.extend(bodies.zip(&world.appearance().flesh).map(|(body, look)| ClipFlesh {
            name: look.name.clone(),
            rest: body.fem().mesh().positions().to_vec(),
            tets: body.fem().mesh().tets().to_vec(),
        }));
        clip.find_parents();
        clip.add_meshes(world);
        clip
    }

    /// Finds the bodies that the points of flesh follow, so that [`crate::glb`] writes a skin. Cost: a linear system of the mesh per three bones.
    pub fn bind(&mut self, world: &World) {
        let bodies = world.model().flesh().into_iter().flat_map(|flesh| flesh.bodies());
        let looks = &world.appearance().flesh;
        for (skin, (body, look)) in self.skins.iter_mut().zip(bodies.zip(looks)) {
            if !body.attachments().attached().is_empty() {
                skin.holders = look.points.iter().map(|point| body.bone_shares(point)).collect();
            }
        }
    }

    /// Adds the present moment of the world.
    pub fn push(&mut self, world: &World) {
        let model = world.mechanism();
        let mut list = DrawList::default();
        draw(world, &mut list);
        let sheets = self.skins.iter().filter(|skin| !skin.is_flesh).count();
        let skins = list.flesh.into_iter().map(|flesh| flesh.points);
        let skins = skins.chain(list.surfaces.into_iter().take(sheets).map(|sheet| sheet.points));
        let lines = list.lines.iter().map(|line| (line.from, line.to, line.kind == LineKind::Grab));
        self.frames.push(ClipFrame {
            time: world.time(),
            poses: model.bodies().map(|body| world.pose(body)).collect(),
            joints: model.joints().map(|joint: JointId| world.reading(joint)).collect(),
            anchors: list.points.iter().map(|point| point.position).collect(),
            skins: skins.collect(),
            nodes: world.state().flesh.nodes.iter().map(|nodes| nodes.positions.clone()).collect(),
            stresses: stresses(world),
            contacts: world.contacts().map(|contact| (contact.point, contact.force)).collect(),
            lines: lines.collect(),
            joint_forces: world.joint_forces(),
            measures: ClipMeasures::of(world),
        });
    }

    /// How far each point of a skin is stretched in a frame: 0 at rest, 0.1 a tenth longer; none for sheets.
    pub fn stretches(&self, skin: usize, frame: usize) -> Vec<f64> {
        let mut out = Vec::new();
        let ClipSkin { triangles, rest, is_flesh, .. } = &self.skins[skin];
        if *is_flesh {
            surface_stretches(triangles, rest, &self.frames[frame].skins[skin], &mut out);
        }
        out
    }

    /// Gives each body the body above it: that of the first joint that does not close a loop.
    fn find_parents(&mut self) {
        let mut group: Vec<usize> = (0..self.bodies.len()).collect();
        fn root(group: &mut [usize], mut at: usize) -> usize {
            while group[at] != at {
                group[at] = group[group[at]];
                at = group[at];
            }
            at
        }
        for (j, joint) in self.joints.iter().enumerate() {
            let Some(child) = joint.child else { continue };
            let Some(parent) = joint.parent else {
                self.bodies[child].joint.get_or_insert(j);
                continue;
            };
            let (a, b) = (root(&mut group, child), root(&mut group, parent));
            if a != b && self.bodies[child].parent.is_none() {
                group[a] = b;
                (self.bodies[child].parent, self.bodies[child].joint) = (Some(parent), Some(j));
            }
        }
    }

    fn add_meshes(&mut self, world: &World) {
        let looks = SceneLooks::of(world);
        let appearance = world.appearance();
        let round = match appearance.solids.len() {
            0..=250 => 32,
            251..=2500 => 16,
            _ => 8,
        };
        self.weight = GRAVITY * looks.mass;
        for (solid, look) in appearance.solids.iter().zip(&looks.solids) {
            let mesh = solid_mesh(&solid.shape, &solid.body_from_shape, round);
            let body = Some(solid.body.index());
            self.meshes.push(ClipMesh { body, color: look.color, is_bone: look.is_bone, ..mesh });
        }
        let colors = looks.surfaces.iter().skip(appearance.surfaces.len());
        let meshes = appearance.meshes.iter().filter_map(|mesh| Some((mesh.body?, mesh)));
        for ((body, mesh), color) in meshes.zip(colors) {
            let faceted = faceted(&mesh.surface.positions, &mesh.surface.triangles);
            self.meshes.push(ClipMesh { body: Some(body.index()), color: *color, ..faceted });
        }
        self.add_scenery(world);
        self.add_skins(world, &looks);
    }

    /// What the world is made of, and the cameras of the scene.
    fn add_scenery(&mut self, world: &World) {
        let scene = world.to_scene().unwrap_or_default().expanded();
        let scenery = Scenery::of(&scene, world.appearance());
        for (shape, pose) in &scenery.solids {
            self.meshes.push(ClipMesh { color: STONE, ..solid_mesh(shape, pose, SCENERY) });
        }
        for ground in &scenery.ground {
            self.meshes.push(ClipMesh { color: STONE, ..faceted(&ground.points, &ground.triangles) });
        }
        self.planes = scenery.planes;
        self.cameras.extend(scene.cameras.into_iter().map(|camera| ClipCamera {
            name: camera.name,
            from: camera.from,
            at: camera.at,
            field_of_view: camera.field_of_view,
        }));
    }

    /// Surfaces that deform.
    fn add_skins(&mut self, world: &World, looks: &SceneLooks) {
        let (appearance, mut list) = (world.appearance(), DrawList::default());
        draw(world, &mut list);
        for ((flesh, look), appearance) in list.flesh.iter().zip(&looks.flesh).zip(&appearance.flesh) {
            self.skins.push(ClipSkin {
                name: appearance.name.clone(),
                triangles: flesh.triangles.to_vec(),
                rest: look.rest.clone(),
                color: look.color,
                is_flesh: true,
                holders: Vec::new(),
            });
        }
        for (sheet, color) in list.surfaces.iter().zip(&looks.surfaces).take(appearance.surfaces.len()) {
            let (triangles, rest) = (sheet.triangles.to_vec(), sheet.points.clone());
            self.skins.push(ClipSkin { triangles, rest, color: *color, ..ClipSkin::default() });
        }
    }
}

/// Von Mises stress of all tetrahedra.
fn stresses(world: &World) -> Vec<Vec<f32>> {
    let bodies = world.model().flesh().into_iter().flat_map(|flesh| flesh.bodies());
    let mut found = Vec::new();
    let each = bodies.zip(&world.state().flesh.nodes).map(|(body, nodes)| {
        body.fem().fill_von_mises(nodes, &mut found);
        found.iter().map(|stress| *stress as f32).collect()
    });
    each.collect()
}

impl ClipMeasures {
    fn of(world: &World) -> Self {
        let (energy, violation) = (world.energy(), world.violation());
        Self {
            kinetic: energy.kinetic,
            gravity: energy.gravity,
            elastic: energy.elastic,
            position_error: violation.position,
            rotation_error: violation.rotation,
        }
    }
}

/// Colour of what the world is made of.
const STONE: DVec3 = DVec3::new(0.62, 0.64, 0.68);

/// Sides of what is round in the world.
const SCENERY: usize = 64;

fn solid_mesh(shape: &Shape, at: &Pose, sides: usize) -> ClipMesh {
    let mesh = tessellated(shape, sides);
    ClipMesh {
        positions: mesh.positions().map(|point| at.transform_point(point)).collect(),
        normals: mesh.normals().map(|normal| at.transform_vector(normal)).collect(),
        triangles: mesh.triangles().map(|corners| corners.map(|corner| corner as u32)).collect(),
        ..ClipMesh::default()
    }
}

/// A mesh whose triangles are flat: each has corners of its own.
fn faceted(points: &[DVec3], triangles: &[[u32; 3]]) -> ClipMesh {
    let mut mesh = ClipMesh::default();
    for corners in triangles {
        let first = mesh.positions.len() as u32;
        let [a, b, c] = corners.map(|corner| points[corner as usize]);
        let normal = (b - a).cross(c - a).normalize_or(DVec3::Z);
        mesh.positions.extend([a, b, c]);
        mesh.normals.extend([normal; 3]);
        mesh.triangles.push([first, first + 1, first + 2]);
    }
    mesh
}
