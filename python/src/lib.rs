//! The compiled half of the Python package `sinew`: thin classes around worlds, batches, documents and joint-space dynamics.
//!
//! Three rules hold everywhere. Numbers pass as NumPy arrays of `f64`, SI units and radians, world axes unless a name says otherwise; a pose is position
//! and quaternion, `x y z` and `x y z w`; a twist is angular, then linear. What a caller does wrong is an exception that says what would be right;
//! nothing panics. Whatever takes longer than a microsecond runs without the interpreter lock, on copies of what Python owns, since Python may write
//! to an array at any time.
#![forbid(unsafe_code)]

mod arrays;
mod errors;
mod threads;
mod vectors;

mod layout;
mod source;

mod given;
mod parts;
mod picture;
mod report;

mod checkpoint;
mod choice;
mod input;
mod scene;

mod dynamics;
mod members;
mod world;

mod batch;

mod bench;

use pyo3::prelude::*;

#[pymodule]
mod _sinew {
    #[pymodule_export]
    use crate::batch::{PyBatch, batch_from_parts};
    #[pymodule_export]
    use crate::bench::{bench_batch, bench_steps};
    #[pymodule_export]
    use crate::checkpoint::PyCheckpoint;
    #[pymodule_export]
    use crate::dynamics::PyDynamics;
    #[pymodule_export]
    use crate::input::PyInput;
    #[pymodule_export]
    use crate::parts::{
        body::{PyBodyDoc, PyShape},
        contact::{PyColliderDoc, PyContactDoc},
        joint::{PyJointDoc, PyMotorDoc},
        line::{PyEndDoc, PyRopeDoc, PySpringDoc},
    };
    #[pymodule_export]
    use crate::report::{PyAssemblyReport, PyEnergy, PyNotice, PyStepReport};
    #[pymodule_export]
    use crate::scene::{PySceneDoc, load_scene, scene_from_parts, scene_names, scene_text};
    #[pymodule_export]
    use crate::threads::after_fork;
    #[pymodule_export]
    use crate::world::{PyWorld, world_from_parts};
}
