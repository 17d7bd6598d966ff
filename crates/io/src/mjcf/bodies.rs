//! The tree of bodies: frames, joints, geoms, inertia and sites.
//!
//! Bodies are numbered parents first in the order of the file, 0 is the world; `qpos` follows that order. Body frames, metres, kilograms.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};
use sinew_math::{MassProperties, Pose, Sym3, quat_to_mat3};

use super::defaults::{DefaultClasses, Inherited};
use super::flex::{FlexReader, MjcfFlex};
use super::frames::{direction, read_pose, read_rotation, towards};
use super::geoms::{GeomReader, MjcfGeom};
use super::joints::MjcfJoint;
use super::settings::Conventions;
use crate::error::ImportFault;
use crate::report::{FilePlace, ImportReport};
use crate::xml::Element;

/// A body, as it is written.
#[derive(Clone, Debug)]
pub(super) struct MjcfBody {
    pub(super) name: String,
    pub(super) place: FilePlace,
    pub(super) parent: usize,
    /// In the frame of the parent, in the pose of the file.
    pub(super) at: Pose,
    pub(super) joints: Vec<MjcfJoint>,
    pub(super) geoms: Vec<MjcfGeom>,
    pub(super) inertial: Option<MassProperties>,
    pub(super) is_mocap: bool,
    /// Part of its weight that does not act.
    pub(super) weightless: f64,
}

/// A site: a point with axes that other elements name.
#[derive(Clone, Copy, Debug)]
pub(super) struct SitePlace<'a> {
    element: &'a Element,
    class: usize,
    body: usize,
    body_from_frame: Pose,
}

/// Everything in `<worldbody>`.
#[derive(Debug, Default)]
pub(super) struct BodyTree<'a> {
    pub(super) bodies: Vec<MjcfBody>,
    pub(super) sites: BTreeMap<&'a str, SitePlace<'a>>,
    pub(super) flexes: Vec<MjcfFlex>,
}

/// Elements that are still to be read: bodies, and frames in them.
struct Pending<'a> {
    element: &'a Element,
    /// The body around it.
    body: usize,
    /// Frame of the element around it in that body.
    body_from_frame: Pose,
    class: usize,
}

/// Reads the tree; faults are kept, and reading goes on.
pub(super) struct BodyReader<'a, 'b> {
    pub(super) defaults: &'b DefaultClasses<'a>,
    pub(super) units: &'b Conventions,
    pub(super) geoms: GeomReader<'a, 'b>,
    pub(super) flex: FlexReader<'a, 'b>,
    pub(super) report: &'b mut ImportReport,
    pub(super) faults: Vec<ImportFault>,
}

