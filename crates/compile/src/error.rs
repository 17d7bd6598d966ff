//! Errors of building a scene, with the place in the scene.

use std::fmt::Display;

use sinew_mechanism::MechanismError;
use sinew_scene::{GeneratorDoc, SceneDoc, SceneErrors, SceneIssue, SceneSource};

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

    /// One line per error: `file:line:column: message`. `scene` is what was built: the scene read from `source`, or a
    /// member of its sweep.
    pub fn located(&self, source: &SceneSource, scene: &SceneDoc) -> Vec<String> {
        let line = |field: &str, what: &dyn Display| match source.locate(field) {
            Some((line, column)) => format!("{}:{line}:{column}: {what}", source.file()),
            None => format!("{}: {what}", source.file()),
        };
        match self {
            Self::Scene(issues) => {
                let lines = issues.iter().take(SceneErrors::LISTED).map(|issue| line(&issue.field, issue));
                lines.chain(SceneErrors::beyond_listed(issues.len())).collect()
            }
            _ => self.fields().iter().map(|field| line(&written_path(scene, field), self)).collect(),
        }
    }

    /// The same error, with its path in a change of the scene if the change set the field.
    pub(crate) fn in_change(mut self, scene: &SceneDoc, change: usize) -> Self {
        if let Self::Mechanism { field, .. }
        | Self::Flesh { field, .. }
        | Self::Reduced { field, .. }
        | Self::Unsupported { field, .. } = &mut self
        {
            let has = match field.split(['.', '[']).next().unwrap_or_default() {
                "stepper" => scene.changes[change].stepper.is_some(),
                "dt" => scene.changes[change].dt.is_some(),
                "gravity" => scene.changes[change].gravity.is_some(),
                _ => false,
            };
            if has {
                *field = format!("changes[{change}].{field}");
            }
        }
        self
    }

    /// An error of the mechanism, with its path in the scene.
    pub(crate) fn from_mechanism(scene: &SceneDoc, source: MechanismError) -> Self {
        Self::Mechanism { field: field_of(scene, &source), source }
    }
}

impl From<SceneErrors> for BuildError {
    fn from(errors: SceneErrors) -> Self {
        Self::Scene(errors.as_slice().iter().map(|error| error.issue.clone()).collect())
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
        MechanismError::ImmovableJoint { joint }
        | MechanismError::NoSuchCoordinate { joint, .. }
        | MechanismError::CannotBreak { joint, .. }
        | MechanismError::SharedWeight { joint, .. } => joint_path(scene, joint),
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

/// Converts a path in the expanded scene to a path in the scene as written. Flesh beyond the written list belongs to
/// the generator of a character.
fn written_path(scene: &SceneDoc, path: &str) -> String {
    let generated = || {
        let (index, _) = path.strip_prefix("flesh[")?.split_once(']')?;
        let nth = index.parse::<usize>().ok()?.checked_sub(scene.flesh.len())?;
        let generators = scene.generators.iter().enumerate();
        let mut characters = generators.filter(|(_, g)| matches!(g, GeneratorDoc::Character(_)));
        Some(format!("generators[{}]", characters.nth(nth)?.0))
    };
    generated().unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use sinew_scene::SceneDoc;

    use super::written_path;

    #[test]
    fn flesh_of_characters_is_looked_for_at_their_generators() {
        let text = "(format: 1, flesh: [(name: \"a\", mesh: Beam(size: (1, 1, 1), cells: (1, 1, 1)))], generators: [
            Chain(n: 2, link: (shapes: [Sphere(radius: 1)]), joint: (kind: Hinge)), Character(name: \"d\", kind: Worm), Character(name: \"e\", kind: Fish)])";
        let scene = SceneDoc::from_ron(text, "a.ron").unwrap();
        let written = |path: &str| written_path(&scene, path);
        assert_eq!(written("flesh[0].mesh"), "flesh[0].mesh");
        assert_eq!(written("flesh[1].mesh"), "generators[1]");
        assert_eq!(written("flesh[2]"), "generators[2]");
        assert_eq!(written("flesh[3]"), "flesh[3]");
        assert_eq!(written("colliders[0]"), "colliders[0]");
    }
}
