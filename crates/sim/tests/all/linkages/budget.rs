//! Precision against work: the sheet of Fau98, figure 5, dragged with a small and with a large budget, and the characters of
//! figure 3 put together in as many corrections as the paper uses.

use sinew_mechanism::assemble;
use sinew_scene::{KrylovMethodDoc, LoopSolverDoc, StepperDoc};
use sinew_sim::{Assembly, AssemblyReport, Input, World};

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

/// The scattered characters after so many corrections with so many iterations each; the biconjugate gradients of the paper
/// on all joints if `is_paper`, loops on top of the tree otherwise.
fn assembled(is_paper: bool, corrections: u32, iterations: u32) -> AssemblyReport {
    let mut scene = scene("characters_holding_hands");
    scene.assemble = false;
    scene.loops.iterations = iterations;
    if is_paper {
        scene.loops.solver = LoopSolverDoc::FullIterative;
        scene.loops.method = KrylovMethodDoc::BiConjugateGradient;
    }
    let world = World::from_scene(&scene).unwrap_or_else(|error| panic!("{error}"));
    let mut settings = Assembly::default();
    (settings.iterations, settings.tolerance, settings.velocities) = (corrections, 1e-10, false);
    let mut workspace = sinew_mechanism::Workspace::new(world.mechanism());
    let mut state = world.state().bodies.clone();
    let loops = &world.settings().loops;
    assemble(world.mechanism(), &mut state, &Input::default(), &settings, loops, &mut workspace)
}

#[test]
fn scattered_characters_are_together_after_six_corrections_of_thirty_iterations() {
    for is_paper in [false, true] {
        let start = assembled(is_paper, 0, 30);
        assert!(start.position_error > 0.4 && start.rotation_error > 0.6, "{start:?}");
        let six = assembled(is_paper, 6, 30);
        assert_eq!(six.iterations, 6);
        assert!(six.position_error < 1e-3 && six.rotation_error < 1e-3, "{six:?}");
        // Two more square the error twice.
        let all = assembled(is_paper, 8, 30);
        assert!(all.position_error < 1e-10 && all.rotation_error < 1e-10, "{all:?}");
    }
}
