//! What is kept of a run while it runs: curves for every step, and where things are for some.

use glam::DVec3;
use sinew_math::Pose;
use sinew_scene::SceneDoc;
use sinew_sim::{BodyId, DrawFlesh, DrawList, FleshBody, World};

use crate::scenery::Scenery;
use crate::skin::{Skin, Surface, is_inside};
use crate::solid::Solid;
use crate::stage::{Cast, Flesh, Frame, Look};
use crate::trace::Trace;

/// Frames per second of simulated time, as far as the memory below allows.
const RATE: f64 = 30.0;
/// Poses kept in all frames together.
const POSES: u64 = 1_000_000;
/// Frames kept even if there are more poses.
const FRAMES: u64 = 60;
/// Triangles of all flesh together that a film, an animation, and ghosts and shadows show.
const TRIANGLES: [usize; 3] = [6000, 1500, 500];

/// Collects curves and frames, each only if wanted.
pub(crate) struct Recorder {
    pub(crate) trace: Option<Trace>,
    pub(crate) film: Option<Film>,
}

/// Cast and frames of a run.
pub(crate) struct Film {
    pub(crate) cast: Cast,
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
        let flesh = world.model().flesh().map_or(&[][..], |flesh| flesh.bodies());
        let skins = skins(flesh, &list);
        let is_bone = |body: BodyId, middle: DVec3| {
            let around = flesh.iter().zip(&skins).filter(|(flesh, _)| flesh.bones().contains(&body.index()));
            around.into_iter().any(|(_, (points, skins))| is_inside(middle, (points, &skins[0].triangles)))
        };
        // Flesh at rest is around bones as they are at first.
        let mut looks: Vec<Look> = list
            .solids
            .iter()
            .map(|solid| Look {
                solid: Solid::of(&solid.shape),
                color: solid.color,
                is_bone: is_bone(solid.body, solid.world_from_shape.translation),
            })
            .collect();
        let mut bare = Vec::new();
        let expanded = scene.expanded();
        for (id, body) in world.model().bodies().zip(&expanded.bodies) {
            let properties = body.mass_properties();
            if body.shapes.is_empty() && properties.mass > 0.0 {
                // A ball has tr I = 6/5 m r².
                let inertia = properties.inertia;
                let radius = ((inertia.xx + inertia.yy + inertia.zz) / (1.2 * properties.mass)).sqrt();
                let is_bone = is_bone(id, world.pose(id).transform_point(properties.com));
                looks.push(Look { solid: Solid::ball(radius), color: body.color, is_bone });
                bare.push((id, properties.com));
            }
        }
        let kept = looks.len() + skins.iter().map(|(points, _)| points.len()).sum::<usize>();
        let frames = (POSES / kept.max(1) as u64).max(FRAMES);
        let smooth = (1.0 / (RATE * world.settings().dt)).round() as u64;
        let colored = skins.into_iter().zip(&list.flesh);
        let flesh = colored.map(|((_, skins), drawn)| Flesh { skins, color: drawn.color }).collect();
        let cast = Cast { looks, flesh, scenery: Scenery::of(&expanded) };
        Self { cast, frames: Vec::new(), bare, every: smooth.max(n_steps.div_ceil(frames)).max(1), list }
    }

    fn note(&mut self, world: &World) {
        world.draw(&mut self.list);
        let of_bare = |(body, center): &(BodyId, DVec3)| {
            let pose = world.pose(*body);
            Pose::new(pose.rotation, pose.transform_point(*center))
        };
        let skin = |(flesh, drawn): (&Flesh, &DrawFlesh)| flesh.skins[0].place(&drawn.points);
        let poses =
            self.list.solids.iter().map(|solid| solid.world_from_shape).chain(self.bare.iter().map(of_bare));
        self.frames.push(Frame {
            time: world.time(),
            poses: poses.collect(),
            skins: self.cast.flesh.iter().zip(&self.list.flesh).map(skin).collect(),
            lines: self.list.lines.iter().map(|line| (line.from, line.to)).collect(),
        });
    }
}

/// Surfaces of flesh, ever coarser, and the points of the first at rest; the others are made of it.
fn skins(flesh: &[FleshBody], list: &DrawList) -> Vec<(Vec<DVec3>, [Skin; 3])> {
    let mut points: Vec<Vec<DVec3>> = vec![Vec::new(); flesh.len()];
    for (body, points) in flesh.iter().zip(&mut points) {
        body.fill_surface(body.fem().mesh().positions(), points);
    }
    let drawn: Vec<Surface<'_>> =
        points.iter().zip(&list.flesh).map(|(points, drawn)| (&points[..], &drawn.triangles[..])).collect();
    let fine = Skin::within(TRIANGLES[0], &drawn);
    let places: Vec<Vec<DVec3>> = fine.iter().zip(&points).map(|(skin, points)| skin.place(points)).collect();
    let surfaces: Vec<Surface<'_>> =
        places.iter().zip(&fine).map(|(points, skin)| (&points[..], &skin.triangles[..])).collect();
    let [coarse, rough] = [TRIANGLES[1], TRIANGLES[2]].map(|budget| Skin::within(budget, &surfaces));
    let all = fine.into_iter().zip(coarse).zip(rough).map(|((a, b), c)| [a, b, c]).collect::<Vec<_>>();
    places.into_iter().zip(all).collect()
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
        assert!((film.cast.looks[0].solid.radius - 1.0).abs() < 1e-12);
        assert!(film.frames.iter().all(|frame| frame.poses.len() == film.cast.looks.len()));
        // At 60 steps per second every other step is a frame, and the last one always.
        assert_eq!(film.frames.len(), 4);
        assert_eq!(recorder.trace.unwrap().time.len(), 6);
    }
}
