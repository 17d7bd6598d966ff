//! Errors of building a scene, with the place in the scene.

use sinew_mechanism::MechanismError;
use sinew_scene::{GeneratorDoc, SceneDoc, SceneIssue};

/// Why a scene cannot be built. Every case names the field of the scene at fault, as a path such as `joints[3]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The document breaks rules of the format; only possible for documents that were not read from text.
    #[error("{}", lines(.0))]
    Scene(Vec<SceneIssue>),
    /// Bodies and joints do not make a mechanism.
    #[error("{field}: {source}")]
    Mechanism {
        /// Path in the scene as written; empty for the scene as a whole.
        field: String,
        /// What is wrong with it.
        source: MechanismError,
    },
    /// Flesh or a collider cannot be made.
    #[error("{field}: {message}")]
    Flesh {
        /// Path in the scene with its generators written out.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// The scene cannot be stepped in joint coordinates, or its score cannot be played.
    #[error("{field}: {message}")]
    Reduced {
        /// Path in the scene.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// The format can say it, but the simulation cannot do it.
    #[error("{field}: {what} ({hint})")]
    Unsupported {
        /// Path in the scene.
        field: String,
        /// What is not supported.
        what: &'static str,
        /// What to write instead.
        hint: &'static str,
    },
}

impl BuildError {
    /// Paths of the fields at fault.
    pub fn fields(&self) -> Vec<&str> {
        match self {
            Self::Scene(issues) => issues.iter().map(|issue| issue.field.as_str()).collect(),
            Self::Mechanism { field, .. }
            | Self::Flesh { field, .. }
            | Self::Reduced { field, .. }
            | Self::Unsupported { field, .. } => vec![field],
        }
    }

    /// The same error, with its path in a change of the scene if the change set the field.
    pub(crate) fn in_change(self, scene: &SceneDoc, change: usize) -> Self {
        let moved = |field: String| {
            let has = match field.split(['.', '[']).next().unwrap_or_default() {
                "stepper" => scene.changes[change].stepper.is_some(),
                "dt" => scene.changes[change].dt.is_some(),
                "gravity" => scene.changes[change].gravity.is_some(),
                _ => false,
            };
            if has { format!("changes[{change}].{field}") } else { field }
        };
        match self {
            Self::Scene(issues) => Self::Scene(issues),
            Self::Mechanism { field, source } => Self::Mechanism { field: moved(field), source },
            Self::Flesh { field, message } => Self::Flesh { field: moved(field), message },
            Self::Reduced { field, message } => Self::Reduced { field: moved(field), message },
            Self::Unsupported { field, what, hint } => Self::Unsupported { field: moved(field), what, hint },
        }
    }

    /// An error of the mechanism, with its path in the scene.
    pub(crate) fn from_mechanism(scene: &SceneDoc, source: MechanismError) -> Self {
        Self::Mechanism { field: field_of(scene, &source), source }
    }
}

fn lines(issues: &[SceneIssue]) -> String {
    issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Path of the field that an error of the mechanism is about.
fn field_of(scene: &SceneDoc, error: &MechanismError) -> String {
    match error {
        MechanismError::DuplicateName { kind: "body", name } => body_path(scene, name),
        MechanismError::DuplicateName { name, .. } => joint_path(scene, name),
        MechanismError::NonPhysicalMass { name, .. } => body_path(scene, name) + ".mass",
        MechanismError::ImmovableJoint { joint } | MechanismError::NoSuchCoordinate { joint, .. } => {
            joint_path(scene, joint)
        }
        MechanismError::UnknownId { what, .. } | MechanismError::InvalidNumber { what, .. } => {
            named_path(scene, what)
        }
        // The last node of a cycle is the joint that closes it.
        MechanismError::Topology(error) => last_quoted(&error.to_string(), '"')
            .map_or_else(|| "joints".to_owned(), |name| joint_path(scene, name)),
        _ => String::new(),
    }
}

/// Path of "body `arm`", "joint `elbow`" or "spring 3".
fn named_path(scene: &SceneDoc, what: &str) -> String {
    match (what.split_once(' '), last_quoted(what, '`')) {
        (Some(("body", _)), Some(name)) => body_path(scene, name),
        (Some(("joint", _)), Some(name)) => joint_path(scene, name),
        (Some(("spring", index)), _) => format!("springs[{index}]"),
        _ => String::new(),
    }
}

fn last_quoted(text: &str, quote: char) -> Option<&str> {
    let (before, _) = text.rsplit_once(quote)?;
    Some(before.rsplit_once(quote)?.1)
}

pub(crate) fn body_path(scene: &SceneDoc, name: &str) -> String {
    match scene.bodies.iter().position(|body| body.name == name) {
        Some(i) => format!("bodies[{i}]"),
        None => generator_path(scene, |generator| generator.makes_body(name), "link"),
    }
}

pub(crate) fn joint_path(scene: &SceneDoc, name: &str) -> String {
    match scene.joints.iter().position(|joint| joint.name == name) {
        Some(i) => format!("joints[{i}]"),
        None => generator_path(scene, |generator| generator.makes_joint(name), "joint"),
    }
}

/// Path of the template behind a generated name such as `link_0042`, or of the generator that has none.
fn generator_path(scene: &SceneDoc, makes: impl Fn(&GeneratorDoc) -> bool, template: &str) -> String {
    let found = scene.generators.iter().enumerate().find(|(_, generator)| makes(generator));
    found.map_or_else(String::new, |(i, generator)| match generator {
        GeneratorDoc::Character(_) => format!("generators[{i}]"),
        _ => format!("generators[{i}].{template}"),
    })
}
