//! The fused kernels: one more right-hand side equals a fresh elimination; regularized pivots are finite.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym3, Sym6, shift_force};
use sinew_solvers::{ActivePairs, Load, LoadedTree, PairFactor, PairFactorView, PairJoint, PointJoint};
use sinew_testkit::{Rng, assert_close};

fn vector(rng: &mut Rng) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| rng.uniform(-1.0, 1.0)))
}

fn motion(rng: &mut Rng) -> Motion {
    Motion { angular: vector(rng), linear: vector(rng) }
}

fn force(rng: &mut Rng) -> Force {
    Force { angular: vector(rng), linear: vector(rng) }
}

fn body(rng: &mut Rng) -> Sym6 {
    Sym6::rigid(Sym3::diagonal(vector(rng).abs() + 0.1), rng.uniform(0.5, 2.0))
}

fn flat(v: Motion) -> Vec<f64> {
    [v.angular.to_array(), v.linear.to_array()].concat()
}

/// One joint of a tree, in one of the forms that a factor takes.
enum Joint {
    Fixed(PairJoint<0>),
    Hinge(PairJoint<1>),
    Planar(PairJoint<3>),
    Point(PointJoint),
}

impl Joint {
    /// A joint with a spring but no impulse and no offset: what a further right-hand side assumes.
    fn random(rng: &mut Rng, kind: usize) -> Self {
        fn pair<const F: usize>(rng: &mut Rng) -> PairJoint<F> {
            let mut stiffness = [[0.0; F]; F];
            (0..F).for_each(|i| stiffness[i][i] = rng.uniform(0.0, 10.0));
            let basis = std::array::from_fn(|_| motion(rng));
            PairJoint { shift: vector(rng), basis, offset: Motion::ZERO, stiffness, impulse: [0.0; F] }
        }
        match kind {
            0 => Self::Fixed(pair(rng)),
            1 => Self::Hinge(pair(rng)),
            2 => Self::Planar(pair(rng)),
            _ => Self::Point(PointJoint {
                shift: vector(rng),
                arm: vector(rng),
                offset: Motion::ZERO,
                stiffness: if rng.chance(0.5) { Sym3::ZERO } else { Sym3::diagonal(vector(rng).abs()) },
                impulse: DVec3::ZERO,
            }),
        }
    }

    fn n_free(&self) -> usize {
        match self {
            Self::Fixed(_) => 0,
            Self::Hinge(_) => 1,
            Self::Planar(_) | Self::Point(_) => 3,
        }
    }

    fn eliminate(&self, factor: &mut PairFactor, pair: usize, load: &mut Load) -> u32 {
        self.eliminate_in(&mut factor.view(), pair, load)
    }

    fn eliminate_in(&self, view: &mut PairFactorView<'_>, pair: usize, load: &mut Load) -> u32 {
        match self {
            Self::Fixed(joint) => view.eliminate(pair, load, joint),
            Self::Hinge(joint) => view.eliminate(pair, load, joint),
            Self::Planar(joint) => view.eliminate(pair, load, joint),
            Self::Point(joint) => view.eliminate_point(pair, load, joint),
        }
    }
}

/// A tree whose parents come after their children; the last pair hangs from the world, at rest.
struct Chains {
    joints: Vec<Joint>,
    masses: Vec<Sym6>,
    parents: Vec<usize>,
}

impl Chains {
    fn random(rng: &mut Rng, n: usize) -> Self {
        Self {
            joints: (0..n)
                .map(|_| {
                    let kind = rng.below(4);
                    Joint::random(rng, kind)
                })
                .collect(),
            masses: (0..n).map(|_| body(rng)).collect(),
            parents: (0..n).map(|k| k + 1 + rng.below((n - k).min(3))).map(|p| p.min(n)).collect(),
        }
    }

    /// Parents as a tree has them.
    fn ports(&self) -> Vec<u32> {
        let n = self.parents.len();
        self.parents.iter().map(|&parent| if parent == n { u32::MAX } else { parent as u32 }).collect()
    }

    fn factor(&self) -> PairFactor {
        PairFactor::new(self.joints.iter().map(Joint::n_free))
    }

    /// Twists from a full elimination with these momenta.
    fn eliminated(&self, factor: &mut PairFactor, momenta: &[Force]) -> Vec<Motion> {
        let n = self.joints.len();
        let mut loads: Vec<Load> =
            (0..n).map(|k| Load { mass: self.masses[k], momentum: momenta[k] }).collect();
        loads.push(Load::ZERO);
        for k in 0..n {
            let mut load = loads[k];
            assert_eq!(self.joints[k].eliminate(factor, k, &mut load), 0);
            loads[self.parents[k]].add(&load);
        }
        self.descend(|k, parent| factor.substitute(k, parent))
    }

