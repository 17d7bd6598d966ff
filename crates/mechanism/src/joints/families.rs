//! Row families: the pieces from which every joint kind is composed.
//!
//! A row is a covector `(a, b)` on the relative motion `(w, u)` in frame 2 with `rate = a·w + b·u`. Then
//! `bias = J̇v = a·w̄ + b·ū + ȧ·w`; a family states `a`, `b`, the residual and the curvature `ȧ·w` only
//! (no family has a varying `b`). Residuals and rates, after docs/maths, joints:
//!
//! | Family | residual | `a` | `b` |
//! |---|---|---|---|
//! | translation m | `(B₂ᵀd)_m` | 0 | `e_m` |
//! | lock | `φ = log R_rel` | rows of `Jl⁻¹(φ)` | 0 |
//! | axis, position | `σ_y, σ_z` | rows of `G(s)` | 0 |
//! | axis, dot | `−s_z, s_y` | `−∇s_z, ∇s_y` | 0 |
//! | Hooke | `s_y` | `∇s_y` | 0 |
//! | screw | `(B₂ᵀd)_x − p ϑ` | `−p g` | `e_x` |
//! | twist drive | `ϑ − c` | `g` | 0 |
//! | slide drive | `(B₂ᵀd)_x − c` | 0 | `e_x` |
//! | roll m = x | height of the rim's lowest point | `ρ k × e_x` | `e_x` |
//! | roll m = y, z | none (velocity row) | `ρ k × e_m` | `e_m` |
//!
//! In the small-error form `Jl⁻¹`, `G` and `g` are replaced by the joint axes. `k` is the unit vector from the centre
//! of a rolling body to its contact point: `−e_x` for a sphere, `−(e_x − s_x s)/√(1 − s_x²)` for a disc; the rate of a
//! roll row is component m of `u + w × ρk`, the velocity of body 1 at the contact relative to body 2.

use glam::{DMat3, DVec3};
use sinew_math::{DriveCoordinate, left_jacobian_inverse, left_jacobian_inverse_rate, log_so3};

use crate::joints::{axis_gradients, quarter_turn, swing_rows, twist_curvature};
use crate::{Drive, RelativeState, RowForm, Rows, twist_gradient};

/// Smallest sine of the angle between disc axis and plane normal: a disc lying flatter has no lowest point.
const FLAT: f64 = 1e-9;

/// One row on the relative motion.
#[derive(Clone, Copy, Default)]
struct RelativeRow {
    /// `C`.
    residual: f64,
    /// `a` and `b`.
    angular: DVec3,
    linear: DVec3,
    /// `ȧ·w`.
    curvature: f64,
}

/// Collects the rows of one joint, with their velocity products if asked for.
pub(crate) struct RowStack<'a, const BIASED: bool> {
    state: &'a RelativeState,
    form: RowForm,
    rows: &'a mut Rows,
}

impl<'a, const BIASED: bool> RowStack<'a, BIASED> {
    /// An empty stack.
    #[inline]
    pub(crate) fn new(state: &'a RelativeState, form: RowForm, rows: &'a mut Rows) -> Self {
        Self { state, form, rows }
    }

    /// Expands a relative row to world axes and adds its bias.
    #[inline]
    fn push(&mut self, row: RelativeRow) -> usize {
        let (rows, state) = (&mut *self.rows, self.state);
        let at = rows.n;
        (rows.jacobian1[at], rows.jacobian2[at]) = state.world_rows(row.angular, row.linear);
        rows.residual[at] = row.residual;
        if BIASED {
            rows.bias[at] =
                row.curvature + row.angular.dot(state.bias.angular) + row.linear.dot(state.bias.linear);
        }
        rows.n += 1;
        at
    }

    /// `(B₂ᵀd)_m` for each direction m (0, 1, 2 = x, y, z).
    #[inline]
    pub(crate) fn translations(&mut self, directions: &[usize]) -> &mut Self {
        for &m in directions {
            self.push(RelativeRow {
                residual: self.state.offset[m],
                linear: DVec3::AXES[m],
                ..RelativeRow::default()
            });
        }
        self
    }

    /// All three relative rotations: `φ = log R_rel`.
    #[inline]
    pub(crate) fn lock(&mut self) -> &mut Self {
        let (phi, w) = (log_so3(self.state.rotation), self.state.motion.angular);
        let (gradient, curvature) = match self.form {
            RowForm::SmallError => (DMat3::IDENTITY, DVec3::ZERO),
            RowForm::Position | RowForm::Acceleration => {
                let gradient = left_jacobian_inverse(phi);
                let rate = || left_jacobian_inverse_rate(phi, gradient * w) * w;
                (gradient, if BIASED { rate() } else { DVec3::ZERO })
            }
        };
        for m in 0..3 {
            self.push(RelativeRow {
                residual: phi[m],
                angular: gradient.row(m),
                curvature: curvature[m],
                ..RelativeRow::default()
            });
        }
        self
    }

