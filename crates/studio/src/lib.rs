#![doc = include_str!("../README.md")]

mod camera;
mod cast;
mod command;
mod drawing;
mod engine;
mod export;
mod frame;
mod opened;
mod pace;
mod pick;
mod save;
mod session;
mod timeline;
mod trace;
mod tuning;

pub use camera::{Orbit, Ray};
pub use cast::{BodyCard, Cast, FleshCard, JointCard};
pub use command::{Command, Since};
pub use drawing::{Drawing, Gizmo, Instance, Rgb, Segment, Show, Surface};
pub use engine::{Board, Engine, Thread};
pub use export::{draw, wishes};
pub use frame::{Frame, Wishes};
pub use opened::{Fault, Opened};
pub use pace::Pace;
pub use pick::{Hit, Target, pick};
pub use save::SaveError;
pub use session::Session;
pub use timeline::{BUDGET, Change, Hands, Hold, Timeline};
pub use trace::{Sample, Trace};
pub use tuning::Tuning;
