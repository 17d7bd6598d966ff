//! Rules for pairs of surfaces: the friction and the restitution between two kinds, instead of what their materials give together.
//!
//! Friction belongs to a pair, not to a surface: no numbers of ice, rubber and steel give all three pairs. A rule names two kinds
//! ([`ContactMaterial::kind`](crate::ContactMaterial::kind)) and replaces what it gives. Cost: nothing without rules, else a binary search per contact.

use crate::contact_point::ContactPoint;
use crate::error::ContactError;

/// What holds between two kinds of surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PairRule {
    /// The kinds, in any order; they may be equal.
    pub kinds: [u32; 2],
    /// Coulomb friction, ≥ 0; none leaves it to the materials.
    pub friction: Option<f64>,
    /// Restitution, 0 to 1; none leaves it to the materials.
    pub restitution: Option<f64>,
}

/// Rules, sorted by their kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairRules(Vec<PairRule>);

impl PairRules {
    /// Of several rules for one pair the first holds.
    pub(crate) fn new(mut rules: Vec<PairRule>) -> Result<Self, ContactError> {
        for rule in &mut rules {
            let material = |field, range, value| Err(ContactError::Material { field, range, value });
            rule.kinds.sort_unstable();
            if let Some(value) = rule.friction.filter(|value| !(value.is_finite() && *value >= 0.0)) {
                return material("friction", "finite and not negative", value);
            }
            if let Some(value) = rule.restitution.filter(|value| !(0.0..=1.0).contains(value)) {
                return material("restitution", "between 0 and 1", value);
            }
        }
        rules.sort_by_key(|rule| rule.kinds);
        rules.dedup_by_key(|rule| rule.kinds);
        Ok(Self(rules))
    }

    /// Applies the rules to contacts of surfaces of given kinds.
    pub(crate) fn apply<'c>(
        &self,
        contacts: impl Iterator<Item = &'c mut ContactPoint>,
        kinds: impl Fn(&ContactPoint) -> [u32; 2],
    ) {
        if self.0.is_empty() {
            return;
        }
        for contact in contacts {
            let mut kinds = kinds(contact);
            kinds.sort_unstable();
            if let Ok(found) = self.0.binary_search_by_key(&kinds, |rule| rule.kinds) {
                let PairRule { friction, restitution, .. } = self.0[found];
                contact.law.friction = friction.unwrap_or(contact.law.friction);
                contact.law.restitution = restitution.unwrap_or(contact.law.restitution);
            }
        }
    }
}