    /// The two rotations that make `i₁` lean away from `i₂`.
    #[inline]
    pub(crate) fn axis(&mut self) -> &mut Self {
        let (s, w) = (self.state.axis(), self.state.motion.angular);
        let (residual, gradient, curvature) = match self.form {
            RowForm::Position => swing_rows(s, w),
            RowForm::SmallError => (self.state.swing(), [DVec3::Y, DVec3::Z], [0.0; 2]),
            RowForm::Acceleration => {
                let [_, grad_y, grad_z] = axis_gradients(s);
                let s_ddot = quarter_turn(w.cross(w.cross(s)));
                (quarter_turn(s), [-grad_z, grad_y], [s_ddot.y, s_ddot.z])
            }
        };
        for m in 0..2 {
            self.push(RelativeRow {
                residual: residual[m + 1],
                angular: gradient[m],
                curvature: curvature[m],
                ..RelativeRow::default()
            });
        }
        self
    }

    /// `i₁ ⊥ j₂`. Loses its meaning where `i₁ ∥ j₂`.
    #[inline]
    pub(crate) fn hooke(&mut self) -> &mut Self {
        let (s, w) = (self.state.axis(), self.state.motion.angular);
        self.push(RelativeRow {
            residual: s.y,
            angular: axis_gradients(s)[1],
            curvature: w.cross(w.cross(s)).y,
            ..RelativeRow::default()
        });
        self
    }

    /// `(B₂ᵀd)_x − p ϑ`, pitch p in metres per radian.
    #[inline]
    pub(crate) fn screw(&mut self, pitch: f64) -> &mut Self {
        let (gradient, curvature) = self.twist_gradient();
        self.push(RelativeRow {
            residual: self.state.slide() - pitch * self.state.twist,
            angular: -pitch * gradient,
            linear: DVec3::X,
            curvature: -pitch * curvature,
        });
        self
    }

    /// `ϑ − c` or `(B₂ᵀd)_x − c`, with the targets of its rate and acceleration.
    #[inline]
    pub(crate) fn drive(&mut self, drive: &Drive) {
        let row = match drive.coordinate {
            DriveCoordinate::Twist => {
                let (angular, curvature) = self.twist_gradient();
                RelativeRow { residual: self.state.twist, angular, curvature, linear: DVec3::ZERO }
            }
            DriveCoordinate::Slide => {
                RelativeRow { residual: self.state.slide(), linear: DVec3::X, ..RelativeRow::default() }
            }
        };
        let at = self.push(RelativeRow { residual: row.residual - drive.value, ..row });
        self.rows.rate_target[at] = drive.rate;
        self.rows.acceleration_target[at] = drive.acceleration;
    }

    /// A sphere of radius ρ on the plane of frame 2: `k = −e_x`.
    #[inline]
    pub(crate) fn roll_sphere(&mut self, radius: f64) -> &mut Self {
        self.roll(radius, DVec3::NEG_X, DVec3::ZERO)
    }

    /// A disc of radius ρ with axis `s` on the plane of frame 2: `k` is the steepest descent within the disc.
    #[inline]
    pub(crate) fn roll_disc(&mut self, radius: f64) -> &mut Self {
        let (s, w) = (self.state.axis(), self.state.motion.angular);
        let s_dot = w.cross(s);
        // L = √(1 − s_x²), L k = s_x s − e_x, L̇ = −s_x ṡ_x / L, k̇ = (ṡ_x s + s_x ṡ − L̇ k)/L
        let level = (s.y * s.y + s.z * s.z).sqrt().max(FLAT);
        let k = (s.x * s - DVec3::X) / level;
        let k_dot = (s_dot.x * s + s.x * s_dot + (s.x * s_dot.x / level) * k) / level;
        self.roll(radius, k, k_dot)
    }

    /// Height and slip of the contact point `P₁ + ρ k` (Fau99 eq. 4: velocity rows enter the differentiated equation).
    #[inline]
    fn roll(&mut self, radius: f64, k: DVec3, k_dot: DVec3) -> &mut Self {
        let curvature = radius * self.state.motion.angular.cross(k_dot);
        for m in 0..3 {
            let at = self.push(RelativeRow {
                residual: if m == 0 { self.state.offset.x + radius * k.x } else { 0.0 },
                angular: radius * k.cross(DVec3::AXES[m]),
                linear: DVec3::AXES[m],
                curvature: curvature[m],
            });
            self.rows.velocity_only[at] = m > 0;
        }
        self
    }

    /// `g` and `ġ·w`, or the joint axis in the small-error form.
    #[inline]
    fn twist_gradient(&self) -> (DVec3, f64) {
        let (s, w) = (self.state.axis(), self.state.motion.angular);
        match self.form {
            RowForm::SmallError => (DVec3::X, 0.0),
            RowForm::Position | RowForm::Acceleration => (twist_gradient(s), twist_curvature(s, w)),
        }
    }
}
