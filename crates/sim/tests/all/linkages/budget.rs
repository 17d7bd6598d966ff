//! Precision against work: the sheet of Fau98, figure 5, dragged with a small and with a large budget.

use sinew_scene::StepperDoc;
use sinew_sim::World;

use crate::common::scene;

/// Largest joint error (m) of a run with so many corrections per step and iterations on the loops per correction.
fn largest_error(corrections: u32, iterations: u32) -> f64 {
    let mut scene = scene("mesh_56");
    let StepperDoc::Displacement(stepper) = &mut scene.stepper else { panic!("another stepper") };
    stepper.iterations = corrections;
    scene.loops.iterations = iterations;
    let mut world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    (0..world.info().n_steps).fold(0.0, |largest: f64, _| {
        world.step();
        largest.max(world.violation().position)
    })
}

#[test]
fn small_budgets_stay_close_and_large_ones_close() {
    let [small, large] =
        [(2, 5), (3, 50)].map(|(corrections, iterations)| largest_error(corrections, iterations));
    assert!(large < 1e-6, "{large:e} m");
    assert!(small < 5e-4 && small > 10.0 * large, "{small:e} m");
}
