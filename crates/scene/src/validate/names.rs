//! Rules for names: given, given once, and known where they are used.

use std::collections::BTreeSet;
use std::fmt::Arguments;

use super::issues::Issues;
use super::lookup::{ItemPath, WORLD, characters, joint_tracks};
use super::regions::{each_region, muscle_tracks, regions_of};
use crate::doc::{CharacterDoc, FibresDoc, GeneratorDoc, RegionTetsDoc, RootDoc, SceneDoc};
use crate::{error::SceneIssueKind as Kind, suggest::suggestion};

/// Bodies, joints, springs, ropes, gears, surfaces, flesh, tracks, cameras and generators have names. No name is used twice in its list,
/// or made by a generator.
pub(super) fn names_are_given_once(scene: &SceneDoc, issues: &mut Issues) {
    let none = |_: &GeneratorDoc, _: &str| false;
    let bodies = scene.bodies.iter().map(|b| b.name.as_str());
    let joints = scene.joints.iter().map(|j| j.name.as_str());
    check(scene, issues, "bodies", bodies.clone(), GeneratorDoc::makes_body);
    check(scene, issues, "joints", joints, GeneratorDoc::makes_joint);
    check(scene, issues, "springs", scene.springs.iter().map(|s| s.name.as_str()), none);
    check(scene, issues, "ropes", scene.ropes.iter().map(|rope| rope.name.as_str()), none);
    check(scene, issues, "gears", scene.gears.iter().map(|gear| gear.name.as_str()), none);
    for (i, gear) in scene.gears.iter().enumerate() {
        if scene.ropes.iter().any(|rope| !rope.name.is_empty() && rope.name == gear.name) {
            let message = format!("the name `{}` is already taken by a rope", gear.name);
            issues.add(Kind::DuplicateName, format!("gears[{i}].name"), message, "choose another name");
        }
    }
    let surfaces = scene.surfaces.iter().map(|s| s.name.as_str());
    check(scene, issues, "surfaces", surfaces, GeneratorDoc::makes_surface);
    let flesh = scene.flesh.iter().map(|f| f.name.as_str());
    check(scene, issues, "flesh", flesh, GeneratorDoc::makes_flesh);
    check(scene, issues, "tracks", scene.tracks.iter().map(|t| t.name.as_str()), none);
    check(scene, issues, "cameras", scene.cameras.iter().map(|c| c.name.as_str()), none);
    check(scene, issues, "generators", scene.generators.iter().map(GeneratorDoc::name), none);
    for (i, _) in bodies.enumerate().filter(|(_, name)| *name == WORLD) {
        let message = format!("the name `{WORLD}` is reserved");
        issues.add(Kind::BadName, format!("bodies[{i}].name"), message, "choose another name");
    }
}

/// `makes`: whether a generator makes a name of this kind.
fn check<'s>(
    scene: &'s SceneDoc,
    issues: &mut Issues,
    list: &str,
    names: impl Iterator<Item = &'s str>,
    makes: fn(&GeneratorDoc, &str) -> bool,
) {
    let mut seen = BTreeSet::new();
    for (i, name) in names.enumerate() {
        let field = || format!("{list}[{i}].name");
        if name.is_empty() {
            issues.add(Kind::BadName, field(), "the name is missing", "add name: \"…\"");
        } else if name.chars().any(char::is_control) {
            let message = "the name has characters that cannot be printed";
            issues.add(Kind::BadName, field(), message, "leave out line breaks, tabs and escapes");
        } else if !seen.insert(name) || is_generated(scene, name, makes) {
            let message = format!("the name `{name}` is already taken");
            issues.add(Kind::DuplicateName, field(), message, "choose another name");
        }
    }
}

