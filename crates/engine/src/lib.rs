#![doc = include_str!("../README.md")]

mod account;
mod appearance;
mod assembly;
mod batch;
mod carry;
mod contacts;
mod digest;
mod events;
mod explicit_flesh;
mod fnv;
mod joint_loads;
mod measure;
mod model;
mod notice;
mod notice_counts;
mod overlap;
mod parted;
mod passages;
mod probe;
mod reduced;
mod reduced_model;
mod report;
mod restore;
mod scored;
mod settings;
mod sleep;
mod sleep_state;
mod step;
mod touched;
mod workspace;

pub use account::{EnergyAccount, EnergyExcess};
pub use appearance::{
    Appearance, BodyPoint, FleshAppearance, MeshAppearance, SolidAppearance, SurfaceAppearance,
};
pub use assembly::assemble;
pub use batch::step_batch;
pub use carry::PartMoves;
pub use contacts::{Contact, ContactPartner};
pub use digest::{digest, digest_bytes};
pub use measure::{energy, momentum, resting_energy, violation};
pub use model::{Model, State};
pub use notice::{Culprit, HealthNotice};
pub use notice_counts::{NoticeCount, NoticeCounts};
pub use overlap::{ContactOverlap, FleshInside};
pub use passages::Passage;
pub use reduced_model::ReducedModel;
pub use report::{ActuatorEffort, Health, StepReport};
pub use restore::RestoreError;
pub use settings::{FleshStepping, Reduced, ReducedMethod, Scheme, Settings};
pub use sinew_mechanism::{Stage, Watch};
pub use sleep_state::{Sleep, SleepState};
pub use step::{step, step_index, step_observed};
pub use workspace::Workspace;
