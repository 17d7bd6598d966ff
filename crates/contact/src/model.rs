//! All colliders, and the pairs that ignore each other.
//!
//! A [`ContactModel`] is immutable and shared. A [`ContactWorkspace`] has buffers only: results depend on the model,
//! the poses and the margin only, to the bit, so a restored run finds the same contacts.

use crate::broad_phase::{Sweep, meets_plane, sorted_ones};
use crate::contact_point::{ContactPoint, Owner};
use crate::pair_rules::{PairRule, PairRules};
use crate::placed::{PlacedCollider, Presence};
use crate::skin_search::SkinScratch;
use crate::{collider::Collider, error::ContactError, narrow_phase::NarrowScratch};
use sinew_math::Pose;

/// The largest number of colliders and of bodies.
const MOST: usize = u32::MAX as usize - 1;

/// Colliders, and the pairs of owners that ignore each other.
#[derive(Clone, Debug)]
pub struct ContactModel {
    colliders: Vec<Collider>,
    n_bodies: usize,
    /// Pairs of owners in ascending order, sorted.
    ignored: Vec<[Owner; 2]>,
    /// The part that each collider belongs to.
    parts: Vec<u32>,
    /// Which of them may meet another solid one.
    pub(crate) sorted: Vec<bool>,
    /// Whether any two may meet, as far as their groups tell.
    pub(crate) may_any_meet: bool,
    pub(crate) rules: PairRules,
}

/// Buffers of queries. Their content never changes a result, but for the pairs of [`ContactWorkspace::admit`].
#[derive(Default)]
pub struct ContactWorkspace {
    /// Pairs of owners in ascending order, sorted, that touch although they are among those that ignore each other.
    pub(crate) admitted: Vec<[Owner; 2]>,
    pub(crate) placed: Vec<PlacedCollider>,
    pub(crate) sweep: Sweep,
    pub(crate) narrow: NarrowScratch,
    pub(crate) skin: SkinScratch,
    /// Contacts of a pair on its way.
    pub(crate) found: Vec<ContactPoint>,
}

/// Counts of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ContactReport {
    /// Pairs of colliders, or colliders near the points, that the narrow phase examined.
    pub n_pairs: usize,
    /// Contacts found.
    pub n_contacts: usize,
    /// Colliders left out because the pose of their body is missing or not finite.
    /// None where no two colliders have groups in which they meet: nothing is looked at.
    pub skipped_colliders: usize,
    /// Points left out because a coordinate is not finite.
    pub skipped_points: usize,
}

impl ContactModel {
    /// Colliders of `n_bodies` bodies and of the world. Colliders of one owner ignore each other, and so do the pairs
    /// of owners in `ignored`: usually those that a joint connects.
    ///
    /// # Errors
    /// A collider or an ignored pair that names a body that does not exist.
    pub fn new(
        colliders: Vec<Collider>,
        n_bodies: usize,
        ignored: &[[Owner; 2]],
    ) -> Result<Self, ContactError> {
        if colliders.len() > MOST || n_bodies > MOST {
            return Err(ContactError::TooMany(MOST));
        }
        let known = |owner: Owner| match owner {
            Owner::Body(body) if body as usize >= n_bodies => Err(ContactError::Body { body, n_bodies }),
            _ => Ok(()),
        };
        for (i, collider) in colliders.iter().enumerate() {
            known(collider.owner())
                .map_err(|fault| ContactError::Collider { collider: i, fault: Box::new(fault) })?;
        }
        for pair in ignored {
            known(pair[0])?;
            known(pair[1])?;
        }
        let mut ignored: Vec<_> = ignored.iter().copied().map(ascending).collect();
        ignored.sort_unstable();
        ignored.dedup();
        let parts = (0..colliders.len() as u32).collect();
        let sorted = sorted_ones(&colliders);
        let may_any_meet = sorted.contains(&true) || meets_plane(&colliders);
        let rules = PairRules::default();
        Ok(Self { colliders, n_bodies, ignored, parts, sorted, may_any_meet, rules })
    }

