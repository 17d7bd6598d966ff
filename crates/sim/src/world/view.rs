//! Parts of a world by their handles: ids for inputs, and what is known of bodies and joints now.

use glam::DVec3;
use sinew_math::{Motion, Pose};
use sinew_mechanism::{BodyId, DriveCoordinate, JointId, JointReading, TransmissionId};
use sinew_scene::{BodyDoc, FleshDoc, GearDoc, Handle, JointDoc, RopeDoc, ScenePart};

use super::World;

/// A part that the model has an id for. Ids are valid until the next edit, handles until the part is removed.
pub trait Identified: ScenePart {
    /// The id.
    type Id;

    /// The id of the part at a place of its list.
    fn id(world: &World, place: usize) -> Self::Id;
}

impl Identified for BodyDoc {
    type Id = BodyId;

    fn id(_: &World, place: usize) -> BodyId {
        BodyId::from_index(place)
    }
}

impl Identified for JointDoc {
    type Id = JointId;

    fn id(_: &World, place: usize) -> JointId {
        JointId::from_index(place)
    }
}

impl Identified for RopeDoc {
    type Id = TransmissionId;

    fn id(_: &World, place: usize) -> TransmissionId {
        TransmissionId::from_index(place)
    }
}

impl Identified for GearDoc {
    type Id = TransmissionId;

    fn id(world: &World, place: usize) -> TransmissionId {
        TransmissionId::from_index(world.parts::<RopeDoc>().count() + place)
    }
}

impl Identified for FleshDoc {
    type Id = usize;

    fn id(_: &World, place: usize) -> usize {
        place
    }
}

/// A part that can be looked at.
pub trait Viewed: Identified {
    /// What is known of it.
    type View<'w>;

    /// Looks at it.
    fn view(world: &World, id: Self::Id) -> Self::View<'_>;
}

impl World {
    /// The id of a part, for [`crate::Input`] and questions; none if it is not there. It is valid until the next edit.
    pub fn id<P: Identified>(&self, handle: Handle<P>) -> Option<P::Id> {
        Some(P::id(self, self.scene.as_ref()?.position(handle)?))
    }

    /// A body or joint as it is now; none if it is not there.
    pub fn get<P: Viewed>(&self, handle: Handle<P>) -> Option<P::View<'_>> {
        Some(P::view(self, self.id(handle)?))
    }
}

/// Joints that break.
impl World {
    /// The joints that broke in the step that led here, because they were loaded by more than their `breaks_at`. They hold nothing from now on. To
    /// know all that are broken, ask [`JointView::is_broken`] or [`sinew_mechanism::State::broken`].
    pub fn broke(&self) -> &[JointId] {
        self.workspace.broke()
    }

    /// Breaks a joint by hand. Whether it was whole, and one that may break (`breaks_at`).
    pub fn break_joint(&mut self, joint: Handle<JointDoc>) -> bool {
        let found = self.id(joint).filter(|&id| self.mechanism().breaks_at(id).is_some());
        found.is_some_and(|id| self.state.bodies.break_joint(id))
    }

    /// Mends a broken joint: it holds again from the next step on. A gap that it has then is closed by moving its bodies, so bring them together first
    /// ([`World::set_pose`]). Whether it was broken.
    ///
    /// ```
    /// use sinew_sim::{BodyDoc, DVec3, JointDoc, JointKind, SceneDoc, Shape, World};
    ///
    /// let lamp = BodyDoc::new("lamp").at(DVec3::Z * -0.3).shape(Shape::Sphere { radius: 0.1 }).mass(5.0);
    /// let hook = JointDoc::new(JointKind::Ball, "hook", "lamp").breaks_at_force(200.0);
    /// let mut world = World::from_scene(&SceneDoc::new("lamp").with(lamp).with(hook))?;
    /// let hook = world.find::<JointDoc>("hook").expect("it is there");
    /// world.step();
    /// assert!(!world.get(hook).expect("it is there").is_broken());
    /// world.break_joint(hook);
    /// let hung = world.checkpoint();
    /// for _ in 0..10 {
    ///     world.step();
    /// }
    /// assert!(world.pose(world.body("lamp").expect("it is there")).translation.z < -0.4);
    /// world.restore(&hung).expect("the same world");
    /// world.mend_joint(hook);
    /// world.step();
    /// assert!(!world.get(hook).expect("it is there").is_broken());
    /// # Ok::<(), sinew_sim::BuildError>(())
    /// ```
    pub fn mend_joint(&mut self, joint: Handle<JointDoc>) -> bool {
        self.id(joint).is_some_and(|id| self.state.bodies.mend_joint(id))
    }
}

