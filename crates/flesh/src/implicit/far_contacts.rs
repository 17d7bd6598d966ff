//! Contacts that bodies meet on their way through a step, away from where it begins, and those of bodies that pass each other.
//!
//! The plane through nearest points of solids that are some way apart is not where they touch: it turns aside what flies past an edge, and balls that hit each
//! other part in wrong directions. So pairs with a gap of which a contact would act within the step are moved along their way. Contacts of those that pass each
//! other are left out until a solution takes them elsewhere. Round solids that come across what they meet until then have the contacts of that place.
//!
//! Such a contact has the point and the normal where it is met. By then each side has come a way of its own, which may be many times its size, and the impulse
//! has its lever arm there: with one arm at the start of the step, a bullet that falls by a millimetre until it hits would spin instead of stopping. Momentum
//! is kept; angular momentum changes by the impulse times how far the sides have come across each other.
//!
//! The same holds for all contacts of bodies across a gap `g`, whatever the world or the other body is there: the impulse has its arm at the body's own surface,
//! `½ g` beyond the middle of the gap along the normal. A golf ball of 2 cm that comes in at 10 m/s would else be spun with an arm of 9 cm.
//!
//! With the depth `d` at the start of the step that gives the one found after a part `p` of it, `d − p dt n·v = d_p`. World axes, SI.
//! Cost: a cast per pair that may meet.

use glam::DVec3;
use sinew_contact::{
    ContactKey, ContactModel, ContactPoint, ContactShape, ContactWorkspace, Mover, PairWay, WayContact,
};
use sinew_math::{Motion, Pose, Shape};

/// Depth that is not expected and does no harm, m.
pub(super) const UNNOTICED: f64 = 5e-4;

/// Looks at the end of a step, at most.
pub(super) const MOST_LOOKS: u32 = 5;

/// How far solids come across each other until they meet from which on their contacts are found there, as a share of the thinner of both.
const ACROSS: f64 = 0.01;

/// The contacts that are met on the way.
#[derive(Default)]
pub(crate) struct FarContacts {
    /// With the keys of the queries.
    pub(super) found: Vec<WayContact>,
    /// Those of the step, by ascending key, with the ways of their sides until then (m).
    ways: Vec<(ContactKey, [DVec3; 2])>,
    /// Whether contacts are found where bodies are expected, with the depths of another place.
    is_ahead: bool,
    /// Contacts of what passes each other, by ascending key.
    passing: Vec<ContactPoint>,
    /// Keys of contacts that were found at a place where nothing meets, ascending.
    replaced: Vec<ContactKey>,
}

impl FarContacts {
    /// A step begins.
    pub(super) fn begin(&mut self, is_ahead: bool) {
        self.is_ahead = is_ahead;
        self.clear();
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.ways.clear();
        self.passing.clear();
    }

    /// Takes those that are found into a step of length `dt` (s), at the start of which bodies have the twists `motions`.
    pub(super) fn take(&mut self, motions: &[Motion], dt: f64) {
        self.ways.extend(self.found.iter().map(|WayContact { contact, part, .. }| {
            let way = |body: usize| motions[body].linear * (part * dt);
            (on_the_way(contact.key), contact.bodies().map(|body| body.map_or(DVec3::ZERO, way)))
        }));
        self.ways.sort_unstable_by_key(|(key, _)| *key);
    }

    /// Takes the points of contacts of the step as places of both sides.
    pub(super) fn take_met(&mut self, contacts: &[ContactPoint]) {
        self.ways.extend(contacts.iter().map(|contact| (contact.key, [DVec3::ZERO; 2])));
        self.ways.sort_unstable_by_key(|(key, _)| *key);
    }

    /// How far the sides of a contact of the step come until they meet in its point (m); zero for those that touch.
    pub(crate) fn ways(&self, contact: &ContactPoint) -> [DVec3; 2] {
        let is_across = contact.depth < 0.0 && !self.is_ahead && matches!(contact.a, Mover::Body(_));
        match self.ways.binary_search_by_key(&contact.key, |(key, _)| *key) {
            Ok(i) => self.ways[i].1,
            Err(_) if is_across => {
                let half = contact.normal * (0.5 * contact.depth);
                [half, -half]
            }
            Err(_) => [DVec3::ZERO; 2],
        }
    }

