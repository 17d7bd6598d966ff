//! Rules for generators: number of links, sizes, and fields that the generator sets itself.

use super::{issues::Issues, lookup::templates};
use crate::doc::{GeneratorDoc, JointFramesDoc, PoseDoc, SceneDoc};
use crate::error::SceneIssueKind as Kind;

/// Generators make at least one link, and bodies stay within the limit of the scene.
pub(super) fn counts_are_sensible(scene: &SceneDoc, issues: &mut Issues) {
    let most = scene.limits.bodies;
    let mut bodies = scene.bodies.len() as u64;
    if bodies > most {
        let message = format!("{bodies} bodies are too many");
        issues.add(Kind::GeneratorCount, "bodies", message, raise_limit(most));
    }
    for (i, generator) in scene.generators.iter().enumerate() {
        let n = generator.n_links();
        let count = match generator {
            GeneratorDoc::Chain(_) => "n",
            GeneratorDoc::Tree(tree) if tree.branching == 0 => "branching",
            GeneratorDoc::Tree(_) => "depth",
            GeneratorDoc::Ladder(ladder) if ladder.p == 0 => "p",
            GeneratorDoc::Ladder(_) => "r",
            GeneratorDoc::Mesh(_) => "n",
            GeneratorDoc::Character(_) => continue,
        };
        let field = format!("generators[{i}].{count}");
        if n == 0 {
            let hint =
                if matches!(generator, GeneratorDoc::Mesh(_)) { "use 2 or more" } else { "use 1 or more" };
            issues.add(Kind::GeneratorCount, field, "this generator makes no links", hint);
            continue;
        }
        let were_few = bodies <= most;
        bodies = bodies.saturating_add(n);
        if n > most || (were_few && bodies > most) {
            let n = if n == u64::MAX { "far too many".to_owned() } else { n.to_string() };
            let message = format!("this generator makes {n} links, too many");
            issues.add(Kind::GeneratorCount, field, message, raise_limit(most));
        }
    }
}

fn raise_limit(most: u64) -> String {
    format!("use at most {most} bodies in all, or raise the limit `bodies`")
}

/// Templates leave out what the generator fills in.
pub(super) fn templates_are_templates(scene: &SceneDoc, issues: &mut Issues) {
    for (i, link, joint) in templates(scene) {
        for (name, is_set) in [
            ("link.name", !link.name.is_empty()),
            ("link.pose", link.pose != PoseDoc::default()),
            ("joint.name", !joint.name.is_empty()),
            ("joint.child", !joint.child.is_empty()),
            ("joint.parent", joint.parent.is_some()),
            ("joint.frames", joint.frames != JointFramesDoc::default()),
        ] {
            if is_set {
                let message = "the generator sets this field itself";
                issues.add(Kind::TemplateField, format!("generators[{i}].{name}"), message, "leave it out");
            }
        }
    }
}

/// Links have a length, and trees keep a positive size.
pub(super) fn links_have_a_length(scene: &SceneDoc, issues: &mut Issues) {
    for (i, generator) in scene.generators.iter().enumerate() {
        let path = format!("generators[{i}]");
        let (link, spacing) = match generator {
            GeneratorDoc::Chain(chain) => (&chain.link, chain.spacing),
            GeneratorDoc::Tree(tree) => {
                issues.require_positive(&path, &[("shrink", tree.shrink)]);
                (&tree.link, None)
            }
            GeneratorDoc::Ladder(_) | GeneratorDoc::Mesh(_) | GeneratorDoc::Character(_) => continue,
        };
        match spacing.or_else(|| link.shapes.first().map(|shape| shape.solid.length())) {
            Some(length) if length > 0.0 || length.is_nan() => {}
            Some(_) if spacing.is_some() => issues.require_positive(&path, &[("spacing", 0.0)]),
            _ => {
                let hint = "give the link a shape with a length above 0";
                issues.add(Kind::NotPositive, format!("{path}.link"), "the links have no length", hint);
            }
        }
    }
}

/// The bars of ladders and meshes have length, radius and mass.
pub(super) fn bars_have_a_size(scene: &SceneDoc, issues: &mut Issues) {
    for (i, generator) in scene.generators.iter().enumerate() {
        let path = format!("generators[{i}]");
        match generator {
            GeneratorDoc::Chain(_) | GeneratorDoc::Tree(_) | GeneratorDoc::Character(_) => {}
            GeneratorDoc::Ladder(ladder) => {
                let sizes = [("length", ladder.length), ("radius", ladder.radius), ("mass", ladder.mass)];
                issues.require_positive(&path, &sizes);
                issues.require_not_negative(&path, &[("damping", ladder.damping)]);
            }
            GeneratorDoc::Mesh(mesh) => {
                let mass = ("mass_per_length", mesh.mass_per_length);
                issues.require_positive(&path, &[("spacing", mesh.spacing), ("radius", mesh.radius), mass]);
                issues.require_not_negative(&path, &[("damping", mesh.damping), ("scatter", mesh.scatter)]);
            }
        }
    }
}
