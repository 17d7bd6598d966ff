//! Worlds that gain, lose and change parts between two steps.
//!
//! A world of a scene keeps the scene. An edit changes it, compiles it, and carries the state over ([`sinew_engine::Model::carry_state`]): whatever
//! the edit does not touch goes on with the same bits. If the scene does not compile, it is changed back, and the world stays as it was.
//!
//! In a scene of bodies, joints and colliders only what the edit touches is compiled ([`sinew_compile::RigidParts`]). Springs, ropes, gears, flesh,
//! sensors, meshes, inputs, scores and changes need the whole scene to be compiled. The outcome is the same.

use std::sync::Arc;

use sinew_compile::{BuildError, CompiledScene, EditedScene, ScriptTimes, compile};
use sinew_engine::{Model, PartMoves, State};
use sinew_scene::{EditableScene, Handle, SceneDoc, ScenePart};

use super::World;
use super::moves::{add_model_parts, part_moves, wake_disturbed};
use super::place::place_new;

impl World {
    /// Adds a body, joint, collider, spring, rope, gear, flesh, track, input, surface, pair or camera. One without a name gets one.
    ///
    /// Points and axes of the world are those of now: a joint joins its bodies where they are.
    ///
    /// ```
    /// use sinew_sim::{BodyDoc, ColliderDoc, DVec3, SceneDoc, Shape, World};
    ///
    /// let mut world = World::from_scene(&SceneDoc::new("yard").with(ColliderDoc::floor(0.0)))?;
    /// let mut balls = Vec::new();
    /// for _ in 0..3 {
    ///     let ball = BodyDoc::new("").at(DVec3::Z).shape(Shape::Sphere { radius: 0.1 }).touching();
    ///     balls.push(world.insert(ball)?);
    ///     for _ in 0..20 {
    ///         world.step();
    ///     }
    /// }
    /// world.remove(balls[0])?;
    /// let heights = balls.iter().map(|&ball| Some(world.get(ball)?.pose().translation.z));
    /// assert!(matches!(heights.collect::<Vec<_>>()[..], [None, Some(_), Some(_)]));
    /// # Ok::<(), sinew_sim::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the world does not compile with it; it then stays as it was.
    pub fn insert<P: ScenePart>(&mut self, part: P) -> Result<Handle<P>, BuildError> {
        self.edit(|scene| scene.insert(part))
    }

    /// Removes a part with everything that hangs on it: joints, colliders, springs, ropes and inputs of a body, gears of a joint. None if it is not there.
    /// A joint is given back with its frames on its bodies and a rope with its length: inserted again, they are what they were, wherever their bodies are.
    ///
    /// # Errors
    /// If something else needs it, such as flesh or a score; the world then stays as it was.
    pub fn remove<P: ScenePart>(&mut self, handle: Handle<P>) -> Result<Option<P>, BuildError> {
        if self.part(handle).is_none() {
            return Ok(None);
        }
        self.edit(|scene| scene.remove(handle))
    }

    /// Replaces a part, and gives back what was there; none if it is not there, and then nothing changes. What the new one says as the old one did
    /// stays as it is now: a body goes on moving from where it is, unless its `pose` or `velocity` is another one.
    ///
    /// # Errors
    /// If the world does not compile with it; it then stays as it was.
    pub fn replace<P: ScenePart>(&mut self, handle: Handle<P>, part: P) -> Result<Option<P>, BuildError> {
        if self.part(handle).is_none() {
            return Ok(None);
        }
        self.edit(|scene| scene.replace(handle, part))
    }

    /// Makes any number of changes at once, for the cost of one.
    ///
    /// # Errors
    /// If the world does not compile with them, or was not made of a scene; it then stays as it was.
    pub fn edit<T>(&mut self, change: impl FnOnce(&mut EditableScene) -> T) -> Result<T, BuildError> {
        let scene = self.scene.as_mut().ok_or_else(|| BuildError::Unsupported {
            field: "world".to_owned(),
            what: "this world was made from a model, which has no parts",
            hint: "make it with World::from_scene",
        })?;
        let scene = Arc::make_mut(scene);
        scene.begin_edit();
        let given = change(scene);
        let mut scene = std::mem::take(scene);
        place_new(self, &mut scene);
        let outcome = self.rebuild(&scene);
        match outcome {
            Ok(()) => scene.end_edit(),
            Err(_) => scene.undo_edit(),
        }
        self.scene = Some(Arc::new(scene));
        outcome.map(|()| given)
    }

