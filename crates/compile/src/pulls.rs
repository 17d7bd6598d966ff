//! Ropes that are much shorter than their path, and stiff springs far from their length: they fling what they pull.
//!
//! A rope closes its excess `x` within a step `h`, so its load moves at `x/h` afterwards. A spring of stiffness `k` and damping `c` between bodies of the reduced mass `m` moves them at
//! `x min(√(k/m), k/c, 1/h)` at most. Cost: linear in ropes and springs.

use glam::DVec3;
use sinew_mechanism::{Model, State, TransmissionId, transmission_reading};
use sinew_scene::{EndDoc, SceneDoc, SceneIssue, SceneIssueKind, SpringDoc, TargetDoc};

use crate::info::SceneInfo;

/// Speed from which a pull is probably not meant, m/s: that of a fall from 20 m.
const FLUNG: f64 = 20.0;

impl SceneInfo {
    /// Renews the doubts about the ropes and springs of a scene, its generators written out, for a state of its mechanism and a step length (s).
    pub fn doubt_pulls(&mut self, scene: &SceneDoc, (model, state): (&Model, &State), dt: f64) {
        let lists = ["ropes[", "springs["];
        self.doubts.retain(|doubt| !lists.iter().any(|list| doubt.field.starts_with(list)));
        let pulls = Pulls { scene, model, state, dt };
        self.doubts.extend((0..scene.ropes.len()).filter_map(|i| pulls.short_rope(i)));
        self.doubts.extend((0..scene.springs.len()).filter_map(|i| pulls.tense_spring(i)));
        self.doubts.extend((0..scene.springs.len()).filter_map(|i| pulls.idle_spring(i)));
    }
}

struct Pulls<'a> {
    scene: &'a SceneDoc,
    model: &'a Model,
    state: &'a State,
    dt: f64,
}

impl Pulls<'_> {
    fn short_rope(&self, index: usize) -> Option<SceneIssue> {
        let rope = &self.scene.ropes[index];
        let Some(TargetDoc::Value(length)) = rope.length else { return None };
        let gives = rope.compliance > 0.0 || rope.max_force.is_some();
        let path = transmission_reading(self.model, self.state, TransmissionId::from_index(index)).value;
        let (excess, speed) = (path - length, (path - length) / self.dt);
        (!gives && speed > FLUNG).then(|| SceneIssue {
            field: format!("ropes[{index}].length"),
            kind: SceneIssueKind::OutOfRange,
            message: format!(
                "`{}` is {excess:.3} m shorter than its path, which flings its load at {speed:.0} m/s",
                rope.name
            ),
            hint: format!("use {path:.3}, the length of its path, leave it out, or wind it up by a track"),
        })
    }

    fn tense_spring(&self, index: usize) -> Option<SceneIssue> {
        let SpringDoc { name, from, to, stiffness, damping, rest_length } = &self.scene.springs[index];
        let ((from, first), (to, second)) = (self.end(from), self.end(to));
        let distance = from.distance(to);
        let strain = (distance - rest_length).abs();
        let rate = (stiffness * (first + second)).sqrt();
        // Without stiffness and damping the quotient is no number, which `min` passes over.
        let speed = strain * rate.min(stiffness / damping).min(1.0 / self.dt);
        (speed > FLUNG).then(|| SceneIssue {
            field: format!("springs[{index}].rest_length"),
            kind: SceneIssueKind::OutOfRange,
            message: format!(
                "`{name}` is {strain:.3} m off its length and stiff, which flings its load at up to {speed:.0} m/s"
            ),
            hint: format!("use {distance:.3}, the distance of its ends, or less stiffness"),
        })
    }

    fn idle_spring(&self, index: usize) -> Option<SceneIssue> {
        let SpringDoc { name, stiffness, damping, .. } = &self.scene.springs[index];
        (*stiffness == 0.0 && *damping == 0.0).then(|| SceneIssue {
            field: format!("springs[{index}].stiffness"),
            kind: SceneIssueKind::OutOfRange,
            message: format!("`{name}` has neither stiffness nor damping, so it does nothing"),
            hint: "give it stiffness, or leave it out".to_owned(),
        })
    }

    /// Where an end is, in the world (m), and the reciprocal mass of its body (1/kg).
    fn end(&self, end: &EndDoc) -> (DVec3, f64) {
        let Some(body) = end.body().and_then(|name| self.model.body(name)) else { return (end.point(), 0.0) };
        let mass = self.model.body_mass(body);
        let mobility = if mass > 0.0 { 1.0 / mass } else { 0.0 };
        (self.model.body_pose(self.state, body).transform_point(end.point()), mobility)
    }
}
