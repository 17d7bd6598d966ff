//! Rules for surfaces that are drawn: full rows of points.

use super::{bodies::check_color, issues::Issues};
use crate::{doc::SceneDoc, error::SceneIssueKind as Kind};

/// Most pieces along a side of a square of a surface.
const FINEST: u32 = 32;

/// The points of a surface make a grid of at least two rows and two columns.
pub(super) fn surfaces_are_grids(scene: &SceneDoc, issues: &mut Issues) {
    for (i, surface) in scene.surfaces.iter().enumerate() {
        let field = |name: &str| format!("surfaces[{i}].{name}");
        let (n, columns) = (surface.points.len(), surface.columns as usize);
        issues.require_count(field("columns"), surface.columns, 2..=u32::MAX);
        if columns >= 2 && (n < 2 * columns || !n.is_multiple_of(columns)) {
            let message = format!("{n} points are not two or more full rows of {columns}");
            issues.add(Kind::OutOfRange, field("points"), message, "list every point of every row");
        }
        issues.require_count(field("fineness"), surface.fineness, 1..=FINEST);
        check_color(issues, surface.color, || field("color"));
    }
}
