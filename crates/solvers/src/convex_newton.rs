//! Newton's method with a line search for the bodies of one island under forces with a convex potential (`convex.rs` has the equations).
//!
//! World axes at centres of mass. Cost: per iteration of conjugate gradients a reaction of the tree and a product with `S`. Nothing allocates once warm.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym6};

use crate::convex_forces::{BareTree, ConvexForces, ConvexReport, ConvexSettings, TouchedTree};
use crate::loose::LooseBodies;

/// Reusable memory of a solve of some islands.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinimizeScratch {
    pub(crate) impulses: Vec<Force>,
    pub(crate) motions: Vec<Motion>,
    /// `D`, and the next one.
    pub(crate) diagonal: Vec<Sym6>,
    slopes: Vec<Sym6>,
    given: Vec<Force>,
    residual: Vec<Force>,
    preconditioned: Vec<Motion>,
    direction: (Vec<Motion>, Vec<Force>),
    change: (Vec<Motion>, Vec<Force>),
    product: Vec<Force>,
    /// What [`Self::measure`] found at the present twists, if that is known already.
    measured: Option<[f64; 2]>,
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
/// Iterations that look ahead at most, the precision of their conjugate gradients, and the error at which they end.
const FORESEEN: u32 = 20;
const AHEAD: f64 = 1e-2;
const NEAR: f64 = 1e-3;
/// Part of the error (energy) of the last but one of them from which on they may go in circles, and how often that is borne.
const TURNING: f64 = 0.7;
const RETURNS: u32 = 2;
/// Factor of the precision of loose bodies at rest: they begin where the last step ended, and its error stays.
const FINER: f64 = 0.1;
/// Factor of the precision of what follows where loose bodies move.
const COARSER: f64 = 10.0;
/// Newton iterations of a tree that can be factored again, at most.
const MOST: u32 = 40;
/// How often impulses on bodies that joints hold fast are made right, at most, and the relative error with which they are.
const RENEWALS: u32 = 8;
const RIGHT: f64 = 1e-6;
/// Lever arm with which turns count where twists are compared, m.
const ARM: f64 = 0.2;
/// After so many iterations friction limits no longer follow: the rest converges for certain.
const FOLLOWED: u32 = 12;

impl MinimizeScratch {
    /// Newton's method from the present impulses and twists.
    pub(crate) fn minimize(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn TouchedTree,
        settings: &ConvexSettings,
    ) -> ConvexReport {
        let mut report = ConvexReport::default();
        let precision = settings.precision;
        // Limits that are not known well are not worth a precise solution.
        let (mut known, mut follows, mut before) = (LOOSE, 0, f64::INFINITY);
        loop {
            let measured = self.measured.take();
            let [size, error] = measured.unwrap_or_else(|| self.measure(forces, tree));
            if !(error.is_finite() && size.is_finite()) {
                return ConvexReport { residual: f64::INFINITY, ..report };
            }
            let goal = precision * precision * size;
            report.residual = if size > 0.0 { (error / size).max(0.0).sqrt() } else { 0.0 };
            if error <= goal.max(known * known * size) {
                let change = if follows < FOLLOWED { forces.follow(settings.follow_precision) } else { 0.0 };
                follows += 1;
                // Less than enough would be too much again at the solution.
                let safely = if known > 0.0 { SAFE } else { 1.0 };
                let are_known = change <= safely * settings.follow_precision;
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
            let ratio = (error / before).min(1.0);
            before = error;
            let wanted = (LOOSE * LOOSE * error * ratio).max(SAFE * SAFE * goal.max(known * known * size));
            report.products += self.solve(forces, tree, wanted, settings.products - report.products);
            report.iterations += 1;
            if !self.advance(forces) {
                // Rounding allows no more.
                report.has_converged = known == 0.0 && report.residual <= settings.precision;
                return report;
            }
        }
    }

    pub(crate) fn resize(&mut self, n: usize) {
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
            measured,
        } = self;
        *measured = None;
        diagonal.resize(n, Sym6::ZERO);
        for forces in [impulses, given, residual, product, &mut direction.1, &mut change.1] {
            forces.resize(n, Force::ZERO);
        }
        for twists in [motions, preconditioned, &mut direction.0, &mut change.0] {
            twists.resize(n, Motion::ZERO);
        }
    }

