//! Worlds that gain, lose and change parts between two steps.
//!
//! A world of a scene keeps the scene. An edit changes a copy of it, compiles that, and carries the state over
//! ([`sinew_engine::Model::carry_state`]): whatever the edit does not touch goes on with the same bits. If the copy does not compile, the world
//! stays as it was. Cost: that of compiling the scene.

use std::sync::Arc;

use sinew_compile::{BuildError, CompiledScene, ScriptTimes, compile};
use sinew_engine::{State, Workspace};
use sinew_scene::{EditableScene, Handle, SceneDoc, ScenePart};

use super::World;
use super::moves::{part_moves, wake_disturbed};
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
        let before = self.scene.clone().ok_or_else(|| BuildError::Unsupported {
            field: "world".to_owned(),
            what: "this world was made from a model, which has no parts",
            hint: "make it with World::from_scene",
        })?;
        let mut after = EditableScene::clone(&before);
        let given = change(&mut after);
        place_new(self, &before, &mut after);
        self.rebuild(&before, after)?;
        Ok(given)
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

    fn rebuild(&mut self, before: &EditableScene, after: EditableScene) -> Result<(), BuildError> {
        let CompiledScene { periods, start, script, appearance, info } = compile(after.scene())?;
        let model = Arc::clone(&periods[0].model);
        let moves = part_moves((before, &self.model), (&after, &model));
        let fresh = State { bodies: model.mechanism().initial_state(), ..start.clone() };
        let mut state = model.carry_state(&fresh, (&self.model, &self.state), &moves);
        wake_disturbed((before, &after), &model, &mut state.sleep);

        let clock = self.clock.carried(&state.bodies.poses, &moves.bodies);
        let set_by_hand = self.periods.get(self.period).is_none_or(|period| period.settings != self.settings);
        let settings = set_by_hand.then_some(self.settings);
        *self = Self {
            workspace: Workspace::new(&model),
            settings: periods[0].settings,
            input: std::mem::take(&mut self.input),
            track_points: std::mem::take(&mut self.track_points),
            scene: Some(Arc::new(after)),
            period: 0,
            model,
            start,
            state,
            appearance,
            periods,
            script,
            info,
            clock,
        };
        self.enter(self.period_at(self.time()));
        if let Some(mut settings) = settings {
            settings.flesh = self.settings.flesh;
            self.settings = settings;
        }
        self.load_input(ScriptTimes::ending_at(self.time(), self.settings.dt));
        Ok(())
    }
}
