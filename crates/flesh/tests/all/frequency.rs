//! Free vibrations against the smallest eigenvalue of the same mesh.

use glam::DVec3;
use sinew_flesh::{ExplicitFlesh, ExplicitWorkspace, FleshOptions, step_explicit};
use sinew_mechanism::{Implicit, Order, Scheme};
use sinew_testkit::norm;

use crate::statics::{assembled, soft_bar};
use crate::support::{Chain, Run};

/// The first mode: its circular frequency (rad/s) and its shape on all nodes, `xᵀMx = 1`; by inverse iteration.
fn first_mode(chain: &Chain) -> (f64, Vec<DVec3>) {
    let fem = chain.flesh.bodies()[0].fem();
    let rest = fem.mesh().positions();
    let free: Vec<usize> = (0..3 * rest.len()).filter(|n| rest[n / 3].x > 0.0).collect();
    let (stiffness, forces) = assembled(fem, rest, &free);
    assert!(norm(&forces) < 1e-9);
    let lu = stiffness.lu().expect("a clamped bar");
    let masses: Vec<f64> = free.iter().map(|n| fem.masses()[n / 3]).collect();
    let mut mode: Vec<f64> = free.iter().map(|n| [0.0, 1.0, 0.5][n % 3] * rest[n / 3].x).collect();
    let mut square = 0.0;
    for _ in 0..500 {
        let size: f64 = mode.iter().zip(&masses).map(|(x, m)| m * x * x).sum::<f64>().sqrt();
        mode.iter_mut().for_each(|x| *x /= size);
        let pushed: Vec<f64> = mode.iter().zip(&masses).map(|(x, m)| m * x).collect();
        let bent = lu.solve(&pushed);
        // xᵀMx / xᵀMK⁻¹Mx
        square = 1.0 / bent.iter().zip(&pushed).map(|(b, p)| b * p).sum::<f64>();
        mode = bent;
    }
    let left = stiffness.mul_vec(&mode);
    let error = left.iter().zip(&mode).zip(&masses).map(|((l, x), m)| l - square * m * x);
    assert!(norm(&error.collect::<Vec<_>>()) < 1e-9 * norm(&left));
    let size: f64 = mode.iter().zip(&masses).map(|(x, m)| m * x * x).sum::<f64>().sqrt();
    let mut shape = vec![DVec3::ZERO; rest.len()];
    free.iter().zip(&mode).for_each(|(&n, x)| shape[n / 3][n % 3] = x / size);
    (square.sqrt(), shape)
}

/// Circular frequency (rad/s) of the part of a motion along a mode, from its passages through zero.
fn measured(chain: &Chain, mode: &[DVec3], dt: f64, mut step: impl FnMut(usize) -> Vec<DVec3>) -> f64 {
    let fem = chain.flesh.bodies()[0].fem();
    let rest = fem.mesh().positions();
    let along = |x: &[DVec3]| -> f64 {
        let each = x.iter().zip(rest).zip(mode).zip(fem.masses());
        each.map(|(((x, rest), mode), m)| m * (*x - *rest).dot(*mode)).sum()
    };
    let (mut last, mut passages) = (0.0, Vec::new());
    let mut n = 0;
    while passages.len() < 7 {
        let now = along(&step(n));
        if n > 0 && last * now < 0.0 {
            passages.push(dt * (n as f64 + last / (last - now)));
        }
        last = now;
        n += 1;
        assert!(n < 200_000, "it does not swing");
    }
    std::f64::consts::PI * 6.0 / (passages[6] - passages[0])
}

/// A push of 1 mm/s to the side where the tip goes in the first mode: mostly, but not only, that mode.
fn pushed<'a>(chain: &'a Chain, mode: &[DVec3]) -> Run<'a> {
    let push = mode[mode.len() - 1].with_x(0.0).normalize() * 1e-3;
    let mut run = Run::new(chain);
    run.settings.gravity = DVec3::ZERO;
    for free in chain.flesh.bodies()[0].attachments().free() {
        run.soft.nodes[0].velocities[free.node as usize] = push;
    }
    run
}

#[test]
fn bars_vibrate_at_the_smallest_eigenvalue_of_their_mesh() {
    let chain = soft_bar(FleshOptions::default());
    let (expected, mode) = first_mode(&chain);

    for (order, dt, allowed) in [(Order::Second, 0.01, 2e-3), (Order::First, 0.004, 2e-3)] {
        let mut run = pushed(&chain, &mode);
        let mut implicit = Implicit::default();
        implicit.order = order;
        (run.settings.scheme, run.settings.dt) = (Scheme::Implicit(implicit), dt);
        let found = measured(&chain, &mode, dt, |_| {
            run.step();
            run.soft.nodes[0].positions.clone()
        });
        println!("{order:?}, {dt} s: {found:.6} rad/s, eigenvalue {expected:.6}");
        assert!((found / expected - 1.0).abs() < allowed, "{order:?}: {found} for {expected}");
    }

    let Run { state, soft: mut nodes, .. } = pushed(&chain, &mode);
    let mut work = ExplicitWorkspace::new(&chain.flesh);
    let settings = ExplicitFlesh { dt: 0.01, gravity: DVec3::ZERO, ..ExplicitFlesh::default() };
    let mut wrenches = Vec::new();
    let mut substeps = 0;
    let found = measured(&chain, &mode, settings.dt, |_| {
        let report =
            step_explicit(&chain.flesh, [&state, &state], &settings, &mut nodes, &mut work, &mut wrenches);
        substeps = report.substeps;
        assert!(wrenches.is_empty(), "a wall that cannot move feels nothing");
        nodes.nodes[0].positions.clone()
    });
    println!("explicit, {substeps} sub-steps of 0.01 s: {found:.6} rad/s");
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} for {expected}");
}
