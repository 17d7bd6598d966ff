//! The rules for scenes, one function each.
//!
//! A rule checks the whole document and adds an issue for every fault; no rule assumes that another one holds. Rules that
//! depend on the graph (cycles of primary joints, bodies that cannot move) are checked when the scene is compiled.
//!
//! Cost: linear in the size of the document, times the logarithm of the number of names. Generators are checked as
//! templates and are not expanded.

mod attachments;
mod bodies;
mod cameras;
mod changes;
mod contact;
mod flesh;
mod flow;
mod generators;
mod inputs;
mod issues;
mod joints;
mod lookup;
mod names;
mod numbers;
mod regions;
mod score;
mod surfaces;
mod tracks;
mod transmissions;

use self::issues::Issues;
use crate::{doc::SceneDoc, error::SceneIssue};

/// Checks a scene against every rule.
///
/// # Errors
/// Everything that is wrong, in no particular order.
pub fn validate(scene: &SceneDoc) -> Result<(), Vec<SceneIssue>> {
    let mut issues = Issues(broken_rules(scene));
    changes::changes_keep_the_rules(scene, &mut issues, broken_rules);
    if issues.0.is_empty() { Ok(()) } else { Err(issues.0) }
}

/// The issues of a scene, apart from those that its changes cause.
fn broken_rules(scene: &SceneDoc) -> Vec<SceneIssue> {
    let mut issues = Issues::default();
    RULES.iter().for_each(|rule| rule(scene, &mut issues));
    issues.0
}

const RULES: &[fn(&SceneDoc, &mut Issues)] = &[
    numbers::numbers_are_finite,
    numbers::time_step_is_sensible,
    numbers::samples_are_in_order,
    numbers::stepper_settings_are_in_range,
    numbers::loop_settings_are_in_range,
    numbers::expectations_are_in_range,
    numbers::sweeps_have_values_and_a_path,
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
    joints::rolling_fits_the_stepper,
    joints::joints_that_break_can_be_left_out,
    joints::limits_are_not_empty,
    joints::forces_fit_the_kind,
    joints::free_coordinates_replace_the_kind,
    joints::only_secondary_joints_without_forces_are_released,
    tracks::tracks_have_samples_in_order,
    tracks::formulas_make_sense,
    tracks::tracks_fit_their_use,
    inputs::springs_are_in_range,
    transmissions::ropes_can_pull,
    transmissions::gears_join_coordinates,
    transmissions::ropes_and_gears_are_stepped_implicitly,
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
    flesh::meshes_are_valid,
    flesh::files_have_their_extension,
    attachments::attachments_fit,
    flesh::stepping_fits_the_stepper,
    regions::regions_have_names,
    regions::regions_are_in_range,
    regions::regions_have_a_place,
    regions::muscles_are_in_range,
    flesh::flesh_solver_is_in_range,
    contact::touching_bodies_can_be_touched,
    contact::colliders_can_be_touched,
    contact::pairs_are_given_once,
    score::scores_fit_the_stepper,
    score::measured_names_are_known,
    score::score_names_are_known,
    score::score_times_are_in_order,
    score::measures_are_in_range,
    score::score_numbers_are_in_range,
    score::score_poses_fit_their_joints,
    cameras::cameras_look_at_something,
    changes::changes_are_in_order,
    changes::changes_are_in_range,
];
