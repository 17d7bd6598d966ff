//! Nothing allocates after set-up.

use crate::trees::{Recipe, sample};
use sinew_solvers::TreeLdlt;
use sinew_testkit::Rng;

#[test]
fn factor_solve_and_refine_do_not_allocate() {
    let sample = sample(&mut Rng::new(1), Recipe::rigid(100, 0.5));
    let mut ldlt = TreeLdlt::new(&sample.plan);
    let mut x = sample.system.rhs().to_vec();
    let info = allocation_counter::measure(|| {
        ldlt.factor(&sample.system).unwrap();
        ldlt.solve(&mut x);
        ldlt.refine(&sample.system, sample.system.rhs(), &mut x);
    });
    assert_eq!(info.count_total, 0);
}
