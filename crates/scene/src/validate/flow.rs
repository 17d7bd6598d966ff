//! Rules for the flow of materials, of flesh and of its regions.

use std::fmt::Display;

use super::issues::Issues;
use crate::doc::{PlasticDoc, ViscousDoc};
use crate::error::SceneIssueKind as Kind;

/// Yield stress, relaxation and their bounds are in range.
pub(super) fn check_flow(
    issues: &mut Issues,
    (plastic, viscous): (Option<PlasticDoc>, Option<ViscousDoc>),
    path: impl Display + Copy,
) {
    if let Some(PlasticDoc { yield_stress, hardening, largest_stretch }) = plastic {
        let path = format!("{path}.plastic");
        issues.require_not_negative(&path, &[("yield_stress", yield_stress), ("hardening", hardening)]);
        if largest_stretch <= 1.0 {
            let message = format!("a largest plastic stretch of {largest_stretch} is out of range");
            let hint = "use a number above 1, for instance 4";
            issues.add(Kind::OutOfRange, format!("{path}.largest_stretch"), message, hint);
        }
    }
    if let Some(ViscousDoc { ratio, time_s }) = viscous {
        let path = format!("{path}.viscous");
        issues.require_not_negative(&path, &[("ratio", ratio)]);
        issues.require_positive(&path, &[("time_s", time_s)]);
    }
}
