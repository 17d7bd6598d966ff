//! Motions as pages: whatever the numbers, the page can be made, and what it holds is what was recorded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;

use glam::{DQuat, DVec3};
use sinew_fuzz::bounded;
use sinew_io::{Clip, ClipBody, ClipFrame, ClipSkin, PageOptions, page};
use sinew_math::Pose;

/// Numbers made of bytes: small ones of one byte, any of nine.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> f64 {
        let small = self.byte();
        match self.0.split_first_chunk::<8>() {
            Some((bytes, rest)) if small >= 250 => {
                self.0 = rest;
                f64::from_le_bytes(*bytes)
            }
            _ => (f64::from(small) - 100.0) / 8.0,
        }
    }

    fn point(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    fn points(&mut self, most: u8) -> Vec<DVec3> {
        (0..self.byte() % most).map(|_| self.point()).collect()
    }

    fn clip(&mut self) -> Clip {
        let mut clip = Clip::default();
        clip.name = String::from_utf8_lossy(&self.0[..self.0.len().min(12)]).into_owned();
        clip.gravity = self.point();
        clip.weight = self.number();
        let (n_bodies, n_skins) = (self.byte() % 4, self.byte() % 3);
        clip.bodies.resize(usize::from(n_bodies), ClipBody::default());
        for _ in 0..n_skins {
            let rest = self.points(6);
            let triangles = if rest.len() > 2 { vec![[0, 1, 2]] } else { Vec::new() };
            clip.skins.push(ClipSkin { rest, triangles, is_flesh: true, ..ClipSkin::default() });
        }
        while !self.0.is_empty() && clip.frames.len() < 70 {
            let mut frame = ClipFrame::default();
            frame.time = clip.frames.len() as f64 / 60.0;
            let pose = |it: &mut Self| {
                let rotation = DQuat::from_xyzw(it.number(), it.number(), it.number(), 1.0).normalize();
                Pose::new(rotation, it.point())
            };
            frame.poses = (0..n_bodies).map(|_| pose(self)).collect();
            frame.skins = (0..n_skins).map(|_| self.points(6)).collect();
            frame.contacts = (0..self.byte() % 3).map(|_| (self.point(), self.point())).collect();
            frame.lines = (0..self.byte() % 3).map(|_| (self.point(), self.point(), true)).collect();
            frame.joint_forces = self.points(3);
            clip.frames.push(frame);
        }
        clip
    }
}

/// What stands between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).expect("a beginning").1;
    rest.split_once(to).expect("an end").0
}

fn bytes_of(letters: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let four = |four: &[u8]| four.iter().fold(0u32, |bits, &c| bits << 6 | u32::from(value(c)));
    letters.as_bytes().chunks_exact(4).flat_map(|it| four(it).to_be_bytes()[1..].to_vec()).collect()
}

/// Whole numbers of the frames of a lane, as `clip.js` unpacks them: by part, then by item.
fn unpacked(bytes: &[u8], n_frames: usize, stride: usize) -> Vec<Vec<i32>> {
    let count = |f: usize| u32::from_le_bytes(bytes[4 * f..4 * f + 4].try_into().expect("four")) as usize;
    let (order, planes) = (bytes[4 * n_frames], usize::from(bytes[4 * n_frames + 1]));
    let total: usize = (0..n_frames).map(|f| count(f) * stride).sum();
    assert_eq!(bytes.len(), 4 * n_frames + 2 + planes * total);
    let folded = |i: usize| -> u32 {
        (0..planes).map(|k| u32::from(bytes[4 * n_frames + 2 + k * total + i]) << (8 * k)).sum()
    };
    let (mut frames, mut next) = (Vec::<Vec<i32>>::new(), 0);
    for f in 0..n_frames {
        let n = count(f);
        let mut frame = vec![0; n * stride];
        for k in 0..stride {
            for i in 0..n {
                let get = |back: usize| {
                    let m = count(f.checked_sub(back)?);
                    (i < m).then(|| frames[f - back][k * m + i])
                };
                let guess = match (get(1), get(2).filter(|_| order > 1)) {
                    (Some(a), Some(b)) => 2 * a - b,
                    (Some(a), None) => a,
                    (None, _) if i > 0 => frame[k * n + i - 1],
                    (None, _) => 0,
                };
                let folded = folded(next);
                next += 1;
                frame[k * n + i] = guess.wrapping_add((folded >> 1) as i32 ^ -((folded & 1) as i32));
            }
        }
        frames.push(frame);
    }
    frames
}

/// Compares a part of a lane with what was recorded, where numbers are of usual size.
fn compare(lane: &Value, frame: &[i32], points: &[DVec3], first_part: usize) {
    let list = |name: &str| lane[name].as_array().expect("a list").clone();
    let (scale, offset) = (list("scale"), list("offset"));
    let n = frame.len() / scale.len();
    assert_eq!(n, points.len());
    for (i, point) in points.iter().enumerate().filter(|(_, point)| point.is_finite()) {
        for (axis, wanted) in point.to_array().into_iter().enumerate() {
            let part = first_part + axis;
            let (Some(scale), Some(offset)) = (scale[part].as_f64(), offset[part].as_f64()) else { continue };
            let found = offset + scale * f64::from(frame[part * n + i]);
            let exact = 0.51 * scale + 3e-7 * (wanted.abs() + offset.abs());
            if wanted.abs() < 1e6 && offset.abs() < 1e6 && scale < 1.0 {
                assert!((found - wanted).abs() <= exact, "{found} instead of {wanted}, scale {scale}");
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let clip = Numbers(data).clip();
    let text = bounded(data, || page(&clip, &PageOptions::default()));
    let Ok(text) = text else { return };
    let header = between(&text, "<script type=\"application/json\" id=\"clip\">", "</script>");
    let header: Value = serde_json::from_str(header).expect("JSON");
    assert_eq!(header["name"].as_str(), Some(&*clip.name));
    let data = bytes_of(between(&text, "id=\"data\">", "</script>"));
    let lanes = header["lanes"].as_array().expect("lanes");
    let chunk = header["chunk"].as_u64().expect("a number") as usize;
    for (c, frames) in clip.frames.chunks(chunk).enumerate() {
        for (l, lane) in lanes.iter().enumerate() {
            let [first, length] =
                [0, 1].map(|i| header["chunks"][c][l][i].as_u64().expect("a place") as usize);
            let bytes = decompress_to_vec_zlib(&data[first..first + length]).expect("a stream");
            let stride = lane["scale"].as_array().expect("a list").len();
            for (frame, whole) in frames.iter().zip(unpacked(&bytes, frames.len(), stride)) {
                let places: Vec<DVec3> = frame.poses.iter().map(|pose| pose.translation).collect();
                match l {
                    0 => compare(lane, &whole, &places, 0),
                    2 => compare(lane, &whole, &frame.lines.iter().map(|line| line.1).collect::<Vec<_>>(), 3),
                    1 | 3 => {}
                    skin => compare(lane, &whole, &frame.skins[skin - 4], 0),
                }
            }
        }
    }
});
