//! Scratch of explicit steps of flesh, and the paths of bodies. World axes, SI.

use sinew_math::{Force, Motion, Pose, log_so3};
use sinew_mechanism::{BodyId, State};

use super::contact_list::ExplicitContacts;
use super::flesh_scratch::FleshScratch;
use crate::model::FleshModel;

/// Scratch of explicit steps. Its content never changes a result.
pub struct ExplicitWorkspace {
    pub(crate) flesh: Vec<FleshScratch>,
    /// Contacts of flesh, and of bodies.
    pub(crate) flesh_contacts: ExplicitContacts,
    pub(crate) rigid_contacts: ExplicitContacts,
    paths: Vec<(Pose, Motion)>,
    /// Poses and twists of the bodies in a sub-step.
    pub(crate) poses: Vec<Pose>,
    pub(crate) motions: Vec<Motion>,
    /// Sums of the wrenches on all bodies.
    pub(crate) sums: Vec<Force>,
}

/// Largest number of sub-steps. A mesh with a needle in it becomes non-finite rather than endless.
pub(super) const MAX_SUBSTEPS: f64 = 65_536.0;

impl ExplicitWorkspace {
    /// Forgets the contacts between bodies of the last step.
    pub fn forget_rigid_contacts(&mut self) {
        self.rigid_contacts.points.clear();
        self.rigid_contacts.forces.clear();
    }

    /// Scratch for a model.
    pub fn new(model: &FleshModel) -> Self {
        Self {
            flesh: model.bodies.iter().map(|body| FleshScratch::new(body, model)).collect(),
            flesh_contacts: ExplicitContacts::default(),
            rigid_contacts: ExplicitContacts::default(),
            paths: Vec::new(),
            poses: Vec::new(),
            motions: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// The longest sub-step that is stable, s; infinite without flesh.
    pub fn stable_substep_s(&self) -> f64 {
        self.flesh.iter().map(|part| part.stable_s).fold(f64::INFINITY, f64::min)
    }

    /// Sets the paths of the bodies from one state to another.
    pub(super) fn begin(&mut self, before: &State, after: &State, dt: f64) {
        self.paths.clear();
        self.paths.extend(before.poses.iter().zip(&after.poses).map(|(start, end)| {
            let turn = log_so3(end.rotation * start.rotation.inverse());
            (*start, Motion::new(turn, end.translation - start.translation) * (1.0 / dt))
        }));
        self.motions.clear();
        self.motions.extend(self.paths.iter().map(|path| path.1));
        self.sums.clear();
        self.sums.resize(before.poses.len(), Force::ZERO);
    }

    /// Places the bodies on their paths at a time since the start (s).
    pub(super) fn place(&mut self, time: f64) {
        self.poses.clear();
        self.poses.extend(self.paths.iter().map(|(start, twist)| start.retract(*twist * time)));
    }
}

/// Lists the wrenches of bodies that forces move and that are not zero; returns the first body whose wrench is not
/// finite.
pub(super) fn collect_wrenches(
    model: &FleshModel,
    sums: &[Force],
    scale: f64,
    wrenches: &mut Vec<(BodyId, Force)>,
) -> Option<BodyId> {
    let mut non_finite = None;
    for (body, (sum, mass)) in sums.iter().zip(&model.masses).enumerate() {
        let id = BodyId::from_index(body);
        if !sum.is_finite() {
            non_finite = non_finite.or(Some(id));
        } else if mass.is_some() && *sum != Force::ZERO {
            wrenches.push((id, *sum * scale));
        }
    }
    non_finite
}