/// Every name that something refers to exists.
pub(super) fn names_are_known(scene: &SceneDoc, issues: &mut Issues) {
    let known = Known::of(scene);
    each_body_reference(scene, |field, body| known.require_body(issues, body, || field.to_string()));
    for (field, track) in joint_tracks(scene).chain(muscle_tracks(scene)) {
        known.require_track(issues, track, || field);
    }
    for (i, gear) in scene.gears.iter().enumerate() {
        for (field, joint) in [("driver", &gear.driver), ("driven", &gear.driven)] {
            known.require_joint(issues, joint, || format!("gears[{i}].{field}"));
        }
    }
    for (i, input) in scene.inputs.iter().enumerate() {
        let (points, numbers) = input.tracks();
        if let Some(track) = points.or(numbers) {
            known.require_track(issues, track, || format!("inputs[{i}].track"));
        }
        if let Some((flesh, region)) = input.flesh() {
            known.require_flesh(issues, flesh, || format!("inputs[{i}].flesh"));
            let known: Vec<_> = regions_of(scene, flesh).map(str::to_owned).collect();
            if let Some(region) = region.filter(|region| !known.iter().any(|name| name == region)) {
                missing(issues, "region of this flesh", region, || known, format!("inputs[{i}].region"));
            }
        }
    }
    for (i, joint) in scene.expect.broken.iter().flatten().enumerate() {
        known.require_joint(issues, joint, || format!("expect.broken[{i}]"));
    }
    for (i, flesh) in scene.expect.flesh.iter().enumerate() {
        known.require_flesh(issues, &flesh.flesh, || format!("expect.flesh[{i}].flesh"));
    }
    for (i, character) in characters(scene) {
        check_followers(issues, &known, character, i);
    }
}

/// Hands over every name of a body that the scene refers to, with the path of the field.
fn each_body_reference(scene: &SceneDoc, mut found: impl FnMut(Arguments<'_>, &str)) {
    for (i, joint) in scene.joints.iter().enumerate() {
        found(format_args!("joints[{i}].child"), &joint.child);
        if let Some(parent) = &joint.parent {
            found(format_args!("joints[{i}].parent"), parent);
        }
    }
    for (i, spring) in scene.springs.iter().enumerate() {
        for (field, end) in [("from", &spring.from), ("to", &spring.to)] {
            if let Some(name) = end.body() {
                found(format_args!("springs[{i}].{field}.name"), name);
            }
        }
    }
    let ropes = scene.ropes.iter().enumerate().map(|(i, rope)| (ItemPath("ropes", i, ".path"), &rope.path));
    let surfaces = scene.surfaces.iter().enumerate();
    let surfaces = surfaces.map(|(i, surface)| (ItemPath("surfaces", i, ".points"), &surface.points));
    for (path, points) in ropes.chain(surfaces) {
        for (k, name) in points.iter().enumerate().filter_map(|(k, point)| Some((k, point.body()?))) {
            found(format_args!("{path}[{k}].name"), name);
        }
    }
    for (i, generator) in scene.generators.iter().enumerate() {
        for (field, root, _) in generator.roots() {
            if let RootDoc::Body(body) = root {
                found(format_args!("generators[{i}].{field}"), body);
            }
        }
    }
    for (i, body) in scene.inputs.iter().enumerate().filter_map(|(i, input)| Some((i, input.body()?))) {
        found(format_args!("inputs[{i}].body"), body);
    }
    for (i, flesh) in scene.flesh.iter().enumerate() {
        for (k, body) in flesh.attach.iter().enumerate().filter_map(|(k, it)| Some((k, it.body.as_deref()?)))
        {
            if body != WORLD {
                found(format_args!("flesh[{i}].attach[{k}].body"), body);
            }
        }
    }
    for (path, region) in each_region(scene) {
        if let RegionTetsDoc::Near { body, .. } = &region.tets {
            found(format_args!("{path}.tets.body"), body);
        }
        if let Some(FibresDoc::AlongBody(body)) = region.muscle.as_ref().map(|muscle| &muscle.fibres) {
            found(format_args!("{path}.muscle.fibres"), body);
        }
    }
    for (i, collider) in scene.colliders.iter().enumerate().filter(|(_, collider)| collider.body != WORLD) {
        found(format_args!("colliders[{i}].body"), &collider.body);
    }
    for (i, expected) in scene.expect.bodies.iter().enumerate() {
        found(format_args!("expect.bodies[{i}].body"), &expected.body);
    }
}

/// The joints of a character that follow tracks: both exist, and no joint follows two tracks.
fn check_followers(issues: &mut Issues, known: &Known<'_>, character: &CharacterDoc, i: usize) {
    for (k, follow) in character.follow.iter().enumerate() {
        let field = |name: &str| format!("generators[{i}].follow[{k}].{name}");
        known.require_track(issues, &follow.track, || field("track"));
        let joints: Vec<_> = character.joints().map(|joint| joint.name.clone()).collect();
        if !joints.contains(&follow.joint) {
            missing(issues, "joint", &follow.joint, || joints, field("joint"));
        } else if character.follow[..k].iter().any(|other| other.joint == follow.joint) {
            let message = format!("the joint `{}` already follows a track", follow.joint);
            issues.add(Kind::DuplicateName, field("joint"), message, "remove one: a joint follows one track");
        }
    }
}

/// The names that may be referred to.
pub(super) struct Known<'s> {
    scene: &'s SceneDoc,
    bodies: BTreeSet<&'s str>,
    joints: BTreeSet<&'s str>,
    tracks: BTreeSet<&'s str>,
    /// Colliders and bodies that touch.
    touching: BTreeSet<&'s str>,
}

