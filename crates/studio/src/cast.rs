//! What is known of a scene before anything moves: names, masses, limits, the coarse mesh of flesh, the scenery.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{CoordinateDoc, SceneDoc};
use sinew_sim::{BodyId, BodyKind, DrawList, DrawShape, JointId, JointKind, Model, Scenery, World};

/// What is known of a scene before anything moves.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    /// Name of the scene.
    pub name: String,
    /// The bodies, by number.
    pub bodies: Vec<BodyCard>,
    /// The joints, by number.
    pub joints: Vec<JointCard>,
    /// The flesh, by number.
    pub flesh: Vec<FleshCard>,
    /// Ground, walls and solids of the world.
    pub scenery: Scenery,
    /// Mass of everything that moves, kg.
    pub mass: f64,
    /// Half the diagonal of a box around everything at the beginning, m.
    pub reach: f64,
    /// The middle of that box, m.
    pub middle: DVec3,
    /// Whether bones can be guided: the scene is stepped in joint coordinates.
    pub is_guided: bool,
}

/// A body.
#[derive(Clone, Debug)]
pub struct BodyCard {
    /// Its name.
    pub name: String,
    /// Its mass, kg.
    pub mass: f64,
    /// Whether forces move it.
    pub is_dynamic: bool,
}

/// A joint.
#[derive(Clone, Debug)]
pub struct JointCard {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: JointKind,
    /// Whether its coordinate is a slide (m) and not an angle (rad).
    pub is_slide: bool,
    /// Range of its coordinate, rad or m.
    pub limits: Option<(f64, f64)>,
    /// Largest tilt, rad.
    pub cone: Option<f64>,
    /// The body that carries its second frame, and that frame in it; `None` for the world.
    pub base: (Option<BodyId>, Pose),
}

/// A body of flesh.
#[derive(Clone, Debug)]
pub struct FleshCard {
    /// Its name.
    pub name: String,
    /// Points of its surface at rest, m.
    pub rest: Vec<DVec3>,
    /// Edges of its tetrahedra, each once.
    pub edges: Vec<[u32; 2]>,
    /// Mass of each node (kg), and whether it is fixed to a bone.
    pub nodes: Vec<(f64, bool)>,
    /// Number of tetrahedra.
    pub n_tets: usize,
    /// Bodies that it is fixed to.
    pub bones: Vec<BodyId>,
}

impl Cast {
    /// The cast of a scene at its beginning.
    pub fn of(doc: &SceneDoc, world: &World) -> Self {
        let (model, expanded) = (world.model(), doc.expanded());
        let body = |id: BodyId| BodyCard {
            name: model.body_name(id).to_owned(),
            mass: model.body_mass(id),
            is_dynamic: model.body_kind(id) == BodyKind::Dynamic,
        };
        let bodies: Vec<BodyCard> = model.bodies().map(body).collect();
        let joint = |id: JointId| {
            let doc = expanded.joints.get(id.index());
            let kind = model.joint_kind(id);
            JointCard {
                name: model.joint_name(id).to_owned(),
                kind,
                is_slide: matches!(kind, JointKind::Prismatic | JointKind::PointOnLine)
                    || doc.is_some_and(|doc| doc.coordinate == Some(CoordinateDoc::Slide)),
                limits: doc.and_then(|doc| doc.limits).map(|limits| (limits.min, limits.max)),
                cone: doc.and_then(|doc| doc.cone_limit).map(|cone| cone.angle),
                base: base(model, id),
            }
        };
        let soft = model.flesh().map_or(&[][..], |flesh| flesh.bodies());
        let flesh: Vec<FleshCard> = soft
            .iter()
            .enumerate()
            .map(|(i, body)| {
                let fem = body.fem();
                let mut nodes: Vec<(f64, bool)> = fem.masses().iter().map(|&mass| (mass, false)).collect();
                body.attachments().attached().iter().for_each(|at| nodes[at.node as usize].1 = true);
                let name = expanded.flesh.get(i).map_or_else(String::new, |doc| doc.name.clone());
                let mut rest = Vec::new();
                body.fill_surface(fem.mesh().positions(), &mut rest);
                let bones = body.bones().iter().map(|&bone| BodyId::from_index(bone)).collect();
                FleshCard { name, rest, edges: fem.mesh().edges(), nodes, n_tets: fem.n_tets(), bones }
            })
            .collect();
        let dynamic: f64 = bodies.iter().filter(|body| body.is_dynamic).map(|body| body.mass).sum();
        let soft_mass: f64 = flesh.iter().flat_map(|flesh| &flesh.nodes).map(|node| node.0).sum();
        let mut list = DrawList::default();
        world.draw(&mut list);
        let poses = model.bodies().map(|body| world.pose(body).translation);
        let nodes = world.state().flesh.nodes.iter().flat_map(|nodes| nodes.positions.iter().copied());
        let (middle, reach) = extent(&list, poses.chain(nodes));
        Self {
            name: world.info().name.clone(),
            joints: model.joints().map(joint).collect(),
            mass: dynamic + soft_mass,
            bodies,
            flesh,
            scenery: Scenery::of(&expanded),
            reach,
            middle,
            is_guided: world.model().reduced().is_some(),
        }
    }
}

/// The body that carries the second frame of a joint, and that frame in it, or in the world.
fn base(model: &Model, id: JointId) -> (Option<BodyId>, Pose) {
    let (body, frames) = (model.joint_bodies(id).1, model.joint_frames(id));
    let central = body.map_or(Pose::IDENTITY, |body| model.central_frame(body));
    (body, central.compose(&Pose::new(frames.rotation2, frames.point2)))
}

/// Middle and half diagonal of a box around all solids and some points, m.
pub(crate) fn extent(list: &DrawList, points: impl Iterator<Item = DVec3>) -> (DVec3, f64) {
    let corners = list.solids.iter().flat_map(|solid| {
        let half = half_edges(&solid.shape);
        let signs =
            (0..8).map(|k| DVec3::from_array([1, 2, 4].map(|bit| if k & bit == 0 { -1.0 } else { 1.0 })));
        signs.map(move |sign| solid.world_from_shape.transform_point(sign * half))
    });
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let points = points.chain(corners).filter(|point| point.is_finite());
    let (low, high) = points.fold(start, |(low, high), point| (low.min(point), high.max(point)));
    if low.x > high.x {
        return (DVec3::ZERO, 1.0);
    }
    (0.5 * (low + high), (0.5 * low.distance(high)).max(0.05))
}

/// Half the edges of the box around a shape in its own frame, m.
fn half_edges(shape: &DrawShape) -> DVec3 {
    match *shape {
        DrawShape::Box { size } => 0.5 * size,
        DrawShape::Sphere { radius } => DVec3::splat(radius),
        DrawShape::Capsule { radius, length } => DVec3::new(0.5 * length + radius, radius, radius),
        DrawShape::Cylinder { radius, length } => DVec3::new(0.5 * length, radius, radius),
        DrawShape::Ellipsoid { semi_axes } => semi_axes,
    }
}
