#![doc = include_str!("../README.md")]

mod actuation;
mod clip;
mod controller;
mod error;
mod excess;
mod goal;
mod guidance;
mod guide;
mod hierarchy;
mod landing;
mod least_squares;
mod path;
mod playback;
mod posing;
mod report;
mod saturation;
mod score;
mod situation;
mod spline;
mod warp;

pub use actuation::Actuation;
pub use clip::{Clip, Key};
pub use controller::{Controller, ControllerState};
pub use error::ControlError;
pub use goal::{Aim, Facing, Gains, Goal, Place};
pub use guide::{Guide, PoseGoal, Style, levels};
pub use hierarchy::{Damping, Hierarchy, LevelReport};
pub use landing::landing_springs;
pub use path::{Path, TurnPath};
pub use posing::{PoseReport, PoseSettings, find_pose};
pub use report::{ControlReport, GoalReport};
pub use score::{Act, Phase, Playback, Score};
pub use situation::Moment;
pub use spline::Spline;
pub use warp::TimeWarp;
