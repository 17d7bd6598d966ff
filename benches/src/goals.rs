//! What is asked of figures, and whether they meet it.

use crate::{ReportTable, short};
use serde_json::{Value, json};

/// Something asked of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FigureGoal {
    /// What is measured, with its unit.
    pub(crate) name: String,
    /// The figure.
    pub(crate) value: f64,
    /// What it must keep to.
    pub(crate) bound: GoalBound,
}

/// A limit from one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GoalBound {
    /// Not above this.
    AtMost(f64),
    /// Not below this.
    AtLeast(f64),
}

impl FigureGoal {
    /// A figure that must not exceed a limit.
    pub(crate) fn at_most(name: impl Into<String>, value: f64, limit: f64) -> Self {
        Self { name: name.into(), value, bound: GoalBound::AtMost(limit) }
    }

    /// A figure that must reach a limit.
    pub(crate) fn at_least(name: impl Into<String>, value: f64, limit: f64) -> Self {
        Self { name: name.into(), value, bound: GoalBound::AtLeast(limit) }
    }

    /// Whether it is met.
    pub(crate) fn is_met(&self) -> bool {
        match self.bound {
            GoalBound::AtMost(limit) => self.value <= limit,
            GoalBound::AtLeast(limit) => self.value >= limit,
        }
    }

    /// As a JSON object.
    pub(crate) fn to_json(&self) -> Value {
        let (side, limit) = match self.bound {
            GoalBound::AtMost(limit) => ("at_most", limit),
            GoalBound::AtLeast(limit) => ("at_least", limit),
        };
        json!({ "name": self.name, "value": self.value, side: limit, "met": self.is_met() })
    }
}

/// What was asked, and whether it is met.
pub(crate) fn goals_table(goals: &[FigureGoal]) -> ReportTable {
    let number = |x: f64| if x < 1e-3 { format!("{x:.1e}") } else { short(x) };
    let mut table = ReportTable::new("Goals", "figure | measured | goal | ");
    for goal in goals {
        let bound = match goal.bound {
            GoalBound::AtMost(limit) => format!("≤ {}", number(limit)),
            GoalBound::AtLeast(limit) => format!("≥ {}", number(limit)),
        };
        let verdict = if goal.is_met() { "met" } else { "missed" };
        table.row([goal.name.clone(), number(goal.value), bound, verdict.into()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{FigureGoal, goals_table};

    #[test]
    fn limits_have_sides() {
        let goals = [FigureGoal::at_most("a", 1.0, 2.0), FigureGoal::at_least("b", 1.0, 2.0)];
        assert_eq!(goals.each_ref().map(FigureGoal::is_met), [true, false]);
        assert_eq!(goals[1].to_json()["at_least"], 2.0);
        let text = goals_table(&goals).to_string();
        assert!(text.contains("≤ 2.00") && text.contains("missed"), "{text}");
        assert!(!FigureGoal::at_most("not a number", f64::NAN, 1.0).is_met());
    }
}
