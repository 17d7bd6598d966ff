//! Lanes: lists of numbers that every frame has, as whole numbers, as differences to a guess, compressed.
//!
//! A number `x` becomes `q = round((x − offset)/scale)`, kept within ±2²⁷. Within a chunk of frames the guess is `2a − b` or `a` with `a`, `b` the
//! same item one and two frames before (whichever makes smaller differences), the item before in the first frame, and zero at the start. Differences
//! are folded to `0, −1, 1, −2 …`, split in planes of bytes of equal weight, and deflated. Linear cost.

use miniz_oxide::deflate::compress_to_vec_zlib;

use crate::base64::push_base64;

/// Frames of a chunk: half a second at 60 per second.
pub(super) const CHUNK: usize = 30;
/// Effort of the compression, of 10.
const EFFORT: u8 = 7;
const LARGEST: f64 = (1 << 27) as f64;

/// How the parts of an item are stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberLane {
    pub(super) scale: Vec<f64>,
    pub(super) offset: Vec<f64>,
}

impl NumberLane {
    /// Whole numbers of a frame: by part, then by item. `numbers` are by item, then by part.
    pub(super) fn whole(&self, numbers: &[f64]) -> Vec<i32> {
        let stride = self.scale.len();
        let part = |k: usize| {
            let numbers = numbers.iter().skip(k).step_by(stride);
            numbers
                .map(move |x| ((x - self.offset[k]) / self.scale[k]).round().clamp(-LARGEST, LARGEST) as i32)
        };
        (0..stride).flat_map(part).collect()
    }
}

/// The bytes of a chunk of frames, not yet compressed: numbers of items, order of the guess, number of planes, planes.
pub(super) fn chunk_bytes(frames: &[Vec<i32>], stride: usize) -> Vec<u8> {
    let (first, second) = (residuals(frames, stride, 1), residuals(frames, stride, 2));
    let sum = |list: &[u32]| list.iter().map(|&x| u64::from(32 - x.leading_zeros())).sum::<u64>();
    let (order, residuals) = if sum(&second) < sum(&first) { (2, second) } else { (1, first) };
    let planes = (0..4).rev().find(|k| residuals.iter().any(|x| x >> (8 * k) != 0)).map_or(0, |k| k + 1);
    let mut bytes: Vec<u8> =
        frames.iter().flat_map(|frame| ((frame.len() / stride) as u32).to_le_bytes()).collect();
    bytes.extend([order, planes]);
    for plane in 0..planes {
        bytes.extend(residuals.iter().map(|x| (x >> (8 * plane)) as u8));
    }
    bytes
}

/// Folded differences to the guesses.
fn residuals(frames: &[Vec<i32>], stride: usize, order: usize) -> Vec<u32> {
    let mut out = Vec::new();
    for (f, frame) in frames.iter().enumerate() {
        for k in 0..stride {
            let back =
                |by: usize| f.checked_sub(by).filter(|_| by <= order).map(|f| part(&frames[f], k, stride));
            let (now, before, earlier) = (part(frame, k, stride), back(1), back(2));
            for (i, number) in now.iter().enumerate() {
                let guess = match (before.and_then(|it| it.get(i)), earlier.and_then(|it| it.get(i))) {
                    (Some(a), Some(b)) => 2 * a - b,
                    (Some(a), None) => *a,
                    (None, _) if i > 0 => now[i - 1],
                    (None, _) => 0,
                };
                let difference = number.wrapping_sub(guess);
                out.push(((difference << 1) ^ (difference >> 31)) as u32);
            }
        }
    }
    out
}

/// The numbers of one part of all items of a frame.
fn part(frame: &[i32], k: usize, stride: usize) -> &[i32] {
    let n = frame.len() / stride;
    &frame[k * n..(k + 1) * n]
}

/// Compressed streams, one after another, each at a multiple of three bytes.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<u8>);

impl Streams {
    /// Adds a stream: where it begins, and its length.
    pub(super) fn push(&mut self, bytes: &[u8]) -> [usize; 2] {
        let packed = compress_to_vec_zlib(bytes, EFFORT);
        let first = self.0.len();
        self.0.extend(&packed);
        self.0.resize(self.0.len().next_multiple_of(3), 0);
        [first, packed.len()]
    }

    /// Everything as letters.
    pub(super) fn to_base64(&self) -> String {
        let mut text = String::new();
        push_base64(&self.0, &mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use miniz_oxide::inflate::decompress_to_vec_zlib;

    use super::{NumberLane, Streams, chunk_bytes};

    /// As the page reads it.
    fn read(bytes: &[u8], n_frames: usize, stride: usize) -> Vec<Vec<i32>> {
        let count = |f: usize| u32::from_le_bytes(bytes[4 * f..4 * f + 4].try_into().unwrap()) as usize;
        let (order, planes) = (bytes[4 * n_frames], bytes[4 * n_frames + 1]);
        let total: usize = (0..n_frames).map(|f| count(f) * stride).sum();
        let at = |i: usize| -> u32 {
            (0..planes as usize).map(|k| u32::from(bytes[4 * n_frames + 2 + k * total + i]) << (8 * k)).sum()
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
                    let folded = at(next);
                    next += 1;
                    frame[k * n + i] = guess + ((folded >> 1) as i32 ^ -((folded & 1) as i32));
                }
            }
            frames.push(frame);
        }
        frames
    }

    #[test]
    fn numbers_come_back_whatever_their_count() {
        let lane = NumberLane { scale: vec![0.5, 1e-3], offset: vec![1.0, -2.0] };
        let counts = [3, 3, 0, 5, 5, 2, 1];
        let numbers = |f: usize, n: usize| -> Vec<f64> {
            (0..2 * n).map(|i| (i as f64 * 0.7 - f as f64) * if i == 3 { 1e30 } else { 10.0 }).collect()
        };
        let frames: Vec<Vec<i32>> =
            counts.iter().enumerate().map(|(f, &n)| lane.whole(&numbers(f, n))).collect();
        let bytes = chunk_bytes(&frames, 2);
        assert_eq!(read(&bytes, counts.len(), 2), frames);
        assert_eq!(frames[0][0], ((-0.0 - 1.0) / 0.5) as i32);
        assert!(lane.whole(&[f64::NAN, f64::INFINITY])[1] > 1 << 26);
    }

    #[test]
    fn smooth_motions_are_short() {
        let frames: Vec<Vec<i32>> =
            (0..30).map(|f| (0..300).map(|i| 40 * i + 900 * f + 3 * f * f).collect()).collect();
        let bytes = chunk_bytes(&frames, 3);
        let mut streams = Streams::default();
        streams.push(b"abcd");
        let [first, length] = streams.push(&bytes);
        assert!(first % 3 == 0 && length < bytes.len() / 8, "{length} of {}", bytes.len());
        assert_eq!(decompress_to_vec_zlib(&streams.0[first..first + length]).unwrap(), bytes);
        assert_eq!(streams.to_base64().len(), streams.0.len() / 3 * 4);
    }
}
