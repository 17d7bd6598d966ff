//! Errors of building a tree. Evaluating a tree has no errors, only reports.

/// Why a tree cannot be built; the message names the joint or body, and a remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecursiveError {
    /// A joint that closes a loop.
    #[error(
        "joint `{joint}` closes a loop, and `Tree` holds none; take `LoopedTree::from_model`, which closes it on top of its tree, or remove the joint"
    )]
    Loop {
        /// The joint.
        joint: String,
    },
    /// A joint whose locked directions have no name.
    #[error(
        "joint `{joint}` locks a combination of directions that joint coordinates do not know; use another stepper"
    )]
    Masked {
        /// The joint.
        joint: String,
    },
    /// Ropes or gears.
    #[error("joint coordinates have no ropes and gears; remove them or use the implicit stepper")]
    Transmission,
    /// A joint to a kinematic body.
    #[error(
        "joint `{joint}` is attached to kinematic body `{body}`; make it fixed, or dynamic with a prescribed joint"
    )]
    KinematicBase {
        /// The joint.
        joint: String,
        /// The body.
        body: String,
    },
    /// A joint direction that moves no mass: `SᵀĴS` is singular.
    #[error("body `{body}`: direction {direction} of its joint moves no mass; add inertia or fix the joint")]
    Singular {
        /// The body.
        body: String,
        /// The first joint direction without inertia.
        direction: usize,
    },
    /// Added mass that is not valid.
    #[error("mass added to body `{body}`: {reason}")]
    InvalidMass {
        /// The body.
        body: String,
        /// What is wrong.
        reason: &'static str,
    },
}
