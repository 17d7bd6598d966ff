//! Bodies of a tree under forces that have a convex potential: contacts.
//!
//! **What.** With the matrix `A` of the tree and its constraints `J`, momenta `b`, and impulses `f(V) = −∂Φ/∂V` of a convex `Φ`:
//! ```text
//! A V + Jᵀλ = b + f(V),   J V = 0        ⇔        ½ VᵀA V − bᵀV + Φ(V) is smallest among all V with J V = 0
//! ```
//! The tree is factored with a diagonal matrix `D ≈ ∂²Φ/∂V²` per body, and its reaction `T` ([`TouchedTree`]) solves `(A + D) V + Jᵀλ = q`. Twists are
//! kept together with the impulses they come from, `V = V_b + T q`, so `A` is never applied: `A V − b = q − D V` up to `Jᵀλ`, which does no work.
//!
//! **How.** Newton's method. `(A + S) δ = r` with `S = ∂²Φ/∂V²`, `r = f + D V − q`, by conjugate gradients with `T` as preconditioner, as precise as the
//! iteration is converged; then the smallest value along `δ` (a line search on the slope, which only sees the forces). Convex, hence it
//! always converges. Parts of the law that are no potential (friction limits) follow between iterations ([`ConvexForces::follow`]).
//! Errors are measured as energies `rᵀT r`, relative to that of all impulses: constraint forces in `r` do not count.
//!
//! Where nothing but these forces connects the bodies ([`ConvexForces::are_loose`]), `A` is a block per body. Then a guess that treats the forces one by one
//! is the start, which decides what touches after impacts, and `D` is taken anew in every iteration.
//!
//! Bodies that touch or are jointed to each other make an island. Each island is solved on its own and stops when it is done: what happens in one
//! changes nothing in another, and the cost is that of each alone.
//!
//! **Cost.** Per iteration of conjugate gradients a reaction of the tree and a product with `S`. Nothing allocates once warm.
//!
//! **Failure.** The report says how far it came. World axes at centres of mass.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym6};
use std::ops::Range;

use crate::loose::LooseBodies;

/// Forces on bodies that have a convex potential. Bodies of one island follow each other, loose islands come first; nothing acts between two islands,
/// but for a tree with loops.
pub trait ConvexForces {
    /// End of each island among the bodies.
    fn islands(&self) -> &[u32];

    /// Chooses some islands: all that follows is of their bodies only, in their order.
    fn select(&mut self, islands: Range<usize>);

    /// `D` of each body: positive semidefinite; zero if it is loose.
    fn diagonal(&self) -> &[Sym6];

    /// Impulses `f` at some twists; keeps `S` there. Twists and impulses in the order of [`ConvexForces::diagonal`].
    fn linearize(&mut self, motions: &[Motion], impulses: &mut [Force]);

    /// `Φ` at the twists of the last [`ConvexForces::linearize`].
    fn energy(&self) -> f64;

    /// Whether nothing but these forces connects the chosen bodies.
    fn are_loose(&self) -> bool;

    /// Whether these forces act between the chosen bodies only.
    fn are_floating(&self) -> bool;

    /// Twists of the chosen bodies from which new forces begin; false if the forces are not new.
    fn begin(&self, motions: &mut [Motion]) -> bool;

    /// A guess for forces on loose bodies, with the inverses of their masses: twists without these forces become those with them, and `impulses` the
    /// forces.
    fn settle(&mut self, responses: &[Sym6], motions: &mut [Motion], impulses: &mut [Force]);

    /// The part of `S` that concerns each body alone: what `D` should be.
    fn sum_slopes(&self, sums: &mut [Sym6]);

    /// `S δ`.
    fn apply(&mut self, change: &[Motion], impulses: &mut [Force]);

    /// Prepares [`ConvexForces::power`] for a change of the twists of the last [`ConvexForces::linearize`].
    fn search_along(&mut self, change: &[Motion]);

    /// `δ·f(V + α δ)` for the change `δ` of the last [`ConvexForces::search_along`].
    fn power(&mut self, share: f64) -> f64;

    /// Goes along the change of the last [`ConvexForces::search_along`] by a share.
    fn advance(&mut self, share: f64);

    /// By how much the impulses on a body would change, over all of them, if parts that are no potential followed the twists of the last
    /// [`ConvexForces::linearize`], where that is most; they do if it is more than `least`.
    fn follow(&mut self, least: f64) -> f64;
}

