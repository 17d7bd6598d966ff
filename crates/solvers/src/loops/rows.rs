//! Loop rows: the constraints that close the loops of a tree, in blocks of one joint each.
//!
//! **What.** Rows `J v + D λ = b` on the twists of two *ports* (bodies on which the loop solver may exert impulses);
//! the impulse on the bodies is `+Jᵀλ` (Fau99 §2.2). A point block holds two points together and stores two arms
//! instead of three rows of twelve numbers:
//! ```text
//! J v = v₁ + ω₁×a₁ − v₂ − ω₂×a₂        Jᵀλ = (a₁×λ, λ) on 1, −(a₂×λ, λ) on 2
//! ```
//! A wide row acts on any number of bodies (gears, ropes over pulleys): `Σ J_i v_i + D λ = b`.
//!
//! A force across a loop (spring `k`, damper `c`, gap `x`) is a compliant row: `D = 1/(h(hk+c))`,
//! `b = −k x/(hk+c)`.
//!
//! **Frames, units.** World axes, twists at each body's centre of mass, angular part first; `λ` is an impulse.
//!
//! **Cost.** A point block takes 36 flops each way; nothing allocates once the largest set has been seen.
//!
//! **Failure.** None: sums and products only. A port [`LoopRows::FIXED`] is immovable: it takes any impulse.

use super::responder::FreeMass;
use super::table::{BlockShape, LoopBlock, RowTable};
use glam::DVec3;
use sinew_math::{Force, Motion};

/// One scalar row: `on1·v₁ + on2·v₂ + compliance·λ = rhs`.
///
/// A row with `on1 = on2 = 0` is inactive; give it the compliance 1, so that `λ = rhs`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopRow {
    /// Row of `J` on the first body, which is also the impulse of a unit multiplier on it; world axes.
    pub on1: Force,
    /// Row of `J` on the second body.
    pub on2: Force,
    /// `b`, in the units of the row's velocity.
    pub rhs: f64,
    /// `D ≥ 0`, velocity per impulse; 0 for a rigid row.
    pub compliance: f64,
}

