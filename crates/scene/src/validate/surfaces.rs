//! Rules for surfaces that are drawn.

use super::Issues;
use super::bodies::check_color;
use crate::doc::SceneDoc;
use crate::error::SceneIssueKind as Kind;

/// Most pieces along a side of a square of a surface.
const FINEST: u32 = 32;

/// The points of a surface make a grid of at least two rows and columns; it is as fine as can be drawn.
pub(super) fn surfaces_are_grids(scene: &SceneDoc, issues: &mut Issues) {
    for (i, surface) in scene.surfaces.iter().enumerate() {
        let field = |name: &str| format!("surfaces[{i}].{name}");
        let (n, columns) = (surface.points.len(), surface.columns as usize);
        if columns < 2 {
            let message = format!("{columns} points in a row make no surface");
            issues.add(Kind::OutOfRange, field("columns"), message, "use 2 or more");
        } else if n < 2 * columns || !n.is_multiple_of(columns) {
            let message = format!("{n} points make no two or more full rows of {columns}");
            issues.add(Kind::OutOfRange, field("points"), message, "give all points of every row");
        }
        if !(1..=FINEST).contains(&surface.fineness) {
            let message = format!("{} pieces cannot be drawn", surface.fineness);
            issues.add(Kind::OutOfRange, field("fineness"), message, format!("use 1 to {FINEST}"));
        }
        check_color(issues, surface.color, || field("color"));
    }
}
