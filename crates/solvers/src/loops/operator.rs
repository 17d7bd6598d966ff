//! Products with the loop matrix: `(Â + D) x` with `Â = J T Jᵀ`.
//!
//! The matrix is never assembled; a product takes one response of the surroundings. Blocks of weight 0 are switched
//! off: their rows of the product are zero. The methods see rows and surroundings as [`Equations`], whatever the rows act on.

use super::free_block::{FreeBlock, general_block, point_block};
use super::responder::{FreeMass, Responder};
use super::rows::{BlockRows, LoopRows};
use super::table::{LoopBlock, RowTable};
use crate::vector::largest;
use sinew_math::{Force, Motion};

/// `(Â + D) λ = b`, as the methods see it.
pub(super) trait Equations<'a> {
    /// The rows.
    fn rows(&self) -> &'a RowTable;

    /// Whether a response of the surroundings takes long.
    fn is_slow(&self) -> bool;

    /// `out = Â x`.
    fn react(&mut self, x: &[f64], out: &mut [f64]);

    /// A column of `Â`: the velocities of all rows under a unit multiplier of one row.
    fn react_to_row(&mut self, block: &LoopBlock, row: usize, out: &mut [f64]);

    /// Whether a row of a block moves rotations only.
    fn is_turn(&self, block: &LoopBlock, row: usize) -> bool;

    /// The entry of a row on the diagonal of `J M⁻¹Jᵀ`, as if what it acts on were free.
    fn free_entry(&self, block: &LoopBlock, row: usize) -> f64;

    /// The block of `J M⁻¹Jᵀ + D`, and its largest diagonal entry without `D`.
    fn free_block(&self, block: &LoopBlock) -> (FreeBlock, f64);

    /// `out = (Â + D) x`.
    fn apply(&mut self, x: &[f64], out: &mut [f64]) {
        self.react(x, out);
        let rows = self.rows();
        for ((out, x), d) in out.iter_mut().zip(x).zip(&rows.compliance) {
            *out += d * x;
        }
        rows.switch_off(out);
    }

    /// [`Self::react_to_row`] without the rows that are switched off.
    fn respond_to_row(&mut self, block: &LoopBlock, row: usize, out: &mut [f64]) {
        self.react_to_row(block, row, out);
        self.rows().switch_off(out);
    }

    /// `r = b − (Â + D) x`; returns the largest entry.
    fn residual(&mut self, b: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
        let rows = self.rows();
        if x.iter().all(|&x| x == 0.0) {
            r.copy_from_slice(b);
        } else {
            self.apply(x, r);
            r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
        }
        rows.switch_off(r);
        largest(r)
    }

    /// The diagonal of `J M⁻¹Jᵀ`.
    fn fill_free_diagonal(&self, diagonal: &mut Vec<f64>) {
        diagonal.clear();
        for block in &self.rows().blocks {
            diagonal.extend(block.rows().map(|row| self.free_entry(block, row)));
        }
    }
}

/// Impulses and motions of all ports; the impulses are zero between products.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    impulses: Vec<Force>,
    motions: Vec<Motion>,
}

/// Rows on twists. Ports that no row touches have no impulses when the responder is called.
pub(crate) struct TwistEquations<'a> {
    rows: &'a LoopRows,
    responder: &'a mut dyn Responder,
    free_mass: &'a dyn Fn(u32) -> FreeMass,
    ports: &'a mut Ports,
}

impl<'a> TwistEquations<'a> {
    pub(crate) fn new(
        rows: &'a LoopRows,
        responder: &'a mut dyn Responder,
        free_mass: &'a dyn Fn(u32) -> FreeMass,
        ports: &'a mut Ports,
    ) -> Self {
        let n = rows.n_ports().max(ports.impulses.len());
        ports.impulses.resize(n, Force::ZERO);
        ports.motions.resize(n, Motion::ZERO);
        Self { rows, responder, free_mass, ports }
    }
}

impl<'a> Equations<'a> for TwistEquations<'a> {
    fn rows(&self) -> &'a RowTable {
        self.rows.table()
    }

    fn is_slow(&self) -> bool {
        self.responder.is_slow()
    }

    fn react(&mut self, x: &[f64], out: &mut [f64]) {
        let Ports { impulses, motions } = &mut *self.ports;
        self.rows.scatter(x, impulses);
        self.responder.respond(impulses, motions);
        self.rows.clear_ports(impulses);
        self.rows.gather(motions, out);
    }

    fn react_to_row(&mut self, block: &LoopBlock, row: usize, out: &mut [f64]) {
        let Ports { impulses, motions } = &mut *self.ports;
        self.rows.for_each_end(block, row, |port, on| {
            if port != LoopRows::FIXED {
                impulses[port as usize] += on;
            }
        });
        self.responder.respond(impulses, motions);
        self.rows.for_each_end(block, row, |port, _| {
            if port != LoopRows::FIXED {
                impulses[port as usize] = Force::ZERO;
            }
        });
        self.rows.gather(motions, out);
    }

    fn is_turn(&self, block: &LoopBlock, row: usize) -> bool {
        self.rows.is_turn(block, row)
    }

    fn free_entry(&self, block: &LoopBlock, row: usize) -> f64 {
        self.rows.free_entry(block, row, self.free_mass)
    }

    fn free_block(&self, block: &LoopBlock) -> (FreeBlock, f64) {
        let masses = block.ports.map(|port| LoopRows::mass_at(port, self.free_mass));
        let soft = &self.rows.compliance()[block.rows()];
        match self.rows.rows_of(block) {
            BlockRows::Point(arms) => point_block(arms, &masses, soft),
            BlockRows::General(own) => general_block(own, &masses, soft),
            BlockRows::Wide(_) => {
                let rigid = self.free_entry(block, block.rows().start);
                let mut b = [[0.0; 6]; 6];
                b[0][0] = rigid + soft[0];
                (FreeBlock::General(b), rigid)
            }
        }
    }
}