    /// Twists of the impulses to start from, or none of them if that has less energy: in impacts the twists of the step before are far away.
    pub(crate) fn start(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn TouchedTree,
        free: &[Motion],
    ) {
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

    /// Newton's method on a tree that was factored without `D` and has the twists `free`: from where new forces begin, else from the present twists.
    pub(crate) fn find(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn BareTree,
        free: &[Motion],
        settings: &ConvexSettings,
    ) -> ConvexReport {
        let alone = ConvexSettings { iterations: MOST, ..*settings };
        let are_new = forces.begin(&mut self.motions);
        self.diagonal.fill(Sym6::ZERO);
        if !tree.forces(free, &self.motions, &mut self.impulses) {
            self.approach(forces, tree, free);
        }
        if !are_new {
            let follow_precision = COARSER * settings.follow_precision;
            return self.minimize_bare(forces, tree, free, &ConvexSettings { follow_precision, ..alone });
        }
        let (settings, ahead) = self.settle(forces, tree, free, &alone);
        self.minimize_bare(forces, tree, free, &settings).after(ahead)
    }

    /// [`Self::minimize`] on a bare tree. Twists and impulses are changed together, and on a light body that touches stiff things they part by what rounding
    /// leaves of impulses far beyond its momentum, which the way to a solution may have: then the search goes on with the impulses that the twists need, or, of what
    /// is jointed, with the twists that the impulses give.
    fn minimize_bare(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn BareTree,
        free: &[Motion],
        settings: &ConvexSettings,
    ) -> ConvexReport {
        let mut report = self.minimize(forces, tree, settings);
        for _ in 0..RENEWALS {
            let were_wrong = self.renew_impulses(tree, free);
            if !were_wrong.unwrap_or_else(|| self.renew_motions(tree, free)) {
                break;
            }
            report = self.minimize(forces, tree, settings).after(report);
        }
        report
    }

    /// Takes the twists that the impulses give, `V_b + T (q − D V_b)`, if those of some body are others; returns whether they are.
    fn renew_motions(&mut self, tree: &mut dyn BareTree, free: &[Motion]) -> bool {
        let Self { impulses, motions, diagonal, residual: needed, preconditioned: right, .. } = self;
        for (i, free) in free.iter().enumerate() {
            needed[i] = impulses[i] - diagonal[i].mul(*free);
        }
        tree.react(needed, right);
        right.iter_mut().zip(free).for_each(|(v, free)| *v += *free);
        let size = |motion: Motion| motion.linear.length() + ARM * motion.angular.length();
        let is_wrong = |i: usize| size(right[i] - motions[i]) > RIGHT * (size(right[i]) + size(free[i]));
        let are_wrong = (0..free.len()).any(is_wrong);
        if are_wrong {
            motions.copy_from_slice(right);
        }
        are_wrong
    }

    /// Takes the impulses that the twists need, if those of some body are others; returns whether they are, none if the tree does not tell.
    fn renew_impulses(&mut self, tree: &dyn BareTree, free: &[Motion]) -> Option<bool> {
        let Self { impulses, motions, diagonal, given: needed, residual: momenta, direction, .. } = self;
        direction.0.fill(Motion::ZERO);
        let is_known = tree.forces(free, motions, needed) && tree.forces(&direction.0, free, momenta);
        let is_wrong = |i: usize| {
            let off = needed[i] - (impulses[i] - diagonal[i].mul(motions[i]));
            let is_far =
                |off: DVec3, one: DVec3, other: DVec3| off.length() > RIGHT * (one.length() + other.length());
            is_far(off.linear, needed[i].linear, momenta[i].linear)
                || is_far(off.angular, needed[i].angular, momenta[i].angular)
        };
        let are_wrong = is_known && (0..motions.len()).any(is_wrong);
        if are_wrong {
            for (i, impulse) in impulses.iter_mut().enumerate() {
                *impulse = needed[i] + diagonal[i].mul(motions[i]);
            }
        }
        is_known.then_some(are_wrong)
    }

    /// Begins with the present twists, if that is near: the bodies rest. Else where they settle, or without forces if that has less energy.
    /// Returns how precisely they are to be solved, and what that took.
    fn settle(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn BareTree,
        free: &[Motion],
        settings: &ConvexSettings,
    ) -> (ConvexSettings, ConvexReport) {
        let [size, error] = self.measure(forces, tree);
        if error <= CALM * CALM * size {
            self.measured = Some([size, error]);
            // Its error would stay.
            let precision = FINER * settings.precision;
            return (ConvexSettings { precision, ..*settings }, ConvexReport::default());
        }
        let mut ahead = ConvexReport::default();
        if tree.is_shallow() {
            tree.release();
            forces.settle(tree, free, &mut self.impulses);
            for (i, motion) in self.motions.iter_mut().enumerate() {
                *motion = free[i] + tree.pushed(i);
            }
            self.diagonal.fill(Sym6::ZERO);
            ahead = self.foresee(forces, tree, free, settings.products);
        } else {
            self.drop_diagonal();
        }
        let Self { impulses, motions, given, .. } = self;
        // ½ (V − V_b)ᵀA (V − V_b) = ½ q·(V − V_b)
        forces.linearize(motions, given);
        let energy = forces.energy() + 0.5 * (work(impulses, motions) - work(impulses, free));
        forces.linearize(free, given);
        if energy.is_nan() || energy > forces.energy() {
            impulses.fill(Force::ZERO);
            motions.copy_from_slice(free);
        }
        let follow_precision = COARSER * settings.follow_precision;
        (ConvexSettings { follow_precision, ..*settings }, ahead)
    }

    /// The twists that joints allow next to the present ones: those of one step with the slopes there.
    fn approach(&mut self, forces: &mut dyn ConvexForces, tree: &mut dyn BareTree, free: &[Motion]) {
        let Self { impulses, motions, diagonal, given, .. } = self;
        forces.linearize(motions, given);
        forces.sum_slopes(diagonal);
        tree.factor(diagonal);
        // (A + D) V = A V_b + q
        for (i, slope) in diagonal.iter().enumerate() {
            impulses[i] = given[i] + slope.mul(motions[i]);
            given[i] = impulses[i] - slope.mul(free[i]);
        }
        tree.react(given, motions);
        motions.iter_mut().zip(free).for_each(|(v, free)| *v += *free);
    }

    /// Newton's method without a line search, linear about the impulses that are expected: it finds which forces act in a few iterations where they are
    /// stiff, but not always.
    fn foresee(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn BareTree,
        free: &[Motion],
        most: u32,
    ) -> ConvexReport {
        let mut report = ConvexReport::default();
        let (mut before, mut returns) = ([f64::INFINITY; 2], 0);
        for _ in 0..FORESEEN {
            forces.linearize_expected(&self.motions, &mut self.given);
            let [size, error] = self.weigh(forces, tree);
            // Two sets of forces may take turns.
            returns += u32::from(error > TURNING * before[0]);
            if error.is_nan() || error <= NEAR * NEAR * size || returns > RETURNS {
                break;
            }
            before = [before[1], error];
            // Where stiff forces are far off, a part of the error says little.
            let wanted = AHEAD * AHEAD * self.change_energy(free).min(error);
            report.products += self.solve(forces, tree, wanted, most);
            report.iterations += 1;
            forces.search_along(&self.change.0);
            self.go(1.0);
            forces.advance(1.0);
        }
        self.drop_diagonal();
        tree.forces(free, &self.motions, &mut self.impulses);
        report
    }

    /// `(V − V_b)ᵀA (V − V_b)`: twice the energy of the impulses that change the twists.
    fn change_energy(&self, free: &[Motion]) -> f64 {
        let Self { impulses, motions, diagonal, .. } = self;
        let each = diagonal.iter().zip(impulses).zip(motions.iter().zip(free));
        each.map(|((slope, q), (v, free))| (*q - slope.mul(*v)).dot(*v - *free)).sum()
    }

    /// Takes `D = 0`.
    fn drop_diagonal(&mut self) {
        for (i, slope) in self.diagonal.iter_mut().enumerate() {
            self.impulses[i] -= slope.mul(self.motions[i]);
            *slope = Sym6::ZERO;
        }
    }

    /// Goes along the change by a share.
    fn go(&mut self, share: f64) {
        for i in 0..self.motions.len() {
            self.motions[i] += self.change.0[i] * share;
            self.impulses[i] += self.change.1[i] * share;
        }
    }

    /// Moves loose bodies that touch nothing else all alike, so that they keep the momentum that they have together: no force between them changes by
    /// that, and what is left of the residual does not add up over the steps.
    pub(crate) fn keep_momentum(&mut self, loose: &LooseBodies, free: &[Motion]) {
        let Self { impulses, motions, diagonal, .. } = self;
        loose.forces(free, motions, impulses);
        diagonal.fill(Sym6::ZERO);
        let gained: DVec3 = impulses.iter().map(|impulse| impulse.linear).sum();
        if let Some(inverse) = loose.mass().inverse() {
            let change = inverse.mul_vec(gained);
            motions.iter_mut().for_each(|motion| motion.linear -= change);
            loose.forces(free, motions, impulses);
        }
    }

    /// [`Self::minimize`] on a tree with closed loops. Where these hold bodies fast, wrong impulses hide the rest of the error behind their rounding: as long as
    /// the solution changes them, the search goes on with the right ones.
    pub(crate) fn minimize_closed(
        &mut self,
        forces: &mut dyn ConvexForces,
        tree: &mut dyn TouchedTree,
        free: &[Motion],
        settings: &ConvexSettings,
    ) -> ConvexReport {
        let mut report = self.minimize(forces, tree, settings);
        for renewal in 0..=RENEWALS {
            if !report.has_converged || self.take_forces() <= RIGHT || renewal == RENEWALS {
                break;
            }
            tree.react(&self.impulses, &mut self.motions);
            self.motions.iter_mut().zip(free).for_each(|(v, free)| *v += *free);
            report = self.minimize(forces, tree, settings).after(report);
        }
        report
    }

    /// Takes the impulses that the forces give at the twists of a solution; returns how much that changes, relative to the largest. The energy of the error does
    /// not see what is wrong on bodies that joints hold fast, but what is pressed on them is what their joints bear.
    pub(crate) fn take_forces(&mut self) -> f64 {
        let Self { impulses, motions, diagonal, given, .. } = self;
        let (mut changed, mut largest) = (0.0, f64::MIN_POSITIVE);
        for (i, impulse) in impulses.iter_mut().enumerate() {
            let right = given[i] + diagonal[i].mul(motions[i]);
            changed = f64::max(changed, (right.linear - impulse.linear).length());
            largest = f64::max(largest, given[i].linear.length());
            *impulse = right;
        }
        changed / largest
    }

    /// Takes another `D`.
    pub(crate) fn take_diagonal(&mut self, diagonal: &[Sym6]) {
        for (i, (before, after)) in self.diagonal.iter_mut().zip(diagonal).enumerate() {
            let motion = self.motions[i];
            self.impulses[i] += after.mul(motion) - before.mul(motion);
            *before = *after;
        }
    }

    /// Linearizes at the present twists and weighs that.
    fn measure(&mut self, forces: &mut dyn ConvexForces, tree: &mut dyn TouchedTree) -> [f64; 2] {
        forces.linearize(&self.motions, &mut self.given);
        self.weigh(forces, tree)
    }

    /// Leaves the residual `r` of the linear forces and `T r`; returns the energies of all impulses and of the residual.
    fn weigh(&mut self, forces: &mut dyn ConvexForces, tree: &mut dyn TouchedTree) -> [f64; 2] {
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
        self.go(share);
        forces.advance(share);
        true
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
