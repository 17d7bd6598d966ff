//! Looks and collisions of links. Round shapes lie along z in a URDF, along x in a scene.

use std::f64::consts::FRAC_PI_2;

use glam::DVec3;
use sinew_math::{Pose, Shape, exp_so3};
use sinew_mesh::Triangles;
use sinew_scene::ContactDoc;

use super::UrdfWriter;
use crate::export_report::ExportReport;
use crate::outgoing::{OutForm, OutGeom, file};

impl UrdfWriter<'_, '_> {
    /// Writes the shapes of a link.
    pub(super) fn write_shapes(
        &mut self,
        geoms: &[&OutGeom],
        link_from_body: Pose,
        report: &mut ExportReport,
    ) {
        for geom in geoms {
            let part = match geom.body {
                Some(body) => format!("shape of `{}`", self.tree.bodies[body].doc.name),
                None => "shape of the world".to_owned(),
            };
            if let OutForm::Plane(..) = geom.form {
                report.left_out("plane of the world", "a URDF has no planes");
                continue;
            }
            if let OutForm::Heights { .. } = geom.form {
                report.left_out(format!("height field, {part}"), "a URDF has no height fields");
                continue;
            }
            if geom.contact.is_some_and(|contact| contact != ContactDoc::default()) {
                let what = "friction, bounce, firmness and groups of contact: a URDF says nothing of them";
                report.left_out(part.clone(), what);
            }
            let at = link_from_body.compose(&geom.at);
            let forms = self.forms(geom, &part, report);
            for (tag, is_wanted) in [("visual", geom.is_shown), ("collision", geom.contact.is_some())] {
                for (shape_from_form, form) in forms.iter().filter(|_| is_wanted) {
                    self.xml.begin(tag);
                    self.write_origin(&at.compose(shape_from_form));
                    self.write_geometry(form);
                    if let (Some(color), "visual") = (geom.color, tag) {
                        self.write_color(color);
                    }
                    self.xml.end();
                }
            }
            report.count("visuals", usize::from(geom.is_shown));
            report.count("collisions", usize::from(geom.contact.is_some()));
        }
    }

    /// A shape as the forms that a URDF has, with their frames in that of the shape.
    fn forms(&mut self, geom: &OutGeom, part: &str, report: &mut ExportReport) -> Vec<(Pose, UrdfForm)> {
        let upright = Pose::from_rotation(exp_so3(DVec3::Y * FRAC_PI_2));
        let here = |form: UrdfForm| vec![(Pose::IDENTITY, form)];
        let solid = match &geom.form {
            OutForm::Mesh { name, mesh } => {
                let (name, is_new) = self.meshes.add(name, mesh);
                report.count("meshes", usize::from(is_new));
                return here(UrdfForm::Mesh(file(&name)));
            }
            OutForm::Plane(..) | OutForm::Heights { .. } => return Vec::new(),
            OutForm::Solid(solid) => solid,
        };
        match *solid {
            Shape::Box { size } => here(UrdfForm::Box(size)),
            Shape::Sphere { radius } => here(UrdfForm::Sphere(radius)),
            Shape::Cylinder { radius, length } => vec![(upright, UrdfForm::Cylinder(radius, length))],
            Shape::Capsule { radius, length } => {
                report.approximated(part, "a URDF has no capsules; a cylinder and two balls are the same");
                let end = |x: f64| (Pose::from_translation(DVec3::X * x), UrdfForm::Sphere(radius));
                let middle = (upright, UrdfForm::Cylinder(radius, length));
                vec![middle, end(-0.5 * length), end(0.5 * length)]
            }
            other => {
                report.approximated(part, "a URDF has no ellipsoids; triangles stand for it");
                let (name, is_new) = self.meshes.add("ellipsoid", &tessellated(&other));
                report.count("meshes", usize::from(is_new));
                here(UrdfForm::Mesh(file(&name)))
            }
        }
    }

    fn write_geometry(&mut self, form: &UrdfForm) {
        self.xml.begin("geometry");
        match form {
            UrdfForm::Box(size) => self.xml.begin("box").vector("size", *size),
            UrdfForm::Sphere(radius) => self.xml.begin("sphere").numbers("radius", &[*radius]),
            UrdfForm::Cylinder(radius, length) => {
                self.xml.begin("cylinder").numbers("radius", &[*radius]).numbers("length", &[*length])
            }
            UrdfForm::Mesh(file) => self.xml.begin("mesh").put("filename", file),
        };
        self.xml.end();
        self.xml.end();
    }

    fn write_color(&mut self, color: DVec3) {
        let [r, g, b] = color.to_array();
        let name = color.to_array().map(|part| format!("{:02x}", (part * 255.0).round() as u8)).concat();
        self.xml.begin("material").put("name", &format!("rgb_{name}"));
        self.xml.begin("color").numbers("rgba", &[r, g, b, 1.0]);
        self.xml.end();
        self.xml.end();
    }
}

/// The triangles of a solid.
fn tessellated(solid: &Shape) -> Triangles {
    let drawn = sinew_show::tessellated(solid, 16);
    let triangles = drawn.triangles().map(|corners| corners.map(|corner| corner as u32)).collect();
    Triangles { positions: drawn.positions().collect(), triangles }
}

/// A form that a URDF has (m).
enum UrdfForm {
    Box(DVec3),
    Sphere(f64),
    /// Radius and length.
    Cylinder(f64, f64),
    /// The name of its file.
    Mesh(String),
}
