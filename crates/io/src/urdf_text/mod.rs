//! Scenes as robots in URDF.
//!
//! The root link `world` stands for the world, unless all hangs on one fixed body without anything else there. The frame of a link has the axes of its body frame and its origin
//! at the joint above. A joint with several coordinates becomes one joint after the other, with links without mass between. Zero of a coordinate is that of the scene.
//! Angles of frames are roll, pitch and yaw. Linear cost.

mod joints;
mod shapes;

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};
use sinew_math::{Pose, ops, quat_to_mat3};
use sinew_scene::{BodyKindDoc, SceneDoc};

use crate::export_error::ExportError;
use crate::export_report::ExportReport;
use crate::exported::Exported;
use crate::outgoing::{
    MeshFiles, OutBody, OutGeom, OutNames, OutScene, OutTree, geoms_of, note_bodies, note_common,
};
use crate::xml_text::XmlText;

/// The name of the link that stands for the world.
const WORLD: &str = "world";

/// Writes a scene as URDF. `stem` begins the names of the files of its meshes.
///
/// # Errors
/// If the scene cannot be built, or has no body.
pub fn urdf(scene: &SceneDoc, stem: &str) -> Result<Exported, ExportError> {
    let mut report = ExportReport::default();
    let source = OutScene::read(scene, &mut report)?;
    let tree = OutTree::of(&source, &mut report);
    if tree.bodies.is_empty() {
        return Err(ExportError::Unfit { problem: "a URDF is a robot: the scene has no body".to_owned() });
    }
    note_common(&source.doc, &mut report);
    note_bodies(&tree, &mut report);
    note_absent(&tree, &mut report);
    let concave =
        "its convex hull touches in most programs that read URDF (in Sinew without --mesh-contact triangles)";
    let geoms = geoms_of(&tree, concave, &mut report);
    let mut writer = UrdfWriter::new(&tree, &geoms, stem, &mut report);
    writer.xml.begin("robot").put("name", &tree.scene.name);
    writer.write_links(&geoms, &mut report);
    writer.write_joints(&mut report);
    let UrdfWriter { xml, meshes, .. } = writer;
    Ok(Exported { text: xml.finish(), files: meshes.finish(), report })
}

/// Tells of what a URDF has no place for.
fn note_absent(tree: &OutTree<'_>, report: &mut ExportReport) {
    let scene = tree.scene;
    for joint in &tree.loops {
        report.left_out(joint.part(), "it closes a loop; a URDF is a tree");
    }
    for spring in &scene.springs {
        report.left_out(format!("spring `{}`", spring.name), "springs between points");
    }
    for rope in &scene.ropes {
        report.left_out(format!("rope `{}`", rope.name), "ropes");
    }
    for pair in scene.pairs.iter().filter(|pair| pair.apart) {
        report.left_out(format!("pair `{}`, `{}`", pair.a, pair.b), "pairs that never touch");
    }
    if scene.gravity != SceneDoc::default().gravity {
        report.left_out("gravity", "a URDF says nothing of gravity");
    }
    for body in &tree.bodies {
        if body.doc.kind == BodyKindDoc::Kinematic {
            report.approximated(
                body.part(),
                "it is fixed to the world; in the scene a track or the program moves it",
            );
        } else if body.moves() && (body.motion.angular != DVec3::ZERO || body.motion.linear != DVec3::ZERO) {
            report.left_out(body.part(), "its velocity at first: a URDF is at rest");
        }
    }
}

/// A robot that is being written.
struct UrdfWriter<'a, 't> {
    xml: XmlText,
    tree: &'t OutTree<'a>,
    meshes: MeshFiles,
    has_world: bool,
    /// OutNames of the links of bodies.
    links: Vec<String>,
    /// OutNames of links between the moves of a joint.
    link_names: OutNames,
    joint_names: OutNames,
    /// OutNames of joints by those of their moves.
    moves: BTreeMap<&'t str, String>,
}

impl<'a, 't> UrdfWriter<'a, 't> {
    fn new(tree: &'t OutTree<'a>, geoms: &[OutGeom], stem: &str, report: &mut ExportReport) -> Self {
        let has_world = !is_base_alone(tree, geoms);
        let mut link_names = if has_world { OutNames::reserving(&[WORLD]) } else { OutNames::default() };
        let mut joint_names = OutNames::default();
        let links = tree.bodies.iter().map(|body| link_names.give("body", &body.doc.name, report)).collect();
        let joints = tree.bodies.iter().filter_map(|body| body.joint.as_ref());
        let steps = joints.flat_map(|joint| &joint.moves);
        let moves =
            steps.map(|step| (step.name.as_str(), joint_names.give("joint", &step.name, report))).collect();
        let (xml, meshes) = (XmlText::default(), MeshFiles::new(stem));
        Self { xml, tree, meshes, has_world, links, link_names, joint_names, moves }
    }