    /// The same with colliders as parts of something larger, such as the shapes of one body: events and queries tell the part. A part per
    /// collider, in their order.
    ///
    /// # Errors
    /// [`ContactError::Parts`] if there are more or fewer parts than colliders.
    pub fn with_parts(self, parts: Vec<u32>) -> Result<Self, ContactError> {
        let (n_parts, n_colliders) = (parts.len(), self.colliders.len());
        if n_parts == n_colliders {
            Ok(Self { parts, ..self })
        } else {
            Err(ContactError::Parts { n_parts, n_colliders })
        }
    }

    /// The same with rules for pairs of kinds of surfaces ([`ContactMaterial::kind`](crate::ContactMaterial::kind)), of which the first for a
    /// pair holds.
    ///
    /// # Errors
    /// [`ContactError::Material`] for numbers out of range.
    pub fn with_pair_rules(self, rules: Vec<PairRule>) -> Result<Self, ContactError> {
        Ok(Self { rules: PairRules::new(rules)?, ..self })
    }

    /// The same colliders with poses in other frames of their bodies; `frame` gives the present frame of a body in the new one. Poses of bodies
    /// that queries take are then those of the new frames.
    #[must_use]
    pub fn seen_from(mut self, frame: impl Fn(usize) -> Pose) -> Self {
        for collider in &mut self.colliders {
            if let Owner::Body(body) = collider.owner() {
                collider.see_from(frame(body as usize));
            }
        }
        self
    }

    /// The part that a collider belongs to: its own number unless [`ContactModel::with_parts`] says otherwise.
    pub fn part(&self, collider: usize) -> u32 {
        self.parts[collider]
    }

    /// The colliders; their indices are those of contact keys.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// The owner of the colliders of a part; none if there is no such part.
    pub fn owner_of_part(&self, part: u32) -> Option<Owner> {
        // Mostly they ascend.
        let found = self.parts.binary_search(&part).ok();
        let index = found.or_else(|| self.parts.iter().position(|&each| each == part))?;
        Some(self.colliders[index].owner())
    }

    /// How many poses a query needs.
    pub fn n_bodies(&self) -> usize {
        self.n_bodies
    }

    /// Whether two colliders may touch: owners, ignored pairs, groups, and stiffness on at least one side.
    pub fn may_touch(&self, i: usize, j: usize) -> bool {
        self.may_touch_if([i, j], &[])
    }

    /// The same if some pairs of owners do not ignore each other.
    pub(crate) fn may_touch_if(&self, [i, j]: [usize; 2], admitted: &[[Owner; 2]]) -> bool {
        let (a, b) = (&self.colliders[i], &self.colliders[j]);
        a.material().stiffness.max(b.material().stiffness) > 0.0 && self.may_meet([i, j], admitted)
    }

    /// The same whatever the stiffness.
    pub(crate) fn may_meet(&self, [i, j]: [usize; 2], admitted: &[[Owner; 2]]) -> bool {
        let owners = self.owners(i, j);
        let ignores =
            || self.ignored.binary_search(&owners).is_ok() && admitted.binary_search(&owners).is_err();
        owners[0] != owners[1] && self.colliders[i].groups().meet(self.colliders[j].groups()) && !ignores()
    }

    /// The owners of two colliders, in ascending order.
    pub(crate) fn owners(&self, i: usize, j: usize) -> [Owner; 2] {
        ascending([self.colliders[i].owner(), self.colliders[j].owner()])
    }