    /// A part as it is written; none if it is not there.
    pub fn part<P: ScenePart>(&self, handle: Handle<P>) -> Option<&P> {
        self.scene.as_ref()?.get(handle)
    }

    /// All parts of a kind.
    pub fn parts<P: ScenePart>(&self) -> impl Iterator<Item = (Handle<P>, &P)> {
        self.scene.iter().flat_map(|scene| scene.parts())
    }

    /// The part called `name`.
    pub fn find<P: ScenePart>(&self, name: &str) -> Option<Handle<P>> {
        self.scene.as_ref()?.find(name)
    }

    /// The scene with all edits, and the step length and gravity of now, as it would begin; none for worlds made from a model. `SceneDoc::to_ron`
    /// writes it. Bodies are where they began, joints and ropes where they were made: to save a moment, save the state beside it
    /// ([`crate::state_to_bytes`]) and restore that.
    pub fn to_scene(&self) -> Option<SceneDoc> {
        let mut scene = self.scene.as_ref()?.scene().clone();
        if scene.changes.is_empty() {
            (scene.dt, scene.gravity) = (self.settings.dt, self.settings.gravity);
        }
        Some(scene)
    }

    /// Compiles the edited scene, whole or only what the edit touches, and carries the state over.
    fn rebuild(&mut self, scene: &EditableScene) -> Result<(), BuildError> {
        let mut moves = part_moves(scene);
        if !self.take_edit(scene, &moves) {
            let compiled = compile(scene.scene())?;
            let model = &compiled.periods[0].model;
            add_model_parts(&mut moves, (&self.model, model), scene.scene().bodies.len());
            self.take_compiled(scene, compiled, &moves);
        }
        self.load_input(ScriptTimes::ending_at(self.time(), self.settings.dt));
        Ok(())
    }

    /// Compiles what the edit touches, if that is enough; whether it was.
    fn take_edit(&mut self, scene: &EditableScene, moves: &PartMoves) -> bool {
        let (Some(parts), Some(excerpt)) = (self.parts.take(), scene.excerpt()) else { return false };
        let edited = parts.edited(&mut self.appearance, scene.scene(), (&excerpt, moves));
        let Some(EditedScene { model, start, doubts, parts }) = edited else { return false };
        self.carry((&model, &start), scene, moves);
        self.periods[0].model = Arc::clone(&model);
        (self.model, self.start, self.parts) = (model, start, Some(parts));
        self.info.doubts = doubts;
        true
    }

    fn take_compiled(&mut self, scene: &EditableScene, compiled: CompiledScene, moves: &PartMoves) {
        let CompiledScene { periods, start, script, appearance, mut info, parts } = compiled;
        let model = Arc::clone(&periods[0].model);
        // What is new begins where it is written, whatever an assembly would make of it.
        let written = State { bodies: model.mechanism().initial_state(), ..start.clone() };
        self.carry((&model, &written), scene, moves);
        info.doubt_pulls(scene.scene(), (model.mechanism(), &self.state.bodies), self.settings.dt);
        let set_by_hand = self.periods.get(self.period).is_none_or(|period| period.settings != self.settings);
        let settings = set_by_hand.then_some(self.settings);
        (self.model, self.start, self.appearance, self.parts) = (model, start, appearance, parts);
        (self.periods, self.playback, self.info) = (periods, script.into(), info);
        self.enter(self.period_at(self.time()));
        if let Some(mut settings) = settings {
            settings.flesh = self.settings.flesh;
            self.settings = settings;
        }
    }

    /// The state, the clock and fresh scratch for the model after an edit.
    fn carry(&mut self, (model, start): (&Model, &State), scene: &EditableScene, moves: &PartMoves) {
        let events = self.carry_events(moves);
        self.state = State { events, ..model.carry_state(start, (&self.model, &self.state), moves) };
        wake_disturbed(scene, model, &mut self.state.sleep);
        let models = (self.model.mechanism(), model.mechanism());
        self.clock = self.clock.carried(models, &self.state.bodies.poses, &moves.bodies);
        self.workspace.refit(model);
    }
}
