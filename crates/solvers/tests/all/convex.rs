//! Bodies between walls that only push and rub: the solution of [`minimize`] against plain descent on the energy.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym6};
use sinew_solvers::{BareTree, ConvexForces, ConvexScratch, ConvexSettings, TouchedTree, minimize};
use sinew_testkit::Rng;
use std::ops::Range;

/// Forces `−g max(0, s (g·V − c))` along random rows over the twists of all bodies: a potential with kinks.
struct Walls {
    rows: Vec<Wall>,
    diagonal: Vec<Sym6>,
    /// All bodies are one island.
    island: [u32; 1],
    are_loose: bool,
}

/// Free bodies: the inverses of their blocks.
struct FreeBodies(Vec<Sym6>);

impl TouchedTree for FreeBodies {
    fn has_islands(&self) -> bool {
        true
    }

    fn select(&mut self, bodies: Range<usize>) {
        assert_eq!(bodies, 0..self.0.len());
    }

    fn react(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        for ((motion, impulse), inverse) in motions.iter_mut().zip(impulses).zip(&self.0) {
            *motion = inverse.mul_wrench(*impulse);
        }
    }
}

struct Wall {
    on: Vec<Force>,
    stiffness: f64,
    offset: f64,
    value: f64,
    change: f64,
}

impl Wall {
    fn along(&self, motions: &[Motion]) -> f64 {
        self.on.iter().zip(motions).map(|(g, v)| g.dot(*v)).sum()
    }

    fn force(&self, value: f64) -> f64 {
        self.stiffness * (value - self.offset).max(0.0)
    }
}

impl ConvexForces for Walls {
    fn islands(&self) -> &[u32] {
        &self.island
    }

    fn select(&mut self, islands: Range<usize>) {
        assert_eq!(islands, 0..1);
    }

    fn diagonal(&self) -> &[Sym6] {
        &self.diagonal
    }

    fn linearize(&mut self, motions: &[Motion], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
        for wall in &mut self.rows {
            wall.value = wall.along(motions);
            let force = wall.force(wall.value);
            impulses.iter_mut().zip(&wall.on).for_each(|(f, g)| *f -= *g * force);
        }
    }

    fn energy(&self) -> f64 {
        self.rows.iter().map(|wall| 0.5 * wall.force(wall.value).powi(2) / wall.stiffness).sum()
    }

    fn apply(&mut self, change: &[Motion], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
        for wall in self.rows.iter().filter(|wall| wall.value > wall.offset) {
            let force = wall.stiffness * wall.along(change);
            impulses.iter_mut().zip(&wall.on).for_each(|(f, g)| *f += *g * force);
        }
    }

    fn are_loose(&self) -> bool {
        self.are_loose
    }

    fn are_floating(&self) -> bool {
        false
    }

    fn begin(&mut self, motions: &mut [Motion]) -> bool {
        motions.fill(Motion::ZERO);
        true
    }

    /// A poor guess: no forces.
    fn settle(&mut self, _: &mut dyn BareTree, _: &[Motion], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
    }

    fn sum_slopes(&self, sums: &mut [Sym6]) {
        sums.fill(Sym6::ZERO);
        for wall in self.rows.iter().filter(|wall| wall.value > wall.offset) {
            sums.iter_mut().zip(&wall.on).for_each(|(sum, g)| sum.add_outer(wall.stiffness, *g));
        }
    }

    fn advance(&mut self, _: f64) {}

    fn search_along(&mut self, change: &[Motion]) {
        self.rows.iter_mut().for_each(|wall| wall.change = wall.along(change));
    }

    fn power(&mut self, share: f64) -> f64 {
        self.rows.iter().map(|wall| -wall.force(wall.value + share * wall.change) * wall.change).sum()
    }

    fn follow(&mut self, _: f64) -> f64 {
        0.0
    }
}

