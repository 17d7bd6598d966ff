//! Many states of one world, and two worlds of one game.

use glam::DVec3;
use sinew_show::{Drawing, SceneLooks, ShowOptions, ShownLine, ShownSolid};
use sinew_sim::World;

use crate::page::Outcome;
use crate::programs::{rollback, rollouts};
use crate::stills::{BLUE, ORANGE, RED, of_world};

/// Sticks of a row, and how far apart they are (m).
const ROW: usize = 10;
const APART_M: f64 = 0.9;

/// Forty of a thousand rollouts side by side, early and late: those on their feet are blue.
pub(crate) fn rollouts() -> Outcome<Vec<(Drawing, String)>> {
    let still = |n_steps: u32| {
        let (poses, _) = rollouts::run(1000, n_steps)?;
        let mut drawing = Drawing::default();
        drawing.planes.push((DVec3::ZERO, DVec3::Z));
        drawing.solids.extend(poses.into_iter().step_by(25).enumerate().map(|(i, mut pose)| {
            let color = if (pose.rotation * DVec3::Z).z > 0.9 { BLUE } else { ORANGE };
            pose.translation += DVec3::new((i % ROW) as f64, (i / ROW) as f64, 0.0) * APART_M;
            ShownSolid { shape: rollouts::STICK, pose, color, is_bone: false }
        }));
        Ok((drawing, format!("{:.1} s", f64::from(n_steps) / 60.0)))
    };
    [20, 120].into_iter().map(still).collect()
}

/// What each player sees, and the paths of the pucks so far: where it saw them.
pub(crate) fn rollback() -> Outcome<Vec<(Drawing, String)>> {
    const STEPS: u32 = 100;
    let mut seen = Vec::new();
    for step in 0..=STEPS {
        let (worlds, _) = rollback::run(step)?;
        let pucks = |world: &World| {
            ["red", "blue"]
                .map(|name| world.body(name).map_or(DVec3::ZERO, |puck| world.pose(puck).translation))
        };
        seen.push((worlds.each_ref().map(pucks), worlds));
    }
    let last = seen.last().ok_or("no step")?;
    Ok([0, 1]
        .map(|player| {
            let world = &last.1[player];
            let mut drawing = of_world(world, &SceneLooks::of(world), ShowOptions::default());
            for (puck, color) in [RED, BLUE].into_iter().enumerate() {
                drawing.solids[puck].color = color;
                let lift = DVec3::Z * 0.06;
                let path =
                    seen.windows(2).map(|pair| [&pair[0].0, &pair[1].0].map(|at| at[player][puck] + lift));
                drawing.lines.extend(path.map(|[from, to]| ShownLine { from, to, color, weight: 2.0 }));
            }
            (drawing, format!("as {} sees it", ["red", "blue"][player]))
        })
        .into())
}
