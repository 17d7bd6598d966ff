//! Facts that do not change while a scene runs: names, masses (kg), limits, colours, the mesh of flesh, the scenery.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{CoordinateDoc, SceneDoc};
use sinew_show::{SceneLooks, Scenery, extent};
use sinew_sim::{BodyId, BodyKind, JointId, JointKind, SurfacePoint, World};

/// What does not change while a scene runs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SceneOverview {
    /// Name of the scene.
    pub name: String,
    /// The bodies, by index.
    pub bodies: Vec<BodyCard>,
    /// The joints, by index.
    pub joints: Vec<JointCard>,
    /// The bodies of flesh, by index.
    pub flesh: Vec<FleshCard>,
    /// Ground, walls and solids of the world.
    pub scenery: Scenery,
    /// Colours, mass, and the tetrahedral mesh of flesh.
    pub looks: SceneLooks,
    /// Half the diagonal of the initial bounding box (m).
    pub reach: f64,
    /// Centre of the initial bounding box (m).
    pub middle: DVec3,
    /// Whether bones can be guided, that is, whether the scene is stepped in joint coordinates.
    pub is_guided: bool,
}

/// A body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyCard {
    /// Its name.
    pub name: String,
    /// Its mass (kg).
    pub mass: f64,
    /// Whether it moves under forces.
    pub is_dynamic: bool,
}

/// A joint.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JointCard {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: JointKind,
    /// Whether its coordinate is a slide (m) instead of an angle (rad).
    pub is_slide: bool,
    /// Limits of its coordinate (rad or m).
    pub limits: Option<(f64, f64)>,
    /// Angle of its cone limit (rad).
    pub cone: Option<f64>,
    /// The body of its second frame (`None` for the world), and that frame in the body.
    pub base: (Option<BodyId>, Pose),
}

/// A body of flesh.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleshCard {
    /// Its name.
    pub name: String,
    /// Number of tetrahedra.
    pub n_tets: usize,
    /// Bodies that it is attached to.
    pub bones: Vec<BodyId>,
    /// The points of its surface.
    pub points: Vec<SurfacePoint>,
}

impl SceneOverview {
    /// The overview of a world at its initial state, built from `doc`.
    pub fn of(doc: &SceneDoc, world: &World) -> Self {
        let (model, expanded) = (world.mechanism(), doc.expanded());
        let body = |id: BodyId| BodyCard {
            name: model.body_name(id).to_owned(),
            mass: model.body_mass(id),
            is_dynamic: model.body_kind(id) == BodyKind::Dynamic,
        };
        let soft = world.model().flesh().map_or(&[][..], |flesh| flesh.bodies());
        let flesh = soft.iter().enumerate().map(|(i, body)| FleshCard {
            name: world.flesh_name(i).to_owned(),
            n_tets: body.fem().n_tets(),
            bones: body.bones().iter().map(|&bone| BodyId::from_index(bone)).collect(),
            points: body.surface().to_vec(),
        });
        let (middle, reach) = extent(world);
        Self {
            name: world.info().name.clone(),
            bodies: model.bodies().map(body).collect(),
            joints: model.joints().map(|id| JointCard::of(&expanded, world, id)).collect(),
            flesh: flesh.collect(),
            scenery: Scenery::of(&expanded, world.appearance()),
            looks: SceneLooks::of(world),
            reach,
            middle,
            is_guided: world.model().reduced().is_some(),
        }
    }
}

impl JointCard {
    fn of(expanded: &SceneDoc, world: &World, id: JointId) -> Self {
        let (model, doc) = (world.mechanism(), expanded.joints.get(id.index()));
        let kind = model.joint_kind(id);
        Self {
            name: model.joint_name(id).to_owned(),
            kind,
            is_slide: matches!(kind, JointKind::Prismatic | JointKind::PointOnLine)
                || doc.is_some_and(|doc| doc.coordinate == Some(CoordinateDoc::Slide)),
            limits: doc.and_then(|doc| doc.limits).map(|limits| (limits.min, limits.max)),
            cone: doc.and_then(|doc| doc.cone_limit).map(|cone| cone.angle),
            base: base(world, id),
        }
    }
}

/// The body of the second frame of a joint, and that frame in the body or in the world.
fn base(world: &World, id: JointId) -> (Option<BodyId>, Pose) {
    let model = world.mechanism();
    let (body, frames) = (model.joint_bodies(id).1, model.joint_frames(id));
    let central = body.map_or(Pose::IDENTITY, |body| model.central_frame(body));
    (body, central.compose(&Pose::new(frames.rotation2, frames.point2)))
}