    /// Removes contacts of solids that pass each other or meet elsewhere on their way of a time `h`, and finds those where they meet. `closing` are the speeds at which
    /// the contacts close (m/s).
    pub(super) fn sort_out(
        &mut self,
        contact: &ContactModel,
        (ways, h): ([&[Pose]; 2], f64),
        closing: &[f64],
        work: &mut ContactWorkspace,
        points: &mut Vec<ContactPoint>,
    ) {
        let Self { found, passing, replaced, .. } = self;
        found.clear();
        passing.clear();
        replaced.clear();
        let mut speeds = closing.iter();
        for pair in points.chunk_by(are_of_a_pair) {
            let act = pair.iter().zip(&mut speeds).filter(|(point, speed)| h * **speed > -point.depth);
            // The normal of an edge in front of a round solid changes much on little.
            let is_round = has_round(contact, &pair[0]);
            let near = if is_round { 0.0 } else { UNNOTICED };
            if act.count() == 0 || pair.iter().any(|point| point.depth >= -near) {
                continue;
            }
            let keys = pair.iter().map(|point| point.key);
            match contact.pair_way(colliders(&pair[0]), ways) {
                PairWay::Apart => passing.extend_from_slice(pair),
                PairWay::Meets(_) if keys.clone().any(|key| on_the_way(key) == key) => {
                    replaced.extend(keys.filter(|&key| on_the_way(key) != key));
                }
                PairWay::Meets(part) if is_round => {
                    let way = relative_way(&pair[0], ways);
                    if across(&pair[0], way) * part > ACROSS * thinner(contact, &pair[0]) {
                        contact.contacts_of_pair(
                            colliders(&pair[0]),
                            part,
                            (ways, way.length()),
                            work,
                            found,
                        );
                        replaced.extend(keys);
                    }
                }
                _ => {}
            }
        }
        if !(passing.is_empty() && replaced.is_empty()) {
            let is_passing = |key: ContactKey| passing.binary_search_by_key(&key, |point| point.key).is_ok();
            points.retain(|point| !is_passing(point.key) && replaced.binary_search(&point.key).is_err());
        }
    }

    /// Whether solids pass each other.
    pub(super) fn are_passing(&self) -> bool {
        !self.passing.is_empty()
    }

    /// Gives contacts of solids back that do not pass each other on another way.
    pub(super) fn take_back(
        &mut self,
        contact: &ContactModel,
        ways: [&[Pose]; 2],
        out: &mut Vec<ContactPoint>,
    ) {
        let first = out.len();
        for pair in self.passing.chunk_by(are_of_a_pair) {
            if contact.pair_way(colliders(&pair[0]), ways) != PairWay::Apart {
                out.extend_from_slice(pair);
            }
        }
        self.passing.retain(|point| !out[first..].iter().any(|back| back.key == point.key));
    }
}

/// The key of a contact that is met on the way.
pub(super) fn on_the_way(key: ContactKey) -> ContactKey {
    ContactKey { feature: key.feature | ContactKey::AHEAD << MOST_LOOKS, ..key }
}

/// Whether two contacts are between the same colliders.
fn are_of_a_pair(one: &ContactPoint, other: &ContactPoint) -> bool {
    (one.key.a, one.key.b) == (other.key.a, other.key.b)
}

/// The colliders of a contact of bodies.
fn colliders(contact: &ContactPoint) -> [usize; 2] {
    [contact.key.a as usize, contact.key.b as usize]
}

/// Whether one of the solids of a contact is round, and both are convex: flat ones mostly meet with the faces that are nearest before.
fn has_round(model: &ContactModel, contact: &ContactPoint) -> bool {
    let shapes = colliders(contact).map(|i| model.colliders()[i].shape());
    let is_round = |shape: &&ContactShape| {
        use Shape::{Capsule, Cylinder, Sphere};
        matches!(shape, ContactShape::Solid(Sphere { .. } | Capsule { .. } | Cylinder { .. }))
    };
    let is_convex = |shape: &&ContactShape| matches!(shape, ContactShape::Solid(_) | ContactShape::Convex(_));
    shapes.iter().any(is_round) && shapes.iter().all(is_convex)
}

/// Thickness of the thinner solid of a contact (m).
fn thinner(model: &ContactModel, contact: &ContactPoint) -> f64 {
    let [a, b] = colliders(contact).map(|i| model.colliders()[i].thickness());
    a.min(b)
}

/// The part of a way across the normal of a contact (m).
fn across(contact: &ContactPoint, way: DVec3) -> f64 {
    (way - contact.normal * contact.normal.dot(way)).length()
}

/// How far the first body of a contact comes in the frame of the other (m, world).
fn relative_way(contact: &ContactPoint, [from, to]: [&[Pose]; 2]) -> DVec3 {
    let way = |body: usize| to[body].translation - from[body].translation;
    let [own, other] = contact.bodies().map(|body| body.map_or(DVec3::ZERO, way));
    own - other
}
