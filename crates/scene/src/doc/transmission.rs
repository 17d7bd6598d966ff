//! Ropes over pulleys and gears between joints. Plain data; m, rad, N, N·m.

use super::joint::{CoordinateDoc, TargetDoc};
use super::motion::EndDoc;

document! {
    /// A rope through points of bodies and of the world. It only pulls, with the same tension everywhere: the points between its
    /// ends are pulleys without radius and friction. Only the implicit stepper has ropes.
    pub struct RopeDoc {
        /// Unique among ropes.
        pub name: String,
        /// What it runs through, from end to end: at least two points, at least one on a dynamic body.
        pub path: Vec<EndDoc>,
        /// Its length (m): a value, or a scalar track, which makes it a winch. That of the initial path if left out.
        [omit] pub length: Option<TargetDoc>,
        /// How much longer it becomes under tension (m/N); 0 is inextensible.
        [omit] pub compliance: f64,
        /// Largest tension (N); unlimited if left out. A rope that is pulled harder pays out, and is wound in again with this tension.
        [omit] pub max_force: Option<f64>,
    }
}

document! {
    /// A gear: the coordinates of two joints move together, `driven = ratio · driver + offset`. Only the implicit stepper has gears.
    pub struct GearDoc {
        /// Unique among gears.
        pub name: String,
        /// Name of a joint with an angle or slide.
        pub driver: String,
        /// Which coordinate of it, where its kind leaves a choice.
        [omit] pub driver_coordinate: Option<CoordinateDoc>,
        /// Name of another joint with an angle or slide.
        pub driven: String,
        /// Which coordinate of it, where its kind leaves a choice.
        [omit] pub driven_coordinate: Option<CoordinateDoc>,
        /// Of the driven coordinate to the driver, not 0 (rad or m, per rad or m).
        pub ratio: f64 = 1.0,
        /// Driven coordinate where the driver is 0 (rad or m).
        [omit] pub offset: f64,
        /// Width of the dead band in which the driven coordinate is free (rad or m).
        [omit] pub backlash: f64,
        /// How much the driven coordinate gives way (rad/(N·m) or m/N); 0 is rigid.
        [omit] pub compliance: f64,
        /// Largest force along the driven coordinate (N·m or N); unlimited if left out. Beyond it the gear slips, and comes back with it.
        [omit] pub max_force: Option<f64>,
    }
}