    /// Every contact of bodies with the world and with each other whose gap is at most `margin` (m), sorted by key, at
    /// most sixteen per pair of colliders. `poses` are world from body, of the frames in which
    /// colliders are given.
    ///
    /// Cost: a sort of the colliders along one axis, and the narrow phase of the pairs whose boxes overlap. After the
    /// first calls nothing is allocated. Bodies without a finite pose are left out and counted.
    pub fn rigid_contacts(
        &self,
        poses: &[Pose],
        margin: f64,
        work: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> ContactReport {
        self.rigid_contacts_after(poses, poses, margin, work, out)
    }

    /// The same for bodies that came from other poses: a sheet of triangles pushes a body to the side where its middle was `before`.
    pub fn rigid_contacts_after(
        &self,
        before: &[Pose],
        poses: &[Pose],
        margin: f64,
        work: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> ContactReport {
        self.rigid_contacts_of_moving(|_| false, [before, poses], margin, work, out)
    }

    /// The same without pairs of which both owners are still: they are not looked at.
    pub fn rigid_contacts_of_moving(
        &self,
        is_still: impl Fn(Owner) -> bool,
        [before, poses]: [&[Pose]; 2],
        margin: f64,
        work: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> ContactReport {
        let are_still = |[a, b]: [Owner; 2]| is_still(a) && is_still(b);
        self.contacts_of(|owners| !are_still(owners), [before, poses], margin, work, out)
    }

    /// The same of some pairs of owners only, in ascending order and sorted, whether they ignore each other or not.
    pub fn rigid_contacts_of_pairs(
        &self,
        pairs: &[[Owner; 2]],
        poses: &[Pose],
        margin: f64,
        work: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> ContactReport {
        let admitted = std::mem::take(&mut work.admitted);
        work.admit(pairs.iter().copied());
        let is_asked = |owners: [Owner; 2]| pairs.binary_search(&owners).is_ok();
        let report = self.contacts_of(is_asked, [poses; 2], margin, work, out);
        work.admitted = admitted;
        report
    }

    fn contacts_of(
        &self,
        is_wanted: impl Fn([Owner; 2]) -> bool,
        [before, poses]: [&[Pose]; 2],
        margin: f64,
        work: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> ContactReport {
        out.clear();
        if !self.may_any_meet {
            return ContactReport::default();
        }
        let margin = usable(margin);
        let skipped_colliders = self.place(before, poses, margin, work);
        let ContactWorkspace { placed, sweep, narrow, admitted, .. } = work;
        let is_wanted = |i, j| is_wanted(self.owners(i, j)) && self.may_touch_if([i, j], admitted);
        let pairs = sweep.pairs(placed, &self.sorted, is_wanted);
        for &[i, j] in pairs {
            // the first side moves: a collider of the world is always the other one
            let swap = self.colliders[i as usize].owner() == Owner::World;
            let (a, b) = if swap { (j, i) } else { (i, j) };
            narrow.touch(&self.colliders, placed, [a, b], margin, out);
        }
        self.apply_rules(out.iter_mut());
        // one pair's contacts are sorted and pairs come in ascending order, unless a side was exchanged
        out.sort_unstable_by_key(|contact| contact.key);
        ContactReport { n_pairs: pairs.len(), n_contacts: out.len(), skipped_colliders, skipped_points: 0 }
    }

    /// Gives contacts of bodies the law of the rule for their pair, if there is one.
    pub(crate) fn apply_rules<'c>(&self, contacts: impl Iterator<Item = &'c mut ContactPoint>) {
        let kind = |collider: u32| self.kind(collider);
        self.rules.apply(contacts, |contact| [kind(contact.key.a), kind(contact.key.b)]);
    }

    /// The kind of surface of a collider.
    pub(crate) fn kind(&self, collider: u32) -> u32 {
        self.colliders[collider as usize].material().kind
    }

    /// Places every collider in the world; returns how many have no finite pose.
    pub(crate) fn place(
        &self,
        before: &[Pose],
        poses: &[Pose],
        margin: f64,
        work: &mut ContactWorkspace,
    ) -> usize {
        work.placed.clear();
        let placed = |collider| PlacedCollider::new(collider, poses, before, margin);
        work.placed.extend(self.colliders.iter().map(placed));
        work.placed.iter().filter(|placed| matches!(placed.state, Presence::Lost)).count()
    }

    /// The same at the end of a way, in boxes that hold both ends of it.
    pub(crate) fn place_way(&self, [before, poses]: [&[Pose]; 2], work: &mut ContactWorkspace) {
        self.place(before, poses, 0.0, work);
        for (placed, collider) in work.placed.iter_mut().zip(&self.colliders) {
            placed.widen_to(&PlacedCollider::new(collider, before, before, 0.0));
        }
    }
}

impl ContactWorkspace {
    /// Empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on these pairs of owners touch although the model has them among those that ignore each other, and no others do.
    pub fn admit(&mut self, pairs: impl IntoIterator<Item = [Owner; 2]>) {
        self.admitted.clear();
        self.admitted.extend(pairs.into_iter().map(ascending));
        self.admitted.sort_unstable();
    }
}

fn ascending([a, b]: [Owner; 2]) -> [Owner; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

/// A margin that is negative or not finite counts as zero.
pub(crate) fn usable(margin: f64) -> f64 {
    if margin.is_finite() { margin.max(0.0) } else { 0.0 }
}
