//! tmp
use sinew_benches::*;
use sinew_mechanism::*;
use std::time::Instant;
fn main() {
    for joint in [ChainJoint::Hinge(10.0), ChainJoint::Ball(10.0), ChainJoint::Ball(0.0)] {
        for n in [10usize, 100, 1000, 10_000, 100_000, 1_000_000] {
            let model = chain(n, joint).unwrap();
            let mut state = model.initial_state();
            let settings = Settings::default();
            let mut ws = Workspace::new(&model);
            let steps = (2_000_000 / n).max(4);
            for _ in 0..steps / 4 {
                step(&model, &mut state, &Input::default(), &settings, &mut ws);
            }
            let mut best = f64::INFINITY;
            for _ in 0..3 {
                let t = Instant::now();
                for _ in 0..steps {
                    step(&model, &mut state, &Input::default(), &settings, &mut ws);
                }
                best = best.min(t.elapsed().as_secs_f64());
            }
            println!(
                "{joint:?} {n:8} {:.1} ns/link  z={:.4}",
                best / (steps * n) as f64 * 1e9,
                state.poses[n - 1].translation.z
            );
        }
    }
}