/// The tree under the bodies.
pub trait TouchedTree {
    /// Whether islands react on their own: no loops outside the tree connect bodies that are not loose.
    fn has_islands(&self) -> bool;

    /// Chooses bodies; [`TouchedTree::react`] is of these only.
    fn select(&mut self, bodies: Range<usize>);

    /// `T`: twists of the chosen bodies under impulses on them.
    fn react(&mut self, impulses: &[Force], motions: &mut [Motion]);

    /// Whether it can be factored again with another `D`.
    fn can_factor(&self) -> bool {
        false
    }

    /// Factors it again.
    fn factor(&mut self, _diagonal: &[Sym6]) {}
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvexSettings {
    /// Error of the impulses, relative.
    pub precision: f64,
    /// Error of what follows between iterations, relative.
    pub follow_precision: f64,
    /// Newton iterations at most: after so many it is worth to factor the tree with the slopes found.
    pub iterations: u32,
    /// Conjugate gradient iterations at most, in all.
    pub products: u32,
}

impl Default for ConvexSettings {
    fn default() -> Self {
        Self { precision: 1e-9, follow_precision: 1e-4, iterations: 4, products: 2000 }
    }
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ConvexReport {
    /// Newton iterations.
    pub iterations: u32,
    /// Iterations of conjugate gradients.
    pub products: u32,
    /// Error of the impulses, relative.
    pub residual: f64,
    /// Whether the precision asked for was reached.
    pub has_converged: bool,
}

/// Reusable memory of [`minimize`]; grows with the first solve.
#[derive(Clone, Debug, Default)]
pub struct ConvexScratch {
    /// Impulses `q` of the bodies: the start on entry, the solution on return. The twists are those of the tree with them.
    pub impulses: Vec<Force>,
    /// The twists that belong to them.
    pub motions: Vec<Motion>,
    island: MinimizeScratch,
    loose: LooseBodies,
}

/// Reusable memory of a solve of some islands.
#[derive(Clone, Debug, Default)]
struct MinimizeScratch {
    impulses: Vec<Force>,
    motions: Vec<Motion>,
    /// `D`, and the next one.
    diagonal: Vec<Sym6>,
    slopes: Vec<Sym6>,
    given: Vec<Force>,
    residual: Vec<Force>,
    preconditioned: Vec<Motion>,
    direction: (Vec<Motion>, Vec<Force>),
    change: (Vec<Motion>, Vec<Force>),
    product: Vec<Force>,
}

/// Loosest precision of the conjugate gradients.
const LOOSE: f64 = 0.1;
/// Part of the precision asked for that conjugate gradients aim at.
const SAFE: f64 = 0.3;
/// Slope along a search direction that is left, relative to the one at its start.
const FLAT: f64 = 0.05;
/// Part of the slope at the start of a search that is worth going further than a whole step, and how far at most. Forces that grow with the third
/// power of a depth take a third of it per step.
const STEEP: f64 = 0.2;
const LONGEST: f64 = 3.0;
/// Share of the energy of the impulses that counts as if it were one of the forces.
const ROUNDING: f64 = 1e-10;
/// Evaluations of a line search.
const SEARCHES: u32 = 30;
/// Error of the twists at the start of a step from which contacts need not settle one by one.
const CALM: f64 = 0.1;
/// Loose bodies are solved more precisely by this factor: at rest they begin where the last step ended, and its error stays.
const FINER: f64 = 0.1;
/// Newton iterations of loose bodies, at most.
const MOST_LOOSE: u32 = 40;
/// After so many iterations friction limits no longer follow: the rest converges for certain.
const FOLLOWED: u32 = 12;

/// Finds the impulses `scratch.impulses` of the bodies, from the twists `free` that the tree has without them; island by island, each as precise as its
/// own impulses ask for.
pub fn minimize(
    forces: &mut dyn ConvexForces,
    tree: &mut dyn TouchedTree,
    free: &[Motion],
    settings: &ConvexSettings,
    scratch: &mut ConvexScratch,
) -> ConvexReport {
    let mut report = ConvexReport { has_converged: true, ..ConvexReport::default() };
    let n_islands = forces.islands().len();
    scratch.impulses.resize(free.len(), Force::ZERO);
    scratch.motions.resize(free.len(), Motion::ZERO);
    let (mut island, mut start) = (0, 0);
    while island < n_islands {
        forces.select(island..island + 1);
        let is_alone = tree.has_islands() || forces.are_loose();
        let next = if is_alone { island + 1 } else { n_islands };
        let bodies = start..forces.islands()[next - 1] as usize;
        start = bodies.end;
        forces.select(island..next);
        tree.select(bodies.clone());
        report = report.and(scratch.minimize(forces, tree, (free, bodies), settings));
        island = next;
    }
    report
}

impl ConvexScratch {
    /// The bodies that are chosen.
    fn minimize(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn TouchedTree,
        (free, bodies): (&[Motion], Range<usize>),
        settings: &ConvexSettings,
    ) -> ConvexReport {
        let Self { impulses, motions, island, loose } = self;
        let free = &free[bodies.clone()];
        island.resize(bodies.len());
        island.impulses.copy_from_slice(&impulses[bodies.clone()]);
        island.diagonal.copy_from_slice(forces.diagonal());
        let are_loose = forces.are_loose() && loose.find(&mut |f, v| tree.react(f, v), free);
        if !(are_loose && island.settle(forces, loose)) {
            island.start(forces, tree, free);
        }
        let report = if are_loose {
            let precision = FINER * settings.precision;
            let mut how = island.minimize(
                forces,
                loose,
                &ConvexSettings { precision, iterations: MOST_LOOSE, ..*settings },
            );
            // Rounding may not allow more.
            how.has_converged |= how.residual <= settings.precision;
            how
        } else {
            island.minimize(forces, tree, settings)
        };
        if are_loose && forces.are_floating() {
            island.keep_momentum(loose);
        }
        island.take_diagonal(forces.diagonal());
        impulses[bodies.clone()].copy_from_slice(&island.impulses);
        motions[bodies].copy_from_slice(&island.motions);
        report
    }
}

impl ConvexReport {
    /// Of this solve and that of another island.
    fn and(self, other: Self) -> Self {
        Self {
            iterations: self.iterations.max(other.iterations),
            products: self.products + other.products,
            residual: self.residual.max(other.residual),
            has_converged: self.has_converged && other.has_converged,
        }
    }

