//! Geoms, meshes, and what does not touch.
//!
//! MuJoCo gives half sizes, and round shapes lie along z; a scene has whole sizes, and x. Each pair of groups that occurs becomes a bit of `contype`, and what it meets `conaffinity`.

use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_2;

use glam::DVec3;
use sinew_math::{Pose, Shape, exp_so3};
use sinew_scene::{ContactDoc, FirmnessDoc, SceneDoc};

use super::bodies::put_pose;
use super::writer::{MjcfWriter, WORLD};
use crate::export_report::ExportReport;
use crate::outgoing::{OutForm, OutGeom, file};

/// The group of geoms that touch and are not shown.
const HIDDEN: f64 = 3.0;

/// Depth of what lies below a height field (m).
const BASE: f64 = 0.1;

/// The lowest and the highest height.
fn ends(rows: &[Vec<f64>]) -> [f64; 2] {
    let all = || rows.iter().flatten().copied();
    [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)]
}

impl MjcfWriter<'_, '_> {
    /// Writes the meshes and height fields that geoms name.
    pub(super) fn write_meshes(&mut self, geoms: &[OutGeom], report: &mut ExportReport) {
        let mut names = Vec::new();
        for geom in geoms {
            if let OutForm::Mesh { name, mesh } = &geom.form {
                let (name, is_new) = self.meshes.add(name, mesh);
                names.extend(is_new.then_some(name));
            }
        }
        let fields = geoms.iter().filter(|geom| matches!(geom.form, OutForm::Heights { .. })).count();
        if names.is_empty() && fields == 0 {
            return;
        }
        self.xml.begin("asset");
        for name in &names {
            // Bodies have their masses: a mesh that is open needs no volume.
            self.xml.begin("mesh").put("name", name).put("file", &file(name)).put("inertia", "shell");
            self.xml.end();
        }
        geoms.iter().for_each(|geom| self.write_heights(geom));
        self.xml.end();
        report.count("meshes", names.len());
        report.count("height fields", fields);
    }

    /// Writes the heights of a height field, from the top row down; MuJoCo scales them to 0 … its third size.
    fn write_heights(&mut self, geom: &OutGeom) {
        let OutForm::Heights { name, size: [x, y], rows } = &geom.form else { return };
        let [low, high] = ends(rows);
        let top = if high > low { high - low } else { BASE };
        self.xml.begin("hfield").put("name", name);
        let (n, m) = (rows.len(), rows.first().map_or(0, Vec::len));
        self.xml.numbers("nrow", &[n as f64]).numbers("ncol", &[m as f64]);
        self.xml.numbers("size", &[0.5 * x, 0.5 * y, top, BASE]);
        let heights: Vec<f64> = rows.iter().rev().flatten().copied().collect();
        self.xml.numbers("elevation", &heights);
        self.xml.end();
    }

    /// Writes a geom of a body, or of the world.
    pub(super) fn write_geom(&mut self, geom: &OutGeom, report: &mut ExportReport) {
        let tree = self.tree;
        let part = geom.body.map_or_else(
            || "a shape of the world".to_owned(),
            |body| format!("a shape of `{}`", tree.bodies[body].doc.name),
        );
        self.xml.begin("geom");
        self.put_form(geom);
        if !geom.is_shown {
            self.xml.numbers("group", &[HIDDEN]);
        }
        match &geom.contact {
            Some(contact) => self.put_contact(contact, &part, report),
            None => {
                self.xml.put("contype", "0").put("conaffinity", "0");
            }
        }
        if let Some(color) = geom.color {
            let [r, g, b] = color.to_array();
            self.xml.numbers("rgba", &[r, g, b, 1.0]);
        }
        self.xml.end();
        report.count("geoms", 1);
    }

