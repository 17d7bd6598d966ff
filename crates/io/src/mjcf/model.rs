//! A whole model, as it is written, with names.

use std::cell::Cell;
use std::collections::BTreeMap;

use sinew_math::Pose;

use super::bodies::{BodyReader, BodyTree};
use super::defaults::DefaultClasses;
use super::flex::FlexReader;
use super::geoms::{GeomReader, read_color};
use super::heights::HeightAssets;
use super::layout::{check_joints, hold_roots};
use super::meshes::MeshAssets;
use super::settings::{Conventions, RunOptions};
use crate::error::{ImportError, ImportFault};
use crate::files::Files;
use crate::report::ImportReport;
use crate::robot::ImportOptions;
use crate::xml::Element;

/// A model.
pub(super) struct MjcfModel<'a> {
    pub(super) units: Conventions,
    pub(super) run: RunOptions,
    pub(super) defaults: DefaultClasses<'a>,
    pub(super) tree: BodyTree<'a>,
    pub(super) body_names: BTreeMap<String, usize>,
    /// Bodies and the numbers of joints there.
    joint_names: BTreeMap<String, (usize, usize)>,
}

impl<'a> MjcfModel<'a> {
    pub(super) fn read(
        root: &'a Element,
        files: &'a Files,
        options: &ImportOptions,
        report: &mut ImportReport,
    ) -> Result<Self, ImportError> {
        if root.tag() != "mujoco" {
            return Err(root.fault("an MJCF file begins with <mujoco>").into());
        }
        let units = Conventions::read(root)?;
        let defaults = DefaultClasses::read(root)?;
        let (mut tree, mut faults) = read_bodies(root, files, &units, &defaults, report)?;
        hold_roots(&mut tree.bodies, options.root, report);
        faults.extend(check_joints(&tree.bodies));
        let mut model = Self {
            run: RunOptions::read(root)?,
            units,
            defaults,
            tree,
            body_names: BTreeMap::new(),
            joint_names: BTreeMap::new(),
        };
        faults.extend(model.name());
        if faults.is_empty() { Ok(model) } else { Err(ImportError { faults }) }
    }

    /// Collects names; faults are names that are there twice.
    fn name(&mut self) -> Vec<ImportFault> {
        let mut faults = Vec::new();
        for (i, body) in self.tree.bodies.iter().enumerate() {
            if self.body_names.insert(body.name.clone(), i).is_some() {
                faults.push(body.fault(format!("there is another body `{}`", body.name)));
            }
            for (k, joint) in body.joints.iter().enumerate().filter(|(_, joint)| !joint.name.is_empty()) {
                if self.joint_names.insert(joint.name.clone(), (i, k)).is_some() {
                    let what = format!("there is another joint `{}`", joint.name);
                    faults.push(ImportFault::new(joint.place.clone(), what));
                }
            }
        }
        faults
    }

    /// A joint that an element names.
    pub(super) fn any_joint(&self, element: &Element, name: &str) -> Result<(usize, usize), ImportFault> {
        let found = self.joint_names.get(name).copied();
        found.ok_or_else(|| element.fault(format!("there is no joint `{name}`")))
    }

    /// A joint with one coordinate that an element names.
    pub(super) fn joint(&self, element: &Element, name: &str) -> Result<(usize, usize), ImportFault> {
        let joint = self.any_joint(element, name)?;
        let is_scalar = self.tree.bodies[joint.0].joints[joint.1].is_scalar();
        is_scalar.then_some(joint).ok_or_else(|| {
            element.fault(format!("the joint `{name}` neither turns about an axis nor slides"))
        })
    }

    /// The body of a site that an element names, and its frame there.
    pub(super) fn site(&self, element: &Element, name: &str) -> Result<(usize, Pose), ImportFault> {
        let site = self.tree.sites.get(name);
        let site = site.ok_or_else(|| element.fault(format!("there is no site `{name}`")))?;
        site.resolve(&self.defaults, &self.units)
    }
}

/// Bodies with their geoms, and what is wrong with them.
fn read_bodies<'a>(
    root: &'a Element,
    files: &'a Files,
    units: &Conventions,
    defaults: &DefaultClasses<'a>,
    report: &mut ImportReport,
) -> Result<(BodyTree<'a>, Vec<ImportFault>), ImportFault> {
    let colors = read_colors(root, defaults)?;
    let mut meshes = MeshAssets::read(root, defaults, units, files)?;
    let mut heights = HeightAssets::read(root, units, files)?;
    let geoms = GeomReader { units, meshes: &mut meshes, heights: &mut heights, colors: &colors };
    let flex = FlexReader { defaults, units, files, n_points: Cell::new(0) };
    let mut reader = BodyReader { defaults, units, geoms, flex, report, faults: Vec::new() };
    let tree = reader.read(root);
    Ok((tree, reader.faults))
}

/// Colours of materials.
fn read_colors<'a>(
    root: &'a Element,
    defaults: &DefaultClasses<'a>,
) -> Result<BTreeMap<&'a str, [f64; 4]>, ImportFault> {
    let mut colors = BTreeMap::new();
    for asset in root.children("asset") {
        for material in asset.peek().iter().filter(|element| element.tag() == "material") {
            let Some(name) = material.attribute("name") else { continue };
            material.mark_read();
            let class = defaults.class(material, 0)?;
            if let Some(color) = read_color(&defaults.inherit(material, class, &["material"]))? {
                colors.insert(name, color);
            }
        }
    }
    Ok(colors)
}
