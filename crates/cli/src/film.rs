//! Pictures of a run as bytes: one frame (PNG), a page of frames (PNG), an animation (GIF).

use sinew_picture::{Animation, Filmstrip, Image, Palette, PictureError, encode_png};

use crate::picture::{FilmSet, PictureWishes, time};
use crate::progress;
use crate::record::{FilmSetting, RecordedFrame};

/// Default number of pixels of a picture, of a frame of an animation, and of a picture on a page.
const PICTURE: usize = 1200 * 800;
const MOVING: usize = 480 * 320;
const PANEL: usize = 480 * 320;
/// Pictures on a page, and pictures from which the palette of an animation is chosen.
const PANELS: usize = 8;
const SAMPLES: usize = 6;
/// Display time of the last frame of an animation (s).
const PAUSE: f64 = 0.7;

/// A recorded motion and how to draw it.
pub(crate) struct FilmExport<'a> {
    pub(crate) setting: &'a FilmSetting,
    pub(crate) frames: &'a [RecordedFrame],
    pub(crate) wishes: &'a PictureWishes,
    /// Simulated seconds per second of an animation.
    pub(crate) speed: f64,
}

impl FilmExport<'_> {
    fn set(&self, area: usize) -> Result<FilmSet<'_>, PictureError> {
        FilmSet::new(self.setting, self.frames, self.wishes, area)
    }

    /// The frame nearest to a time, or the last one, as PNG.
    pub(crate) fn to_png(&self, at: Option<f64>) -> Result<Vec<u8>, PictureError> {
        let frame = match at {
            Some(at) => {
                let apart = |frame: &&RecordedFrame| (frame.time - at).abs();
                self.frames.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)))
            }
            None => self.frames.last(),
        };
        let frame = frame.ok_or(PictureError::NoFrames)?;
        png(&self.set(PICTURE)?.shoot(frame, false))
    }

    /// Frames at equal intervals on a page, as PNG.
    pub(crate) fn to_filmstrip(&self, title: &str, subtitle: &str) -> Result<Vec<u8>, PictureError> {
        let mut set = self.set(PANEL)?;
        let panels: Vec<(Image, String)> =
            spread(self.frames, PANELS).map(|frame| (set.shoot(frame, false), time(frame))).collect();
        png(&Filmstrip { title: title.into(), subtitle: subtitle.into(), columns: 0 }.compose(&panels)?)
    }

    /// All frames, as PNG: gives name and bytes of each to `write`.
    pub(crate) fn each_png(
        &self,
        title: &str,
        mut write: impl FnMut(String, Vec<u8>) -> Result<(), String>,
    ) -> Result<(), String> {
        let as_text = |error: PictureError| error.to_string();
        let mut set = self.set(PICTURE).map_err(as_text)?;
        let bar = progress::bar(self.frames.len() as u64, title, Some("pictures"));
        for (i, frame) in self.frames.iter().enumerate() {
            write(format!("frame-{i:05}.png"), png(&set.shoot(frame, false)).map_err(as_text)?)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// All frames, as GIF.
    pub(crate) fn to_gif(&self, title: &str) -> Result<Vec<u8>, PictureError> {
        let mut set = self.set(MOVING)?;
        let samples: Vec<Image> = spread(self.frames, SAMPLES).map(|frame| set.shoot(frame, true)).collect();
        let size =
            samples.first().map(|image| (image.width(), image.height())).ok_or(PictureError::NoFrames)?;
        let mut animation = Animation::new(Vec::new(), Palette::of(&samples), size)?;
        let bar = progress::bar(self.frames.len() as u64, title, Some("pictures"));
        for (i, frame) in self.frames.iter().enumerate() {
            let shown = self.frames.get(i + 1).map_or(PAUSE, |next| (next.time - frame.time) / self.speed);
            animation.push(&set.shoot(frame, true), shown)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        animation.finish()
    }
}

/// At most `n` frames at equal intervals of time, first and last included.
fn spread(frames: &[RecordedFrame], n: usize) -> impl Iterator<Item = &RecordedFrame> {
    let n = n.min(frames.len());
    let (first, last) = (frames.first().map_or(0.0, |f| f.time), frames.last().map_or(0.0, |f| f.time));
    let time = move |i: usize| first + (last - first) * (i as f64 / n.saturating_sub(1).max(1) as f64 + 1e-9);
    (0..n).map(move |i| &frames[frames.partition_point(|frame| frame.time <= time(i)).max(1) - 1])
}

fn png(image: &Image) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    encode_png(image, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::Pose;
    use sinew_show::{DrawLine, DrawList, DrawSolid, LineKind, SceneLooks, Shape, SolidLook, VisibleState};
    use sinew_sim::BodyId;

    use super::FilmExport;
    use crate::picture::PictureWishes;
    use crate::record::{FilmSetting, RecordedFrame};

    fn solid(i: usize, k: usize) -> DrawSolid {
        DrawSolid {
            body: BodyId::from_index(i),
            world_from_shape: Pose::from_translation(DVec3::new(i as f64, 0.0, k as f64)),
            shape: Shape::Capsule { radius: 0.1, length: 1.0 },
            color: None,
        }
    }

    #[test]
    fn every_number_of_frames_and_bodies_can_be_drawn() {
        for (bodies, frames) in [(0, 1), (1, 1), (3, 2), (3, 20), (400, 2)] {
            let look = SolidLook { color: DVec3::X, is_bone: false };
            let looks = SceneLooks { solids: vec![look; bodies], ..SceneLooks::default() };
            let setting = FilmSetting { looks, gravity: DVec3::NEG_Z, ..FilmSetting::default() };
            let grab = DrawLine { kind: LineKind::Grab, from: DVec3::ZERO, to: DVec3::X };
            let list = |k: usize| DrawList {
                solids: (0..bodies).map(|i| solid(i, k)).collect(),
                lines: vec![grab],
                ..DrawList::default()
            };
            let visible = |k: usize| VisibleState { list: list(k), ..VisibleState::default() };
            let frames: Vec<RecordedFrame> =
                (0..frames).map(|k| RecordedFrame { time: k as f64, visible: visible(k) }).collect();
            let wishes = PictureWishes { size: Some((60, 40)), ..PictureWishes::default() };
            let export = FilmExport { setting: &setting, frames: &frames, wishes: &wishes, speed: 1.0 };
            for bytes in [export.to_png(Some(1.0)), export.to_filmstrip("a", "b"), export.to_gif("a")] {
                assert!(bytes.expect("a picture").len() > 100);
            }
        }
        let (setting, wishes) = (FilmSetting::default(), PictureWishes::default());
        let nothing = FilmExport { setting: &setting, frames: &[], wishes: &wishes, speed: 1.0 };
        assert!(
            nothing.to_png(None).is_err()
                && nothing.to_filmstrip("", "").is_err()
                && nothing.to_gif("").is_err()
        );
    }
}