    fn is_spent(&self, settings: &ConvexSettings) -> bool {
        self.iterations >= settings.iterations || self.products >= settings.products
    }
}

impl MinimizeScratch {
    /// Newton's method from the present impulses and twists.
    fn minimize(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn TouchedTree,
        settings: &ConvexSettings,
    ) -> ConvexReport {
        let mut report = ConvexReport::default();
        // Limits that are not known well are not worth a precise solution.
        let (mut known, mut follows, mut first) = (LOOSE, 0, f64::INFINITY);
        loop {
            let [size, error] = self.measure(forces, tree);
            if !(error.is_finite() && size.is_finite()) {
                return ConvexReport { residual: f64::INFINITY, ..report };
            }
            let goal = settings.precision * settings.precision * size;
            report.residual = if size > 0.0 { (error / size).max(0.0).sqrt() } else { 0.0 };
            if error <= goal.max(known * known * size) {
                let change = if follows < FOLLOWED { forces.follow(settings.follow_precision) } else { 0.0 };
                follows += 1;
                let are_known = change <= settings.follow_precision;
                report.has_converged = are_known && error <= goal;
                if report.has_converged || report.is_spent(settings) {
                    return report;
                }
                if are_known {
                    known = 0.0;
                } else {
                    known = (LOOSE * change).min(LOOSE);
                    continue;
                }
            }
            if report.is_spent(settings) {
                return report;
            }
            first = first.min(error);
            let wanted = (LOOSE * LOOSE * error * (error / first).min(1.0)).max(SAFE * SAFE * goal);
            report.products += self.solve(forces, tree, wanted, settings.products - report.products);
            report.iterations += 1;
            if !self.advance(forces) {
                return report;
            }
        }
    }

    fn resize(&mut self, n: usize) {
        let Self {
            impulses,
            motions,
            diagonal,
            slopes: _,
            given,
            residual,
            preconditioned,
            direction,
            change,
            product,
        } = self;
        diagonal.resize(n, Sym6::ZERO);
        for forces in [impulses, given, residual, product, &mut direction.1, &mut change.1] {
            forces.resize(n, Force::ZERO);
        }
        for twists in [motions, preconditioned, &mut direction.0, &mut change.0] {
            twists.resize(n, Motion::ZERO);
        }
    }

