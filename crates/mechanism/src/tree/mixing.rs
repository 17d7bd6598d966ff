//! Twists of spinning bodies that the next solve of a step assumes, from those that the last solves assumed and found (Anderson mixing).
//!
//! A solve maps assumed twists `x` to found ones; `f` is the difference. With the differences `X`, `F` of consecutive `x` and `f`:
//! ```text
//! γ = argmin |f − F γ|        x⁺ = x + f − (X + F) γ
//! ```
//! Where the map is linear this finds its fixed point after two iterations per spinning body, however much a plain iteration would
//! expand. Cost: some hundred flops per body and iteration; no allocation once warm.

use glam::DVec3;

use crate::tree::Rotor;

/// Differences that are used; twice the number of bodies that turn against each other.
const DEPTH: usize = 4;

/// A pivot below this share of its diagonal entry belongs to a difference that others contain.
const DEPENDENT: f64 = 1e-10;

/// What the last solves assumed and found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixing {
    /// Per solve and body, newest last: `x` and `f`.
    past: Vec<[DVec3; 2]>,
}

impl Mixing {
    /// Forgets the solves of another step.
    pub(crate) fn clear(&mut self) {
        self.past.clear();
    }

    /// Replaces the assumed twists after a solve that has found others.
    pub(crate) fn mix(&mut self, rotors: &mut [Rotor], found: impl Fn(&Rotor) -> DVec3) {
        let n = rotors.len();
        if n == 0 {
            return;
        }
        if self.past.len() > n * DEPTH {
            self.past.drain(..n);
        }
        self.past.extend(rotors.iter().map(|rotor| [rotor.assumed, found(rotor) - rotor.assumed]));
        let depth = self.past.len() / n - 1;
        // Of the newest solve, and differences, the newest first.
        let newest = |body: usize| self.past[n * depth + body];
        let difference = |k: usize, body: usize| {
            let ([x1, f1], [x0, f0]) =
                (self.past[n * (depth - k) + body], self.past[n * (depth - k - 1) + body]);
            [x1 - x0, f1 - f0]
        };
        let (mut gram, mut gamma) = ([[0.0; DEPTH]; DEPTH], [0.0; DEPTH]);
        for (body, rotor) in rotors.iter().enumerate() {
            let weight = rotor.gyroscopic_inertia();
            for i in 0..depth {
                let own = difference(i, body)[1] * (weight * weight);
                gamma[i] += own.dot(newest(body)[1]);
                for j in 0..=i {
                    gram[i][j] += own.dot(difference(j, body)[1]);
                }
            }
        }
        solve(&mut gram, &mut gamma, depth);
        for (body, rotor) in rotors.iter_mut().enumerate() {
            let [x, f] = newest(body);
            let moved = (0..depth).map(|k| {
                let [x, f] = difference(k, body);
                (x + f) * gamma[k]
            });
            let next = moved.fold(x + f, |next, moved| next - moved);
            // Not a number: as found.
            rotor.assumed = if next.is_finite() { next } else { x + f };
        }
    }
}

/// Solves a symmetric semidefinite system of which the lower half is given; unknowns without a pivot of their own are 0.
fn solve(gram: &mut [[f64; DEPTH]; DEPTH], x: &mut [f64; DEPTH], n: usize) {
    let mut pivots = [0.0; DEPTH];
    for k in 0..n {
        let diagonal = gram[k][k];
        for j in 0..k {
            let l = gram[k][j] - (0..j).map(|i| gram[k][i] * gram[j][i] * pivots[i]).sum::<f64>();
            gram[k][j] = if pivots[j] > 0.0 { l / pivots[j] } else { 0.0 };
        }
        let pivot = diagonal - (0..k).map(|i| gram[k][i] * gram[k][i] * pivots[i]).sum::<f64>();
        pivots[k] = if pivot > DEPENDENT * diagonal { pivot } else { 0.0 };
        x[k] -= (0..k).map(|j| gram[k][j] * x[j]).sum::<f64>();
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|i| gram[i][k] * x[i]).sum();
        x[k] = if pivots[k] > 0.0 { x[k] / pivots[k] - known } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    #[test]
    fn small_systems_are_solved_and_dependent_unknowns_left_out() {
        let mut rng = Rng::new(4);
        for _ in 0..100 {
            let factor: [[f64; DEPTH]; DEPTH] =
                std::array::from_fn(|_| std::array::from_fn(|_| rng.normal()));
            let entry = |i: usize, j: usize| (0..DEPTH).map(|k| factor[i][k] * factor[j][k]).sum::<f64>();
            let mut gram = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
            let expected: [f64; DEPTH] = std::array::from_fn(|_| rng.normal());
            let mut x = std::array::from_fn(|i| (0..DEPTH).map(|j| entry(i, j) * expected[j]).sum());
            solve(&mut gram, &mut x, DEPTH);
            for (x, y) in x.iter().zip(expected) {
                assert!((x - y).abs() < 1e-6, "{x} {y}");
            }
        }
        let mut gram = [[0.0; DEPTH]; DEPTH];
        (gram[0][0], gram[1][0], gram[1][1]) = (4.0, 2.0, 1.0);
        let mut x = [8.0, 4.0, 0.0, 0.0];
        solve(&mut gram, &mut x, 2);
        assert!((x[0] - 2.0).abs() < 1e-15 && x[1..].iter().all(|x| x.abs() < 1e-15), "{x:?}");
    }
}
