//! What is kept of a run while it runs: curves for every step, and where things are for some.

use sinew_scene::SceneDoc;
use sinew_show::{DrawList, LineKind, Scenery};
use sinew_sim::World;

use crate::stage::{Frame, Stage};
use crate::trace::Trace;

/// Frames per second of simulated time, as far as the memory below allows.
const RATE: f64 = 30.0;
/// Poses and points kept in all frames together: some hundred megabytes.
const POSES: u64 = 5_000_000;
/// Frames kept even if there are more poses.
const FRAMES: u64 = 60;

/// Collects curves and frames, each only if wanted.
pub(crate) struct Recorder {
    pub(crate) trace: Option<Trace>,
    pub(crate) film: Option<Film>,
}

/// Stage and frames of a run.
pub(crate) struct Film {
    pub(crate) stage: Stage,
    pub(crate) frames: Vec<Frame>,
    /// Length of steps (s), the step since which they are so long, and how many there are from frame to frame.
    dt: f64,
    since: u64,
    every: u64,
    /// Fewest steps from frame to frame.
    least: u64,
    wishes: FrameWishes,
    list: DrawList,
}

/// What frames should hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameWishes {
    /// A step after which there must be a frame, besides first and last.
    pub(crate) at: Option<u64>,
    /// Whether nodes of flesh are wanted.
    pub(crate) nodes: bool,
    /// Whether forces of contacts are wanted.
    pub(crate) contacts: bool,
    /// Whether it is wanted which points of flesh are in diagonalized tetrahedra.
    pub(crate) diagonalized: bool,
}

impl Recorder {
    /// Begins a run of `n_steps` steps; the start is recorded at once. Frames are kept if wanted, one of them after step
    /// `at`, with the nodes of flesh if those are wanted too.
    pub(crate) fn new(
        scene: &SceneDoc,
        world: &World,
        n_steps: u64,
        curves: bool,
        frames: Option<FrameWishes>,
    ) -> Self {
        let mut recorder = Self {
            trace: curves.then(Trace::default),
            film: frames.map(|wishes| Film::new(scene, world, n_steps, wishes)),
        };
        recorder.note(world, 0, n_steps, true);
        recorder
    }

    /// Looks at the world after step `step` of `n_steps`. What makes no sense is kept in curves, not in frames.
    pub(crate) fn note(&mut self, world: &World, step: u64, n_steps: u64, makes_sense: bool) {
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
            && makes_sense
            && (film.is_due(world, step) || step == n_steps || film.wishes.at == Some(step))
        {
            film.note(world);
        }
    }
}

impl Film {
    fn new(scene: &SceneDoc, world: &World, n_steps: u64, wishes: FrameWishes) -> Self {
        let mut list = DrawList::default();
        sinew_show::draw(world, &mut list);
        let stage = Stage::of(world, &list, Scenery::of(&scene.expanded()));
        let points = list.surfaces.iter().map(|drawn| drawn.points.len()).sum::<usize>()
            + list.flesh.iter().map(|drawn| drawn.points.len()).sum::<usize>();
        let frames = (POSES / (stage.shapes.len() + points).max(1) as u64).max(FRAMES);
        let least = n_steps.div_ceil(frames).max(1);
        let mut film = Self { stage, frames: Vec::new(), dt: 0.0, since: 0, every: 1, least, wishes, list };
        film.pace(world.settings().dt, 0);
        film
    }

    /// From so many steps on, steps have this length, s.
    fn pace(&mut self, dt: f64, since: u64) {
        (self.dt, self.since) = (dt, since);
        self.every = ((1.0 / (RATE * dt)).round() as u64).max(self.least);
    }

    /// Whether there is a frame after a step.
    fn is_due(&mut self, world: &World, step: u64) -> bool {
        let dt = world.settings().dt;
        if dt.to_bits() != self.dt.to_bits() {
            self.pace(dt, step.saturating_sub(1));
        }
        (step - self.since).is_multiple_of(self.every)
    }

    fn note(&mut self, world: &World) {
        sinew_show::draw(world, &mut self.list);
        let list = &self.list;
        let lines = |kind: LineKind| {
            list.lines.iter().filter(|line| line.kind == kind).map(|line| (line.from, line.to)).collect()
        };
        let nodes = world.state().flesh.nodes.iter().filter(|_| self.wishes.nodes);
        let soft = world.model().flesh().filter(|_| self.wishes.diagonalized);
        let soft = soft.into_iter().flat_map(|flesh| flesh.bodies()).zip(&world.state().flesh.nodes);
        let contacts = world.contacts().filter(|_| self.wishes.contacts);
        self.frames.push(Frame {
            time: world.time(),
            poses: list.solids.iter().map(|solid| solid.world_from_shape).collect(),
            skins: list.flesh.iter().map(|flesh| flesh.points.clone()).collect(),
            sheets: list.surfaces.iter().map(|drawn| drawn.points.clone()).collect(),
            diagonalized: soft
                .map(|(body, nodes)| {
                    let mut out = Vec::new();
                    body.fill_diagonalized(&nodes.positions, &mut out);
                    out
                })
                .collect(),
            contacts: contacts.map(|contact| (contact.point, contact.force)).collect(),
            nodes: nodes.map(|nodes| nodes.positions.clone()).collect(),
            joints: list.points.iter().map(|point| point.position).collect(),
            springs: lines(LineKind::Spring),
            grabs: lines(LineKind::Grab),
        });
    }
}

#[cfg(test)]
mod tests {
    use sinew_show::Shape;
    use sinew_sim::{SceneDoc, World};

    use super::{FrameWishes, Recorder};

    #[test]
    fn bodies_without_shapes_are_balls_of_their_inertia() {
        let text =
            "(format: 1, bodies: [(name: \"a\", mass: Properties(mass: 5, inertia: Diagonal(2, 2, 2)))])";
        let scene = SceneDoc::from_ron(text, "a.ron").unwrap();
        let mut world = World::from_scene(&scene).unwrap();
        let mut recorder = Recorder::new(
            &scene,
            &world,
            5,
            true,
            Some(FrameWishes { at: Some(3), nodes: true, ..FrameWishes::default() }),
        );
        for step in 1..=5 {
            world.step();
            recorder.note(&world, step, 5, true);
        }
        let film = recorder.film.unwrap();
        let Shape::Sphere { radius } = film.stage.shapes[0] else { panic!("a ball") };
        assert!((radius - 1.0).abs() < 1e-12);
        assert!(film.frames.iter().all(|frame| frame.poses.len() == film.stage.shapes.len()));
        // At 60 steps per second every other step is a frame; the third was asked for, and the last is always there.
        assert_eq!(film.frames.len(), 5);
        assert_eq!(recorder.trace.unwrap().time.len(), 6);
    }
}
