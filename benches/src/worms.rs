//! A heap of worms in flesh, which no peer has: crossed layers of four, dropped from a little above each other.

use sinew_math::Pose;
use sinew_scene::SceneDoc;
use sinew_sim::World;
use sinew_soak::{PileParts, PileRun, PileTimes, PileWorld, watch_pile};

use crate::SuiteFailure;

/// A world with flesh, and how deep its surfaces were in the last step (m), as it tells itself.
struct FleshPile {
    world: World,
    depth: f64,
}

impl PileWorld for FleshPile {
    fn step(&mut self) {
        self.depth = self.world.step().flesh.contacts.depth;
    }

    fn poses(&self) -> Vec<Pose> {
        PileWorld::poses(&self.world)
    }

    fn energy(&self) -> f64 {
        PileWorld::energy(&self.world)
    }

    fn speed(&self) -> f64 {
        PileWorld::speed(&self.world)
    }

    fn soft_depth(&self) -> f64 {
        self.depth
    }
}

/// Runs a heap of worms; their joints are springs.
pub(crate) fn run_worms(
    n: u32,
    times: PileTimes,
    progress: &mut dyn FnMut(f64),
) -> Result<PileRun, SuiteFailure> {
    let scene = SceneDoc::from_ron(&text(n), "worms").map_err(|errors| errors.to_string())?;
    let world = World::from_scene(&scene).map_err(|error| error.to_string())?;
    let mut pile = FleshPile { world, depth: 0.0 };
    Ok(watch_pile(&mut pile, &PileParts::default(), times, progress))
}

fn text(n: u32) -> String {
    let worm = |i: u32| {
        let (layer, across) = (f64::from(i / 4), 0.2 * f64::from(i % 4) - 0.3);
        let along = 0.02 * f64::from(i / 4 % 3);
        let (x, y, turn) = match i / 4 % 2 {
            0 => (along, across, 0.0),
            _ => (across, along, std::f64::consts::FRAC_PI_2),
        };
        let z = 0.08 + 0.14 * layer;
        format!(
            "Character(name: \"worm_{i}\", kind: Worm, pose: (position: ({x}, {y}, {z}), rotation: Vector(0, 0, {turn})), \
             material: StVenantKirchhoff(young: 1e5, poisson: 0.4), joint: (stiffness: 1, damping: 0.05), contact: ()),"
        )
    };
    let worms: String = (0..n).map(worm).collect();
    format!(
        "(format: 1, generators: [{worms}], colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))])"
    )
}
