//! Versions of one scene that differ in numbers: masses, stiffness, damping and friction, as factors on what the scene says.
//!
//! [`SceneVariants`] keeps what all versions have: the specs of bodies and joints, the colliders, the plan and the names. A version then costs a check of the
//! numbers and the tables of its model, and is to the bit that of the scene compiled with these numbers. Scenes with flesh, sensors, scores or joint
//! coordinates, joints given by their coordinates, and masses from meshes are compiled for each version. Masses and inertias grow by one factor per body; centres
//! of mass stay.

use std::sync::Arc;

use sinew_contact::Owner;
use sinew_engine::Model;
use sinew_flesh::FleshModel;
use sinew_mechanism::{BodyId, JointId, MechanismBuilder};
use sinew_scene::{
    ChangeDoc, InertiaDoc, JointDoc, MassDoc, MassPropertiesDoc, SceneDoc, StepperDoc, validate,
};

use crate::build::{BuiltScene, build};
use crate::changes::compile;
use crate::colliders::{ScenePairs, SurfaceKinds, surface_material};
use crate::error::BuildError;
use crate::joints::set_forces;
use crate::names::Names;
use crate::rigid::RigidParts;

/// Factors on the numbers of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneVariation {
    /// On masses: one for all bodies, or one per body; empty is 1.
    pub mass: Vec<f64>,
    /// The factors of a change, on those that the scene begins with; none is 1. Its other settings do nothing.
    pub factors: ChangeDoc,
}

impl SceneVariation {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty() && self.factors.factors().iter().all(|(_, factor)| factor.is_none())
    }

    /// The scene with these factors from its beginning.
    #[must_use]
    pub fn scene(&self, scene: &SceneDoc) -> SceneDoc {
        let n_changes = scene.changes_at_start();
        let mut varied = if self.mass.is_empty() { scene.clone() } else { scene.expanded() };
        for (k, body) in varied.bodies.iter_mut().enumerate() {
            if let Some(factor) = self.mass_factor(k) {
                body.mass = scaled(&body.mass, factor);
            }
        }
        if self.factors.factors().iter().any(|(_, factor)| factor.is_some()) {
            varied.changes.insert(n_changes, self.change(scene));
        }
        varied
    }

    /// The factor on the mass of a body.
    fn mass_factor(&self, body: usize) -> Option<f64> {
        self.mass.get(body.min(self.mass.len().checked_sub(1)?)).copied()
    }

    /// The change that sets its factors at the beginning of a scene.
    fn change(&self, scene: &SceneDoc) -> ChangeDoc {
        let mut now = scene.settings_after(scene.changes_at_start());
        let mut change = ChangeDoc::default();
        let factors = self.factors.factors();
        for ((to, from), (_, factor)) in change.factors_mut().into_iter().zip(now.factors_mut()).zip(factors)
        {
            *to = factor.map(|factor| from.unwrap_or(1.0) * factor);
        }
        change
    }
}

/// A scene of which versions are made.
///
/// ```
/// use sinew_compile::{SceneVariants, SceneVariation, compile};
/// use sinew_scene::SceneDoc;
///
/// let scene = SceneDoc::from_ron(r#"(format: 1, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)], mass: Total(2))])"#, "ball.ron")?;
/// let model = compile(&scene)?.periods.remove(0).model;
/// let variants = SceneVariants::new(&scene, &model)?;
/// let heavier = variants.model(&SceneVariation { mass: vec![1.5], ..SceneVariation::default() })?;
/// assert_eq!(heavier.mechanism().body_mass(sinew_mechanism::BodyId::from_index(0)), 3.0);
/// assert!(heavier.is_like(&model));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SceneVariants {
    /// As written.
    scene: SceneDoc,
    /// None if each version has to be compiled.
    kept: Option<KeptScene>,
}

/// What versions share.
#[derive(Clone, Debug)]
struct KeptScene {
    /// With generators and the colliders of bodies written out, and without changes.
    expanded: SceneDoc,
    parts: RigidParts,
    pairs: ScenePairs,
    like: Arc<Model>,
}

