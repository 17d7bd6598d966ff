//! The motion of a run for other programs.

use sinew_io::{BvhOptions, Clip, GlbOptions, PageOptions, bvh, glb, obj, page, pvd, vtu};

use crate::args::MotionArgs;
use crate::outputs::Outputs;

/// A motion, and what is told of it besides.
pub(crate) struct MotionExport<'a> {
    pub(crate) clip: &'a Clip,
    pub(crate) subtitle: &'a str,
    pub(crate) camera: Option<String>,
    /// Simulated seconds per second.
    pub(crate) speed: f64,
}

impl MotionExport<'_> {
    /// Writes what is wanted.
    pub(crate) fn write(&self, args: &MotionArgs, outputs: &mut Outputs<'_>) {
        outputs.write(&args.html, "the motion as a page", || self.to_html());
        outputs.write(&args.glb, "the motion as glTF", || {
            let options = GlbOptions { speed: self.speed, ..GlbOptions::default() };
            glb(self.clip, &options).map_err(|error| error.to_string())
        });
        outputs.write(&args.bvh, "the motion as BVH", || {
            let options = BvhOptions { speed: self.speed };
            bvh(self.clip, &options).map(String::into_bytes).map_err(|error| error.to_string())
        });
        outputs.write_all(&args.obj, "every frame as a surface", |folder| {
            let mut frames = (0..self.clip.frames.len()).filter_map(|i| Some((i, obj(self.clip, i)?)));
            frames.try_for_each(|(i, text)| folder.write(&format!("frame-{i:05}.obj"), text.as_bytes()))
        });
        outputs.write_all(&args.vtu, "every frame for ParaView", |folder| {
            let name = |i: usize| format!("frame-{i:05}.vtu");
            let mut frames = (0..self.clip.frames.len()).filter_map(|i| Some((i, vtu(self.clip, i)?)));
            frames.try_for_each(|(i, text)| folder.write(&name(i), text.as_bytes()))?;
            let times = self.clip.frames.iter().enumerate().map(|(i, frame)| (frame.time, name(i)));
            folder.write("motion.pvd", pvd(times).as_bytes())
        });
    }

    fn to_html(&self) -> Result<Vec<u8>, String> {
        let camera = self.camera.clone().unwrap_or_else(|| PageOptions::default().camera);
        let options = PageOptions { speed: self.speed, camera, facts: self.subtitle.to_owned() };
        page(self.clip, &options).map(String::into_bytes).map_err(|error| error.to_string())
    }
}
