//! Bodies between walls that only push and rub: the solution of [`minimize`] against plain descent on the energy.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym6};
use sinew_solvers::{
    BareTree, ConvexForces, ConvexReport, ConvexScratch, ConvexSettings, TouchedTree, minimize,
};
use sinew_testkit::Rng;
use std::ops::Range;

/// Forces `−g max(0, s (g·V − c))` along random rows over the twists of all bodies: a potential with kinks.
struct Walls {
    rows: Vec<Wall>,
    diagonal: Vec<Sym6>,
    /// All bodies are one island.
    island: [u32; 1],
    are_loose: bool,
    are_floating: bool,
    /// Whether the guess is that of every wall alone, ten times over; else no forces.
    guesses: bool,
}

/// Free bodies: their blocks, and the inverses with the diagonal that they were factored with.
struct FreeBodies {
    masses: Vec<Sym6>,
    factored: Vec<Sym6>,
    pushed: Vec<Motion>,
    /// Whether they can be factored again.
    are_bare: bool,
    is_shallow: bool,
}

impl FreeBodies {
    fn new(masses: &[f64], diagonal: &[Sym6]) -> Self {
        let masses: Vec<Sym6> = masses.iter().map(|&mass| block(mass)).collect();
        let (factored, pushed) = (masses.clone(), vec![Motion::ZERO; masses.len()]);
        let mut bodies = Self { masses, factored, pushed, are_bare: false, is_shallow: true };
        bodies.factor(diagonal);
        bodies
    }
}

impl TouchedTree for FreeBodies {
    fn has_islands(&self) -> bool {
        true
    }

    fn select(&mut self, bodies: Range<usize>) {
        assert_eq!(bodies, 0..self.masses.len());
    }

    fn react(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        for ((motion, impulse), inverse) in motions.iter_mut().zip(impulses).zip(&self.factored) {
            *motion = inverse.mul_wrench(*impulse);
        }
    }

    fn can_factor(&self) -> bool {
        self.are_bare
    }

    fn factor(&mut self, diagonal: &[Sym6]) {
        for ((factored, mass), diagonal) in self.factored.iter_mut().zip(&self.masses).zip(diagonal) {
            let mut sum = *mass;
            sum.add(diagonal);
            *factored = sum.inverse().unwrap();
        }
    }

    fn bare(&mut self) -> Option<&mut dyn BareTree> {
        if self.are_bare { Some(self) } else { None }
    }
}

impl BareTree for FreeBodies {
    fn forces(&self, free: &[Motion], motions: &[Motion], impulses: &mut [Force]) -> bool {
        for (i, impulse) in impulses.iter_mut().enumerate() {
            *impulse = self.masses[i].mul(motions[i] - free[i]);
        }
        true
    }

    fn is_shallow(&self) -> bool {
        self.is_shallow
    }

    fn release(&mut self) {
        self.pushed.fill(Motion::ZERO);
    }

    fn push(&mut self, body: usize, impulse: Force) {
        self.pushed[body] += self.masses[body].inverse().unwrap().mul_wrench(impulse);
    }

    fn pushed(&mut self, body: usize) -> Motion {
        self.pushed[body]
    }

    fn response(&mut self, body: usize) -> Sym6 {
        self.masses[body].inverse().unwrap()
    }
}

