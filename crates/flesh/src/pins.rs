//! Points of one body of flesh that have given velocities: rows `W u = b` with the weights of a point at the nodes around it.
//!
//! Velocities that miss the rows are moved to the nearest that meet them, `u += D Wᵀ (W D Wᵀ)⁻¹ (b − W u)` with a diagonal `D`: with the inverse
//! masses that is the impulse of the pins, with 1 and `b = 0` the projection `P`, by which conjugate gradients on `P A P` stay where the rows
//! hold. Rows that follow from earlier ones are left out, so of pins that contradict each other the first counts.
//! m/s. Cost: `n³/6` flops for `n` pins when they change, `n²` per use.

use glam::DVec3;

/// A part of its own square below which a row follows from those before it.
const DEPENDENT: f64 = 1e-9;

/// One row.
#[derive(Clone, Copy, Debug)]
struct PinRow {
    nodes: [usize; 4],
    weights: [f64; 4],
    /// Entries of `D` at the nodes.
    inverses: [f64; 4],
    /// `b`, m/s.
    velocity: DVec3,
}

/// The rows of one body of flesh, and the factor of `W D Wᵀ`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pins {
    rows: Vec<PinRow>,
    /// Lower triangle of the Cholesky factor, row after row.
    factor: Vec<f64>,
    multipliers: Vec<DVec3>,
}

impl Pins {
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.factor.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a point by its nodes, their weights and their entries of `D`, with the velocity that it shall have.
    pub(crate) fn add(&mut self, nodes: [usize; 4], weights: [f64; 4], inverses: [f64; 4], velocity: DVec3) {
        let row = PinRow { nodes, weights, inverses, velocity };
        let start = self.factor.len();
        let mut square = row.product(&row);
        let least = DEPENDENT * square;
        for (i, other) in self.rows.iter().enumerate() {
            let first = i * (i + 1) / 2;
            let (known, own) = (&self.factor[first..=first + i], &self.factor[start..]);
            let rest = row.product(other) - known.iter().zip(own).map(|(a, b)| a * b).sum::<f64>();
            let entry = rest / known[i];
            square -= entry * entry;
            self.factor.push(entry);
        }
        if square > least {
            self.factor.push(square.sqrt());
            self.rows.push(row);
        } else {
            self.factor.truncate(start);
        }
    }

    /// Finds what velocities miss: of the rows as given, or of `W u = 0`. [`Pins::for_each_change`] tells the changes.
    pub(crate) fn measure(&mut self, is_given: bool, velocity: impl Fn(usize) -> DVec3) {
        let Self { rows, factor, multipliers } = self;
        multipliers.clear();
        for (i, row) in rows.iter().enumerate() {
            let at = row.nodes.iter().zip(row.weights);
            let now = at.fold(DVec3::ZERO, |sum, (&node, weight)| sum + velocity(node) * weight);
            let wanted = if is_given { row.velocity } else { DVec3::ZERO };
            let own = &factor[i * (i + 1) / 2..][..=i];
            let known = multipliers.iter().zip(own).fold(DVec3::ZERO, |sum, (y, entry)| sum + *y * *entry);
            multipliers.push((wanted - now - known) / own[i]);
        }
        for i in (0..rows.len()).rev() {
            multipliers[i] /= factor[i * (i + 1) / 2 + i];
            let (before, here) = multipliers.split_at_mut(i);
            let own = &factor[i * (i + 1) / 2..][..i];
            before.iter_mut().zip(own).for_each(|(y, entry)| *y -= here[0] * *entry);
        }
    }

    /// The node and the change of its velocity, for every pin and node.
    pub(crate) fn for_each_change(&self, mut change: impl FnMut(usize, DVec3)) {
        for (row, multiplier) in self.rows.iter().zip(&self.multipliers) {
            for (a, &node) in row.nodes.iter().enumerate() {
                change(node, *multiplier * (row.weights[a] * row.inverses[a]));
            }
        }
    }
}

impl PinRow {
    /// Entry of `W D Wᵀ`.
    fn product(&self, other: &Self) -> f64 {
        let mut sum = 0.0;
        for (a, &node) in self.nodes.iter().enumerate() {
            for (&near, weight) in other.nodes.iter().zip(other.weights) {
                if near == node {
                    sum += self.weights[a] * self.inverses[a] * weight;
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_testkit::Rng;

    /// Moves velocities to the rows.
    fn meet(pins: &mut Pins, is_given: bool, velocities: &mut [DVec3]) {
        pins.measure(is_given, |node| velocities[node]);
        pins.for_each_change(|node, change| velocities[node] += change);
    }

    #[test]
    fn rows_are_met_and_those_that_follow_from_others_are_left_out() {
        let mut rng = Rng::new(5);
        let mut random =
            || DVec3::new(rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0));
        let rows: [([usize; 4], [f64; 4]); 5] = [
            ([0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4]),
            ([3, 2, 4, 5], [0.25, 0.25, 0.25, 0.25]),
            ([0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4]),
            ([6, 0, 1, 2], [1.0, 0.0, 0.0, 0.0]),
            ([5, 6, 7, 0], [0.5, 0.5, 0.0, 0.0]),
        ];
        let mut pins = Pins::default();
        let given: Vec<DVec3> = rows.iter().map(|_| random()).collect();
        for ((nodes, weights), velocity) in rows.iter().zip(&given) {
            pins.add(*nodes, *weights, nodes.map(|node| 1.0 + node as f64), *velocity);
        }
        assert_eq!(pins.rows.len(), 4, "the third is the first once more");
        let mut velocities: Vec<DVec3> = (0..8).map(|_| random()).collect();
        meet(&mut pins, true, &mut velocities);
        let at = |k: usize, velocities: &[DVec3]| {
            let (nodes, weights) = rows[k];
            (0..4).fold(DVec3::ZERO, |sum, a| sum + velocities[nodes[a]] * weights[a])
        };
        for k in [0, 1, 3, 4] {
            assert!(at(k, &velocities).distance(given[k]) < 1e-14);
        }
        meet(&mut pins, false, &mut velocities);
        assert!([0, 1, 3, 4].iter().all(|&k| at(k, &velocities).length() < 1e-14));
    }
}
