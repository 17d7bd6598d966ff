//! A solver of one's own: beads on rods, stepped with the factorization of trees alone.
//!
//! Velocities v of the beads and impulses λ of the rods solve `M v = M v₀ + h f + Jᵀλ`, `J v = −c/h`, where c is by how much the rods are too
//! long. The factorization is exact and takes linear time.

use std::error::Error;

use glam::DVec3;
use sinew_solvers::{BlockSystem, TreeLdlt};
use sinew_topology::{Endpoints, GraphBuilder, Priority, plan};

const ROD_M: f64 = 0.05;
const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

/// Where the beads are after some steps, the height of the last one (m) and the largest error of a rod (m), after swinging from the horizontal.
pub(crate) fn run(masses_kg: &[f64], n_steps: u32) -> Result<(Vec<DVec3>, [f64; 2]), Box<dyn Error>> {
    let (n, h) = (masses_kg.len(), 1.0 / 240.0);
    let mut builder = GraphBuilder::new();
    let beads: Vec<_> = (0..n).map(|_| builder.add_variable(3)).collect();
    let mut rods = Vec::new();
    for i in 0..n {
        let ends = if i == 0 { Endpoints::World(beads[0]) } else { Endpoints::Pair(beads[i], beads[i - 1]) };
        rods.push(builder.add_constraint(1, ends, Priority::Auto));
    }
    let plan = plan(&builder.finish()?)?;
    let (mut system, mut ldlt) = (BlockSystem::new(&plan), TreeLdlt::new(&plan));

    let mut x: Vec<DVec3> = (1..=n).map(|i| DVec3::X * ROD_M * i as f64).collect();
    let mut v = vec![DVec3::ZERO; n];
    for _ in 0..n_steps {
        for i in 0..n {
            let rod = x[i] - if i == 0 { DVec3::ZERO } else { x[i - 1] };
            let along = rod.normalize().to_array();
            let against = along.map(|a| -a);
            let mass = masses_kg[i];
            system.variable_mut(beads[i]).copy_from_slice(&[mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass]);
            system.variable_rhs_mut(beads[i]).copy_from_slice(&((v[i] + h * GRAVITY) * mass).to_array());
            system.set_jacobians(rods[i], &along, if i == 0 { &[] } else { &against });
            system.constraint_rhs_mut(rods[i])[0] = (ROD_M - rod.length()) / h;
        }
        ldlt.factor(&system)?;
        let mut solution = system.rhs().to_vec();
        ldlt.solve(&mut solution);
        for i in 0..n {
            v[i] = DVec3::from_slice(&solution[system.variable_range(beads[i])]);
            x[i] += h * v[i];
        }
    }
    let length = |i: usize| x[i].distance(if i == 0 { DVec3::ZERO } else { x[i - 1] });
    let error = (0..n).map(|i| (length(i) - ROD_M).abs()).fold(0.0, f64::max);
    let height = x[n - 1].z;
    Ok((x, [height, error]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), Box<dyn Error>> {
    let (_, [height, error]) = run(&[0.05; 20], 96)?;
    println!("after 0.4 s the last bead is at {height:.2} m; rods are off by {:.3} mm at most", 1e3 * error);
    Ok(())
}
