//! The rules a scene must keep, one function each.
//!
//! A rule looks at the whole document and notes everything it finds; none depends on another having
//! passed. Comparisons are written so that a NaN is reported once, by `numbers_are_finite`, and nowhere else.
//! What depends on the graph (cycles of primary joints, bodies that cannot move) is left to whoever builds the model.
//!
//! Cost: linear in the size of the document, times the logarithm of the number of names. Generators are
//! checked as templates and are never expanded here.

mod bodies;
mod cameras;
mod changes;
mod contact;
mod flesh;
mod generators;
mod inputs;
mod joints;
mod names;
mod numbers;
mod score;
mod surfaces;
mod tracks;

use std::borrow::Cow;
use std::collections::BTreeMap;

use glam::DVec3;

use crate::doc::{BodyDoc, BodyKindDoc, GeneratorDoc, JointDoc, SceneDoc, ShapeDoc};
use crate::error::{SceneIssue, SceneIssueKind};

/// Checks a scene against every rule.
///
/// # Errors
/// Everything that is wrong, in no particular order.
pub fn validate(scene: &SceneDoc) -> Result<(), Vec<SceneIssue>> {
    let mut issues = Issues(Vec::new());
    for rule in RULES {
        rule(scene, &mut issues);
    }
    if issues.0.is_empty() { Ok(()) } else { Err(issues.0) }
}

const RULES: &[fn(&SceneDoc, &mut Issues)] = &[
    numbers::numbers_are_finite,
    numbers::time_step_is_sensible,
    numbers::sample_counts_are_sensible,
    numbers::samples_are_in_order,
    numbers::stepper_settings_are_in_range,
    numbers::loop_settings_are_in_range,
    numbers::expectations_are_in_range,
    numbers::sweeps_lead_somewhere,
    names::names_are_given_once,
    names::names_are_known,
    bodies::sizes_are_positive,
    bodies::masses_are_positive,
    bodies::dynamic_bodies_have_mass,
    bodies::inertias_are_physical,
    bodies::rotations_have_an_axis,
    bodies::damping_and_color_are_in_range,
    joints::joints_join_two_bodies,
    joints::axes_have_a_direction,
    joints::joint_numbers_are_in_range,
    joints::limits_are_not_empty,
    joints::forces_fit_the_kind,
    joints::only_plain_secondary_joints_are_let_go,
    tracks::tracks_have_samples_in_order,
    tracks::formulas_make_sense,
    tracks::tracks_fit_their_use,
    inputs::springs_are_in_range,
    surfaces::surfaces_are_grids,
    inputs::inputs_are_in_range,
    inputs::inputs_fit_their_body,
    generators::counts_are_sensible,
    generators::templates_are_templates,
    generators::links_have_a_length,
    generators::bars_have_a_size,
    flesh::tissues_are_in_range,
    flesh::flesh_numbers_are_in_range,
    flesh::characters_are_in_range,
    flesh::meshes_are_sound,
    flesh::files_have_their_extension,
    flesh::attachments_fit,
    flesh::stepping_fits_the_stepper,
    flesh::flesh_solver_is_in_range,
    contact::colliders_can_be_touched,
    score::scores_fit_the_stepper,
    score::score_names_are_known,
    score::score_times_are_in_order,
    score::score_numbers_are_in_range,
    cameras::cameras_look_at_something,
    changes::changes_are_in_order,
    changes::changes_are_in_range,
    changes::changes_keep_the_rules,
];

/// Stands for the world, and so is no name for a body.
const RESERVED: &str = "world";

/// What has been found so far.
struct Issues(Vec<SceneIssue>);

impl Issues {
    fn add(
        &mut self,
        kind: SceneIssueKind,
        field: String,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(SceneIssue { field, kind, message: message.into(), hint: hint.into() });
    }

    /// A number below zero.
    fn require_not_negative(&mut self, value: f64, field: impl FnOnce() -> String) {
        if value < 0.0 {
            self.add(SceneIssueKind::OutOfRange, field(), format!("{value} is negative"), "use 0 or more");
        }
    }

