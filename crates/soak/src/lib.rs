//! Random mechanisms run for long, and what must hold on every one of them: the program behind `cargo xtask soak`.
//!
//! | I want … | use |
//! |---|---|
//! | the mechanism of a seed | [`random_scene`] |
//! | to run and judge a scene | [`Trial`] |
//! | a smaller scene that fails in the same way | [`shrink`] |
//! | to know what a scheme does to momentum | [`SteppedBy`] |
//! | to drop and stack boxes and ragdolls | [`Pile`] |
//! | to drop every shape on every other | [`Drop`] |
//! | to change a score a little | [`Perturbation`] |
//! | a scene that goes on for hours, disturbed | [`EndlessRun`] |
//! | to judge hours, and their report | [`SoakLog`] |
//! | to name machine, date and commit | [`Machine`] |
//! | to know whether gravity moves a mechanism | [`is_frozen`] |

mod disturbance;
mod drops;
mod endless;
mod machine;
mod mobility;
mod momentum;
mod overlap;
mod parts;
mod perturbed_score;
mod piles;
mod ragdoll;
mod random_forces;
mod random_scene;
mod shrink;
mod soak_log;
mod soak_report;
mod trial;

pub use disturbance::Disturber;
pub use drops::{Drop, DropRun, Ground, SPEEDS, Thing};
pub use endless::{EndlessRun, SliceWorst, SoakBounds};
pub use machine::{Machine, n_cores};
pub use mobility::is_frozen;
pub use momentum::{MomentumLoss, SteppedBy};
pub use overlap::{PlacedBox, largest_overlap};
pub use parts::{PileJoint, PileParts};
pub use perturbed_score::{Perturbation, unmet};
pub use piles::{DENSITY, FRICTION, Pile, PileRun, PileTimes, PileWorld, watch_pile};
pub use random_forces::Strength;
pub use random_scene::{random_floating, random_scene};
pub use shrink::shrink;
pub use soak_log::{SceneSlice, SoakLog, SoakRound, SoakVerdict};
pub use soak_report::SoakReport;
pub use trial::{Finding, SoakFault, StepWatch, Trial};
