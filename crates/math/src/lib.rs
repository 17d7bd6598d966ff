#![doc = include_str!("../README.md")]

#[macro_use]
mod messages;

mod arctangent;
mod block;
mod index;
mod joint_kind;
mod lanes;
mod slices;
mod spatial;
mod tet_mesh;

mod block_cholesky;
pub mod ops;
mod row_space;
mod sines;

mod sym3;

mod eigen3;
mod exp_log;
mod x2;

mod gyro;
mod pose;
mod x2_rotation;

mod inertia;

mod mass;
mod sym6;

mod mesh_mass;
mod shape;
mod triangles;

pub use block::Block;
pub use block_cholesky::{BlockCholesky, SingularBlock};
pub use eigen3::{signed_svd, symmetric_eigen};
pub use exp_log::{cayley, exp_so3, exp_so3_mat, log_so3, log_so3_mat, mat3_to_quat, normalize_quat};
pub use exp_log::{left_jacobian, left_jacobian_inverse, left_jacobian_inverse_rate};
pub use exp_log::{left_jacobian_inverse_sym, left_jacobian_rate, quat_to_mat3};
pub use exp_log::{right_jacobian, right_jacobian_inverse};
pub use gyro::{PrincipalInertia, midpoint_step, momentum_step, spin_step};
pub use inertia::SpatialInertia;
pub use joint_kind::{DriveCoordinate, JointKind};
pub use lanes::{F64x2, Scalar, Vector3};
pub use mass::{MassError, MassProperties};
pub use mesh_mass::MeshMassError;
pub use pose::{Pose, left_jacobian_inverse_se3, left_jacobian_se3};
pub use row_space::RowSpace;
pub use shape::{Shape, ShapePiece, ShapeSize, UnitSolid};
pub use sines::sin_cos_x8;
pub use slices::{add_scaled, dot};
pub use spatial::{Force, Motion, shift_force, shift_motion, skew};
pub use sym3::{Cholesky3, Sym3};
pub use sym6::Sym6;
pub use tet_mesh::{SurfacePoint, TetMesh, TetMeshError};
pub use triangles::Triangles;
pub use x2::{Mat3x2, Quatx2, Sym3x2, Vec3x2, both, twice};
pub use x2_rotation::{left_jacobian_inverse_sym_x2, log_so3_x2, turn_x2};

/// For the expansion of [`define_index!`].
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serde;
