//! The specs of two builders in one: how a large mechanism is built again after a small part of it was changed. Cost: one pass.

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
        let joints = follow(self.joints, own.bodies);
        let others = follow(other.joints, places.bodies);
        let (bodies, other_bodies) = (self.bodies.into_iter().map(Some), other.bodies.into_iter().map(Some));
        Some(Self {
            bodies: placed((bodies, own.bodies), (other_bodies, places.bodies)),
            joints: placed((joints, own.joints), (others, places.joints)),
            ..self
        })
    }
}

/// Joints with the new numbers of their bodies.
fn follow(joints: Vec<JointSpec>, bodies: &[u32]) -> impl Iterator<Item = Option<JointSpec>> {
    let moved = |body: BodyId| {
        let place = *bodies.get(body.index())?;
        (place != NONE).then(|| BodyId::from_index(place as usize))
    };
    joints.into_iter().map(move |joint| {
        let parent = joint.parent.map_or(Some(None), |parent| moved(parent).map(Some))?;
        Some(JointSpec { child: moved(joint.child)?, parent, ..joint })
    })
}

/// One list of two: items, and their places in it.
fn placed<T>(
    own: (impl Iterator<Item = Option<T>>, &[u32]),
    other: (impl Iterator<Item = Option<T>>, &[u32]),
) -> Vec<T> {
    let mut all: Vec<Option<T>> = Vec::with_capacity(own.1.len() + other.1.len());
    let placed = own.0.zip(own.1).chain(other.0.zip(other.1));
    for (item, place) in placed.filter_map(|(item, &place)| Some((item?, place))) {
        if place != NONE {
            let place = place as usize;
            all.resize_with(all.len().max(place + 1), || None);
            all[place] = Some(item);
        }
    }
    all.into_iter().flatten().collect()
}
