//! The specs of two builders in one: how a large mechanism is built again after a small part of it was changed. Cost: one pass; what stays in order
//! is not moved.

use sinew_topology::NONE;

use crate::model::{BodyId, JointSpec, MechanismBuilder, Moves};

impl MechanismBuilder {
    /// The specs of this builder, at the places that `own` gives them, and those of `other` at theirs. Where both have a spec for one place, that of
    /// `other` counts. Joints follow their bodies; those whose bodies have no place are left out. None if one of the builders has springs, ropes or
    /// gears, which are not merged.
    pub fn merged(self, own: Moves<'_>, (other, places): (Self, Moves<'_>)) -> Option<Self> {
        let is_plain = |builder: &Self| builder.springs.is_empty() && builder.transmissions.is_empty();
        if !(is_plain(&self) && is_plain(&other)) {
            return None;
        }
        let bodies = Placed::new(self.bodies, own.bodies, |_| true);
        let other_bodies = Placed::new(other.bodies, places.bodies, |_| true);
        let joints = Placed::new(self.joints, own.joints, |joint| follow(joint, own.bodies));
        let other_joints = Placed::new(other.joints, places.joints, |joint| follow(joint, places.bodies));
        Some(Self { bodies: bodies.merged(other_bodies), joints: joints.merged(other_joints), ..self })
    }
}

/// Gives a joint the new numbers of its bodies; whether they have any.
fn follow(joint: &mut JointSpec, bodies: &[u32]) -> bool {
    let moved = |body: &mut BodyId| {
        let place = bodies.get(body.index()).copied().filter(|&place| place != NONE);
        place.inspect(|&place| *body = BodyId::from_index(place as usize)).is_some()
    };
    moved(&mut joint.child) && joint.parent.as_mut().is_none_or(moved)
}

/// Items, and the place of each.
struct Placed<T> {
    items: Vec<T>,
    places: Vec<u32>,
}

impl<T> Placed<T> {
    /// Those of `items` that have a place and stay.
    fn new(mut items: Vec<T>, places: &[u32], mut stays: impl FnMut(&mut T) -> bool) -> Self {
        let mut next = places.iter().copied();
        let mut kept = Vec::with_capacity(items.len());
        items.retain_mut(|item| {
            let place = next.next().filter(|&place| place != NONE && stays(item));
            kept.extend(place);
            place.is_some()
        });
        Self { items, places: kept }
    }

    /// These and others by their places; where both have one place, the others count.
    fn merged(mut self, mut others: Self) -> Vec<T> {
        let n = self.places.iter().chain(&others.places).max().map_or(0, |&last| last as usize + 1);
        let mut is_taken = vec![false; n];
        others.places.iter().for_each(|&place| is_taken[place as usize] = true);
        let mut own = self.places.iter();
        self.items.retain(|_| own.next().is_some_and(|&place| !is_taken[place as usize]));
        self.places.retain(|&place| !is_taken[place as usize]);
        self.items.append(&mut others.items);
        self.places.append(&mut others.places);
        if self.places.is_sorted() {
            return self.items;
        }
        let mut placed: Vec<(u32, T)> = self.places.into_iter().zip(self.items).collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, item)| item).collect()
    }
}
