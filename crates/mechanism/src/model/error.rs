//! What can go wrong while a model is built. Stepping has no errors, only reports.

use sinew_topology::TopologyError;

/// Why a model cannot be built; names the culprit and the fix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// Two bodies or two joints share a name.
    #[error("{kind} `{name}` is defined twice; names must be unique")]
    DuplicateName {
        /// `body`, `joint`, or `rope or gear`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A reference to a body or joint that does not exist.
    #[error(
        "{what} refers to {kind} {index}, which does not exist or was removed (there are {count}, counted from 0)"
    )]
    UnknownId {
        /// Who refers.
        what: String,
        /// `body` or `joint`.
        kind: &'static str,
        /// The index used.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// An edit was applied to a model it was not made for.
    #[error(
        "the edit was made for another model, of {bodies} bodies and {joints} joints; make it from this model with `ModelEdit::new`"
    )]
    ForeignEdit {
        /// Bodies of that model.
        bodies: usize,
        /// Joints of that model.
        joints: usize,
    },
    /// A number is not finite or not allowed.
    #[error("{what}: {field} = {value} is not valid; {hint}")]
    InvalidNumber {
        /// The body, joint or spring.
        what: String,
        /// The field.
        field: &'static str,
        /// The value given.
        value: f64,
        /// What would be valid.
        hint: &'static str,
    },
    /// A dynamic body has impossible mass properties.
    #[error("body `{name}`: {reason}")]
    NonPhysicalMass {
        /// The body.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A joint between two bodies that cannot move.
    #[error("joint `{joint}` ties two immovable bodies; remove it or make one of them dynamic")]
    ImmovableJoint {
        /// The joint.
        joint: String,
    },
    /// A rope that nothing can move.
    #[error("{what} runs through immovable points only; give it a point of a dynamic body")]
    ImmovableTransmission {
        /// The rope.
        what: String,
    },
    /// A force on a coordinate that the joint does not have.
    #[error("joint `{joint}` ({kind}) has no free {coordinate}; {hint}")]
    NoSuchCoordinate {
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
        /// `twist`, `slide` or `rotation`.
        coordinate: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// A joint that may break, used where joints must last.
    #[error("joint `{joint}` breaks under a load, {reason}; leave out the load, or {hint}")]
    CannotBreak {
        /// The joint.
        joint: String,
        /// Why it cannot.
        reason: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// The motor of a joint is to compensate a weight that another joint bears a part of.
    #[error(
        "the motor of joint `{joint}` cannot compensate gravity, because joint `{other}` {what}, so that no torque of one joint is the right one; \
         leave out `gravity_compensation`, or put it on a joint that bears its load alone"
    )]
    SharedWeight {
        /// The joint.
        joint: String,
        /// The one that bears a part.
        other: String,
        /// What it does.
        what: &'static str,
    },
    /// The graph of bodies and joints is broken.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}