/// A ball of this mass.
fn block(mass: f64) -> Sym6 {
    Sym6::rigid(sinew_math::Sym3::diagonal(DVec3::splat(0.1 * mass)), mass)
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
        self.are_floating
    }

    fn begin(&mut self, motions: &mut [Motion]) -> bool {
        motions.fill(Motion::ZERO);
        true
    }

    fn settle(&mut self, bodies: &mut dyn BareTree, free: &[Motion], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
        if !self.guesses {
            return;
        }
        let responses: Vec<Sym6> = (0..free.len()).map(|i| bodies.response(i)).collect();
        let mut pushes = vec![0.0; self.rows.len()];
        for _ in 0..10 {
            for (wall, push) in self.rows.iter().zip(&mut pushes) {
                let motions: Vec<Motion> =
                    free.iter().enumerate().map(|(i, v)| *v + bodies.pushed(i)).collect();
                let gives: f64 = wall.on.iter().zip(&responses).map(|(g, r)| r.mul_wrench(*g).dot(*g)).sum();
                // f = s (g·V − c) with g·V = here − gives (f − push)
                let wanted = wall.stiffness * (wall.along(&motions) + gives * *push - wall.offset);
                let wanted = (wanted / (1.0 + wall.stiffness * gives)).max(0.0);
                for (i, g) in wall.on.iter().enumerate() {
                    bodies.push(i, *g * (*push - wanted));
                }
                *push = wanted;
            }
        }
        for (wall, push) in self.rows.iter().zip(pushes) {
            impulses.iter_mut().zip(&wall.on).for_each(|(f, g)| *f -= *g * push);
        }
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

/// Random bodies and walls on one or two of them each.
fn random_walls(random: &mut Rng, masses: &[f64]) -> Walls {
    let n = masses.len();
    let rows = (0..4 * n).map(|_| {
        let touched = [random.below(n), random.below(n)];
        let mut on = vec![Force::ZERO; n];
        touched.iter().for_each(|&i| on[i] = Force::new(random.vec3(-0.3, 0.3), random.unit_vec()));
        let stiffness = random.power_of_ten(0, 4);
        Wall { on, stiffness, offset: random.uniform(-0.2, 0.2), value: 0.0, change: 0.0 }
    });
    Walls {
        rows: rows.collect(),
        diagonal: vec![Sym6::ZERO; n],
        island: [n as u32],
        are_loose: false,
        are_floating: false,
        guesses: false,
    }
}

/// How the bodies are held and the solve begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Nothing but the walls connects them.
    Loose { guesses: bool },
    /// A tree that was factored with the slopes of all walls.
    Factored,
    /// A tree that can be factored again and pushed, or is too deep for pushes.
    Bare { is_shallow: bool },
}

const WAYS: [Way; 5] = [
    Way::Loose { guesses: false },
    Way::Loose { guesses: true },
    Way::Factored,
    Way::Bare { is_shallow: true },
    Way::Bare { is_shallow: false },
];

/// Solves for bodies with some momenta; returns their twists, the report and the walls.
fn solve(
    way: Way,
    mut walls: Walls,
    masses: &[f64],
    momenta: &[Force],
) -> (Vec<Motion>, ConvexReport, Walls) {
    walls.are_loose = matches!(way, Way::Loose { .. });
    walls.guesses = way == Way::Loose { guesses: true } || way == Way::Bare { is_shallow: true };
    if way == Way::Factored {
        for wall in &walls.rows {
            let sums = walls.diagonal.iter_mut().zip(&wall.on);
            sums.for_each(|(sum, g)| sum.add_outer(wall.stiffness, *g));
        }
    }
    let mut bodies = FreeBodies::new(masses, &walls.diagonal);
    let mut free = vec![Motion::ZERO; masses.len()];
    bodies.react(momenta, &mut free);
    bodies.are_bare = matches!(way, Way::Bare { .. });
    bodies.is_shallow = way != Way::Bare { is_shallow: false };
    let mut scratch = ConvexScratch::default();
    let settings = ConvexSettings { iterations: 500, products: 20_000, ..ConvexSettings::default() };
    let report = minimize(&mut walls, &mut bodies, &free, &settings, &mut scratch);
    (scratch.motions, report, walls)
}

fn random_momenta(random: &mut Rng, masses: &[f64]) -> Vec<Force> {
    masses.iter().map(|m| Force::new(random.vec3(-0.1, 0.1), random.vec3(-1.0, 1.0)) * *m).collect()
}

fn size(f: &Force) -> f64 {
    f.dot(Motion::from_array(f.to_array())).sqrt()
}

