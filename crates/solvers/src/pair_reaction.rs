//! Further right-hand sides of a factored pair tree: the reaction of bodies to impulses.
//!
//! **What.** With the factor of [`crate::PairFactor`] (`S`, `Y = U D⁻¹`, `D`), a momentum `z` on the bodies, no impulse
//! inside joints and `c = 0` (docs/maths/elimination.md §2):
//! ```text
//! leaves → root:  e = Sᵀz,  w = D⁻¹e,  z_b += Xᵀ(z − Y e)
//! root → leaves:  v_a = X v_b + S(w − Yᵀ X v_b)
//! ```
//! At a root only `w = D⁻¹Sᵀz` and `v = S w` remain. A ball joint without a spring transmits no moment. About its
//! point, with `Y = (1, H)` there and `o` the vector from the parent's centre to it:
//! ```text
//! leaves → root:  e = τ − a×f,  f' = f − Hᵀe,  z_b += (o×f', f')
//! root → leaves:  v_p = v_b + ω_b×o,  ω_a = w − H v_p,  v_a = v_p − ω_a×a
//! ```
//!
//! **Frames, units.** Those of the factor: world axes, twists at centres of mass, angular part first.
//!
//! **Cost.** A ball joint takes about 60 flops each way, with a spring 150. There is one kernel per free dimension, so
//! that the compiler can unroll it. No allocation.
//!
//! **Failure.** None: sums and products only.

use crate::pair::{Column, Head, PairFactor};
use crate::pivot::{Ldlt3, solve_packed};
use glam::DVec3;
use sinew_math::{Force, Motion, shift_force, shift_motion};

/// Calls `$self.$kernel::<F>(…)` with the free dimension as a constant.
macro_rules! with_free {
    ($free:expr, $self:ident.$kernel:ident($($argument:expr),*)) => {
        match $free {
            0 => $self.$kernel::<0>($($argument),*),
            1 => $self.$kernel::<1>($($argument),*),
            2 => $self.$kernel::<2>($($argument),*),
            3 => $self.$kernel::<3>($($argument),*),
            4 => $self.$kernel::<4>($($argument),*),
            5 => $self.$kernel::<5>($($argument),*),
            _ => $self.$kernel::<6>($($argument),*),
        }
    };
}

impl PairFactor {
    /// One more right-hand side, leaves → root, without impulses inside joints: takes the momentum on the pair's body,
    /// writes `w` into `drive`, and returns the momentum passed to the parent.
    #[inline]
    pub fn eliminate_momentum(&self, pair: usize, momentum: Force, drive: &mut [f64]) -> Force {
        let range = self.columns_of(pair);
        let (first, free) = (range.start, range.len());
        let head = &self.heads[pair];
        if head.ball {
            return self.drive_of_ball(head, first, momentum, drive);
        }
        let up = with_free!(free, self.drive_of(head, first, momentum, drive));
        shift_force(up, head.shift)
    }

    /// [`Self::eliminate_momentum`] for a root pair.
    #[inline]
    pub fn eliminate_momentum_root(&self, pair: usize, momentum: Force, drive: &mut [f64]) {
        let range = self.columns_of(pair);
        let (first, free) = (range.start, range.len());
        with_free!(free, self.drive_of(&self.heads[pair], first, momentum, drive));
    }

    /// The root → leaves step that belongs to [`Self::eliminate_momentum`], with `c = 0`.
    #[inline]
    pub fn substitute_drive(&self, pair: usize, parent: Motion, drive: &[f64]) -> Motion {
        let range = self.columns_of(pair);
        let (first, free) = (range.start, range.len());
        let head = &self.heads[pair];
        if head.ball {
            return self.follow_ball(head, first, parent, drive);
        }
        let carried = shift_motion(parent, head.shift);
        with_free!(free, self.follow(first, carried, drive))
    }

    /// [`Self::substitute_drive`] for a root pair.
    #[inline]
    pub fn substitute_drive_root(&self, pair: usize, drive: &[f64]) -> Motion {
        let range = self.columns_of(pair);
        let mut v = Motion::ZERO;
        for (column, w) in self.columns[range.clone()].iter().zip(&drive[range]) {
            v += column.basis * *w;
        }
        v
    }

    /// `e = Sᵀz`, `w = D⁻¹e`; returns `z − Y e`.
    #[inline(always)]
    fn drive_of<const F: usize>(
        &self,
        head: &Head,
        first: usize,
        momentum: Force,
        drive: &mut [f64],
    ) -> Force {
        let columns: &[Column] = &self.columns[first..first + F];
        let mut e = [0.0; F];
        let mut up = momentum;
        for i in 0..F {
            e[i] = momentum.dot(columns[i].basis);
        }
        for i in 0..F {
            up -= columns[i].gain * e[i];
        }
        let pivot = head.pivot as usize;
        solve_packed(&self.pivots[pivot..pivot + F * (F + 1) / 2], &mut e);
        drive[first..first + F].copy_from_slice(&e);
        up
    }

    /// `v + S(w − Yᵀv)`.
    #[inline(always)]
    fn follow<const F: usize>(&self, first: usize, carried: Motion, drive: &[f64]) -> Motion {
        let columns: &[Column] = &self.columns[first..first + F];
        let drive = &drive[first..first + F];
        let mut v = carried;
        for i in 0..F {
            v += columns[i].basis * (drive[i] - columns[i].gain.dot(carried));
        }
        v
    }

    /// The columns of a ball joint, and its arm: `S = (1, [arm])`.
    #[inline(always)]
    fn ball(&self, first: usize) -> (&[Column; 3], DVec3) {
        let Some(columns) = self.columns[first..].first_chunk::<3>() else {
            unreachable!("a ball joint has three columns")
        };
        let [x, y, _] = columns;
        (columns, DVec3::new(y.basis.linear.z, -x.basis.linear.z, x.basis.linear.y))
    }

    #[inline(always)]
    fn drive_of_ball(&self, head: &Head, first: usize, momentum: Force, drive: &mut [f64]) -> Force {
        let ([x, y, z], arm) = self.ball(first);
        let e = momentum.angular - arm.cross(momentum.linear);
        let up = momentum.linear - (x.gain.linear * e.x + y.gain.linear * e.y + z.gain.linear * e.z);
        if let Some(pivots) = self.pivots[head.pivot as usize..].first_chunk::<6>() {
            Ldlt3(*pivots).solve(e).write_to_slice(&mut drive[first..first + 3]);
        }
        Force { angular: (head.shift + arm).cross(up), linear: up }
    }

    #[inline(always)]
    fn follow_ball(&self, head: &Head, first: usize, parent: Motion, drive: &[f64]) -> Motion {
        let ([x, y, z], arm) = self.ball(first);
        let point = parent.linear + parent.angular.cross(head.shift + arm);
        let turn = DVec3::new(x.gain.linear.dot(point), y.gain.linear.dot(point), z.gain.linear.dot(point));
        let angular = DVec3::from_slice(&drive[first..first + 3]) - turn;
        Motion { angular, linear: point - angular.cross(arm) }
    }
}
