#![doc = include_str!("../README.md")]

mod error;
mod least_squares;
mod spline;

mod actuation;
mod gyration;
mod hierarchy;
pub mod levels;
mod path;
mod report;
mod warp;

mod clip;
mod controller_state;
mod goal;
mod guide;
mod input;
mod limits;
mod plant;

mod guidance;
mod landing;
mod playback;
mod posing;
mod saturation;
mod score;

mod controller;

pub use actuation::Actuation;
pub use clip::{Key, MotionClip};
pub use controller::Controller;
pub use controller_state::ControllerState;
pub use error::ControlError;
pub use goal::{Aim, Facing, Gains, Goal, PointTarget};
pub use guide::{Guide, PoseGoal, Style};
pub use hierarchy::{Damping, Hierarchy, LevelReport};
pub use input::ControlInput;
pub use landing::landing_springs;
pub use path::{PointPath, TurnPath};
pub use posing::{PoseReport, PoseSettings, find_pose};
pub use report::{ControlReport, GoalReport};
pub use score::{Act, Phase, Playback, Score};
pub use spline::Spline;
pub use warp::TimeWarp;
