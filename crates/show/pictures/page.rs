//! Pages of pictures that one camera takes, which sees all that moves.

use std::{error::Error, fs, path::Path};

use glam::DVec3;
use sinew_math::Pose;
use sinew_picture::{Camera, Filmstrip, View, encode_png};
use sinew_show::{Drawing, DrawingRenderer, SceneLooks, ShowOptions, tessellated};
use sinew_sim::World;

use crate::stills;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// Sides of a circle from which the camera tells where a solid ends.
const ROUGH: usize = 8;

/// How pictures are taken, and when.
pub(crate) struct Page {
    /// Pixels of one picture.
    pub(crate) size: (usize, usize),
    /// From what is seen to the camera.
    pub(crate) toward: DVec3,
    /// Pictures in a row; 0: as many as look good.
    pub(crate) columns: usize,
    /// After which steps.
    pub(crate) steps: Vec<u32>,
    pub(crate) show: ShowOptions,
}

impl Page {
    pub(crate) fn new(size: (usize, usize), toward: DVec3) -> Self {
        Self { size, toward, columns: 0, steps: Vec::new(), show: ShowOptions::default() }
    }

    /// Writes a world after its steps.
    pub(crate) fn write_film(&self, file: &Path, world_after: fn(u32) -> Outcome<World>) -> Outcome<()> {
        let looks = SceneLooks::of(&world_after(0)?);
        let still = |&step: &u32| {
            let world = world_after(step)?;
            Ok((stills::of_world(&world, &looks, self.show), format!("{:.1} s", world.time())))
        };
        self.write(file, &self.steps.iter().map(still).collect::<Outcome<Vec<_>>>()?)
    }

    /// Writes drawings with their captions.
    pub(crate) fn write(&self, file: &Path, drawings: &[(Drawing, String)]) -> Outcome<()> {
        let points: Vec<DVec3> = drawings.iter().flat_map(|(drawing, _)| points(drawing)).collect();
        let (width, height) = self.size;
        let view = View::from_direction(self.toward, DVec3::Z);
        let camera = Camera::framing(view, points.into_iter(), width as f64 / height as f64);
        let mut renderer = DrawingRenderer::new(width, height)?;
        let frames: Vec<_> = drawings
            .iter()
            .map(|(drawing, caption)| (renderer.render(drawing, &camera).clone(), caption.clone()))
            .collect();
        let page = Filmstrip { columns: self.columns, ..Filmstrip::default() }.compose(&frames)?;
        let mut bytes = Vec::new();
        encode_png(&page, &mut bytes)?;
        Ok(fs::write(file, bytes)?)
    }
}

/// Points of bodies, surfaces and lines of a drawing.
fn points(drawing: &Drawing) -> Vec<DVec3> {
    let corners = |shape, pose: Pose| {
        let mesh = tessellated(shape, ROUGH);
        mesh.positions().map(|point| pose.transform_point(point)).collect::<Vec<_>>()
    };
    let solids = drawing.solids.iter().flat_map(|solid| corners(&solid.shape, solid.pose));
    let surfaces = drawing.surfaces.iter().chain(&drawing.sheets);
    let surfaces = surfaces.flat_map(|surface| surface.points.iter().copied());
    solids.chain(surfaces).chain(drawing.lines.iter().flat_map(|line| [line.from, line.to])).collect()
}
