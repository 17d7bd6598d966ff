//! Why a mechanism has no reduced form. Evaluating one has no errors, only reports.

/// Why a tree cannot be built; names the culprit and the fix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecursiveError {
    /// A joint outside the tree.
    #[error(
        "joint `{joint}` closes a loop; joint coordinates need a tree: remove it or step the mechanism as it is"
    )]
    Loop {
        /// The joint.
        joint: String,
    },
    /// A joint to a body that the input moves.
    #[error(
        "joint `{joint}` hangs on kinematic body `{body}`; make the body fixed, or dynamic with a prescribed joint"
    )]
    KinematicBase {
        /// The joint.
        joint: String,
        /// The body.
        body: String,
    },
    /// A link that some joint direction cannot feel: `SᵀĴS` is singular.
    #[error(
        "body `{body}` has too little inertia for its joint: direction {direction} moves no mass; give it inertia or fix the joint"
    )]
    Singular {
        /// The body.
        body: String,
        /// The first joint direction without inertia.
        direction: usize,
    },
    /// Mass that makes no sense.
    #[error("mass added to body `{body}`: {reason}")]
    InvalidMass {
        /// The body.
        body: String,
        /// What is wrong.
        reason: &'static str,
    },
}