    /// Type, size and place.
    fn put_form(&mut self, geom: &OutGeom) {
        let upright = Pose::from_rotation(exp_so3(DVec3::Y * FRAC_PI_2));
        let (kind, size, at) = match &geom.form {
            OutForm::Plane(point, normal) => {
                let xml = self.xml.put("type", "plane").numbers("size", &[0.0, 0.0, 1.0]);
                xml.unless_zero("pos", &point.to_array());
                if *normal != DVec3::Z {
                    xml.vector("zaxis", *normal);
                }
                return;
            }
            OutForm::Mesh { name, mesh } => {
                let (name, _) = self.meshes.add(name, mesh);
                self.xml.put("type", "mesh").put("mesh", &name);
                return put_pose(&mut self.xml, &geom.at);
            }
            OutForm::Heights { name, rows, .. } => {
                self.xml.put("type", "hfield").put("hfield", name);
                let up = Pose::from_translation(DVec3::Z * ends(rows)[0]);
                return put_pose(&mut self.xml, &geom.at.compose(&up));
            }
            OutForm::Solid(solid) => match *solid {
                Shape::Box { size } => ("box", (0.5 * size).to_array().to_vec(), geom.at),
                Shape::Sphere { radius } => ("sphere", vec![radius], geom.at),
                Shape::Capsule { radius, length } => {
                    ("capsule", vec![radius, 0.5 * length], geom.at.compose(&upright))
                }
                Shape::Cylinder { radius, length } => {
                    ("cylinder", vec![radius, 0.5 * length], geom.at.compose(&upright))
                }
                Shape::Ellipsoid { semi_axes } => ("ellipsoid", semi_axes.to_array().to_vec(), geom.at),
            },
        };
        self.xml.put("type", kind).numbers("size", &size);
        put_pose(&mut self.xml, &at);
    }

    fn put_contact(&mut self, contact: &ContactDoc, part: &str, report: &mut ExportReport) {
        match self.classes.bits(contact) {
            Some([1, 1]) => {}
            Some([kind, met]) => {
                let bits = [kind, met].map(|bits| bits.to_string());
                self.xml.put("contype", &bits[0]).put("conaffinity", &bits[1]);
            }
            None => report.approximated(
                "groups",
                "there are more than 31 pairs of groups: everything touches everything",
            ),
        }
        let ContactDoc { friction, rolling_friction, torsional_friction, restitution, firmness, .. } =
            *contact;
        match (friction > 0.0, torsional_friction > 0.0, rolling_friction > 0.0) {
            (_, _, true) => {
                self.xml.numbers("condim", &[6.0]);
                self.xml.numbers("friction", &[friction, torsional_friction, rolling_friction]);
            }
            (_, true, _) => {
                self.xml.numbers("condim", &[4.0]).numbers("friction", &[friction, torsional_friction]);
            }
            (true, ..) => {
                self.xml.numbers("friction", &[friction]);
            }
            _ => {
                self.xml.numbers("condim", &[1.0]).numbers("friction", &[0.0]);
            }
        }
        if restitution > 0.0 {
            report.left_out(part, "how it bounces");
        }
        if firmness != FirmnessDoc::Auto {
            report.left_out(part, "how firm its surface is");
        }
    }

    /// Keeps bodies apart: those that the scene keeps apart, and those of joints that MuJoCo does not see as parent and child.
    pub(super) fn write_excludes(&mut self) {
        let scene = self.tree.scene;
        let touching = touching(scene);
        let is_body = |name: &str| name == WORLD || scene.bodies.iter().any(|body| body.name == name);
        let mut pairs = BTreeSet::new();
        for pair in scene.pairs.iter().filter(|pair| pair.apart && is_body(&pair.a) && is_body(&pair.b)) {
            pairs.insert([pair.a.as_str(), &pair.b]);
        }
        let loops = self.tree.loops.iter();
        let fixed = self
            .tree
            .bodies
            .iter()
            .filter_map(|body| body.joint.as_ref())
            .filter(|joint| joint.upper.is_some_and(|upper| !self.tree.bodies[upper].moves()));
        for joint in loops.chain(fixed) {
            if let Some(parent) = &joint.doc.parent
                && [&joint.doc.child, parent].iter().all(|name| touching.contains(name.as_str()))
            {
                pairs.insert([joint.doc.child.as_str(), parent]);
            }
        }
        if pairs.is_empty() {
            return;
        }
        let place = |name: &str| scene.bodies.iter().position(|body| body.name == name);
        self.xml.begin("contact");
        for [a, b] in pairs {
            let [a, b] = [a, b].map(|name| self.body_name(place(name)).to_owned());
            self.xml.begin("exclude").put("body1", &a).put("body2", &b);
            self.xml.end();
        }
        self.xml.end();
    }
}

/// Bodies with something that touches.
fn touching(scene: &SceneDoc) -> BTreeSet<&str> {
    let own = scene.bodies.iter().filter(|body| body.contact.is_some()).map(|body| body.name.as_str());
    let others = scene.colliders.iter().filter(|it| it.contact.touches != 0).map(|it| it.body.as_str());
    own.chain(others).collect()
}