    /// Twists of the impulses to start from, or none of them if that has less energy: in impacts the twists of the step before are far away.
    fn start(&mut self, forces: &mut dyn ConvexForces, tree: &mut dyn TouchedTree, free: &[Motion]) {
        let Self { impulses, motions, diagonal, given, .. } = self;
        tree.react(impulses, motions);
        motions.iter_mut().zip(free).for_each(|(v, free)| *v += *free);
        forces.linearize(motions, given);
        // ½ VᵀA V − bᵀV = ½ (q − D V)·V − ½ q·V_b, but for a constant.
        let mut energy = forces.energy() - 0.5 * work(impulses, free) + 0.5 * work(impulses, motions);
        energy -= quadratic(diagonal, motions);
        forces.linearize(free, given);
        let is_nearer = energy <= forces.energy() - quadratic(diagonal, free);
        if !is_nearer {
            impulses.fill(Force::ZERO);
            motions.copy_from_slice(free);
        }
    }

    /// Begins with the twists that loose bodies have, if that is near: they rest. Else where they settle, or without forces if that has less energy.
    /// False if they have begun before.
    fn settle(&mut self, forces: &mut dyn ConvexForces, loose: &mut LooseBodies) -> bool {
        if !forces.begin(&mut self.motions) {
            return false;
        }
        loose.forces(&self.motions, &mut self.impulses);
        self.diagonal.fill(Sym6::ZERO);
        let [size, error] = self.measure(forces, loose);
        if error <= CALM * CALM * size {
            return true;
        }
        let Self { impulses, motions, diagonal, given, .. } = self;
        motions.copy_from_slice(loose.free());
        forces.settle(loose.responses(), motions, impulses);
        diagonal.fill(Sym6::ZERO);
        // ½ (V − V_b)ᵀA (V − V_b) = ½ q·(V − V_b)
        forces.linearize(motions, given);
        let energy = forces.energy() + 0.5 * (work(impulses, motions) - work(impulses, loose.free()));
        forces.linearize(loose.free(), given);
        if energy.is_nan() || energy > forces.energy() {
            impulses.fill(Force::ZERO);
            motions.copy_from_slice(loose.free());
        }
        true
    }

    /// Moves loose bodies that touch nothing else all alike, so that they keep the momentum that they have together: no force between them changes by
    /// that, and what is left of the residual does not add up over the steps.
    fn keep_momentum(&mut self, loose: &LooseBodies) {
        let Self { impulses, motions, diagonal, .. } = self;
        loose.forces(motions, impulses);
        diagonal.fill(Sym6::ZERO);
        let gained: DVec3 = impulses.iter().map(|impulse| impulse.linear).sum();
        if let Some(inverse) = loose.mass().inverse() {
            let change = inverse.mul_vec(gained);
            motions.iter_mut().for_each(|motion| motion.linear -= change);
            loose.forces(motions, impulses);
        }
    }

    /// Takes another `D`.
    fn take_diagonal(&mut self, diagonal: &[Sym6]) {
        for (i, (before, after)) in self.diagonal.iter_mut().zip(diagonal).enumerate() {
            let motion = self.motions[i];
            self.impulses[i] += after.mul(motion) - before.mul(motion);
            *before = *after;
        }
    }

    /// Linearizes at the present twists. Leaves the residual `r` and `T r`; returns the energies of all impulses and of the residual.
    fn measure(&mut self, forces: &mut dyn ConvexForces, tree: &mut dyn TouchedTree) -> [f64; 2] {
        forces.linearize(&self.motions, &mut self.given);
        if tree.can_factor() {
            let mut slopes = std::mem::take(&mut self.slopes);
            slopes.resize(self.diagonal.len(), Sym6::ZERO);
            forces.sum_slopes(&mut slopes);
            self.take_diagonal(&slopes);
            tree.factor(&slopes);
            self.slopes = slopes;
        }
        let Self { impulses, motions, diagonal, given, residual, preconditioned, .. } = self;
        tree.react(given, preconditioned);
        // Without forces, what rounding leaves of the start is not to be resolved.
        let size = work(given, preconditioned) + ROUNDING * work(impulses, motions).abs();
        for (k, (r, diagonal)) in residual.iter_mut().zip(&*diagonal).enumerate() {
            *r = given[k] + diagonal.mul(motions[k]) - impulses[k];
        }
        tree.react(residual, preconditioned);
        [size, work(residual, preconditioned)]
    }

