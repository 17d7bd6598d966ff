//! Anderson's method for `d = D(d)`: the mixture of the values tried whose measured change is least.
//!
//! With `g = D(d) − d` and the differences `Δd`, `Δg` between trials, `γ` minimizes `|g − Σ γ Δg|²` and `d ← d + g − Σ γ (Δd + Δg)`. Where `D` is
//! linear and of rank `r`, `r + 2` trials find the solution, whether or not `d ← D(d)` converges. Cost: a few products per trial.

/// Differences that are remembered.
const MEMORY: usize = 5;

/// A difference shorter than this share of itself, beside the others, says nothing new.
const DEPENDENT: f64 = 1e-6;

/// The values tried in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Settling {
    /// `d` and `D(d)`.
    guess: Vec<f64>,
    measured: Vec<f64>,
    /// `g`.
    change: Vec<f64>,
    /// `d` and `g` of the trial before.
    before: [Vec<f64>; 2],
    /// Orthonormal `Δg`, and the combinations `Δd + Δg` that belong to them.
    directions: [Vec<f64>; MEMORY],
    steps: [Vec<f64>; MEMORY],
    n: usize,
    n_tried: usize,
}

impl Settling {
    /// Begins with a guess of `n` numbers: zeros if it has another size.
    pub(super) fn begin(&mut self, n: usize, guess: &[f64]) {
        self.guess.clear();
        self.guess.extend_from_slice(if guess.len() == n { guess } else { &[] });
        self.guess.resize(n, 0.0);
        self.measured.clear();
        self.measured.resize(n, 0.0);
        (self.n, self.n_tried) = (0, 0);
    }

    /// `d`.
    pub(super) fn guess(&self) -> &[f64] {
        &self.guess
    }

    /// `D(d)`, to be filled by whoever measures it.
    pub(super) fn measured(&mut self) -> &mut Vec<f64> {
        &mut self.measured
    }

    /// Replaces the guess by the next one.
    pub(super) fn mix(&mut self) {
        let Self { guess, measured, change, .. } = self;
        change.clear();
        change.extend(measured.iter().zip(guess.iter()).map(|(a, b)| a - b));
        if self.n_tried > 0 && self.n < MEMORY {
            self.remember();
        }
        let Self { guess, measured, change, before, directions, steps, n, n_tried } = self;
        before[0].clone_from(guess);
        before[1].clone_from(change);
        guess.clone_from(measured);
        for (unit, step) in directions.iter().zip(steps.iter()).take(*n) {
            let along = dot(unit, change);
            add(change, unit, -along);
            add(guess, step, -along);
        }
        *n_tried += 1;
    }

    /// Remembers how this trial differs from the one before, as far as that is new.
    fn remember(&mut self) {
        let Self { guess, change, before, directions, steps, n, .. } = self;
        let (older, newer) = directions.split_at_mut(*n);
        let (older_steps, newer_steps) = steps.split_at_mut(*n);
        let (direction, step) = (&mut newer[0], &mut newer_steps[0]);
        direction.clear();
        direction.extend(change.iter().zip(&before[1]).map(|(a, b)| a - b));
        step.clear();
        step.extend(guess.iter().zip(&before[0]).zip(direction.iter()).map(|((a, b), c)| a - b + c));
        let length = norm(direction);
        for (unit, of_unit) in older.iter().zip(older_steps.iter()) {
            let along = dot(unit, direction);
            add(direction, unit, -along);
            add(step, of_unit, -along);
        }
        let rest = norm(direction);
        if rest > DEPENDENT * length {
            direction.iter_mut().chain(step).for_each(|x| *x /= rest);
            *n += 1;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(to: &mut [f64], what: &[f64], times: f64) {
    to.iter_mut().zip(what).for_each(|(a, b)| *a += times * b);
}

#[cfg(test)]
mod tests {
    use super::Settling;

    /// `D(d) = A d + b` of rank two in four dimensions; `d ← D(d)` runs away.
    fn runaway(d: &[f64]) -> [f64; 4] {
        let (u, v) = (d[0] - 2.0 * d[1], d[2] + d[3]);
        [1.0 - 3.0 * u, 0.5 + u - v, -2.0 * v, 2.0 + v]
    }

    #[test]
    fn what_runs_away_by_itself_is_found_in_rank_plus_two_trials() {
        let mut settling = Settling::default();
        settling.begin(4, &[]);
        for _ in 0..4 {
            let found = runaway(settling.guess());
            settling.measured().copy_from_slice(&found);
            settling.mix();
        }
        let found = runaway(settling.guess());
        let off = found.iter().zip(settling.guess()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{off}");
        let simple = (0..4).fold([0.0; 4], |d, _| runaway(&d));
        let off = runaway(&simple).iter().zip(simple).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off > 10.0, "{off}");
    }
}
