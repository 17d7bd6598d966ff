//! Makes the pictures of the examples of all crates: `cargo run --release -p sinew-show --example example_pictures FOLDER`. The examples know
//! nothing of it: their `run` gives what there is after so many steps, which is drawn here.

mod chains;
mod crowds;
mod page;
mod programs;
mod stills;

use std::path::Path;

use glam::DVec3;
use sinew_show::ShowOptions;
use sinew_sim::World;

use crate::page::{Outcome, Page};
use crate::programs::{car, crane, gripper, pendulum, ragdoll, score, soft_arm, torque_arm};

/// Writes all pictures into a folder.
fn main() -> Outcome<()> {
    let folder = std::env::args().nth(1).ok_or("which folder do the pictures go to?")?;
    let folder = Path::new(&folder);
    films().into_iter().try_for_each(|(name, page, world_after)| {
        page.write_film(&folder.join(name).with_extension("png"), world_after)
    })?;
    for (name, page, drawings) in [
        (
            "rollouts",
            Page { columns: 1, ..Page::new((280, 134), DVec3::new(0.5, -1.0, 0.7)) },
            crowds::rollouts()?,
        ),
        ("rollback", Page::new((280, 230), DVec3::new(0.0, -0.3, 1.0)), crowds::rollback()?),
        ("beads", Page::new((480, 320), DVec3::NEG_Y), vec![chains::beads()?]),
        ("affine_chain", Page::new((480, 320), DVec3::NEG_Y), vec![chains::affine()?]),
        ("own_material", Page::new((170, 170), DVec3::new(1.0, 0.5, 0.5)), chains::material()?),
    ] {
        page.write(&folder.join(name).with_extension("png"), &drawings)?;
    }
    Ok(())
}

type Film = (&'static str, Page, fn(u32) -> Outcome<World>);

/// The examples with a world, and the steps after which it is shown.
fn films() -> Vec<Film> {
    let page = |steps: &[u32], size, toward: [f64; 3]| Page {
        steps: steps.to_vec(),
        ..Page::new(size, DVec3::from_array(toward))
    };
    let joints = ShowOptions { joints: true, ..ShowOptions::default() };
    let contacts = ShowOptions { contacts: true, ..ShowOptions::default() };
    let car = Page { columns: 1, ..page(&[0, 172, 300], (460, 110), [-0.2, -1.0, 0.25]) };
    let torque_arm = Page { show: contacts, ..page(&[0, 30, 300], (220, 220), [-0.2, -1.0, 0.2]) };
    let pendulum = Page { show: joints, ..page(&[0, 20, 40, 60, 80, 100], (180, 160), [0.2, -1.0, 0.2]) };
    vec![
        ("car", car, |n| Ok(car::run(n)?.0)),
        ("crane", page(&[0, 120, 240, 360], (220, 170), [-0.8, -1.0, 0.3]), |n| Ok(crane::run(n)?.0)),
        ("gripper", page(&[0, 60, 240], (200, 240), [0.3, -1.0, 0.2]), |n| Ok(gripper::run(n)?.0)),
        ("ragdoll", page(&[0, 40, 85, 130, 190, 300], (150, 176), [1.0, -1.0, 0.5]), |n| {
            Ok(ragdoll::run(n)?.0)
        }),
        ("score", page(&[0, 60, 90, 120], (220, 200), [0.5, -1.0, 0.3]), |n| Ok(score::run(n)?.0)),
        ("soft_arm", page(&[0, 30, 60, 120], (240, 200), [0.2, -1.0, 0.2]), |n| Ok(soft_arm::run(n)?.0)),
        ("torque_arm", torque_arm, |n| Ok(torque_arm::run(n)?.0)),
        ("pendulum", pendulum, |n| {
            let mut world = pendulum::pendulum()?;
            (0..n).for_each(|_| _ = world.step());
            Ok(world)
        }),
    ]
}