    /// A number that must be above zero.
    fn require_positive(&mut self, value: f64, field: impl FnOnce() -> String) {
        if value <= 0.0 {
            self.add(
                SceneIssueKind::NotPositive,
                field(),
                format!("{value} is not positive"),
                "use a number above 0",
            );
        }
    }

    /// A time from which, and one to which, that are in order (s); `field` gives the paths of `from_s` and `to_s`.
    fn require_window(&mut self, from: f64, to: Option<f64>, field: impl Fn(&str) -> String) {
        self.require_not_negative(from, || field("from_s"));
        if let Some(to) = to.filter(|to| *to < from) {
            let message = format!("it would end at {to} s, before it begins at {from} s");
            let hint = "use a later time, or leave it out";
            self.add(SceneIssueKind::EmptyRange, field("to_s"), message, hint);
        }
    }

    /// A direction of length zero.
    fn require_direction(&mut self, value: DVec3, field: impl FnOnce() -> String) {
        if value == DVec3::ZERO {
            self.add(
                SceneIssueKind::BadDirection,
                field(),
                "this direction has length zero",
                "use for instance (0, 0, 1)",
            );
        }
    }
}

/// Every body, templates of generators included, with its path.
fn bodies(scene: &SceneDoc) -> impl Iterator<Item = (String, &BodyDoc)> {
    let listed = scene.bodies.iter().enumerate().map(|(i, body)| (format!("bodies[{i}]"), body));
    listed.chain(templates(scene).map(|(i, link, _)| (format!("generators[{i}].link"), link)))
}

/// Every joint, templates of generators included, with its path.
fn joints(scene: &SceneDoc) -> impl Iterator<Item = (String, &JointDoc)> {
    let listed = scene.joints.iter().enumerate().map(|(i, joint)| (format!("joints[{i}]"), joint));
    listed.chain(templates(scene).map(|(i, _, joint)| (format!("generators[{i}].joint"), joint)))
}

/// Templates of links and joints, with the index of their generator.
fn templates(scene: &SceneDoc) -> impl Iterator<Item = (usize, &BodyDoc, &JointDoc)> {
    let generators = scene.generators.iter().enumerate();
    generators.filter_map(|(i, generator)| generator.templates().map(|(link, joint)| (i, link, joint)))
}

/// Who moves each body whose name is written or that a character has; links of other generators are left out.
fn kinds(scene: &SceneDoc) -> BTreeMap<Cow<'_, str>, BodyKindDoc> {
    let listed = scene.bodies.iter().map(|body| (Cow::Borrowed(body.name.as_str()), body.kind));
    let characters = scene.generators.iter().filter_map(|generator| match generator {
        GeneratorDoc::Character(character) => Some(character),
        _ => None,
    });
    let bones = characters.flat_map(|character| {
        character
            .bone_names()
            .zip(std::iter::once(character.root).chain(std::iter::repeat(BodyKindDoc::Dynamic)))
    });
    listed.chain(bones.map(|(name, kind)| (Cow::Owned(name), kind))).collect()
}

/// What the shapes of a body are to whoever touches it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// There are none.
    Nothing,
    /// One of them is an ellipsoid.
    Ellipsoid,
    /// All can be touched.
    Solid,
}

/// What a body looks like, generated ones and the world included; `None` if there is no such body.
fn looks(scene: &SceneDoc, body: &str) -> Option<Looks> {
    let of = |shapes: &[ShapeDoc]| match shapes {
        [] => Looks::Nothing,
        _ if shapes.iter().any(|shape| !shape.solid.is_touchable()) => Looks::Ellipsoid,
        _ => Looks::Solid,
    };
    if body == RESERVED {
        return Some(Looks::Nothing);
    }
    if let Some(listed) = scene.bodies.iter().find(|listed| listed.name == body) {
        return Some(of(&listed.shapes));
    }
    let generator = scene.generators.iter().find(|generator| generator.makes_body(body))?;
    Some(generator.templates().map_or(Looks::Solid, |(link, _)| of(&link.shapes)))
}
