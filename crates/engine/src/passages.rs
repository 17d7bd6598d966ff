//! What passed through something within a step: bodies and flesh that went farther than they are thick, by where they were and where they are.
//!
//! Contacts stop what is fast; this is a look at the result apart from them. The middle of each collider, and of each body of flesh, counts; a thin end that
//! sweeps through something is not seen. Cost: one pass over the bodies and nodes; a query where something was that fast. Nothing allocates once warm.

use glam::DVec3;
use sinew_contact::{ContactWorkspace, Owner};
use sinew_flesh::{FleshModel, OutlineBuffer};
use sinew_math::Pose;
use sinew_mechanism::BodyId;

use crate::{Model, State};

/// What passed through something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Passage {
    /// A body, through another one; none is the world.
    Body(BodyId, Option<BodyId>),
    /// A body of flesh, by number, through a body; none is the world.
    Flesh(usize, Option<BodyId>),
}

/// Where everything was when the step began.
#[derive(Default)]
pub(crate) struct Passages {
    poses: Vec<Pose>,
    /// The middle of each body of flesh.
    middles: Vec<DVec3>,
    work: ContactWorkspace,
    outline: OutlineBuffer,
}

impl Passages {
    /// Before a step.
    pub(crate) fn begin(&mut self, model: &Model, state: &State) {
        self.poses.clear();
        self.middles.clear();
        if model.flesh().and_then(FleshModel::contact).is_some() {
            self.poses.extend_from_slice(&state.bodies.poses);
            self.middles.extend(state.flesh.nodes.iter().map(|nodes| middle(&nodes.positions)));
        }
    }

    /// The first that passed through something in the step that led to a state.
    pub(crate) fn first(&mut self, model: &Model, state: &State) -> Option<Passage> {
        self.of_bodies(model, state).or_else(|| self.of_flesh(model, state))
    }

    fn of_bodies(&mut self, model: &Model, state: &State) -> Option<Passage> {
        let contact = model.flesh().and_then(FleshModel::contact)?;
        let Self { poses: before, work, .. } = self;
        let poses = &state.bodies.poses;
        let mut ways = before.iter().zip(poses).zip(&model.thickness);
        let is_fast = |((from, to), thickness): ((&Pose, &Pose), &f64)| {
            2.0 * from.translation.distance(to.translation) > *thickness
        };
        if before.len() != poses.len() || !ways.any(is_fast) {
            return None;
        }
        let is_moved = |body: u32| model.mechanism().port_of(BodyId::from_index(body as usize)).is_some();
        let is_still = |owner: Owner| match owner {
            Owner::World => true,
            Owner::Body(body) => !is_moved(body),
        };
        let [a, b] = contact.passage(is_still, [before, poses], work)?.map(body_of);
        a.map(|body| Passage::Body(body, b)).or_else(|| b.map(|body| Passage::Body(body, None)))
    }

    fn of_flesh(&mut self, model: &Model, state: &State) -> Option<Passage> {
        let flesh = model.flesh()?;
        let contact = flesh.contact()?;
        let Self { poses: before, middles, outline, .. } = self;
        let (poses, nodes) = (&state.bodies.poses, &state.flesh.nodes);
        if before.len() != poses.len() || middles.len() != nodes.len() {
            return None;
        }
        let ways = middles.iter().zip(nodes).zip(&model.flesh_thickness).enumerate();
        let mut passed = ways.filter_map(|(k, ((&from, nodes), thickness))| {
            let to = middle(&nodes.positions);
            if from.distance(to) <= *thickness {
                return None;
            }
            let outline = flesh.outline(k, &state.flesh, outline)?;
            let what = (outline.groups, outline.ignored);
            let owner = contact.passed_by_point([from, to], what, [before, poses])?;
            Some(Passage::Flesh(k, body_of(owner)))
        });
        passed.next()
    }
}

fn body_of(owner: Owner) -> Option<BodyId> {
    match owner {
        Owner::World => None,
        Owner::Body(body) => Some(BodyId::from_index(body as usize)),
    }
}

/// The mean of points, m.
fn middle(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len().max(1) as f64
}

impl std::fmt::Debug for Passages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passages").finish_non_exhaustive()
    }
}
