//! Contacts that acted in the last step: position, normal, depth, force, and what is in contact.
//!
//! They are read from the scratch of the step when they are asked for. After a coupled step the force is that of the solve, so forces
//! and change of momentum agree to rounding. With explicit flesh it is the force of the last substep. World axes, SI.

use glam::DVec3;
use sinew_contact::{ContactPoint, Mover, Opposite, TouchPair, TouchSide};
use sinew_mechanism::BodyId;

use crate::model::{Model, State};
use crate::sleep::append_asleep;
use crate::workspace::{LastStep, Workspace};

/// A contact that acted in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contact {
    /// What the force acts on.
    pub on: ContactPartner,
    /// What the opposite force acts on; `None` for the world.
    pub by: Option<ContactPartner>,
    /// The colliders or flesh that touch: of `on`, then of `by`.
    pub sides: [TouchSide; 2],
    /// Position in the world, m.
    pub point: DVec3,
    /// From `by` to `on`, world axes, of length 1.
    pub normal: DVec3,
    /// Depth, m; negative if a gap was about to close.
    pub depth: f64,
    /// Force with friction on `on`, at that position, world axes, N.
    pub force: DVec3,
    /// Lever arms of the force on both sides: from their centres of mass to where it acted, as the step was solved; world axes, m. The bodies have moved on since: about
    /// these arms force and change of angular momentum agree. None where bodies and contacts are of one moment.
    pub arms: Option<[DVec3; 2]>,
}

/// One side of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContactPartner {
    /// A body.
    Body(BodyId),
    /// A point of flesh.
    Flesh {
        /// The flesh, by its place among [`sinew_flesh::FleshModel::bodies`].
        flesh: usize,
        /// The point, by its place among [`sinew_flesh::FleshBody::surface`]; none for a place between these or inside.
        point: Option<usize>,
    },
}

impl ContactPartner {
    /// The body, if it is one.
    pub fn body(self) -> Option<BodyId> {
        if let Self::Body(body) = self { Some(body) } else { None }
    }
}

impl Workspace {
    /// The contacts that acted in the last step, which must have been one of this model; none if there was none. Those of bodies that sleep are as
    /// they were when these fell asleep.
    pub fn contacts<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = Contact> + 'a {
        let coupled = self.flesh.as_deref().filter(|_| self.last == LastStep::Coupled);
        let is_explicit = matches!(self.last, LastStep::ExplicitFlesh | LastStep::Reduced);
        let explicit = self.explicit.as_deref().filter(|_| is_explicit);
        let touching = self.touching.as_deref().filter(|_| self.last == LastStep::ExplicitFlesh);
        let touched = self.touched.as_deref().filter(|_| is_explicit);
        let pushes = coupled.into_iter().chain(touching).flat_map(|work| work.pushes());
        let pushes = pushes.chain(touched.into_iter().flat_map(|touched| touched.pushes()));
        let pushes = pushes.map(|(at, force, arms)| (at, force, Some(arms)));
        let asleep = self.sleep.contacts.iter().filter(|_| self.last == LastStep::Coupled);
        let still = explicit.into_iter().flat_map(|scratch| scratch.work.contacts());
        let still = still.chain(asleep.map(|(at, force)| (at, *force)));
        let found = pushes.chain(still.map(|(at, force)| (at, force, None)));
        found.filter_map(|(at, force, arms)| Some(Contact { arms, ..contact(model, at, force)? }))
    }

    /// Tells in the state what began, stayed and ended in the step that was just made.
    pub(crate) fn note_events(&mut self, model: &Model, state: &mut State) {
        let mut pairs = self.events.take_pairs();
        self.append_touches(model, &mut pairs);
        append_asleep(model, state, &mut pairs);
        self.events.admit(&self.parted.pairs);
        self.events.note(model, state, pairs);
    }

    /// Adds the pairs that pushed each other or were near in the last step.
    fn append_touches(&self, model: &Model, out: &mut Vec<TouchPair>) {
        if self.last == LastStep::Coupled {
            self.flesh.iter().for_each(|work| out.extend_from_slice(work.touches()));
            return;
        }
        if !matches!(self.last, LastStep::ExplicitFlesh | LastStep::Reduced) {
            return;
        }
        if let (Some(explicit), Some(flesh)) = (&self.explicit, model.flesh()) {
            let sides = explicit.work.contacts().filter_map(|(contact, _)| flesh.sides(contact));
            out.extend(sides.map(|[a, b]| TouchPair::new(a, b, false)));
        }
        if let Some(touching) = self.touching.as_deref().filter(|_| self.last == LastStep::ExplicitFlesh) {
            out.extend_from_slice(touching.touches());
        }
        self.touched.iter().for_each(|touched| out.extend_from_slice(touched.touches()));
    }
}

fn contact(model: &Model, at: &ContactPoint, force: DVec3) -> Option<Contact> {
    let sides = model.flesh()?.sides(at)?;
    let on = match at.a {
        Mover::Body(body) => ContactPartner::Body(BodyId::from_index(body as usize)),
        Mover::Vertex(_) | Mover::Face(_) => {
            let (flesh, point) = model.flesh()?.touched_flesh(at)?;
            ContactPartner::Flesh { flesh, point }
        }
    };
    let by = match at.b {
        Opposite::World => None,
        Opposite::Body(body) => Some(ContactPartner::Body(BodyId::from_index(body as usize))),
        Opposite::Flesh { flesh, .. } => Some(ContactPartner::Flesh { flesh: flesh as usize, point: None }),
    };
    Some(Contact { on, by, sides, point: at.point, normal: at.normal, depth: at.depth, force, arms: None })
}