/// The data of a block of rows.
#[derive(Clone, Copy)]
pub(crate) enum BlockRows<'a> {
    /// Two points held together: their arms.
    Point(&'a [DVec3; 2]),
    /// General rows: on the first and on the second body.
    General(&'a [[Force; 2]]),
    /// One row on any number of bodies.
    Wide(&'a [(u32, Force)]),
}

/// The rows of all loops.
#[derive(Clone, Debug, Default)]
pub struct LoopRows {
    table: RowTable,
    arms: Vec<[DVec3; 2]>,
    rows: Vec<[Force; 2]>,
    /// Ends of wide rows.
    wide: Vec<(u32, Force)>,
    /// Ports touched, each once, in the order of their first block.
    ports: Vec<u32>,
    /// Whether a port is in `ports`.
    seen: Vec<bool>,
}

impl LoopRows {
    /// The port of everything immovable.
    pub const FIXED: u32 = u32::MAX;

    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reserves the ports of a responder, so that it may visit ports that no row touches.
    pub fn reserve_ports(&mut self, n: usize) {
        self.seen.resize(self.seen.len().max(n), false);
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.table.clear();
        self.arms.clear();
        self.rows.clear();
        self.wide.clear();
        for &port in &self.ports {
            self.seen[port as usize] = false;
        }
        self.ports.clear();
    }

    /// Three rigid rows that hold two points together: `v₁ + ω₁×arm₁ − v₂ − ω₂×arm₂ = rhs`.
    ///
    /// Arms run from the centre of mass to the point (m), the right-hand side is in m/s, both in world axes.
    #[inline]
    pub fn push_point(&mut self, ports: [u32; 2], arms: [DVec3; 2], rhs: DVec3, weight: f64) {
        self.push_block(ports, weight, (3, self.arms.len()), BlockShape::Point);
        self.arms.push(arms);
        self.table.rhs.extend(rhs.to_array());
        self.table.compliance.extend([0.0; 3]);
    }

    /// Up to six general rows as one block.
    pub fn push(&mut self, ports: [u32; 2], rows: &[LoopRow], weight: f64) {
        assert!(rows.len() <= 6, "a joint has at most six rows");
        self.push_block(ports, weight, (rows.len(), self.rows.len()), BlockShape::General);
        for row in rows {
            self.rows.push([row.on1, row.on2]);
            self.table.rhs.push(row.rhs);
            self.table.compliance.push(row.compliance.max(0.0));
        }
    }

    /// One row on any number of bodies, `(port, J)` each: `Σ J_i v_i + compliance·λ = rhs`. Ends on [`Self::FIXED`] are left out.
    pub fn push_wide(
        &mut self,
        ends: impl Iterator<Item = (u32, Force)>,
        rhs: f64,
        compliance: f64,
        weight: f64,
    ) {
        let first = self.wide.len();
        self.wide.extend(ends.filter(|&(port, _)| port != Self::FIXED));
        for at in first..self.wide.len() {
            self.touch(self.wide[at].0);
        }
        let n_ends = u16::try_from(self.wide.len() - first).expect("a row acts on fewer than 65536 bodies");
        self.push_block([Self::FIXED; 2], weight, (1, first), BlockShape::Wide(n_ends));
        self.table.rhs.push(rhs);
        self.table.compliance.push(compliance.max(0.0));
    }

    /// Notes a port that rows touch.
    fn touch(&mut self, port: u32) {
        let at = port as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, false);
        }
        if !self.seen[at] {
            self.seen[at] = true;
            self.ports.push(port);
        }
    }

    fn push_block(
        &mut self,
        ports: [u32; 2],
        weight: f64,
        (n_rows, data): (usize, usize),
        shape: BlockShape,
    ) {
        ports.into_iter().filter(|&port| port != Self::FIXED).for_each(|port| self.touch(port));
        self.table.push(ports, weight, [n_rows, data], shape);
    }

    /// The rows of the last block do not depend on each other, however far joints are open; direct solves need not guess it from their entries.
    pub fn mark_whole(&mut self) {
        if let Some(block) = self.table.blocks.last_mut() {
            block.is_whole = true;
        }
    }

    /// Number of scalar rows.
    pub fn len(&self) -> usize {
        self.table.rhs.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.table.rhs.is_empty()
    }

    pub(super) fn table(&self) -> &RowTable {
        &self.table
    }

    /// `b`, row by row.
    pub fn rhs(&self) -> &[f64] {
        &self.table.rhs
    }

    /// `D`, row by row.
    pub fn compliance(&self) -> &[f64] {
        &self.table.compliance
    }

    /// The joints, in the order in which they were pushed.
    pub fn blocks(&self) -> &[LoopBlock] {
        &self.table.blocks
    }

    /// The ports that rows touch, each once.
    pub fn touched_ports(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.ports.iter().copied()
    }

    /// One more than the largest port ever touched.
    pub(crate) fn n_ports(&self) -> usize {
        self.seen.len()
    }

    /// Sets the entries of blocks of weight 0, which are switched off, to zero.
    pub fn switch_off(&self, values: &mut [f64]) {
        self.table.switch_off(values);
    }

    #[inline]
    pub(crate) fn rows_of(&self, block: &LoopBlock) -> BlockRows<'_> {
        let data = block.data as usize;
        match block.shape {
            BlockShape::Point => BlockRows::Point(&self.arms[data]),
            BlockShape::General => BlockRows::General(&self.rows[data..data + usize::from(block.n_rows)]),
            BlockShape::Wide(n) => BlockRows::Wide(&self.wide[data..data + usize::from(n)]),
        }
    }

    /// Calls `each(port, J)` for every body that a row of a block acts on; the port may be [`Self::FIXED`].
    #[inline]
    pub(crate) fn for_each_end(&self, block: &LoopBlock, row: usize, mut each: impl FnMut(u32, Force)) {
        let of_block = row - block.first as usize;
        match self.rows_of(block) {
            BlockRows::Point(arms) => {
                for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                    let axis = DVec3::AXES[of_block] * sign;
                    each(block.ports[side], Force { angular: arms[side].cross(axis), linear: axis });
                }
            }
            BlockRows::General(rows) => {
                block.ports.into_iter().zip(rows[of_block]).for_each(|(port, on)| each(port, on));
            }
            BlockRows::Wide(ends) => ends.iter().for_each(|&(port, on)| each(port, on)),
        }
    }

    /// One row of a block on one of its two bodies; nothing for a wide row.
    #[cfg(test)]
    pub(crate) fn row_on(&self, block: &LoopBlock, row: usize, side: usize) -> Force {
        let (mut found, mut end) = (Force::ZERO, 0);
        if !matches!(block.shape, BlockShape::Wide(_)) {
            self.for_each_end(block, row, |_, on| {
                found = if end == side { on } else { found };
                end += 1;
            });
        }
        found
    }

    /// Whether a row of a block moves rotations only.
    pub(crate) fn is_turn(&self, block: &LoopBlock, row: usize) -> bool {
        let mut is_turn = true;
        self.for_each_end(block, row, |_, on| is_turn &= on.linear == DVec3::ZERO);
        is_turn
    }

    /// `J M⁻¹Jᵀ` of a row for free bodies.
    pub(crate) fn free_entry(
        &self,
        block: &LoopBlock,
        row: usize,
        free_mass: &dyn Fn(u32) -> FreeMass,
    ) -> f64 {
        let mut sum = 0.0;
        self.for_each_end(block, row, |port, on| sum += on.dot(Self::mass_at(port, free_mass).mul(on)));
        sum
    }

    /// Mass of the body at a port as if it were free.
    pub(crate) fn mass_at(port: u32, free_mass: &dyn Fn(u32) -> FreeMass) -> FreeMass {
        if port == Self::FIXED { FreeMass::IMMOVABLE } else { free_mass(port) }
    }

    /// Adds a share of `J M⁻¹Jᵀ` to the compliance of the rows of the last block: for each row the smaller of two
    /// `(share, masses)`. The three rows of a point block get their mean.
    pub fn soften_last(&mut self, softness: [(f64, &dyn Fn(u32) -> FreeMass); 2]) {
        let Some(&block) = self.table.blocks.last() else { return };
        if let BlockShape::Wide(_) = block.shape {
            let row = block.first as usize;
            let [first, second] = softness.map(|(share, mass)| share * self.free_entry(&block, row, mass));
            self.table.compliance[row] += first.min(second);
            return;
        }
        let Self { arms, rows, table: RowTable { compliance, .. }, .. } = self;
        let own = softness
            .map(|(share, free_mass)| (share, block.ports.map(|port| Self::mass_at(port, free_mass))));
        let of_row = |[on1, on2]: [Force; 2]| {
            own.map(|(share, [m1, m2])| share * (on1.dot(m1.mul(on1)) + on2.dot(m2.mul(on2))))
        };
        let (data, compliance) = (block.data as usize, &mut compliance[block.rows()]);
        if block.shape == BlockShape::Point {
            let [arm1, arm2] = arms[data];
            let on = |arm: DVec3, axis: DVec3| Force { angular: arm.cross(axis), linear: axis };
            let mut mean = [0.0; 2];
            for axis in DVec3::AXES {
                let row = of_row([on(arm1, axis), on(arm2, axis)]);
                mean = [mean[0] + row[0] / 3.0, mean[1] + row[1] / 3.0];
            }
            compliance.iter_mut().for_each(|d| *d += mean[0].min(mean[1]));
        } else {
            for (d, &row) in compliance.iter_mut().zip(&rows[data..]) {
                let [first, second] = of_row(row);
                *d += first.min(second);
            }
        }
    }

    /// Copies the first `n_blocks` blocks of `other`, reusing memory.
    pub fn copy_blocks(&mut self, other: &Self, n_blocks: usize) {
        self.clear();
        self.reserve_ports(other.seen.len());
        for block in &other.table.blocks[..n_blocks] {
            self.push_block(block.ports, block.weight, (0, 0), block.shape);
            if let BlockRows::Wide(ends) = other.rows_of(block) {
                ends.iter().for_each(|&(port, _)| self.touch(port));
            }
        }
        self.table.blocks.clear();
        self.table.blocks.extend_from_slice(&other.table.blocks[..n_blocks]);
        let n_rows = self.table.blocks.last().map_or(0, |block| block.rows().end);
        self.arms.extend_from_slice(&other.arms);
        self.rows.extend_from_slice(&other.rows);
        self.wide.extend_from_slice(&other.wide);
        self.table.rhs.extend_from_slice(&other.table.rhs[..n_rows]);
        self.table.compliance.extend_from_slice(&other.table.compliance[..n_rows]);
    }

    /// The impulse of a block on its first body; nothing for a wide row.
    pub fn impulse_on_first(&self, block: usize, lambda: &[f64]) -> Force {
        let block = &self.table.blocks[block];
        let lambda = &lambda[block.rows()];
        match self.rows_of(block) {
            BlockRows::Point([arm, _]) => {
                let f = DVec3::from_slice(lambda);
                Force { angular: arm.cross(f), linear: f }
            }
            BlockRows::General(rows) => {
                rows.iter().zip(lambda).fold(Force::ZERO, |sum, ([on1, _], &l)| sum + *on1 * l)
            }
            BlockRows::Wide(_) => Force::ZERO,
        }
    }

    /// Sets the impulses on the touched ports to zero.
    pub fn clear_ports(&self, impulses: &mut [Force]) {
        for &port in &self.ports {
            impulses[port as usize] = Force::ZERO;
        }
    }

    /// Adds the impulses of the multipliers: `impulses += Jᵀλ`.
    pub fn scatter(&self, lambda: &[f64], impulses: &mut [Force]) {
        self.scatter_from(0, lambda, impulses);
    }

    /// [`Self::scatter`] of the blocks from one on; `lambda` has an entry for every row.
    pub fn scatter_from(&self, first_block: usize, lambda: &[f64], impulses: &mut [Force]) {
        for block in &self.table.blocks[first_block..] {
            let lambda = &lambda[block.rows()];
            let [p1, p2] = block.ports;
            match self.rows_of(block) {
                BlockRows::Point([a1, a2]) => {
                    let f = DVec3::from_slice(lambda);
                    if p1 != Self::FIXED {
                        impulses[p1 as usize] += Force { angular: a1.cross(f), linear: f };
                    }
                    if p2 != Self::FIXED {
                        impulses[p2 as usize] -= Force { angular: a2.cross(f), linear: f };
                    }
                }
                BlockRows::General(rows) => {
                    let mut sums = [Force::ZERO; 2];
                    for ([on1, on2], &l) in rows.iter().zip(lambda) {
                        sums[0] += *on1 * l;
                        sums[1] += *on2 * l;
                    }
                    for (port, sum) in [p1, p2].into_iter().zip(sums) {
                        if port != Self::FIXED {
                            impulses[port as usize] += sum;
                        }
                    }
                }
                BlockRows::Wide(ends) => {
                    ends.iter().for_each(|&(port, on)| impulses[port as usize] += on * lambda[0]);
                }
            }
        }
    }

    /// The velocities of the rows: `out = J v`.
    pub fn gather(&self, motions: &[Motion], out: &mut [f64]) {
        let motion = |port: u32| if port == Self::FIXED { Motion::ZERO } else { motions[port as usize] };
        for block in &self.table.blocks {
            let out = &mut out[block.rows()];
            let [v1, v2] = block.ports.map(motion);
            match self.rows_of(block) {
                BlockRows::Point([a1, a2]) => {
                    let gap = (v1.linear - v2.linear) + (v1.angular.cross(*a1) - v2.angular.cross(*a2));
                    gap.write_to_slice(out);
                }
                BlockRows::General(rows) => {
                    for ([on1, on2], out) in rows.iter().zip(out) {
                        *out = on1.dot(v1) + on2.dot(v2);
                    }
                }
                BlockRows::Wide(ends) => {
                    out[0] = ends.iter().map(|&(port, on)| on.dot(motions[port as usize])).sum();
                }
            }
        }
    }
}
