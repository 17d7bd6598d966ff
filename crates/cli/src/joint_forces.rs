//! What `sinew dynamics` takes of the forces in joints: armatures, as inertia along their degrees of freedom, and the names of everything that it leaves out.

use serde::Serialize;
use sinew_recursive::{LinkId, Tree};
use sinew_scene::{CoordinateForcesDoc, ForceCoordinate, JointDoc, SceneDoc};
use sinew_sim::World;

/// Most names that a line lists.
const LISTED: usize = 5;

/// Armature per degree of freedom, kg·m² or kg. `scene` has its generators written out.
pub(crate) fn armatures(scene: &SceneDoc, world: &World, tree: &Tree) -> Vec<f64> {
    let mut out = vec![0.0; tree.n_dofs()];
    for link in tree.links() {
        let Some(doc) = doc_of(scene, world, tree, link) else { continue };
        let dofs = tree.dofs(link);
        let n_turns = if doc.kind.accepts_rotation_force() { dofs.len().min(3) } else { 1 };
        match doc.force_coordinate() {
            Some(ForceCoordinate::Rotation) => {
                out[dofs].iter_mut().take(n_turns).for_each(|a| *a = doc.armature)
            }
            // The slide comes after the turn.
            Some(ForceCoordinate::Slide) => out[dofs].last_mut().into_iter().for_each(|a| *a = doc.armature),
            Some(ForceCoordinate::Angle) => out[dofs].first_mut().into_iter().for_each(|a| *a = doc.armature),
            None => {}
        }
    }
    out
}

/// The document of the joint of a link; none if it floats.
fn doc_of<'s>(scene: &'s SceneDoc, world: &World, tree: &Tree, link: LinkId) -> Option<&'s JointDoc> {
    let name = world.mechanism().joint_name(tree.joint(link)?);
    let doc = scene.joints.get(tree.joint(link)?.index())?;
    (doc.name == name && doc.free.is_none()).then_some(doc)
}

/// Something that a scene has and `sinew dynamics` leaves out, and whose it is.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct LeftOut {
    what: &'static str,
    of: Vec<String>,
}

impl LeftOut {
    /// As `springs (hip, knee)`.
    pub(crate) fn text(&self) -> String {
        let listed: Vec<&str> = self.of.iter().take(LISTED).map(String::as_str).collect();
        let more = self.of.len() - listed.len();
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        if listed.is_empty() {
            return self.what.to_owned();
        }
        format!("{} ({}{more})", self.what, listed.join(", "))
    }
}

/// What is left out. `scene` has its generators written out.
pub(crate) fn left_out(scene: &SceneDoc) -> Vec<LeftOut> {
    let joints = |has: &dyn Fn(&JointDoc) -> bool| -> Vec<String> {
        scene.joints.iter().filter(|doc| has(doc)).map(|doc| doc.name.clone()).collect()
    };
    let forces = |doc: &JointDoc| {
        doc.free
            .iter()
            .flat_map(|free| free.coordinates())
            .any(|(_, f)| f.is_some_and(|f| *f != CoordinateForcesDoc::default()))
    };
    let dragged =
        scene.bodies.iter().filter(|body| body.linear_damping != 0.0 || body.angular_damping != 0.0);
    let touching = scene.colliders.iter().any(|collider| !collider.sensor)
        || scene.bodies.iter().any(|body| body.contact.is_some());
    let touching = if touching { vec!["all".to_owned()] } else { Vec::new() };
    let all = [
        ("springs", joints(&|doc| doc.spring.is_some())),
        ("damping", joints(&|doc| doc.damping != 0.0)),
        ("friction", joints(&|doc| doc.friction != 0.0)),
        ("limits", joints(&|doc| doc.limits.is_some() || doc.cone_limit.is_some())),
        ("motors", joints(&|doc| doc.motor.is_some())),
        ("drives", joints(&|doc| doc.drive.is_some())),
        ("forces on free coordinates", joints(&forces)),
        ("springs between points", scene.springs.iter().map(|spring| spring.name.clone()).collect()),
        ("ropes", scene.ropes.iter().map(|rope| rope.name.clone()).collect()),
        ("gears", scene.gears.iter().map(|gear| gear.name.clone()).collect()),
        ("drag of bodies", dragged.map(|body| body.name.clone()).collect()),
        ("flesh", scene.flesh.iter().map(|flesh| flesh.name.clone()).collect()),
        ("contacts", touching),
    ];
    let given = all.into_iter().filter(|(_, of)| !of.is_empty());
    given.map(|(what, of)| LeftOut { what, of }).collect()
}
