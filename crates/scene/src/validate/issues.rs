//! The list of issues that the rules fill, and the checks that many rules share.
//!
//! Comparisons are written so that a NaN passes: `numbers_are_finite` reports it, once.

use std::fmt::Display;
use std::ops::RangeInclusive;

use glam::DVec3;

use crate::error::{SceneErrors, SceneIssue, SceneIssueKind as Kind};

/// What has been found so far.
#[derive(Default)]
pub(super) struct Issues(pub(super) Vec<SceneIssue>);

impl Issues {
    /// Whether all of them will be listed.
    pub(super) fn are_few(&self) -> bool {
        self.0.len() < SceneErrors::LISTED
    }

    pub(super) fn add(
        &mut self,
        kind: Kind,
        field: impl Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(SceneIssue {
            field: field.to_string(),
            kind,
            message: message.into(),
            hint: hint.into(),
        });
    }

    /// Numbers below `path`, by name, that must be 0 or more.
    pub(super) fn require_not_negative(&mut self, path: impl Display + Copy, numbers: &[(&str, f64)]) {
        for (name, value) in numbers.iter().filter(|(_, value)| *value < 0.0) {
            self.add(Kind::OutOfRange, join(path, name), format!("{value} is negative"), "use 0 or more");
        }
    }

    /// Numbers below `path`, by name, that must be above 0.
    pub(super) fn require_positive(&mut self, path: impl Display + Copy, numbers: &[(&str, f64)]) {
        for (name, value) in numbers.iter().filter(|(_, value)| *value <= 0.0) {
            let message = format!("{value} is not positive");
            self.add(Kind::NotPositive, join(path, name), message, "use a number above 0");
        }
    }

    /// A count within a range.
    pub(super) fn require_count(&mut self, field: impl Display, n: u32, range: RangeInclusive<u32>) {
        if !range.contains(&n) {
            let hint = match (*range.start(), *range.end()) {
                (low, u32::MAX) => format!("use {low} or more"),
                (low, high) => format!("use {low} to {high}"),
            };
            self.add(Kind::OutOfRange, field, format!("{n} is out of range"), hint);
        }
    }

    /// A time (s) that comes after the one before it.
    pub(super) fn require_later(&mut self, before: Option<f64>, time: f64, field: impl FnOnce() -> String) {
        if let Some(before) = before.filter(|before| time <= *before) {
            let message = format!("{time} s does not come after {before} s");
            self.add(Kind::UnorderedTimes, field(), message, "list times in increasing order");
        }
    }

    /// A start and an end (s) that are in order: the fields `from_s` and `to_s` below `path`.
    pub(super) fn require_window(&mut self, path: impl Display + Copy, from: f64, to: Option<f64>) {
        self.require_not_negative(path, &[("from_s", from)]);
        if let Some(to) = to.filter(|to| *to < from) {
            let message = format!("the end at {to} s is before the start at {from} s");
            self.add(Kind::EmptyRange, join(path, "to_s"), message, "use a later time, or leave it out");
        }
    }

    /// A direction of any length but zero.
    pub(super) fn require_direction(&mut self, value: DVec3, field: impl FnOnce() -> String) {
        if value == DVec3::ZERO {
            let message = "this direction has length zero";
            self.add(Kind::BadDirection, field(), message, "use for instance (0, 0, 1)");
        }
    }
}

/// The path of a field; either part may be empty.
fn join(path: impl Display, name: &str) -> String {
    let path = path.to_string();
    let dot = if path.is_empty() || name.is_empty() { "" } else { "." };
    format!("{path}{dot}{name}")
}
