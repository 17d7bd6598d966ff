//! Edits of scenes of bodies, joints and colliders: only what an edit touches is checked and compiled, the rest is kept.
//!
//! An edit compiles its excerpt as a scene of its own, puts what that gives among the rest, and plans and lays out the model again. The outcome is
//! that of compiling the whole edited scene. Cost: linear in the bodies, with a small factor, and what the excerpt costs.

use std::sync::Arc;

use sinew_engine::{Appearance, Model, PartMoves, SolidAppearance, State};
use sinew_flesh::FleshModel;
use sinew_mechanism::{BodyId, Moves};
use sinew_scene::{Excerpt, GONE, SceneDoc, SceneIssue, validate};

use crate::{
    build::build,
    colliders::ScenePairs,
    doubts::{fall_through, thin_contacts},
    idle::idle_forces,
    merge::merge_by,
    rigid::RigidParts,
    velocities::velocity_doubts,
};

/// What an edit makes of a scene of rigid parts.
#[derive(Clone, Debug)]
pub struct EditedScene {
    /// The model.
    pub model: Arc<Model>,
    /// The state at the beginning.
    pub start: State,
    /// What to draw.
    pub appearance: Appearance,
    /// What of the scene is probably not meant.
    pub doubts: Vec<SceneIssue>,
    /// For the next edit.
    pub parts: RigidParts,
}

impl RigidParts {
    /// The whole scene after an edit of which `excerpt` is what it touched. `moves` tell where parts went; a body that went nowhere, or was put
    /// elsewhere, is in the excerpt if it is still there. `appearance` is that before the edit.
    ///
    /// None if the excerpt breaks a rule or has more than rigid parts. Then the whole scene has to be compiled.
    pub fn edited(
        self,
        appearance: &Appearance,
        scene: &SceneDoc,
        (excerpt, moves): (&Excerpt, &PartMoves),
    ) -> Option<EditedScene> {
        validate(&excerpt.scene).ok()?;
        let built = build(&excerpt.scene).ok()?;
        let solids_of_excerpt = built.appearance.solids.clone();
        let new = built.plain_parts()?;
        let documents = collider_places(scene, excerpt);
        let own = Moves { bodies: &moves.bodies, joints: &moves.joints };
        let places = Moves { bodies: &excerpt.bodies, joints: &excerpt.joints };
        let specs = self.specs.merged(own, (new.specs, places))?;
        let mut colliders = self.colliders;
        colliders.merge([own.bodies, &moves.colliders], (new.colliders, [places.bodies, &documents]));
        let mut names = vec![Arc::from(""); documents_of(scene)];
        let named = self.names.into_iter().zip(&moves.colliders).chain(new.names.into_iter().zip(&documents));
        for (name, &document) in named.filter(|(_, document)| **document != GONE) {
            names[document as usize] = name;
        }
        let mut solids = appearance.solids.clone();
        let body = (
            |solid: &SolidAppearance| solid.body.index() as u32,
            |solid: &mut SolidAppearance, body: u32| solid.body = BodyId::from_index(body as usize),
        );
        merge_by(body, (&mut solids, own.bodies), (solids_of_excerpt, places.bodies));
        let appearance = Appearance { solids, ..Appearance::default() };
        let parts = Self { specs, colliders, names };
        let (model, start) = parts.model()?;
        // All others are about meshes, flesh, springs, ropes, tracks and inputs.
        let mut doubts = fall_through(scene);
        doubts.extend(thin_contacts(scene));
        doubts.extend(velocity_doubts(scene, (model.mechanism(), &start.bodies)));
        doubts.extend(idle_forces(scene));
        Some(EditedScene { model: Arc::new(model), start, appearance, doubts, parts })
    }

    /// The model and its first state; none if the joints cannot be planned.
    fn model(&self) -> Option<(Model, State)> {
        let mechanism = self.specs.build().ok()?;
        let bodies = mechanism.initial_state();
        let solids = self.colliders.models(&mechanism, &ScenePairs::default()).ok()?.solids;
        let mut start = State::from(bodies);
        let model = match solids {
            None => Model::from(mechanism),
            Some(solids) => {
                let flesh = FleshModel::new(&mechanism, Vec::new(), Some(solids)).ok()?;
                start.flesh = flesh.initial_state(&start.bodies);
                Model::with_flesh(mechanism, flesh)
            }
        };
        let model = model.with_collider_names(self.names.iter().cloned());
        start.model = model.identity();
        Some((model, start))
    }
}

/// Number of colliders of a scene with those of bodies that touch with all their shapes, which come last.
fn documents_of(scene: &SceneDoc) -> usize {
    scene.colliders.len() + scene.bodies.iter().filter(|body| body.contact.is_some()).count()
}

/// Places of the colliders of an excerpt among those of the scene.
fn collider_places(scene: &SceneDoc, excerpt: &Excerpt) -> Vec<u32> {
    let mut next = scene.colliders.len() as u32;
    let mut wanted = excerpt.bodies.iter().copied().peekable();
    let mut places = excerpt.colliders.clone();
    for (body, place) in scene.bodies.iter().zip(0..) {
        let is_wanted = wanted.next_if_eq(&place).is_some();
        if body.contact.is_some() {
            places.extend(is_wanted.then_some(next));
            next += 1;
        }
    }
    places
}
