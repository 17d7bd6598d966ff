//! The figures of the joint-space suite as tables, as JSON and as curves.

use serde_json::{Value, json};
use sinew_picture::{Figure, PlotCurve};

use crate::joint_space_suite::{JointSpaceSuite, QuantityRow, ROBOTS};
use crate::{ROBOT_HINGES, ReportTable, SuiteReport, short};

impl JointSpaceSuite {
    fn of(&self, robot: &str) -> impl Iterator<Item = &QuantityRow> {
        self.rows.iter().filter(move |row| row.robot == robot)
    }

    /// The quantities of a robot.
    pub(crate) fn table(&self, robot: &str) -> ReportTable {
        let what = if robot == "chain" { "a chain on the world" } else { "five limbs on a free base" };
        let title = format!("{ROBOT_HINGES} hinges, {what}: ns per hinge, kinematics included");
        let head = "quantity | best | median | Pinocchio, best | median | ratio of best | of medians | difference | its function";
        let mut table = ReportTable::new(title, head);
        let ns = |seconds: f64| short(QuantityRow::per_hinge(seconds));
        for row in self.of(robot) {
            let mut cells = vec![row.quantity.to_string(), ns(row.ours.best), ns(row.ours.median)];
            if let (Some(peer), Some(ratios)) = (&row.peer, row.ratios()) {
                cells.extend([ns(peer.clock.best), ns(peer.clock.median)]);
                cells.extend(ratios.map(short));
                cells.extend([format!("{:.0e}", peer.difference), peer.function.to_string()]);
            }
            table.row(cells);
        }
        if let Some(peer) = &self.peer {
            table.note(format!(
                "{peer}, -O3 -march=native. Batches of both in turn, one thread.\n\
                 Difference: largest of the numbers of both, of the largest number. Of symmetric matrices Pinocchio has one triangle, we have both."
            ));
        }
        table
    }
}

impl SuiteReport for JointSpaceSuite {
    fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let factor = QuantityRow::per_hinge(1.0);
            json!({
                "name": format!("{}, {}", row.robot, row.quantity),
                "ns_per_hinge": row.ours.to_json(factor),
                "pinocchio": row.peer.as_ref().map(|peer| json!({
                    "function": peer.function,
                    "ns_per_hinge": peer.clock.to_json(factor),
                    "difference": peer.difference,
                })),
                "ratio": row.ratios().map(|[best, _]| best),
            })
        });
        json!({ "pinocchio": self.peer, "rows": rows.collect::<Value>() })
    }

    /// Times of the quantities, by their number.
    fn figure(&self) -> Figure {
        let curve = |robot: &str, name: String, of: fn(&QuantityRow) -> Option<f64>| -> PlotCurve {
            let points = self.of(robot).enumerate();
            let point = |(k, row)| Some(((k + 1) as f64, QuantityRow::per_hinge(of(row)?)));
            (name, points.filter_map(point).collect())
        };
        let mut curves = Vec::new();
        for (robot, ..) in ROBOTS {
            curves.push(curve(robot, format!("{robot}, Sinew"), |row| Some(row.ours.best)));
            if self.peer.is_some() {
                let theirs = |row: &QuantityRow| row.peer.as_ref().map(|peer| peer.clock.best);
                curves.push(curve(robot, format!("{robot}, Pinocchio"), theirs));
            }
        }
        Figure {
            title: "Joint space of 30 hinges, one thread: ns per hinge",
            across: "quantity, in the order of the table",
            curves,
            log: true,
        }
    }
}