impl World {
    /// Puts a body elsewhere: pose of its body frame, in the world. Its motion stays. What sleeps on or beside it wakes. Whether it is there.
    pub fn set_pose(&mut self, body: Handle<BodyDoc>, pose: Pose) -> bool {
        let motion = self.get(body).map(|body| body.motion());
        let Some((id, motion)) = self.id(body).zip(motion) else { return false };
        if pose.is_finite() {
            self.state.sleep.disturb(id);
            self.model.mechanism().set_body_pose(&mut self.state.bodies, id, pose);
            self.put_motion(id, motion);
        }
        pose.is_finite()
    }

    /// Gives a body another motion: angular velocity (rad/s), and velocity (m/s) of the origin of its body frame, world axes. Whether it is there.
    pub fn set_motion(&mut self, body: Handle<BodyDoc>, motion: Motion) -> bool {
        let Some(id) = self.id(body).filter(|_| motion.is_finite()) else { return false };
        self.state.sleep.disturb(id);
        self.state.bodies.forget_history();
        self.put_motion(id, motion);
        true
    }

    fn put_motion(&mut self, id: BodyId, motion: Motion) {
        let arm = self.state.bodies.poses[id.index()].translation - self.pose(id).translation;
        let central = Motion::new(motion.angular, motion.linear + motion.angular.cross(arm));
        self.state.bodies.motions[id.index()] = central;
    }
}

/// A body as it is now.
#[derive(Clone, Copy, Debug)]
pub struct BodyView<'w> {
    world: &'w World,
    id: BodyId,
}

impl Viewed for BodyDoc {
    type View<'w> = BodyView<'w>;

    fn view(world: &World, id: BodyId) -> BodyView<'_> {
        BodyView { world, id }
    }
}

impl BodyView<'_> {
    /// Its id, valid until the next edit.
    pub fn id(&self) -> BodyId {
        self.id
    }

    /// Pose of its body frame, `world_from_body`.
    pub fn pose(&self) -> Pose {
        self.world.pose(self.id)
    }

    /// Its angular velocity (rad/s), and the velocity (m/s) of the origin of its body frame, world axes.
    pub fn motion(&self) -> Motion {
        self.world.motion(self.id)
    }

    /// Velocity of a point of its body frame (m), world axes, m/s.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        let motion = self.motion();
        motion.linear + motion.angular.cross(self.pose().rotation * point)
    }

    /// Its mass, kg; 0 if forces do not move it.
    pub fn mass(&self) -> f64 {
        self.world.mechanism().body_mass(self.id)
    }

    /// Its centre of mass, in the world, m.
    pub fn centre_of_mass(&self) -> DVec3 {
        self.world.state().bodies.poses[self.id.index()].translation
    }

    /// Whether it sleeps.
    pub fn is_asleep(&self) -> bool {
        self.world.is_asleep(self.id)
    }
}

/// A joint as it is now.
#[derive(Clone, Copy, Debug)]
pub struct JointView<'w> {
    world: &'w World,
    id: JointId,
}

impl Viewed for JointDoc {
    type View<'w> = JointView<'w>;

    fn view(world: &World, id: JointId) -> JointView<'_> {
        JointView { world, id }
    }
}

impl JointView<'_> {
    /// Its id, valid until the next edit.
    pub fn id(&self) -> JointId {
        self.id
    }

    /// Its coordinates and their rates; see [`World::reading`].
    pub fn reading(&self) -> JointReading {
        self.world.reading(self.id)
    }

    /// Its force on its child in the step that led here, world axes, N; see [`World::joint_forces`].
    pub fn force(&self) -> DVec3 {
        self.world.joint_forces().get(self.id.index()).copied().unwrap_or(DVec3::ZERO)
    }

    /// Whether it is broken: it holds nothing.
    pub fn is_broken(&self) -> bool {
        self.world.state().bodies.is_broken(self.id)
    }

    /// Torque (N·m) or force (N) along a coordinate, of springs, limits, motors and actuators.
    pub fn effort(&self, along: Option<DriveCoordinate>) -> f64 {
        self.world.joint_effort(self.id, along)
    }
}