    /// Conjugate gradients for `(A + S) δ = r`, until `rᵀT r ≤ wanted`; returns how many iterations they took.
    fn solve(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn TouchedTree,
        wanted: f64,
        most: u32,
    ) -> u32 {
        let Self { diagonal, residual, preconditioned, direction, change, product, .. } = self;
        change.0.fill(Motion::ZERO);
        change.1.fill(Force::ZERO);
        direction.0.copy_from_slice(preconditioned);
        direction.1.copy_from_slice(residual);
        let mut error = work(residual, preconditioned);
        for k in 1..=most {
            forces.apply(&direction.0, product);
            for (i, diagonal) in diagonal.iter().enumerate() {
                product[i] += direction.1[i] - diagonal.mul(direction.0[i]);
            }
            let curvature = work(product, &direction.0);
            let alpha = error / curvature;
            if !(curvature > 0.0 && alpha.is_finite()) {
                return k;
            }
            for (i, r) in residual.iter_mut().enumerate() {
                change.0[i] += direction.0[i] * alpha;
                change.1[i] += direction.1[i] * alpha;
                *r -= product[i] * alpha;
            }
            tree.react(residual, preconditioned);
            let before = std::mem::replace(&mut error, work(residual, preconditioned));
            if error.is_nan() || error <= wanted {
                return k;
            }
            let beta = error / before;
            for (i, r) in residual.iter().enumerate() {
                direction.0[i] = preconditioned[i] + direction.0[i] * beta;
                direction.1[i] = *r + direction.1[i] * beta;
            }
        }
        most
    }

    /// Goes along the change to where the energy is smallest; false if it does not fall at all.
    fn advance(&mut self, forces: &mut dyn ConvexForces) -> bool {
        let Self { impulses, motions, diagonal, change, .. } = self;
        forces.search_along(&change.0);
        // Slope of the energy of the bodies at the start, and its change: `δᵀ(A V − b)`, `δᵀA δ`.
        let (mut at_start, mut rate) = (0.0, 0.0);
        for (i, diagonal) in diagonal.iter().enumerate() {
            let (v, q, dv, dq) = (motions[i], impulses[i], change.0[i], change.1[i]);
            at_start += (q - diagonal.mul(v)).dot(dv);
            rate += (dq - diagonal.mul(dv)).dot(dv);
        }
        let mut slope = |share: f64| at_start + share * rate - forces.power(share);
        let start = slope(0.0);
        if start.is_nan() || start >= 0.0 {
            return false;
        }
        let share = flat_share(start, &mut slope);
        for i in 0..motions.len() {
            motions[i] += change.0[i] * share;
            impulses[i] += change.1[i] * share;
        }
        forces.advance(share);
        true
    }
}

impl TouchedTree for LooseBodies {
    fn has_islands(&self) -> bool {
        true
    }

    fn select(&mut self, _: Range<usize>) {}

    fn react(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        Self::react(self, impulses, motions);
    }

    fn can_factor(&self) -> bool {
        true
    }

    fn factor(&mut self, diagonal: &[Sym6]) {
        Self::factor(self, diagonal);
    }
}

/// Where an increasing slope with the value `start < 0` at 0 is nearly zero; 1 if it still falls a little there, at most [`LONGEST`].
fn flat_share(start: f64, slope: &mut impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = ((0.0, start), (1.0, slope(1.0)));
    if high.1 < STEEP * start {
        (low, high) = (high, (LONGEST, slope(LONGEST)));
    }
    if high.1.is_nan() || high.1 <= FLAT * -start {
        return high.0;
    }
    // Secants between a falling and a rising end, halves where they are slow (Illinois).
    for _ in 0..SEARCHES {
        let share = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        let here = slope(share);
        if here.abs() <= FLAT * -start {
            return share;
        }
        if here < 0.0 {
            low = (share, here);
            high.1 *= 0.5;
        } else {
            high = (share, here);
            low.1 *= 0.5;
        }
    }
    low.0
}

/// `½ VᵀD V`.
fn quadratic(diagonal: &[Sym6], motions: &[Motion]) -> f64 {
    diagonal.iter().zip(motions).map(|(d, v)| 0.5 * d.mul(*v).dot(*v)).sum()
}

/// `fᵀ V`.
fn work(impulses: &[Force], motions: &[Motion]) -> f64 {
    impulses.iter().zip(motions).map(|(f, v)| f.dot(*v)).sum()
}
