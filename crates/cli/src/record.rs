//! What is kept of a run while it runs: curves for every step, and where things are for some.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::SceneDoc;
use sinew_sim::{BodyId, DrawList, DrawShape, World};

use crate::solid::Solid;
use crate::stage::{Frame, Look};
use crate::trace::Trace;

/// Frames per second of simulated time, as far as the memory below allows.
const RATE: f64 = 30.0;
/// Poses kept in all frames together.
const POSES: u64 = 1_000_000;
/// Frames kept even if there are more poses.
const FRAMES: u64 = 60;

/// Collects curves and frames, each only if wanted.
pub(crate) struct Recorder {
    pub(crate) trace: Option<Trace>,
    pub(crate) film: Option<Film>,
}

/// Looks and frames of a run.
pub(crate) struct Film {
    pub(crate) looks: Vec<Look>,
    pub(crate) frames: Vec<Frame>,
    /// Bodies without shapes, drawn as balls about their centres of mass.
    bare: Vec<(BodyId, DVec3)>,
    /// Steps from frame to frame.
    every: u64,
    list: DrawList,
}

impl Recorder {
    /// Begins a run of `n_steps` steps; the start is recorded at once.
    pub(crate) fn new(scene: &SceneDoc, world: &World, n_steps: u64, curves: bool, frames: bool) -> Self {
        let mut recorder = Self {
            trace: curves.then(Trace::default),
            film: frames.then(|| Film::new(scene, world, n_steps)),
        };
        recorder.note(world, 0, n_steps);
        recorder
    }

    /// Looks at the world after step `step` of `n_steps`.
    pub(crate) fn note(&mut self, world: &World, step: u64, n_steps: u64) {
        if let Some(trace) = &mut self.trace {
            let (energy, violation) = (world.energy(), world.violation());
            trace.time.push(world.time());
            trace.kinetic.push(energy.kinetic);
            trace.gravitational.push(energy.gravity);
            trace.elastic.push(energy.elastic);
            trace.position_error.push(violation.position);
            trace.rotation_error.push(violation.rotation);
        }
        if let Some(film) = &mut self.film
            && (step.is_multiple_of(film.every) || step == n_steps)
        {
            film.note(world);
        }
    }
}

impl Film {
    fn new(scene: &SceneDoc, world: &World, n_steps: u64) -> Self {
        let mut list = DrawList::default();
        world.draw(&mut list);
        let mut looks: Vec<Look> = list
            .solids
            .iter()
            .map(|solid| Look { solid: to_solid(&solid.shape), color: solid.color })
            .collect();
        let mut bare = Vec::new();
        let expanded = scene.expanded();
        for (id, body) in world.model().bodies().zip(&expanded.bodies) {
            let properties = body.mass_properties();
            if body.shapes.is_empty() && properties.mass > 0.0 {
                // A ball has tr I = 6/5 m r².
                let inertia = properties.inertia;
                let radius = ((inertia.xx + inertia.yy + inertia.zz) / (1.2 * properties.mass)).sqrt();
                looks.push(Look { solid: Solid::ball(radius), color: body.color });
                bare.push((id, properties.com));
            }
        }
        let frames = (POSES / looks.len().max(1) as u64).max(FRAMES);
        let smooth = (1.0 / (RATE * world.settings().dt)).round() as u64;
        Self { looks, frames: Vec::new(), bare, every: smooth.max(n_steps.div_ceil(frames)).max(1), list }
    }

    fn note(&mut self, world: &World) {
        world.draw(&mut self.list);
        let of_bare = |(body, center): &(BodyId, DVec3)| {
            let pose = world.pose(*body);
            Pose::new(pose.rotation, pose.transform_point(*center))
        };
        let poses =
            self.list.solids.iter().map(|solid| solid.world_from_shape).chain(self.bare.iter().map(of_bare));
        self.frames.push(Frame {
            time: world.time(),
            poses: poses.collect(),
            lines: self.list.lines.iter().map(|line| (line.from, line.to)).collect(),
        });
    }
}

fn to_solid(shape: &DrawShape) -> Solid {
    match *shape {
        DrawShape::Box { size } => Solid::cuboid(size),
        DrawShape::Sphere { radius } => Solid::ball(radius),
        DrawShape::Capsule { radius, length } => Solid::capsule(radius, length),
        DrawShape::Cylinder { radius, length } => Solid::cylinder(radius, length),
        DrawShape::Ellipsoid { semi_axes } => Solid::ellipsoid(semi_axes),
    }
}

#[cfg(test)]
mod tests {
    use sinew_sim::{SceneDoc, World};

    use super::Recorder;

    #[test]
    fn bodies_without_shapes_are_balls_of_their_inertia() {
        let text =
            "(format: 1, bodies: [(name: \"a\", mass: Properties(mass: 5, inertia: Diagonal(2, 2, 2)))])";
        let scene = SceneDoc::from_ron(text, "a.ron").unwrap();
        let mut world = World::from_scene(&scene).unwrap();
        let mut recorder = Recorder::new(&scene, &world, 5, true, true);
        for step in 1..=5 {
            world.step();
            recorder.note(&world, step, 5);
        }
        let film = recorder.film.unwrap();
        assert!((film.looks[0].solid.radius - 1.0).abs() < 1e-12);
        assert!(film.frames.iter().all(|frame| frame.poses.len() == film.looks.len()));
        // At 60 steps per second every other step is a frame, and the last one always.
        assert_eq!(film.frames.len(), 4);
        assert_eq!(recorder.trace.unwrap().time.len(), 6);
    }
}
