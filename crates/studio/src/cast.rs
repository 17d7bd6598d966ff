//! What is known of a scene before anything moves: names, masses, limits, the coarse mesh of flesh, the scenery.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::{CoordinateDoc, SceneDoc};
use sinew_show::{Scenery, extent};
use sinew_sim::{BodyId, BodyKind, JointId, JointKind, Mechanism, World};

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
    /// Colours, mass, and the coarse mesh of flesh.
    pub looks: sinew_show::Cast,
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
    /// Number of tetrahedra.
    pub n_tets: usize,
    /// Bodies that it is fixed to.
    pub bones: Vec<BodyId>,
}

impl Cast {
    /// The cast of a scene at its beginning.
    pub fn of(doc: &SceneDoc, world: &World) -> Self {
        let (model, expanded) = (world.mechanism(), doc.expanded());
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
        let soft = world.model().flesh().map_or(&[][..], |flesh| flesh.bodies());
        let flesh: Vec<FleshCard> = soft
            .iter()
            .enumerate()
            .map(|(i, body)| {
                let name = world.flesh_name(i).to_owned();
                let bones = body.bones().iter().map(|&bone| BodyId::from_index(bone)).collect();
                FleshCard { name, n_tets: body.fem().n_tets(), bones }
            })
            .collect();
        let (middle, reach) = extent(world);
        Self {
            name: world.info().name.clone(),
            joints: model.joints().map(joint).collect(),
            looks: sinew_show::Cast::of(world),
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
fn base(model: &Mechanism, id: JointId) -> (Option<BodyId>, Pose) {
    let (body, frames) = (model.joint_bodies(id).1, model.joint_frames(id));
    let central = body.map_or(Pose::IDENTITY, |body| model.central_frame(body));
    (body, central.compose(&Pose::new(frames.rotation2, frames.point2)))
}
