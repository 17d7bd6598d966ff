//! The number of threads does not change a bit.

use super::lattice::{Lattice, SOFT};
use super::{indices, random_vector};
use sinew_solvers::{CgScratch, CgSettings, HeldNodes, TwoLevel, conjugate_gradient};
use sinew_testkit::Rng;

#[test]
fn solutions_have_the_same_bits_on_any_number_of_threads() {
    // More rows than one thread takes at once.
    let lattice = Lattice::cantilever(9);
    let (mut matrix, is_fixed) = (lattice.matrix(SOFT, 1.0 / 60.0), lattice.clamped());
    let (b, fixed) = (random_vector(&mut Rng::new(1), &is_fixed), indices(&is_fixed));
    let mut two = TwoLevel::new(matrix.pattern(), &lattice.rest, &is_fixed);
    two.refresh(&matrix, &lattice.rest);
    let mut bits = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let (mut x, mut scratch) = (vec![0.0; b.len()], CgScratch::new());
        let mut system = HeldNodes { matrix: &mut matrix, preconditioner: &mut two, fixed: &fixed };
        let settings = CgSettings { iterations: 20, ..CgSettings::default() };
        pool.install(|| conjugate_gradient(&mut system, &b, &mut x, &settings, &mut scratch));
        x.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
    };
    let one = bits(1);
    assert!(bits(2) == one && bits(3) == one);
}