impl<'a> BodyReader<'a, '_> {
    pub(super) fn read(&mut self, root: &'a Element) -> BodyTree<'a> {
        let mut tree = BodyTree::default();
        tree.bodies.push(MjcfBody::new("world".to_owned(), FilePlace::default(), 0, Pose::IDENTITY));
        for world in root.children("worldbody") {
            let outermost = Pending { element: world, body: 0, body_from_frame: Pose::IDENTITY, class: 0 };
            let mut next = Vec::new();
            self.read_inside(&mut tree, &outermost, &mut next);
            while let Some(pending) = next.pop() {
                if let Err(fault) = self.read_pending(&mut tree, &pending, &mut next) {
                    self.faults.push(fault);
                }
            }
        }
        tree
    }

    fn read_pending(
        &mut self,
        tree: &mut BodyTree<'a>,
        pending: &Pending<'a>,
        next: &mut Vec<Pending<'a>>,
    ) -> Result<(), ImportFault> {
        let Pending { element, body, body_from_frame, class } = *pending;
        let class = self.defaults.child_class(element, class)?;
        let plain = self.defaults.inherit(element, class, &[]);
        let at = body_from_frame.compose(&read_pose(&plain, self.units)?);
        if element.tag() == "frame" {
            let inside = Pending { element, body, body_from_frame: at, class };
            self.read_inside(tree, &inside, next);
            return Ok(());
        }
        let number = tree.bodies.len();
        let name = element.attribute("name").map_or_else(|| format!("body_{number}"), str::to_owned);
        let mut new = MjcfBody::new(name, element.place(), body, at);
        new.is_mocap = element.attribute("mocap") == Some("true");
        new.weightless = element.number("gravcomp")?.unwrap_or(0.0);
        tree.bodies.push(new);
        let inside = Pending { element, body: number, body_from_frame: Pose::IDENTITY, class };
        self.read_inside(tree, &inside, next);
        Ok(())
    }

    /// Reads what is in a body or frame, and leaves the bodies and frames in it for later, the first on top.
    fn read_inside(&mut self, tree: &mut BodyTree<'a>, around: &Pending<'a>, next: &mut Vec<Pending<'a>>) {
        let first = next.len();
        for element in around.element.peek() {
            if let Err(fault) = self.read_part(tree, around, element, next) {
                self.faults.push(fault);
            }
        }
        next[first..].reverse();
    }

    fn read_part(
        &mut self,
        tree: &mut BodyTree<'a>,
        around: &Pending<'a>,
        element: &'a Element,
        next: &mut Vec<Pending<'a>>,
    ) -> Result<(), ImportFault> {
        let Pending { body, body_from_frame, class, .. } = *around;
        let inherit = |tag| {
            element.mark_read();
            let class = self.defaults.class(element, class)?;
            Ok::<_, ImportFault>(self.defaults.inherit(element, class, &[tag]))
        };
        match element.tag() {
            "body" | "frame" => {
                element.mark_read();
                next.push(Pending { element, body, body_from_frame, class });
            }
            "joint" => tree.bodies[body].joints.push(MjcfJoint::read(&inherit("joint")?, self.units)?),
            "freejoint" => {
                element.mark_read();
                tree.bodies[body].joints.push(MjcfJoint::free(element));
            }
            "inertial" => {
                tree.bodies[body].inertial = Some(read_inertial(&inherit("inertial")?, self.units)?)
            }
            "geom" => {
                let geom = inherit("geom")?;
                let geom = self.geoms.read(&geom, &body_from_frame, self.report)?;
                tree.bodies[body].geoms.extend(geom);
            }
            "flexcomp" => {
                element.mark_read();
                let flex = self.flex.read(element, (body, &body_from_frame), self.report)?;
                tree.flexes.extend(flex);
            }
            "site" => {
                if let Some(name) = element.attribute("name") {
                    let class = self.defaults.class(element, class)?;
                    tree.sites.insert(name, SitePlace { element, class, body, body_from_frame });
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl MjcfBody {
    fn new(name: String, place: FilePlace, parent: usize, at: Pose) -> Self {
        Self {
            name,
            place,
            parent,
            at,
            joints: Vec::new(),
            geoms: Vec::new(),
            inertial: None,
            is_mocap: false,
            weightless: 0.0,
        }
    }

    /// A fault at this body.
    pub(super) fn fault(&self, problem: impl Into<String>) -> ImportFault {
        ImportFault::new(self.place.clone(), problem)
    }
}

impl<'a> SitePlace<'a> {
    /// The body of a site, and its frame there.
    pub(super) fn resolve(
        &self,
        defaults: &DefaultClasses<'a>,
        units: &Conventions,
    ) -> Result<(usize, Pose), ImportFault> {
        self.element.mark_read();
        let site = defaults.inherit(self.element, self.class, &["site"]);
        let at = match site.numbers("fromto")? {
            None => read_pose(&site, units)?,
            Some(ends) if ends.len() == 6 => {
                let (from, to) = (DVec3::from_slice(&ends), DVec3::from_slice(&ends[3..]));
                let turn = towards(direction(&site, "fromto", from - to)?);
                Pose::new(turn, from.midpoint(to))
            }
            Some(ends) => {
                return Err(site.fault(format!("`fromto` takes six numbers, not {}", ends.len())));
            }
        };
        Ok((self.body, self.body_from_frame.compose(&at)))
    }
}

/// Mass and inertia of an `<inertial>`.
fn read_inertial(inertial: &Inherited<'_>, units: &Conventions) -> Result<MassProperties, ImportFault> {
    let mass = inertial.number("mass")?.ok_or_else(|| inertial.fault("write mass=\"…\" (kg)"))?;
    if mass < 0.0 {
        return Err(inertial.fault(format!("the mass {mass} is negative")));
    }
    let com = inertial.vector("pos")?.unwrap_or_default();
    let written = match inertial.numbers("fullinertia")?.as_deref() {
        None => Sym3::diagonal(inertial.vector("diaginertia")?.unwrap_or_default()),
        Some(&[xx, yy, zz, xy, xz, yz]) => Sym3 { xx, yy, zz, xy, xz, yz },
        Some(found) => {
            return Err(inertial.fault(format!("`fullinertia` takes six numbers, not {}", found.len())));
        }
    };
    let axes: DMat3 = quat_to_mat3(read_rotation(inertial, units)?);
    let inertia = written.rotated_by(&axes);
    Ok(MassProperties { mass, com, inertia })
}
