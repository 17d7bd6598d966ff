//! Recording of a run: curves with a value per step, frames for pictures, and the motion for other programs.

use std::borrow::Cow;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_io::{Clip, ClipFrame};
use sinew_scene::SceneDoc;
use sinew_show::{DrawList, SceneLooks, Scenery, ShowOptions, VisibleState, draw};
use sinew_sim::World;

use crate::curves::{CurvePoint, RunCurves};

/// Frames per second of pictures and of motions, memory permitting.
pub(crate) const PICTURE_RATE: f64 = 30.0;
pub(crate) const MOTION_RATE: f64 = 60.0;
/// Largest number of poses and points in all frames: some hundred megabytes.
const POSES: u64 = 5_000_000;
/// Smallest number of frames of a long run, whatever their size.
const FRAMES: u64 = 60;

/// Curves and frames of a run, each only if wanted.
pub(crate) struct Recorder {
    pub(crate) curves: Option<RunCurves>,
    pub(crate) frames: Option<FrameRecorder>,
    pub(crate) clip: Option<ClipRecorder>,
}

/// Frames of a run.
pub(crate) struct FrameRecorder {
    pub(crate) setting: FilmSetting,
    pub(crate) frames: Vec<RecordedFrame>,
    clock: FrameSchedule,
    wishes: FrameWishes,
}

/// The motion of a run.
pub(crate) struct ClipRecorder {
    pub(crate) clip: Clip,
    clock: FrameSchedule,
}

/// Which steps get a frame.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FrameSchedule {
    /// Frames per second of simulated time.
    rate: f64,
    /// Step length (s), the step since which it holds, and the number of steps between frames.
    dt: f64,
    since: u64,
    every: u64,
    /// Smallest number of steps between frames.
    least: u64,
}

/// What was recorded so far, without what is the same for every run of the scene.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedRecorder<'a> {
    curves: Option<Cow<'a, RunCurves>>,
    frames: Option<(FrameSchedule, Cow<'a, [RecordedFrame]>)>,
    clip: Option<(FrameSchedule, Cow<'a, [ClipFrame]>)>,
}

/// What of a run is recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordWishes {
    pub(crate) curves: bool,
    pub(crate) frames: Option<FrameWishes>,
    /// Frames of the motion per simulated second.
    pub(crate) clip: Option<f64>,
    /// Whether the motion tells which bodies flesh follows.
    pub(crate) bound: bool,
}

/// What is the same in all frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilmSetting {
    pub(crate) looks: SceneLooks,
    pub(crate) scenery: Scenery,
    /// Initial gravity (m/s²), which defines the downward direction.
    pub(crate) gravity: DVec3,
}

/// One moment of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RecordedFrame {
    /// Time (s).
    pub(crate) time: f64,
    pub(crate) visible: VisibleState,
}

/// Optional content of frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameWishes {
    /// A step that must have a frame, besides the first and the last.
    pub(crate) at: Option<u64>,
    /// What pictures show.
    pub(crate) show: ShowOptions,
    /// Frames per simulated second.
    pub(crate) rate: f64,
}

impl Recorder {
    /// Starts recording a run of `n_steps` steps, with its initial state.
    pub(crate) fn new(scene: &SceneDoc, world: &World, n_steps: u64, wishes: RecordWishes) -> Self {
        let n_points = n_points(world);
        let clock = |rate: f64| FrameSchedule::new(rate, world.settings().dt, n_steps, n_points);
        let mut recorder = Self {
            curves: wishes.curves.then(RunCurves::default),
            frames: wishes.frames.map(|wishes| FrameRecorder::new(scene, world, clock(wishes.rate), wishes)),
            clip: wishes.clip.map(|rate| {
                let mut clip = Clip::new(scene.name.clone(), world);
                if wishes.bound {
                    clip.bind(world);
                }
                ClipRecorder { clip, clock: clock(rate) }
            }),
        };
        recorder.note(world, 0, n_steps, true);
        recorder
    }

    /// What was recorded so far.
    pub(crate) fn save(&self) -> SavedRecorder<'_> {
        SavedRecorder {
            curves: self.curves.as_ref().map(Cow::Borrowed),
            frames: self.frames.as_ref().map(|film| (film.clock, Cow::Borrowed(&film.frames[..]))),
            clip: self.clip.as_ref().map(|motion| (motion.clock, Cow::Borrowed(&motion.clip.frames[..]))),
        }
    }

    /// Takes what was recorded in the same run until it was saved; false if that was another.
    pub(crate) fn take(&mut self, saved: SavedRecorder<'_>) -> bool {
        let SavedRecorder { curves, frames, clip } = saved;
        let has = (curves.is_some(), frames.is_some(), clip.is_some());
        let wants = (self.curves.is_some(), self.frames.is_some(), self.clip.is_some());
        self.curves = curves.map(Cow::into_owned);
        let mut is_alike = has == wants;
        if let (Some(film), Some((clock, frames))) = (&mut self.frames, frames) {
            is_alike &= film.take(clock, frames.into_owned());
        }
        if let (Some(motion), Some((clock, frames))) = (&mut self.clip, clip) {
            (motion.clock, motion.clip.frames) = (clock, frames.into_owned());
        }
        is_alike
    }

    /// Records the world after step `step` of `n_steps`. Implausible states get no frame.
    pub(crate) fn note(&mut self, world: &World, step: u64, n_steps: u64, is_plausible: bool) {
        if let Some(curves) = &mut self.curves {
            curves.0.push(CurvePoint::of(world));
        }
        if let Some(film) = &mut self.frames
            && is_plausible
            && (film.clock.is_due(world, step) || step == n_steps || film.wishes.at == Some(step))
        {
            film.note(world);
        }
        if let Some(motion) = &mut self.clip
            && is_plausible
            && (motion.clock.is_due(world, step) || step == n_steps)
        {
            motion.clip.push(world);
        }
    }
}