impl<'s> Known<'s> {
    pub(super) fn of(scene: &'s SceneDoc) -> Self {
        let colliders = scene.colliders.iter().map(|collider| collider.known_as());
        let bodies = scene.bodies.iter().filter(|body| body.contact.is_some()).map(|body| body.name.as_str());
        Self {
            scene,
            touching: colliders.chain(bodies).collect(),
            bodies: scene.bodies.iter().map(|b| b.name.as_str()).collect(),
            joints: scene.joints.iter().map(|j| j.name.as_str()).collect(),
            tracks: scene.tracks.iter().map(|t| t.name.as_str()).collect(),
        }
    }

    pub(super) fn require_body(&self, issues: &mut Issues, name: &str, field: impl FnOnce() -> String) {
        if !self.bodies.contains(name) && !is_generated(self.scene, name, GeneratorDoc::makes_body) {
            let generated = self.scene.generators.iter().flat_map(GeneratorDoc::bodies_in_words);
            let known = || self.bodies.iter().map(|&body| body.to_owned()).chain(generated).collect();
            missing(issues, "body", name, known, field());
        }
    }

    fn require_joint(&self, issues: &mut Issues, name: &str, field: impl FnOnce() -> String) {
        if !self.joints.contains(name) && !is_generated(self.scene, name, GeneratorDoc::makes_joint) {
            missing(issues, "joint", name, || owned(&self.joints), field());
        }
    }

    pub(super) fn require_flesh(&self, issues: &mut Issues, name: &str, field: impl FnOnce() -> String) {
        let known: Vec<_> = self.flesh().collect();
        if !known.iter().any(|flesh| flesh == name) {
            missing(issues, "body of flesh", name, || known, field());
        }
    }

    /// Something that can touch: a collider, by its name or that of its body, or flesh.
    pub(super) fn require_touching(&self, issues: &mut Issues, name: &str, field: impl FnOnce() -> String) {
        let is_made = self.scene.generators.iter().any(|generator| {
            let touches = generator.templates().is_some_and(|(link, _)| link.contact.is_some());
            touches && generator.makes_body(name)
        });
        if !self.touching.contains(name) && !self.flesh().any(|flesh| flesh == name) && !is_made {
            let known = || owned(&self.touching).into_iter().chain(self.flesh()).collect();
            missing(issues, "collider or body of flesh", name, known, field());
        }
    }

    /// Names of flesh, generated ones included.
    fn flesh(&self) -> impl Iterator<Item = String> + '_ {
        let listed = self.scene.flesh.iter().map(|flesh| flesh.name.clone());
        let made = self.scene.generators.iter().filter(|g| g.makes_flesh(g.name()));
        listed.chain(made.map(|g| g.name().to_owned()))
    }

    pub(super) fn require_track(&self, issues: &mut Issues, name: &str, field: impl FnOnce() -> String) {
        if !self.tracks.contains(name) {
            missing(issues, "track", name, || owned(&self.tracks), field());
        }
    }
}

fn owned(names: &BTreeSet<&str>) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Adds that a name is not known. The search for a similar one takes all names, so that only the first faults get a hint.
pub(super) fn missing(
    issues: &mut Issues,
    noun: &str,
    name: &str,
    known: impl FnOnce() -> Vec<String>,
    field: String,
) {
    if name.is_empty() {
        let hint = format!("name a {noun}");
        issues.add(Kind::MissingField, field, format!("the name of a {noun} is missing"), hint);
    } else {
        let message = format!("there is no {noun} called `{name}`");
        let hint = match (noun, name) {
            ("body", "world") => "leave the field out for the world".to_owned(),
            _ if issues.are_few() => suggestion(name, &known()),
            _ => String::new(),
        };
        issues.add(Kind::UnknownName, field, message, hint);
    }
}

/// Whether a generator makes this name.
fn is_generated(scene: &SceneDoc, name: &str, makes: fn(&GeneratorDoc, &str) -> bool) -> bool {
    scene.generators.iter().any(|generator| makes(generator, name))
}