    /// The frame of a link in that of its body.
    fn body_from_link(&self, body: usize) -> Pose {
        match &self.tree.bodies[body].joint {
            Some(joint) if !joint.moves.is_empty() && !joint.is_free() => {
                Pose::from_translation(joint.lower_from_joint.translation)
            }
            _ => Pose::IDENTITY,
        }
    }

    fn write_links(&mut self, geoms: &[OutGeom], report: &mut ExportReport) {
        let n = self.tree.bodies.len();
        let mut of_body: Vec<Vec<&OutGeom>> = vec![Vec::new(); n + 1];
        geoms.iter().for_each(|geom| of_body[geom.body.unwrap_or(n)].push(geom));
        if self.has_world {
            self.xml.begin("link").put("name", WORLD);
            self.write_shapes(&of_body[n], Pose::IDENTITY, report);
            self.xml.end();
        }
        for (at, body) in self.tree.bodies.iter().enumerate() {
            let link_from_body = self.body_from_link(at).inverse();
            self.xml.begin("link").put("name", &self.links[at]);
            self.write_inertial(body, &link_from_body);
            self.write_shapes(&of_body[at], link_from_body, report);
            self.xml.end();
        }
        report.count("links", n);
    }

    fn write_inertial(&mut self, body: &OutBody<'_>, link_from_body: &Pose) {
        let mass = body.mass.transformed_by(*link_from_body);
        if mass.mass <= 0.0 {
            return;
        }
        self.xml.begin("inertial");
        self.write_origin(&Pose::from_translation(mass.com));
        self.xml.begin("mass").numbers("value", &[mass.mass]);
        self.xml.end();
        let inertia = mass.inertia;
        self.xml.begin("inertia");
        let entries = [inertia.xx, inertia.xy, inertia.xz, inertia.yy, inertia.yz, inertia.zz];
        for (name, entry) in ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"].into_iter().zip(entries) {
            self.xml.numbers(name, &[entry]);
        }
        self.xml.end();
        self.xml.end();
    }

    /// An `<origin>`; none for the frame around it.
    fn write_origin(&mut self, pose: &Pose) {
        let angles = roll_pitch_yaw_of(pose);
        if pose.translation == DVec3::ZERO && angles == DVec3::ZERO {
            return;
        }
        self.xml.begin("origin").vector("xyz", pose.translation);
        self.xml.unless_zero("rpy", &angles.to_array());
        self.xml.end();
    }
}

/// Whether all hangs on one fixed body in the origin, and nothing else is on the world.
fn is_base_alone(tree: &OutTree<'_>, geoms: &[OutGeom]) -> bool {
    let mut tops = tree.bodies.iter().filter(|body| body.above().is_none());
    let (Some(base), None) = (tops.next(), tops.next()) else { return false };
    let on_world = geoms.iter().any(|geom| geom.body.is_none());
    base.doc.kind == BodyKindDoc::Fixed && base.at == Pose::IDENTITY && !on_world
}

/// Roll, pitch and yaw of a rotation (rad), which give it back to rounding at any pitch.
fn roll_pitch_yaw_of(pose: &Pose) -> DVec3 {
    let r: DMat3 = quat_to_mat3(pose.rotation);
    let [x, y, z] = [r.x_axis, r.y_axis, r.z_axis];
    let yaw = if x.x == 0.0 && x.y == 0.0 { 0.0 } else { ops::atan2(x.y, x.x) };
    let (sine, cosine) = ops::sin_cos(yaw);
    let pitch = ops::atan2(-x.z, cosine * x.x + sine * x.y);
    let roll = ops::atan2(sine * z.x - cosine * z.y, cosine * y.y - sine * y.x);
    DVec3::new(roll, pitch, yaw)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use glam::DVec3;
    use sinew_math::{Pose, exp_so3};

    use super::roll_pitch_yaw_of;
    use crate::robot::roll_pitch_yaw;

    #[test]
    fn angles_give_the_rotation_back_at_any_pitch() {
        for pitch in [0.0, 0.7, -1.5, FRAC_PI_2, FRAC_PI_2 - 1e-9, -FRAC_PI_2 + 1e-13, FRAC_PI_2 - 3e-7] {
            for (roll, yaw) in [(0.0, 0.0), (1.0, -2.0), (3.0, 3.1), (-0.3, 1e-9)] {
                let tilt = exp_so3(DVec3::new(1e-12, 0.0, 1e-10));
                let rotation = roll_pitch_yaw(DVec3::new(roll, pitch, yaw)) * tilt;
                let back = roll_pitch_yaw(roll_pitch_yaw_of(&Pose::from_rotation(rotation)));
                let off = 1.0 - back.dot(rotation).abs();
                let turn = back * rotation.inverse();
                assert!(off < 1e-15 && turn.xyz().length() < 1e-14, "{roll} {pitch} {yaw}: {turn:?}");
            }
        }
    }
}
