//! Members of a batch that differ: masses, stiffness, damping and friction as factors on what the scene says.
//!
//! Gravity and the scale of joint springs are settings and inputs: they cost nothing. Everything here is part of the model, so each varied member compiles
//! its scene, topology included, and keeps a model of its own; the library has no other way to change the numbers of a model. Where bodies are does not
//! change: masses and inertias grow by one factor per body, and centres of mass stay.

use std::sync::Arc;

use sinew_scene::{ChangeDoc, InertiaDoc, MassDoc, MassPropertiesDoc, SceneDoc};
use sinew_sim::{BuildError, Model, World};

/// The factors of a member; `None` is 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Variation {
    /// On masses: one for all bodies, or one per body; empty is 1.
    pub(crate) mass: Vec<f64>,
    /// On stiffness and friction, as a change of the scene has them, in the order of [`FACTORS`].
    pub(crate) factors: [Option<f64>; 6],
}

/// The names of the factors, in the order of [`ChangeDoc::factors`].
pub(crate) const FACTORS: [&str; 6] = [
    "joint_stiffness",
    "joint_damping",
    "flesh_stiffness",
    "contact_stiffness",
    "contact_damping",
    "friction",
];

impl Variation {
    /// The model of the scene with these factors.
    pub(crate) fn model(&self, scene: &SceneDoc) -> Result<Arc<Model>, BuildError> {
        Ok(World::from_scene(&self.scene(scene))?.shared_model())
    }

    /// The scene with these factors from its beginning.
    fn scene(&self, scene: &SceneDoc) -> SceneDoc {
        let n_changes = scene.changes_at_start();
        let mut varied = if self.mass.is_empty() { scene.clone() } else { scene.expanded() };
        if let Some(last) = self.mass.len().checked_sub(1) {
            for (k, body) in varied.bodies.iter_mut().enumerate() {
                body.mass = scaled(&body.mass, self.mass[k.min(last)]);
            }
        }
        let mut now = scene.settings_after(n_changes);
        let mut change = ChangeDoc::default();
        let mut is_changed = false;
        for ((to, from), factor) in change.factors_mut().into_iter().zip(now.factors_mut()).zip(self.factors)
        {
            if let Some(factor) = factor {
                *to = Some(from.unwrap_or(1.0) * factor);
                is_changed = true;
            }
        }
        if is_changed {
            varied.changes.insert(n_changes, change);
        }
        varied
    }
}

fn scaled(mass: &MassDoc, factor: f64) -> MassDoc {
    match mass {
        MassDoc::Density(density) => MassDoc::Density(density * factor),
        MassDoc::Total(total) => MassDoc::Total(total * factor),
        MassDoc::Properties(properties) => MassDoc::Properties(MassPropertiesDoc {
            mass: properties.mass * factor,
            inertia: grown(&properties.inertia, factor),
            ..*properties
        }),
    }
}

fn grown(inertia: &InertiaDoc, factor: f64) -> InertiaDoc {
    match inertia {
        InertiaDoc::Diagonal(moments) => InertiaDoc::Diagonal(*moments * factor),
        &InertiaDoc::Full { xx, yy, zz, xy, yz, xz } => {
            let [xx, yy, zz, xy, yz, xz] = [xx, yy, zz, xy, yz, xz].map(|entry| entry * factor);
            InertiaDoc::Full { xx, yy, zz, xy, yz, xz }
        }
    }
}