/// Number of poses and points of a frame.
fn n_points(world: &World) -> u64 {
    let mut list = DrawList::default();
    draw(world, &mut list);
    let points = list.surfaces.iter().map(|drawn| drawn.points.len()).sum::<usize>()
        + list.flesh.iter().map(|drawn| drawn.points.len()).sum::<usize>();
    (list.solids.len() + points).max(1) as u64
}

impl FrameSchedule {
    fn new(rate: f64, dt: f64, n_steps: u64, n_points: u64) -> Self {
        let least = n_steps.div_ceil((POSES / n_points).max(FRAMES)).max(1);
        let mut clock = Self { rate, dt: 0.0, since: 0, every: 1, least };
        clock.set_step_length(dt, 0);
        clock
    }

    /// Chooses the number of steps between frames for steps of length `dt` (s) from step `since` on.
    fn set_step_length(&mut self, dt: f64, since: u64) {
        (self.dt, self.since) = (dt, since);
        self.every = ((1.0 / (self.rate * dt)).round() as u64).max(self.least);
    }

    /// Whether a step gets a frame.
    fn is_due(&mut self, world: &World, step: u64) -> bool {
        let dt = world.settings().dt;
        if dt.to_bits() != self.dt.to_bits() {
            self.set_step_length(dt, step.saturating_sub(1));
        }
        (step - self.since).is_multiple_of(self.every)
    }
}

impl FrameRecorder {
    fn new(scene: &SceneDoc, world: &World, clock: FrameSchedule, wishes: FrameWishes) -> Self {
        let setting = FilmSetting {
            looks: SceneLooks::of(world),
            scenery: Scenery::of(&scene.expanded(), world.appearance()),
            gravity: world.settings().gravity,
        };
        Self { setting, frames: Vec::new(), clock, wishes }
    }

    /// Takes frames that were saved, which share their triangles with the first one; false if they show other surfaces.
    fn take(&mut self, clock: FrameSchedule, mut frames: Vec<RecordedFrame>) -> bool {
        let Some(first) = self.frames.first() else { return false };
        let mut all = frames.iter_mut();
        let is_alike = all.all(|frame| frame.visible.list.share_triangles(&first.visible.list));
        (self.clock, self.frames) = (clock, frames);
        is_alike
    }

    fn note(&mut self, world: &World) {
        let mut visible = VisibleState::default();
        visible.fill(world, &self.setting.looks, &self.wishes.show);
        self.frames.push(RecordedFrame { time: world.time(), visible });
    }
}

#[cfg(test)]
mod tests {
    use sinew_scene::SceneDoc;
    use sinew_show::{Shape, ShowOptions};
    use sinew_sim::World;

    use super::{FrameWishes, PICTURE_RATE, RecordWishes, RecordedFrame, Recorder};

    #[test]
    fn bodies_without_shapes_are_balls_of_their_inertia() {
        let text =
            "(format: 1, bodies: [(name: \"a\", mass: Properties(mass: 5, inertia: Diagonal(2, 2, 2)))])";
        let scene = SceneDoc::from_ron(text, "a.ron").unwrap();
        let mut world = World::from_scene(&scene).unwrap();
        let show = ShowOptions { nodes: true, ..ShowOptions::default() };
        let frames = Some(FrameWishes { at: Some(3), show, rate: PICTURE_RATE });
        let wishes = RecordWishes { curves: true, frames, clip: Some(60.0), bound: false };
        let mut recorder = Recorder::new(&scene, &world, 5, wishes);
        for step in 1..=5 {
            world.step();
            recorder.note(&world, step, 5, true);
        }
        let film = recorder.frames.unwrap();
        let solids = |frame: &RecordedFrame| frame.visible.list.solids.clone();
        let Shape::Sphere { radius } = solids(&film.frames[0])[0].shape else { panic!("a ball") };
        assert!((radius - 1.0).abs() < 1e-12);
        assert!(film.frames.iter().all(|frame| solids(frame).len() == film.setting.looks.solids.len()));
        // At 60 steps per second every other step has a frame; so have the third, by request, and the last.
        assert_eq!(film.frames.len(), 5);
        assert_eq!(recorder.clip.unwrap().clip.frames.len(), 6);
        assert_eq!(recorder.curves.unwrap().0.len(), 6);
    }
}