    /// The same with a factor that is already there.
    fn solved(&self, factor: &PairFactor, momenta: &[Force]) -> Vec<Motion> {
        let n = self.joints.len();
        let mut drive = vec![0.0; factor.n_columns()];
        let mut sums = [momenta, &[Force::ZERO]].concat();
        for k in 0..n {
            let up = factor.eliminate_momentum(k, sums[k], &mut drive);
            sums[self.parents[k]] += up;
        }
        self.descend(|k, parent| factor.substitute_drive(k, parent, &drive))
    }

    fn descend(&self, step: impl Fn(usize, Motion) -> Motion) -> Vec<Motion> {
        let n = self.joints.len();
        let mut motions = vec![Motion::ZERO; n + 1];
        for k in (0..n).rev() {
            motions[k] = step(k, motions[self.parents[k]]);
        }
        motions
    }
}

#[test]
fn one_more_right_hand_side_equals_a_fresh_elimination() {
    for seed in 0..200 {
        let rng = &mut Rng::new(seed);
        let n = 1 + rng.below(12);
        let tree = Chains::random(rng, n);
        let mut momenta = || (0..n).map(|_| force(rng)).collect::<Vec<_>>();
        let (first, second) = (momenta(), momenta());
        let mut factor = tree.factor();
        tree.eliminated(&mut factor, &first);
        let reused = tree.solved(&factor, &second);
        let fresh = tree.eliminated(&mut tree.factor(), &second);
        for (a, b) in reused.into_iter().zip(fresh) {
            assert_close!(flat(a), flat(b), 1e-9, "seed {seed}");
        }
    }
}

/// Masses on a factored tree, against an elimination that has them from the start; soft and stiff.
#[test]
fn a_tree_can_be_loaded_after_it_was_factored() {
    let mut loaded = LoadedTree::default();
    for seed in 0..200 {
        let rng = &mut Rng::new(seed);
        let n = 1 + rng.below(12);
        let mut tree = Chains::random(rng, n);
        let momenta: Vec<Force> = (0..n).map(|_| force(rng)).collect();
        let mut factor = tree.factor();
        tree.eliminated(&mut factor, &momenta);
        let mut masses = Vec::new();
        for pair in (0..n).filter(|_| rng.chance(0.6)).collect::<Vec<_>>() {
            let mut mass = Sym6::ZERO;
            mass.add_outer(rng.power_of_ten(-2, 5), force(rng));
            masses.push((pair as u32, mass));
        }
        let parents = tree.ports();
        let active = ActivePairs::new(&parents, 0..n as u32);
        loaded.load(&factor, (&parents, &active), masses.iter().copied(), false);
        let found = tree.solved(loaded.factor(), &momenta);
        // Under other masses on some of the pairs: the bits of a load from the start.
        let (mut other, mut again) = (LoadedTree::default(), masses.clone());
        again.iter_mut().filter(|_| rng.chance(0.5)).for_each(|(_, mass)| *mass = Sym6::ZERO);
        other.load(&factor, (&parents, &active), again.iter().copied(), false);
        let at_once = tree.solved(other.factor(), &momenta);
        loaded.load(&factor, (&parents, &active), again.iter().copied(), true);
        assert_eq!(tree.solved(loaded.factor(), &momenta), at_once, "seed {seed}");
        masses.iter().for_each(|(pair, mass)| tree.masses[*pair as usize].add(mass));
        let fresh = tree.eliminated(&mut tree.factor(), &momenta);
        for (a, b) in found.into_iter().zip(fresh) {
            assert_close!(flat(a), flat(b), 1e-7, "seed {seed}");
        }
    }
}

/// Impulses one by one, and what each body does, against all of them at once.
#[test]
fn pushes_one_by_one_move_bodies_as_all_at_once() {
    let mut pushed = LoadedTree::default();
    for seed in 0..100 {
        let rng = &mut Rng::new(seed);
        let n = 1 + rng.below(12);
        let tree = Chains::random(rng, n);
        let mut factor = tree.factor();
        tree.eliminated(&mut factor, &vec![Force::ZERO; n]);
        let parents = tree.ports();
        let momenta: Vec<Force> = (0..n).map(|_| force(rng)).collect();
        pushed.release(&factor);
        let response = pushed.response(&factor, &parents, n / 2).mul_wrench(momenta[n / 2]);
        for (pair, &impulse) in momenta.iter().enumerate() {
            pushed.push(&factor, &parents, pair, impulse);
        }
        let at_once = tree.solved(&factor, &momenta);
        for (pair, &motion) in at_once.iter().take(n).enumerate() {
            assert_close!(flat(pushed.pushed(&factor, &parents, pair)), flat(motion), 1e-9, "seed {seed}");
        }
        let mut alone = vec![Force::ZERO; n];
        alone[n / 2] = momenta[n / 2];
        assert_close!(flat(response), flat(tree.solved(&factor, &alone)[n / 2]), 1e-9, "seed {seed}");
    }
}

