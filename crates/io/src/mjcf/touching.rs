//! Colliders and looks of geoms, and what does not touch.
//!
//! Two geoms touch if a bit of `contype` of one is in `conaffinity` of the other. Each pair of masks that occurs becomes a group of the scene.
//! Bodies that are fixed to each other do not touch, nor does a body that moves and what hangs on it.

use std::collections::{BTreeMap, BTreeSet};

use sinew_scene::{ColliderDoc, ColliderShapeDoc, ContactDoc, PairDoc};

use super::bodies::MjcfBody;
use super::geoms::{GeomForm, MjcfGeom};
use super::parts::{MjcfScene, WORLD};
use crate::error::ImportFault;
use crate::geometry::{Geometry, GeometryWriter};
use crate::report::{ImportReport, Outcome};
use crate::xml::Element;

/// Most pairs of bodies that are kept apart.
const MOST_PAIRS: usize = 20_000;

/// The groups of a scene for each pair of masks.
struct MaskGroups(Vec<[u32; 2]>);

impl MaskGroups {
    fn of(masks: impl Iterator<Item = [u32; 2]>) -> Self {
        let masks: BTreeSet<[u32; 2]> = masks.filter(|masks| *masks != [0, 0]).collect();
        Self(masks.into_iter().collect())
    }

    /// The groups that geoms with masks are in and touch; everything if there are more masks than bits.
    fn groups(&self, own: [u32; 2]) -> (u32, u32) {
        if self.0.len() > 32 {
            return (u32::MAX, u32::MAX);
        }
        let meet = |other: &[u32; 2]| own[0] & other[1] != 0 || other[0] & own[1] != 0;
        let bit = |at: usize| 1_u32 << at;
        let is_in = self.0.iter().position(|masks| *masks == own).map_or(0, bit);
        let touches = self.0.iter().enumerate().filter(|(_, other)| meet(other)).map(|(at, _)| bit(at));
        (is_in, touches.fold(0, |all, bit| all | bit))
    }
}

impl MjcfScene<'_, '_> {
    /// Writes what bodies look like and how they touch.
    pub(super) fn write_geoms(&mut self, writer: &mut GeometryWriter<'_>, report: &mut ImportReport) {
        let bodies = self.bodies();
        let masks = bodies.iter().flat_map(|body| &body.geoms).map(|geom| geom.bits);
        let groups = MaskGroups::of(masks.chain(self.model.tree.flexes.iter().map(|flex| flex.bits)));
        if groups.0.len() > 32 {
            let what = "more than 32 pairs of contype and conaffinity: everything touches everything";
            report.note(Outcome::Approximated, bodies[0].place.clone(), what);
        }
        let mut touching = bodies.iter().flat_map(|body| &body.geoms).filter(|geom| geom.touches());
        let has_friction = touching.any(|geom| geom.dimension > 1.0);
        let places: BTreeMap<String, usize> =
            self.scene.bodies.iter().enumerate().map(|(at, body)| (body.name.clone(), at)).collect();
        if self.model.run.has_contact {
            let flexes = self.scene.flesh.iter_mut().zip(&self.model.tree.flexes);
            for (flesh, flex) in flexes.filter(|(_, flex)| flex.bits != [0, 0]) {
                let (is_in, touches) = groups.groups(flex.bits);
                flesh.contact = Some(ContactDoc { groups: is_in, touches, ..flex.contact });
            }
        }
        for (i, body) in bodies.iter().enumerate() {
            let (name, carrier_from_body) = self.carrier(i);
            let carrier = name.map(|name| places[name]);
            let discard = self.model.units.discard_visual;
            let hidden = !body.geoms.iter().any(MjcfGeom::is_shown);
            for geom in body.geoms.iter().filter(|geom| geom.touches() || !discard) {
                let (is_in, touches) = groups.groups(geom.bits);
                let has_contact = geom.touches() && self.model.run.has_contact;
                let friction = if has_friction { geom.contact.friction } else { 0.0 };
                let contact = ContactDoc { groups: is_in, touches, friction, ..geom.contact };
                let shown = geom.is_shown() || hidden && geom.touches();
                match &geom.form {
                    GeomForm::Plane(..) if !has_contact => {}
                    GeomForm::Plane(point, normal) if self.layout.is_static[i] => {
                        let world = self.layout.world_from_body[i];
                        let shape = ColliderShapeDoc::Plane {
                            point: world.transform_point(*point),
                            normal: world.transform_vector(*normal),
                        };
                        self.scene.colliders.push(ColliderDoc { contact, ..ColliderDoc::new(shape) });
                        report.count("collisions", 1);
                    }
                    GeomForm::Plane(..) => {
                        let what = "a plane of a body that moves is not used";
                        report.note(Outcome::Ignored, body.place.clone(), what);
                    }
                    GeomForm::Other(form) => {
                        let form = Geometry { at: carrier_from_body.compose(&form.at), ..form.clone() };
                        let how = (has_contact.then_some(contact), shown);
                        write_form(writer, &mut self.scene, (carrier, &form), how, report);
                    }
                }
            }
        }
    }

