//! Damped iterations of the laws of contacts.
//!
//! Each solve gives the exact solution for linear laws. Where contacts open and close in turns, such solutions go in circles. With given friction limits the
//! laws `p_c` have potentials, and a step minimizes an energy. With the relative velocities `u_c` of the contacts at an iterate, and impulses `λ_c` that hold the
//! momenta there in balance, both of which are linear between iterates, the slope of that energy is on the way to a solution
//!
//! ```text
//! F'(t) = Σ (ū_c − u_c)·(λ_c(t) − p_c(u_c(t)))
//! ```
//!
//! The next iterate is where it is zero, or the solution itself if it is not beyond that. The next laws are tangents there, in which friction is expected to
//! be `λ_c` (`ContactPotential::linearize`). Friction limits follow the loads where the way was whole, or where there was none. World axes, m/s and N·s. Cost: the
//! laws of all contacts, at most 32 times.

use glam::DVec3;
use sinew_contact::ContactStep;

/// Solves that are taken as they are: most steps need no more.
const UNDAMPED: u32 = 4;

/// How often friction limits follow the loads in damped iterations: two sets of limits may take turns for ever.
const MOST_FOLLOWED: u32 = 8;

/// Slope that may be left, relative to that at the iterate.
const FLAT: f64 = 0.1;

/// Halvings of the way.
const HALVINGS: u32 = 30;

/// The present iterate.
#[derive(Debug, Default)]
pub(super) struct DampedEnds {
    /// Relative velocities of all contacts, and impulses that hold the momenta in balance.
    ends: Vec<DVec3>,
    impulses: Vec<DVec3>,
    /// The last solution.
    solved: Vec<(DVec3, DVec3)>,
    /// The best of the first solutions, and its error in the impulses (N·s).
    best: Vec<(DVec3, DVec3)>,
    error: f64,
    /// The laws of the last solution.
    laws: Vec<ContactStep>,
    n_solves: u32,
    /// How often friction limits have followed the loads since the first time, and whether they are to follow now.
    n_followed: u32,
    pub(super) follows: bool,
    unsettled: f64,
}

impl DampedEnds {
    /// Begins anew: momenta have changed.
    pub(super) fn begin(&mut self) {
        (self.n_solves, self.n_followed, self.unsettled) = (0, 0, 0.0);
    }

    /// Moves towards a solution for `laws`, which ends at the given velocities; true if to the solution itself. `impulse` is that of a contact at a velocity.
    pub(super) fn advance(
        &mut self,
        laws: &[ContactStep],
        solved: impl Iterator<Item = DVec3>,
        impulse: impl Fn(usize, DVec3) -> DVec3,
    ) -> bool {
        laws.clone_into(&mut self.laws);
        self.solved.clear();
        self.solved.extend(laws.iter().zip(solved).map(|(law, end)| (end, law.impulse_at(end))));
        self.n_solves += 1;
        if self.n_solves <= UNDAMPED {
            self.follows = self.n_solves == UNDAMPED;
            return self.take_undamped(impulse);
        }
        let Self { ends, impulses, solved, .. } = self;
        let slope = |t: f64| -> f64 {
            let each = solved.iter().zip(ends.iter().zip(&*impulses)).enumerate();
            each.map(|(i, ((end, load), (from, before)))| {
                (*end - *from).dot(before.lerp(*load, t) - impulse(i, from.lerp(*end, t)))
            })
            .sum()
        };
        let way = zero_of(slope);
        let share = |a: DVec3, b: DVec3| if way < 1.0 { a.lerp(b, way) } else { b };
        for ((end, load), (from, before)) in solved.iter().zip(ends.iter_mut().zip(impulses)) {
            (*from, *before) = (share(*from, *end), share(*before, *load));
        }
        self.follows = (way >= 1.0 || way <= 0.0) && self.n_followed < MOST_FOLLOWED;
        self.n_followed += u32::from(self.follows);
        way >= 1.0
    }

    /// Takes one of the first solutions as it is, and after the last of them the best; false if that is another one.
    fn take_undamped(&mut self, impulse: impl Fn(usize, DVec3) -> DVec3) -> bool {
        let Self { ends, impulses, solved, best, error, n_solves, .. } = self;
        let wrong = |(i, &(end, load)): (usize, &(DVec3, DVec3))| load.distance(impulse(i, end));
        let wrong = solved.iter().enumerate().map(wrong).sum();
        let is_best = *n_solves == 1 || wrong < *error;
        if is_best {
            *error = wrong;
            best.clone_from(solved);
        }
        let is_last = *n_solves == UNDAMPED;
        let from = if is_last { best } else { solved };
        ends.clear();
        ends.extend(from.iter().map(|(end, _)| *end));
        impulses.clear();
        impulses.extend(from.iter().map(|(_, load)| *load));
        is_best || !is_last
    }

