//! Affine bodies (Lan et al. 2022): a swinging chain of bodies of twelve unknowns each, joined by points.
//!
//! Points are at `x = p + A X`. Unknowns are `p` and the columns of `A`, which the energy `κ/4 |AᵀA − 1|²` keeps orthonormal. Steps are
//! implicit, linearized once, and factored in linear time: `(M + h²K) v = M v₀ + h f + Jᵀλ`, `J v = −C/h`.
use glam::DVec3;
use sinew_solvers::{BlockSystem, TreeLdlt};
use sinew_topology::{Endpoints, GraphBuilder, Priority, plan};
pub(crate) const LENGTHS_M: [f64; 3] = [0.3, 0.06, 0.06];
const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);
type Affine = [DVec3; 4];
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The end of a link on one side (±1), `X = (side L/2, 0, 0)`, and its rows times a sign.
fn end(q: &Affine, side: f64) -> DVec3 {
    q[0] + q[1] * (0.5 * side * LENGTHS_M[0])
}
fn rows(side: f64, sign: f64) -> [f64; 36] {
    let factors = [sign, sign * 0.5 * side * LENGTHS_M[0], 0.0, 0.0];
    std::array::from_fn(|k| if k % 3 == k / 12 { factors[k % 12 / 3] } else { 0.0 })
}

/// `p` and the columns of `A` of each link, the energy beyond that at the start (J), and the largest gap of a joint (m).
pub(crate) fn run(n: usize, stiffness: f64, h: f64, n_steps: u32) -> Outcome<(Vec<Affine>, [f64; 2])> {
    let (mut builder, mut links, mut pins) = (GraphBuilder::new(), Vec::new(), Vec::new());
    for i in 0..n {
        links.push(builder.add_variable(12));
        let ends = if i == 0 { Endpoints::World(links[0]) } else { Endpoints::Pair(links[i], links[i - 1]) };
        pins.push(builder.add_constraint(3, ends, Priority::Auto));
    }
    let plan = plan(&builder.finish()?)?;
    let (mut system, mut ldlt) = (BlockSystem::new(&plan), TreeLdlt::new(&plan));
    let mass = |k: usize| if k < 3 { 1.0 } else { LENGTHS_M[k / 3 - 1].powi(2) / 12.0 };
    let at = |i: usize| DVec3::X * (LENGTHS_M[0] * (i as f64 + 0.5));
    let mut q: Vec<Affine> = (0..n).map(|i| [at(i), DVec3::X, DVec3::Y, DVec3::Z]).collect();
    let mut v = vec![[0.0; 12]; n];
    let held = |q: &[Affine], i: usize| if i == 0 { DVec3::ZERO } else { end(&q[i - 1], 1.0) };
    for _ in 0..n_steps {
        system.clear();
        for i in 0..n {
            let mut rhs: [f64; 12] = std::array::from_fn(|k| mass(k) * v[i][k]);
            rhs[2] += h * GRAVITY.z;
            let block = system.variable_mut(links[i]);
            (0..12).for_each(|k| block[13 * k] = mass(k));
            // Each entry `a_j·a_k − δ_jk` is a spring of stiffness κ/2 along its gradient.
            for (j, k) in (3..12).map(|jk| (jk / 3, jk % 3 + 1)) {
                let open = q[i][j].dot(q[i][k]) - f64::from(j == k);
                let gradient: Affine =
                    std::array::from_fn(|c| q[i][k] * f64::from(c == j) + q[i][j] * f64::from(c == k));
                let along = |r: usize| gradient[r / 3][r % 3];
                for r in 3..12 {
                    rhs[r] -= 0.5 * h * stiffness * open * along(r);
                    (3..12).for_each(|c| block[12 * r + c] += 0.5 * h * h * stiffness * along(r) * along(c));
                }
            }
            system.variable_rhs_mut(links[i]).copy_from_slice(&rhs);
            system.set_jacobians(pins[i], &rows(-1.0, 1.0), &rows(1.0, -1.0)[..36 * usize::from(i > 0)]);
            let closing = (held(&q, i) - end(&q[i], -1.0)) / h;
            system.constraint_rhs_mut(pins[i]).copy_from_slice(&closing.to_array());
        }
        ldlt.factor(&system)?;
        let mut solution = system.rhs().to_vec();
        ldlt.solve(&mut solution);
        for i in 0..n {
            v[i].copy_from_slice(&solution[system.variable_range(links[i])]);
            (0..4).for_each(|k| q[i][k] += h * DVec3::from_slice(&v[i][3 * k..]));
        }
    }
    let kinetic = |i: usize| (0..12).map(|k| 0.5 * mass(k) * v[i][k].powi(2)).sum::<f64>();
    let energy = (0..n).map(|i| kinetic(i) - GRAVITY.dot(q[i][0])).sum();
    let gap = (0..n).map(|i| end(&q[i], -1.0).distance(held(&q, i))).fold(0.0, f64::max);
    Ok((q, [energy, gap]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Outcome<()> {
    let (links, [energy, gap]) = run(10, 1e5, 1e-3, 1000)?;
    println!("after 1 s the end is at {:.2} m; energy {energy:.2} J, gaps {gap:.0e} m", end(&links[9], 1.0));
    Ok(())
}
