//! `soak piles`: heaps, pyramids and towers of boxes.

use sinew_soak::Pile;

use crate::options::Options;

/// Overlap that a pile may have at any time, and at rest (m); energy that a step may gain, of all that there was.
const DEEPEST: f64 = 15e-3;
const DEEPEST_AT_REST: f64 = 2e-3;
const GAIN: f64 = 1e-3;

/// Whether every pile of at most `count` boxes holds.
pub(crate) fn run(options: &Options) -> bool {
    let most = options.count.unwrap_or(100);
    let sizes = [
        (10, Pile::Tower(10)),
        (20, Pile::Tower(20)),
        (40, Pile::Heap(40)),
        (55, Pile::Pyramid(10)),
        (100, Pile::Heap(100)),
        (210, Pile::Pyramid(20)),
        (1000, Pile::Heap(1000)),
    ];
    println!(
        "{:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "pile", "ms", "ms rest", "longest", "mm ever", "mm rest", "gain", "m/s", "mm drift"
    );
    let mut holds = true;
    for (_, pile) in sizes.into_iter().filter(|(n, _)| *n <= most) {
        if !pile.name().contains(&options.scheme) {
            continue;
        }
        match pile.run(options.seed, options.seconds) {
            Ok(run) => {
                println!(
                    "{:<12} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9.1e} {:>9.1e} {:>9.3}",
                    pile.name(),
                    1e3 * run.mean_time,
                    1e3 * run.mean_time_at_rest,
                    1e3 * run.longest_time,
                    1e3 * run.deepest,
                    1e3 * run.deepest_at_rest,
                    run.gain,
                    run.speed,
                    1e3 * run.drift
                );
                holds &= run.deepest <= DEEPEST && run.deepest_at_rest <= DEEPEST_AT_REST && run.gain <= GAIN;
            }
            Err(error) => {
                println!("{:<12} {error}", pile.name());
                holds = false;
            }
        }
    }
    holds
}
