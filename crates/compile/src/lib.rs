#![doc = include_str!("../README.md")]

mod build;
mod changes;
mod collider_meshes;
mod colliders;
mod doubts;
mod edit;
mod error;
mod flesh;
mod info;
mod inputs;
mod joints;
mod merge;
mod names;
mod overshoot;
mod pulls;
mod rigid;
mod rolling;
mod score;
mod script;
mod settings;
mod skin_script;
mod sweep;
mod transmissions;
mod units;
mod unobeyed;
mod velocities;

pub use changes::{CompiledScene, ScenePeriod, compile, periods};
pub use edit::EditedScene;
pub use error::BuildError;
pub use info::SceneInfo;
pub use names::WORLD;
pub use rigid::RigidParts;
pub use score::controller;
pub use script::{Script, ScriptTimes};
pub use sweep::{SweptScene, sweep_runs};
