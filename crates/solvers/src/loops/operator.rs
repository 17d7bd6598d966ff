//! Products with the loop matrix: `(Â + D) x` with `Â = J T Jᵀ`.
//!
//! The matrix is never assembled; a product takes one response of the surroundings. Blocks of weight 0 are switched
//! off: their rows of the product are zero. Ports that no row touches have no impulses when the responder is called.

use super::responder::Responder;
use super::rows::{LoopBlock, LoopRows};
use crate::vector::largest;
use sinew_math::{Force, Motion};

/// Impulses and motions of all ports; the impulses are zero between products.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    impulses: Vec<Force>,
    motions: Vec<Motion>,
}

/// `x ↦ (Â + D) x`.
pub(crate) struct Operator<'a> {
    pub(crate) rows: &'a LoopRows,
    responder: &'a mut dyn Responder,
    ports: &'a mut Ports,
}

impl<'a> Operator<'a> {
    pub(crate) fn new(rows: &'a LoopRows, responder: &'a mut dyn Responder, ports: &'a mut Ports) -> Self {
        let n = rows.n_ports().max(ports.impulses.len());
        ports.impulses.resize(n, Force::ZERO);
        ports.motions.resize(n, Motion::ZERO);
        Self { rows, responder, ports }
    }

    /// `out = (Â + D) x`.
    pub(crate) fn apply(&mut self, x: &[f64], out: &mut [f64]) {
        let Ports { impulses, motions } = &mut *self.ports;
        self.rows.scatter(x, impulses);
        self.responder.respond(impulses, motions);
        self.rows.clear_ports(impulses);
        self.rows.gather(motions, out);
        for ((out, x), d) in out.iter_mut().zip(x).zip(self.rows.compliance()) {
            *out += d * x;
        }
        self.switch_off(out);
    }

    /// A column of `Â`: the velocities of all rows under a unit multiplier of one row.
    pub(crate) fn respond_to_row(&mut self, block: &LoopBlock, row: usize, out: &mut [f64]) {
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
        self.switch_off(out);
    }

    /// `r = b − (Â + D) x`; returns the largest entry.
    pub(crate) fn residual(&mut self, b: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
        if x.iter().all(|&x| x == 0.0) {
            r.copy_from_slice(b);
            self.switch_off(r);
        } else {
            self.apply(x, r);
            r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
            self.switch_off(r);
        }
        largest(r)
    }

    /// Sets the rows of blocks without weight to zero.
    pub(crate) fn switch_off(&self, values: &mut [f64]) {
        self.rows.switch_off(values);
    }
}