    /// Keeps apart what MuJoCo keeps apart, beside what a joint of the scene connects.
    pub(super) fn write_excludes(
        &mut self,
        root: &Element,
        names: &BTreeMap<String, usize>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let mut apart = self.neighbours();
        for exclude in root.children("contact").flat_map(|contact| contact.children("exclude")) {
            let body = |attribute: &str| {
                let name = exclude.required(attribute)?;
                let found = names.get(name).copied();
                found.ok_or_else(|| exclude.fault(format!("there is no body `{name}`")))
            };
            apart.insert(self.pair(body("body1")?, body("body2")?));
            report.count("excluded pairs", 1);
        }
        if apart.len() > MOST_PAIRS {
            let what = format!("only {MOST_PAIRS} of {} pairs of bodies are kept apart", apart.len());
            report.note(Outcome::Approximated, root.place(), what);
        }
        let joined: BTreeSet<[String; 2]> = self
            .scene
            .joints
            .iter()
            .map(|joint| ascending(joint.child.clone(), joint.parent.clone().unwrap_or_default()))
            .collect();
        let colliding: BTreeSet<&str> = self.scene.colliders.iter().map(|it| it.body.as_str()).collect();
        let is_needed = |pair: &[String; 2]| {
            pair[0] != pair[1]
                && !joined.contains(pair)
                && pair.iter().all(|name| colliding.contains(name.as_str()))
        };
        let pairs = apart.into_iter().filter(is_needed).take(MOST_PAIRS);
        let pairs: Vec<PairDoc> =
            pairs.map(|[a, b]| PairDoc { a, b, apart: true, ..PairDoc::default() }).collect();
        self.scene.pairs.extend(pairs);
        Ok(())
    }

    /// The bodies of the scene that carry two bodies.
    fn pair(&self, a: usize, b: usize) -> [String; 2] {
        let name = |body: usize| self.carrier(body).0.unwrap_or(WORLD).to_owned();
        ascending(name(a), name(b))
    }

    /// Bodies that are fixed to each other, and those of a joint.
    fn neighbours(&self) -> BTreeSet<[String; 2]> {
        let bodies = self.bodies();
        let (first, members) = fixed_together(bodies);
        let mut apart = BTreeSet::new();
        for (i, body) in bodies.iter().enumerate().skip(1).filter(|(i, _)| first[*i] == *i) {
            let above = first[body.parent];
            let near = members[i].iter().chain(members[above].iter().filter(|_| above != 0));
            for a in &members[i] {
                for b in near.clone() {
                    if apart.len() <= MOST_PAIRS {
                        apart.insert(self.pair(*a, *b));
                    }
                }
            }
        }
        apart
    }
}

/// Per body the first that it is fixed to, and per first body those with geoms; a body that moves without joints to another goes by itself.
fn fixed_together(bodies: &[MjcfBody]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut first: Vec<usize> = (0..bodies.len()).collect();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
    for (i, body) in bodies.iter().enumerate() {
        if i > 0 && body.joints.is_empty() && !body.is_mocap {
            first[i] = first[body.parent];
        }
        if !body.geoms.is_empty() {
            members[first[i]].push(i);
        }
    }
    (first, members)
}

fn ascending(a: String, b: String) -> [String; 2] {
    if a < b { [a, b] } else { [b, a] }
}

/// Writes a form as a collider, as a look, or as both.
fn write_form(
    writer: &mut GeometryWriter<'_>,
    scene: &mut sinew_scene::SceneDoc,
    (body, form): (Option<usize>, &Geometry),
    (contact, is_shown): (Option<ContactDoc>, bool),
    report: &mut ImportReport,
) {
    if let Some(contact) = contact {
        writer.touch(scene, body, (form, contact), report);
    }
    match body {
        Some(body) if is_shown => writer.show(scene, body, form, report),
        None if is_shown && contact.is_none() => {
            // Colliders of the world are drawn.
            let untouched = ContactDoc { groups: 0, touches: 0, ..ContactDoc::default() };
            writer.touch(scene, None, (form, untouched), report);
        }
        _ => {}
    }
}