#[test]
fn the_energy_is_smallest_at_the_solution() {
    let mut random = Rng::new(3);
    let (mut iterations, mut products) = ([0; WAYS.len()], [0; WAYS.len()]);
    for case in 0..100 {
        let way = WAYS[case % WAYS.len()];
        let masses: Vec<f64> = (0..1 + random.below(6)).map(|_| random.power_of_ten(-1, 1)).collect();
        let walls = random_walls(&mut random, &masses);
        let momenta = random_momenta(&mut random, &masses);
        let (motions, report, mut walls) = solve(way, walls, &masses, &momenta);
        assert!(report.has_converged && report.residual <= 1e-9, "case {case}, {way:?}: {report:?}");
        iterations[case % WAYS.len()] += report.iterations;
        products[case % WAYS.len()] += report.products;
        // The balance A V = b + f(V), and no smaller energy nearby.
        let mut forces = vec![Force::ZERO; masses.len()];
        walls.linearize(&motions, &mut forces);
        let scale: f64 = momenta.iter().map(size).sum();
        let mut energy = |motions: &[Motion]| {
            walls.linearize(motions, &mut vec![Force::ZERO; masses.len()]);
            let bodies = motions
                .iter()
                .zip(&masses)
                .zip(&momenta)
                .map(|((v, &m), b)| 0.5 * block(m).mul(*v).dot(*v) - b.dot(*v));
            bodies.sum::<f64>() + walls.energy()
        };
        let least = energy(&motions);
        for ((v, &m), (b, f)) in motions.iter().zip(&masses).zip(momenta.iter().zip(&forces)) {
            let left = block(m).mul(*v) - *b - *f;
            assert!(size(&left) < 1e-5 * scale, "case {case}, {way:?}: {left:?}");
        }
        for _ in 0..20 {
            let size = random.power_of_ten(-6, 0);
            let near: Vec<Motion> = motions
                .iter()
                .map(|v| *v + Motion::new(random.unit_vec(), random.unit_vec()) * size)
                .collect();
            assert!(energy(&near) >= least - 1e-9 * least.abs(), "case {case}, {way:?}");
        }
    }
    // A quarter more work than it takes now.
    let bounds = [[110, 12_800], [70, 720], [300, 5_500], [95, 850], [220, 1_650]];
    for (way, bound) in bounds.into_iter().enumerate() {
        let work = [iterations[way], products[way]];
        assert!(work[0] <= bound[0] && work[1] <= bound[1], "{:?} takes {work:?}", WAYS[way]);
    }
}

#[test]
fn bodies_that_touch_only_each_other_keep_their_momentum() {
    let mut random = Rng::new(4);
    for case in 0..20 {
        let masses: Vec<f64> = (0..2 + random.below(5)).map(|_| random.power_of_ten(-1, 1)).collect();
        let mut walls = random_walls(&mut random, &masses);
        walls.are_floating = true;
        for wall in &mut walls.rows {
            let (one, other) = (random.below(masses.len()), random.below(masses.len() - 1));
            let other = if other >= one { other + 1 } else { other };
            let push = random.unit_vec();
            wall.on.fill(Force::ZERO);
            wall.on[one] = Force::new(random.vec3(-0.3, 0.3), push);
            wall.on[other] = Force::new(random.vec3(-0.3, 0.3), -push);
        }
        let momenta = random_momenta(&mut random, &masses);
        let (motions, report, _) = solve(Way::Loose { guesses: case % 2 == 0 }, walls, &masses, &momenta);
        assert!(report.has_converged, "case {case}: {report:?}");
        let before: DVec3 = momenta.iter().map(|b| b.linear).sum();
        let after: DVec3 = motions.iter().zip(&masses).map(|(v, &m)| v.linear * m).sum();
        let scale: f64 = momenta.iter().map(size).sum();
        assert!((after - before).length() < 1e-15 * scale, "case {case}: {before} {after}");
    }
}

#[test]
fn a_solve_ends_when_its_means_are_spent() {
    let mut random = Rng::new(5);
    let masses = [1.0, 0.2, 3.0, 0.7];
    let momenta = random_momenta(&mut random, &masses);
    for (iterations, products) in [(1, 2000), (2, 2000), (500, 1), (500, 3)] {
        let mut walls = random_walls(&mut random, &masses);
        let mut bodies = FreeBodies::new(&masses, &walls.diagonal);
        let mut free = vec![Motion::ZERO; masses.len()];
        bodies.react(&momenta, &mut free);
        let settings = ConvexSettings { iterations, products, ..ConvexSettings::default() };
        let mut scratch = ConvexScratch::default();
        let report = minimize(&mut walls, &mut bodies, &free, &settings, &mut scratch);
        assert!(!report.has_converged && report.residual > 1e-9, "{report:?}");
        assert!(report.iterations <= iterations && report.products <= products, "{report:?}");
        assert!(report.iterations == iterations || report.products == products, "{report:?}");
    }
}