/// Free bodies of the given masses with the diagonal of the walls: `T q`.
fn react(masses: &[f64], diagonal: &[Sym6]) -> Vec<Sym6> {
    let loaded = masses.iter().zip(diagonal).map(|(&mass, diagonal)| {
        let mut sum = Sym6::rigid(sinew_math::Sym3::diagonal(DVec3::splat(0.1 * mass)), mass);
        sum.add(diagonal);
        sum.inverse().expect("masses are positive")
    });
    loaded.collect()
}

#[test]
fn the_energy_is_smallest_at_the_solution() {
    let mut random = Rng::new(3);
    for case in 0..40 {
        let n = 1 + random.below(6);
        let masses: Vec<f64> = (0..n).map(|_| random.power_of_ten(-1, 1)).collect();
        let rows = (0..4 * n).map(|_| {
            let touched = [random.below(n), random.below(n)];
            let mut on = vec![Force::ZERO; n];
            touched.iter().for_each(|&i| on[i] = Force::new(random.vec3(-0.3, 0.3), random.unit_vec()));
            let stiffness = random.power_of_ten(0, 4);
            Wall { on, stiffness, offset: random.uniform(-0.2, 0.2), value: 0.0, change: 0.0 }
        });
        let mut walls = Walls {
            rows: rows.collect(),
            diagonal: vec![Sym6::ZERO; n],
            island: [n as u32],
            are_loose: case % 2 == 0,
        };
        for wall in walls.rows.iter().filter(|_| !walls.are_loose) {
            let sums = walls.diagonal.iter_mut().zip(&wall.on);
            sums.for_each(|(sum, g)| sum.add_outer(wall.stiffness, *g));
        }
        let momenta: Vec<Force> =
            masses.iter().map(|m| Force::new(random.vec3(-0.1, 0.1), random.vec3(-1.0, 1.0)) * *m).collect();
        let mut bodies = FreeBodies(react(&masses, &walls.diagonal));
        let mut free = vec![Motion::ZERO; n];
        bodies.react(&momenta, &mut free);
        let mut scratch = ConvexScratch::default();
        let settings = ConvexSettings { iterations: 500, products: 20_000, ..ConvexSettings::default() };
        let report = minimize(&mut walls, &mut bodies, &free, &settings, &mut scratch);
        assert!(report.has_converged, "case {case}: {report:?}");
        // The balance A V = b + f(V), and no smaller energy nearby.
        let mut forces = vec![Force::ZERO; n];
        walls.linearize(&scratch.motions, &mut forces);
        let scale: f64 = momenta.iter().map(|b| b.dot(Motion::from_array(b.to_array())).sqrt()).sum();
        let mut energy = |motions: &[Motion]| {
            walls.linearize(motions, &mut vec![Force::ZERO; n]);
            let bodies = motions.iter().zip(&masses).zip(&momenta).map(|((v, &m), b)| {
                let a = Sym6::rigid(sinew_math::Sym3::diagonal(DVec3::splat(0.1 * m)), m);
                0.5 * a.mul(*v).dot(*v) - b.dot(*v)
            });
            bodies.sum::<f64>() + walls.energy()
        };
        let least = energy(&scratch.motions);
        for ((v, &m), (b, f)) in scratch.motions.iter().zip(&masses).zip(momenta.iter().zip(&forces)) {
            let a = Sym6::rigid(sinew_math::Sym3::diagonal(DVec3::splat(0.1 * m)), m);
            let left = a.mul(*v) - *b - *f;
            assert!(
                left.dot(Motion::from_array(left.to_array())).sqrt() < 1e-5 * scale,
                "case {case}: {left:?}"
            );
        }
        for _ in 0..20 {
            let size = random.power_of_ten(-6, 0);
            let near: Vec<Motion> = scratch
                .motions
                .iter()
                .map(|v| *v + Motion::new(random.unit_vec(), random.unit_vec()) * size)
                .collect();
            assert!(energy(&near) >= least - 1e-9 * least.abs(), "case {case}");
        }
    }
}