impl SceneVariants {
    /// The versions of a scene, whose model is `like`.
    ///
    /// # Errors
    /// If the scene cannot be compiled.
    pub fn new(scene: &SceneDoc, like: &Arc<Model>) -> Result<Self, BuildError> {
        validate(scene).map_err(BuildError::Scene)?;
        let stepper = scene.settings_after(scene.changes_at_start()).stepper;
        let plain = SceneDoc { changes: Vec::new(), ..scene.clone() };
        let is_rigid = scene.score.is_none() && !matches!(stepper, Some(StepperDoc::Reduced(_)));
        let kept = if is_rigid { KeptScene::of(&plain, like)? } else { None };
        Ok(Self { scene: scene.clone(), kept })
    }

    /// The scene as written.
    pub fn scene(&self) -> &SceneDoc {
        &self.scene
    }

    /// The model of a version.
    ///
    /// # Errors
    /// As [`compile`], where the numbers are out of range.
    pub fn model(&self, variation: &SceneVariation) -> Result<Arc<Model>, BuildError> {
        let change = variation.change(&self.scene);
        // Factors that the scene begins with and that do not vary hold, too.
        let mut all = self.scene.settings_after(self.scene.changes_at_start());
        all.merge(&change);
        match self.kept.as_ref().and_then(|kept| kept.model(variation, &all)) {
            Some(model) => Ok(Arc::new(model)),
            None => Ok(compile(&variation.scene(&self.scene))?.periods.remove(0).model),
        }
    }
}

impl KeptScene {
    fn of(scene: &SceneDoc, like: &Arc<Model>) -> Result<Option<Self>, BuildError> {
        let expanded = scene.expanded().with_body_colliders();
        let is_kept = expanded.flesh.is_empty()
            && expanded.colliders.iter().all(|collider| !collider.sensor)
            && expanded.joints.iter().all(|joint| joint.free.is_none());
        if !is_kept {
            return Ok(None);
        }
        let BuiltScene { parts, .. } = build(scene)?;
        let (kinds, names) = (SurfaceKinds::of(&expanded), Names::of(&expanded));
        let pairs = ScenePairs::of(&expanded, &kinds, &names.bodies);
        Ok(Some(Self { pairs, parts, like: Arc::clone(like), expanded }))
    }

    /// The model of a version; none if it has to be compiled.
    fn model(&self, variation: &SceneVariation, factors: &ChangeDoc) -> Option<Model> {
        let mut specs = self.parts.specs.clone();
        self.set_masses(variation, &mut specs)?;
        let is_one = |factor: Option<f64>| factor.is_none_or(|factor| factor.to_bits() == 1.0_f64.to_bits());
        if !(is_one(factors.joint_stiffness) && is_one(factors.joint_damping)) {
            self.set_joints(factors, &mut specs)?;
        }
        let mechanism = specs.build_like(self.like.mechanism()).ok()??;
        let material = |document: usize, owner: Owner| {
            let mut contact = self.expanded.colliders[document].contact;
            factors.scale_contact(&mut contact);
            let mass = match owner {
                Owner::World => 0.0,
                Owner::Body(body) => mechanism.body_mass(BodyId::from_index(body as usize)),
            };
            surface_material(&contact, mass)
        };
        let pairs = self.pairs.with_friction(factors.friction.unwrap_or(1.0));
        let solids = self.parts.colliders.with_materials(material)?.models(&mechanism, &pairs).ok()?.solids;
        let model = match solids {
            None => Model::from(mechanism),
            Some(solids) => {
                let colliders = FleshModel::new(&mechanism, Vec::new(), Some(solids)).ok()?;
                Model::with_flesh(mechanism, colliders)
            }
        };
        Some(model.with_collider_names(self.parts.names.iter().cloned()))
    }

    fn set_masses(&self, variation: &SceneVariation, specs: &mut MechanismBuilder) -> Option<()> {
        for (k, body) in self.expanded.bodies.iter().enumerate() {
            let Some(factor) = variation.mass_factor(k) else { continue };
            // Its mass may be that of a mesh.
            if body.shapes.is_empty() && !matches!(body.mass, MassDoc::Properties(_)) {
                return None;
            }
            let mut varied = body.clone();
            varied.mass = scaled(&body.mass, factor);
            specs.body_mut(BodyId::from_index(k))?.mass = varied.mass_properties();
        }
        Some(())
    }

    fn set_joints(&self, factors: &ChangeDoc, specs: &mut MechanismBuilder) -> Option<()> {
        for (k, joint) in self.expanded.joints.iter().enumerate() {
            let mut varied = JointDoc::clone(joint);
            factors.scale_joint(&mut varied);
            set_forces(&varied, specs.joint_mut(JointId::from_index(k))?);
        }
        Some(())
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