/// A direction without inertia: raised on the scale of the mass that moves, held where nothing does.
#[test]
fn singular_pivots_stay_finite_and_are_counted() {
    let slider = PairJoint {
        shift: DVec3::X,
        basis: [Motion { angular: DVec3::X, linear: DVec3::ZERO }],
        offset: Motion::ZERO,
        stiffness: [[0.0]],
        impulse: [1e-3],
    };
    let point_mass = Sym6::rigid(Sym3::ZERO, 2.0);
    for (mass, speed) in [(point_mass, 1e-3 / (1e-14 * 6.0)), (Sym6::ZERO, 0.0)] {
        let mut factor = PairFactor::new([1]);
        let momentum = Force { angular: DVec3::ZERO, linear: DVec3::Y };
        let mut load = Load { mass, momentum };
        assert_eq!(factor.view().eliminate(0, &mut load, &slider), 1);
        let v = factor.substitute(0, Motion::ZERO);
        assert_close!(v.angular.x, speed, 1e-12 * (1.0 + speed));
        assert_eq!(load.momentum, shift_force(momentum, slider.shift));

        let mut factor = PairFactor::new([3]);
        let mut load = Load { mass, momentum };
        let ball = PointJoint {
            shift: DVec3::X,
            arm: DVec3::ZERO,
            offset: Motion::ZERO,
            stiffness: Sym3::ZERO,
            impulse: DVec3::ZERO,
        };
        assert_eq!(factor.view().eliminate_point(0, &mut load, &ball), 3);
        assert_eq!(factor.substitute(0, Motion::ZERO), Motion::ZERO);
    }
}

/// A factor that is eliminated in parts, as threads do.
#[test]
fn parts_of_a_factor_are_eliminated_alone() {
    for seed in 0..50 {
        let rng = &mut Rng::new(seed);
        let n = 2 + rng.below(11);
        let tree = Chains::random(rng, n);
        let momenta: Vec<Force> = (0..n).map(|_| force(rng)).collect();
        let (mut whole, mut parted) = (tree.factor(), tree.factor());
        let expected = tree.eliminated(&mut whole, &momenta);
        let mut loads: Vec<Load> =
            (0..n).map(|k| Load { mass: tree.masses[k], momentum: momenta[k] }).collect();
        loads.push(Load::ZERO);
        let cuts = [rng.below(n + 1), rng.below(n + 1)];
        let (first, second) = (cuts[0].min(cuts[1]), cuts[0].max(cuts[1]));
        let (left, rest) = parted.view().split_at(first);
        let (middle, right) = rest.split_at(second);
        for (pairs, mut part) in [(0..first, left), (first..second, middle), (second..n, right)] {
            for k in pairs {
                let mut load = loads[k];
                tree.joints[k].eliminate_in(&mut part, k, &mut load);
                loads[tree.parents[k]].add(&load);
            }
        }
        let found = tree.descend(|k, parent| parted.substitute(k, parent));
        assert_eq!(found, expected, "seed {seed}");
        // Drives that are added to those of the elimination: the sum of both.
        let drive: Vec<f64> = (0..parted.n_columns()).map(|_| rng.normal()).collect();
        let both = tree.descend(|k, parent| parted.substitute_with(k, parent, &drive));
        let more = tree.descend(|k, parent| parted.substitute_drive(k, parent, &drive));
        for ((both, one), more) in both.into_iter().zip(found).zip(more) {
            assert_close!(flat(both), flat(one + more), 1e-9, "seed {seed}");
        }
    }
}

#[test]
fn a_factor_tells_what_it_holds() {
    let bytes = |n: usize| {
        let factor = PairFactor::new(std::iter::repeat_n(3, n));
        assert_eq!((factor.len(), factor.is_empty(), factor.n_columns()), (n, n == 0, 3 * n));
        factor.bytes()
    };
    assert_eq!(bytes(0), 0);
    // 13 numbers per column, six of the pivot, and a head of nine numbers at least.
    assert!(bytes(64) >= 64 * 8 * (3 * 13 + 6 + 9), "{}", bytes(64));
    assert!(bytes(64) <= 64 * 8 * 2 * (3 * 13 + 6 + 14), "{}", bytes(64));
}
