//! Piles of cubes in Rapier, with its default settings. Cubes never sleep.

use glam::{DQuat, DVec3};
use rapier3d_f64::prelude::{
    ColliderBuilder, PhysicsWorld, Pose, RigidBodyBuilder, RigidBodyHandle, Rotation, SharedShape, Vector,
};
use sinew_mechanism::Settings;
use sinew_soak::{DENSITY, EDGE, FRICTION, PileWorld};

/// A pile in a Rapier world.
pub(crate) struct RapierPile {
    world: PhysicsWorld,
    cubes: Vec<RigidBodyHandle>,
}

impl RapierPile {
    /// Cubes at some poses above the ground.
    pub(crate) fn new(poses: &[(DVec3, DQuat)]) -> Self {
        let mut world = PhysicsWorld::new();
        let gravity = Settings::default().gravity;
        world.gravity = Vector::new(gravity.x, gravity.y, gravity.z);
        world.integration_parameters.dt = Settings::default().dt;
        world.insert_collider(
            ColliderBuilder::new(SharedShape::halfspace(Vector::Z)).friction(FRICTION),
            None,
        );
        let half = 0.5 * EDGE;
        let cubes = poses.iter().map(|(p, q)| {
            let pose = Pose::from_parts(Vector::new(p.x, p.y, p.z), Rotation::from_xyzw(q.x, q.y, q.z, q.w));
            let body = RigidBodyBuilder::dynamic().pose(pose).can_sleep(false);
            let shape = ColliderBuilder::cuboid(half, half, half).density(DENSITY).friction(FRICTION);
            world.insert(body, shape).0
        });
        let cubes = cubes.collect();
        Self { world, cubes }
    }
}

impl PileWorld for RapierPile {
    fn step(&mut self) {
        self.world.step();
    }

    fn poses(&self) -> Vec<sinew_math::Pose> {
        let pose = |&cube: &RigidBodyHandle| {
            let pose = self.world.bodies[cube].position();
            let (p, q) = (pose.translation, pose.rotation);
            sinew_math::Pose::new(DQuat::from_xyzw(q.x, q.y, q.z, q.w), DVec3::new(p.x, p.y, p.z))
        };
        self.cubes.iter().map(pose).collect()
    }

    fn energy(&self) -> f64 {
        let of = |&cube: &RigidBodyHandle| {
            let body = &self.world.bodies[cube];
            let height = body.center_of_mass().z;
            body.kinetic_energy() - body.mass() * self.world.gravity.z * height
        };
        self.cubes.iter().map(of).sum()
    }

    fn speed(&self) -> f64 {
        self.cubes.iter().map(|&cube| self.world.bodies[cube].linvel().length()).fold(0.0, f64::max)
    }
}
