//! What flesh and bones do together over time.

use glam::DVec3;
use sinew_flesh::FleshOptions;
use sinew_mechanism::{Input, violation};

use crate::support::{Chain, ChainSpec, Run};

fn spec(young: f64, is_hung: bool) -> ChainSpec {
    ChainSpec { n_bones: 3, cells: [12, 2, 2], young, is_hung, options: FleshOptions::default(), every: 4 }
}

#[test]
fn hung_in_gravity_stays_together_at_any_stiffness() {
    for young in [1e3, 1e4, 1e5, 1e6, 1e7, 1e8] {
        let chain = Chain::new(&spec(young, true));
        let mut run = Run::new(&chain);
        run.settings.together.precision = 1e-6;
        let mut most = 0;
        for _ in 0..240 {
            let (report, felt) = run.step();
            assert!(report.non_finite.is_none());
            most = most.max(felt.iterations);
            let error = violation(&chain.model, &run.state, &Input::default()).position;
            assert!(error < 5e-3, "{young:.0e} Pa: {error}");
        }
        let speed = run.soft.nodes[0].velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!(most <= 60, "{young:.0e} Pa: {most} iterations");
        assert!(speed < 20.0);
    }
}

#[test]
fn free_flesh_and_bones_keep_their_momentum() {
    let chain = Chain::new(&spec(1e5, false));
    let mut run = Run::new(&chain);
    run.settings.gravity = DVec3::ZERO;
    for (i, motion) in run.state.motions.iter_mut().enumerate() {
        motion.linear = DVec3::new(0.3, i as f64, 0.2);
    }
    let momentum = |run: &Run<'_>| {
        let body = &chain.flesh.bodies()[0];
        let nodes = &run.soft.nodes[0];
        let free = body.attachments().free().iter().map(|f| f.node as usize);
        let soft: DVec3 = free.map(|i| nodes.velocities[i] * body.fem().masses()[i]).sum();
        let bones: DVec3 = run.state.motions.iter().map(|m| m.linear * 0.3).sum();
        soft + bones
    };
    let before = momentum(&run);
    for _ in 0..60 {
        run.step();
    }
    let drift = (momentum(&run) - before).length();
    assert!(drift < 1e-10 * before.length(), "{drift:e}");
}