    /// Relative error of the impulses at the iterate.
    pub(super) fn error(&self, impulse: impl Fn(usize, DVec3) -> DVec3) -> f64 {
        let each = self
            .ends
            .iter()
            .zip(&self.impulses)
            .enumerate()
            .map(|(i, (end, load))| (impulse(i, *end), *load));
        let (wrong, all) = each.fold((0.0, f64::MIN_POSITIVE), |(wrong, all), (right, load)| {
            (wrong + right.distance(load), all + right.length())
        });
        wrong / all
    }

    /// The iterations end here with an error, although they have not settled.
    pub(super) fn end(&mut self, error: f64) {
        self.unsettled = error;
    }

    /// Relative error of the impulses where iterations ended that had not settled.
    pub(super) fn unsettled(&self) -> f64 {
        self.unsettled
    }

    /// The laws of the last solution.
    pub(super) fn laws(&self) -> &[ContactStep] {
        &self.laws
    }

    /// Whether iterations are damped.
    pub(super) fn is_damping(&self) -> bool {
        self.n_solves >= UNDAMPED
    }

    /// Relative velocities of all contacts at the iterate, and impulses.
    pub(super) fn iterate(&self) -> (&[DVec3], &[DVec3]) {
        (&self.ends, &self.impulses)
    }
}

/// Where a slope that begins below zero is zero on `(0, 1]`; 1 if it does not rise above zero, 0 if it does not begin below it.
fn zero_of(slope: impl Fn(f64) -> f64) -> f64 {
    let (begin, end) = (slope(0.0), slope(1.0));
    if !(begin < 0.0 && end.is_finite()) {
        return 0.0;
    }
    if end <= -FLAT * begin {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let here = slope(middle);
        if here.abs() <= -FLAT * begin {
            return middle;
        }
        if here < 0.0 { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_contact::Grip;
    use sinew_testkit::{Dense, Rng};

    /// A law `n max(0, a − β n·u)`.
    struct Push {
        normal: DVec3,
        push: f64,
        resistance: f64,
        /// Of the particle that it acts on.
        first: usize,
    }

    impl Push {
        fn impulse(&self, end: DVec3) -> DVec3 {
            self.normal * (self.push - self.resistance * self.normal.dot(end)).max(0.0)
        }

        fn tangent(&self, end: DVec3) -> ContactStep {
            let acts = self.impulse(end) != DVec3::ZERO;
            let [push, resistance] = [self.push, self.resistance].map(|x| if acts { x } else { 0.0 });
            ContactStep {
                grip: if acts { Grip::Slip } else { Grip::Open },
                axes: [self.normal, DVec3::ZERO, DVec3::ZERO],
                resistance: [resistance, 0.0, 0.0],
                impulse: [push, 0.0, 0.0],
            }
        }
    }

    /// Velocities of particles that are coupled by a dense matrix, and pushed by linear laws.
    fn solve(matrix: &Dense, free: &[f64], pushes: &[Push], laws: &[ContactStep]) -> Vec<f64> {
        let (mut matrix, mut rhs) = (matrix.clone(), matrix.mul_vec(free));
        for (push, law) in pushes.iter().zip(laws) {
            let (block, constant) = (law.matrix().to_mat3(), law.constant_impulse());
            let block = Dense::from_fn(3, 3, |i, j| block.col(j)[i]);
            matrix.add_block(push.first, push.first, &block);
            (0..3).for_each(|i| rhs[push.first + i] += constant[i]);
        }
        matrix.solve(&rhs).unwrap()
    }

    #[test]
    fn stiff_pushes_on_coupled_particles_always_settle() {
        let (mut rng, mut n_damped) = (Rng::new(7), 0);
        for problem in 0..300 {
            let n = 3 * (1 + rng.below(5));
            let root = Dense::from_fn(n, n, |_, _| rng.uniform(-1.0, 1.0));
            let matrix = root.mul(&root.transpose()).plus(&Dense::identity(n), 0.1);
            let free: Vec<f64> = (0..n).map(|_| rng.uniform(-10.0, 10.0)).collect();
            let pushes: Vec<Push> = (0..1 + rng.below(4 * n))
                .map(|_| Push {
                    normal: rng.unit_vec(),
                    push: 1e4 * rng.uniform(-1.0, 1.0),
                    resistance: 1e4,
                    first: 3 * rng.below(n / 3),
                })
                .collect();
            let impulse = |i: usize, end: DVec3| pushes[i].impulse(end);
            let at = |v: &[f64], push: &Push| DVec3::from_slice(&v[push.first..]);
            let mut damped = DampedEnds::default();
            damped.begin();
            let mut laws: Vec<ContactStep> =
                pushes.iter().map(|push| push.tangent(at(&free, push))).collect();
            let settled = (0..200).any(|_| {
                let v = solve(&matrix, &free, &pushes, &laws);
                let is_whole = damped.advance(&laws, pushes.iter().map(|push| at(&v, push)), impulse);
                n_damped += usize::from(!is_whole);
                let ends = damped.iterate().0;
                laws = pushes.iter().zip(ends).map(|(push, end)| push.tangent(*end)).collect();
                is_whole && damped.error(|i, end| pushes[i].impulse(end)) < 1e-9
            });
            assert!(settled, "problem {problem}");
        }
        assert!(n_damped > 100, "{n_damped}");
    }
}
