//! Bodies whose joints have broken: from when on their colliders touch.
//!
//! Bodies that a joint connects ignore each other as colliders. Where all joints between two bodies are broken, they touch from the first step on that begins
//! with an overlap which contacts give under a usual load: at once, or once they have been that far apart. Before, contact would throw them apart.
//! Who has been apart is in the state ([`sinew_mechanism::State::parted`]), so a restored run goes on with the same contacts. Cost: nothing while no joint is
//! broken; else one pass over the joints, and a query of the colliders for bodies that still overlap.

use sinew_contact::{ContactPoint, Owner};
use sinew_flesh::{FleshModel, FleshWorkspace};
use sinew_mechanism::{JointId, State};

use crate::Model;

/// Depth (m) that contacts give under a usual load, and share of the thinner collider: what is up to both is no trouble, however thin.
const RESTING_DEPTH: f64 = 3e-4;
const RESTING: f64 = 0.5;

/// The colliders of a model, and where their contacts are found.
type Colliders<'a> = (&'a FleshModel, &'a mut FleshWorkspace);

/// Scratch. Pairs of owners are in ascending order, and sorted.
#[derive(Debug, Default)]
pub(crate) struct PartedBodies {
    /// Pairs that touch.
    pub(crate) pairs: Vec<[Owner; 2]>,
    /// Pairs that do not: they overlap, or a joint connects them still.
    others: Vec<[Owner; 2]>,
}

impl PartedBodies {
    /// Before a step: notes who is apart, and finds the pairs that touch.
    pub(crate) fn begin(&mut self, model: &Model, colliders: Colliders<'_>, bodies: &mut State) {
        self.pairs.clear();
        if bodies.broken.is_empty() {
            return;
        }
        self.note(model, colliders, bodies);
        let Self { pairs, others } = self;
        others.clear();
        let is_parted = |joint: &JointId| bodies.parted.binary_search(joint).is_ok();
        others.extend(model.mechanism().joints().filter(|joint| !is_parted(joint)).filter_map(owners(model)));
        others.sort_unstable();
        pairs.clear();
        let parted = bodies.parted.iter().copied().filter_map(owners(model));
        pairs.extend(parted.filter(|pair| others.binary_search(pair).is_err()));
        pairs.sort_unstable();
        pairs.dedup();
    }

    /// Notes the broken joints whose bodies overlap no more than at rest.
    fn note(&mut self, model: &Model, (colliders, work): Colliders<'_>, bodies: &mut State) {
        let Self { pairs, others } = self;
        let is_new = |joint: &JointId| bodies.parted.binary_search(joint).is_err();
        pairs.extend(bodies.broken.iter().copied().filter(is_new).filter_map(owners(model)));
        if pairs.is_empty() {
            return;
        }
        pairs.sort_unstable();
        pairs.dedup();
        others.clear();
        let points = work.contacts_of_pairs(colliders, pairs, &bodies.poses);
        others.extend(points.iter().filter_map(|point| overlapping(model, point)));
        others.sort_unstable();
        for i in 0..bodies.broken.len() {
            let joint = bodies.broken[i];
            if owners(model)(joint).is_some_and(|pair| others.binary_search(&pair).is_err()) {
                bodies.part(joint);
            }
        }
    }
}

/// What contacts give at rest where the thinner collider has a size, m.
pub(crate) fn resting_depth(size: f64) -> f64 {
    (RESTING * size).min(RESTING_DEPTH)
}

/// The bodies of a joint that connects two.
fn owners(model: &Model) -> impl Fn(JointId) -> Option<[Owner; 2]> {
    |joint| match model.mechanism().joint_bodies(joint) {
        (Some(a), Some(b)) => Some([a.min(b), a.max(b)].map(|body| Owner::Body(body.index() as u32))),
        _ => None,
    }
}

/// The bodies of a contact, if they overlap by more than at rest.
fn overlapping(model: &Model, point: &ContactPoint) -> Option<[Owner; 2]> {
    let [Some(a), Some(b)] = point.bodies() else { return None };
    let size = model.thickness[a].min(model.thickness[b]);
    (point.depth > resting_depth(size)).then_some([a.min(b), a.max(b)].map(|body| Owner::Body(body as u32)))
}
