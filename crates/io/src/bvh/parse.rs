//! The text of a BVH file: `HIERARCHY` with joints, `MOTION` with frames.

use glam::DVec3;

use crate::error::ImportFault;
use crate::report::FilePlace;

/// Most numbers of a motion, and most joints times frames.
pub(super) const MAX_VALUES: usize = 5_000_000;
/// Most joints, and most of them below each other.
const MAX_JOINTS: usize = 1000;

/// A channel: what moves along or about which axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BvhChannel {
    turns: bool,
    axis: u8,
}

impl BvhChannel {
    fn named(name: &str) -> Option<Self> {
        let (axis, kind) = name.split_at_checked(1)?;
        let axis = ["X", "Y", "Z"].iter().position(|known| known.eq_ignore_ascii_case(axis))? as u8;
        let turns = kind.eq_ignore_ascii_case("rotation");
        (turns || kind.eq_ignore_ascii_case("position")).then_some(Self { turns, axis })
    }

    pub(super) fn turns(self) -> bool {
        self.turns
    }

    pub(super) fn axis(self) -> DVec3 {
        DVec3::AXES[usize::from(self.axis)]
    }
}

/// A joint.
#[derive(Clone, Debug)]
pub(super) struct BvhJoint {
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) parent: Option<usize>,
    pub(super) offset: DVec3,
    pub(super) channels: Vec<BvhChannel>,
    /// The place of its first channel in a frame.
    pub(super) first: usize,
    /// The offset of its `End Site`.
    pub(super) end: Option<DVec3>,
}

impl BvhJoint {
    /// The axis of its only rotation channel; none for other joints and the root.
    pub(super) fn single_axis(&self) -> Option<DVec3> {
        let mut turns = self.channels.iter().filter(|channel| channel.turns());
        match (self.parent, turns.next(), turns.next()) {
            (Some(_), Some(channel), None) => Some(channel.axis()),
            _ => None,
        }
    }
}

/// A file.
pub(super) struct BvhMotion {
    /// Parents come first.
    pub(super) joints: Vec<BvhJoint>,
    pub(super) frame_time: f64,
    width: usize,
    values: Vec<f64>,
}

impl BvhMotion {
    pub(super) fn frames(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.width.max(1))
    }

    pub(super) fn parse(text: &str, file: &str) -> Result<Self, ImportFault> {
        BvhWords { words: words(text), line: 1, file }.file()
    }
}

/// Words with their lines.
fn words(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1..)
        .zip(text.lines())
        .flat_map(|(line, text)| text.split_ascii_whitespace().map(move |word| (line, word)))
}

/// Reads words one by one.
struct BvhWords<'a, I: Iterator<Item = (u32, &'a str)>> {
    words: I,
    line: u32,
    file: &'a str,
}

impl<'a, I: Iterator<Item = (u32, &'a str)>> BvhWords<'a, I> {
    fn fault(&self, problem: impl Into<String>) -> ImportFault {
        ImportFault::new(FilePlace { line: self.line, ..FilePlace::whole(self.file) }, problem)
    }

    fn next(&mut self, what: &str) -> Result<&'a str, ImportFault> {
        let Some((line, word)) = self.words.next() else {
            return Err(self.fault(format!("the file ends where {what} is expected")));
        };
        self.line = line;
        Ok(word)
    }

    fn expect(&mut self, wanted: &str) -> Result<(), ImportFault> {
        let word = self.next(&format!("`{wanted}`"))?;
        if word.trim_end_matches(':').eq_ignore_ascii_case(wanted) {
            return Ok(());
        }
        Err(self.fault(format!("`{wanted}` is expected, not `{}`", short(word))))
    }

    fn number(&mut self) -> Result<f64, ImportFault> {
        let word = self.next("a number")?;
        let number = word.parse().ok().filter(|number: &f64| number.is_finite() && number.abs() < 1e9);
        number.ok_or_else(|| self.fault(format!("`{}` is no number of usual size", short(word))))
    }

    fn vector(&mut self) -> Result<DVec3, ImportFault> {
        Ok(DVec3::new(self.number()?, self.number()?, self.number()?))
    }

    fn count(&mut self, most: usize) -> Result<usize, ImportFault> {
        let word = self.next("a count")?;
        let count = word.parse().ok().filter(|&count| count <= most);
        count.ok_or_else(|| self.fault(format!("`{}` is no count up to {most}", short(word))))
    }

    fn file(mut self) -> Result<BvhMotion, ImportFault> {
        self.expect("HIERARCHY")?;
        self.expect("ROOT")?;
        let (joints, width) = self.hierarchy()?;
        self.expect("MOTION")?;
        self.expect("Frames")?;
        let n = self.count(MAX_VALUES / width.max(joints.len()))?;
        self.expect("Frame")?;
        self.expect("Time")?;
        let frame_time = self.number()?;
        if n == 0 || width == 0 {
            return Err(self.fault("there is no frame, or no channel"));
        }
        if !(1e-6..=1e3).contains(&frame_time) {
            return Err(self.fault(format!("frames last {frame_time} s; write a time above 0")));
        }
        let values = self.values(n, width)?;
        Ok(BvhMotion { joints, frame_time, width, values })
    }

    /// The numbers of all frames, with which the file ends.
    fn values(&mut self, n: usize, width: usize) -> Result<Vec<f64>, ImportFault> {
        let mut values = Vec::new();
        for _ in 0..n * width {
            values.push(self.number()?);
        }
        let Some((line, _)) = self.words.next() else { return Ok(values) };
        self.line = line;
        Err(self.fault(format!("there are more than {n} frames of {width} numbers")))
    }

    /// The joints from the name of the root on, and the number of channels.
    fn hierarchy(&mut self) -> Result<(Vec<BvhJoint>, usize), ImportFault> {
        let (mut joints, mut open, mut width) = (Vec::new(), Vec::new(), 0);
        self.joint(&mut joints, None, &mut width)?;
        open.push(0);
        while let Some(&parent) = open.last() {
            match self.next("`JOINT`, `End Site` or `}`")? {
                "}" => _ = open.pop(),
                word if word.eq_ignore_ascii_case("JOINT") => {
                    if joints.len() >= MAX_JOINTS {
                        return Err(self.fault(format!("there are more than {MAX_JOINTS} joints")));
                    }
                    open.push(joints.len());
                    self.joint(&mut joints, Some(parent), &mut width)?;
                }
                word if word.eq_ignore_ascii_case("End") => {
                    joints[parent].end = Some(self.end_site()?);
                }
                word => {
                    let word = short(word);
                    return Err(self.fault(format!("`JOINT`, `End Site` or `}}` is expected, not `{word}`")));
                }
            }
        }
        Ok((joints, width))
    }

    /// The offset of an `End Site`, from its second word on.
    fn end_site(&mut self) -> Result<DVec3, ImportFault> {
        self.expect("Site")?;
        self.expect("{")?;
        self.expect("OFFSET")?;
        let end = self.vector()?;
        self.expect("}")?;
        Ok(end)
    }

    /// A joint from its name to its channels.
    fn joint(
        &mut self,
        joints: &mut Vec<BvhJoint>,
        parent: Option<usize>,
        width: &mut usize,
    ) -> Result<(), ImportFault> {
        let mut name = short(self.next("the name of a joint")?);
        let line = self.line;
        loop {
            // Names may have spaces.
            match self.next("`{`")? {
                "{" => break,
                word if name.len() < 60 => name = format!("{name} {}", short(word)),
                _ => return Err(self.fault("`{` is expected")),
            }
        }
        self.expect("OFFSET")?;
        let offset = self.vector()?;
        let channels = self.channels()?;
        let first = *width;
        *width += channels.len();
        joints.push(BvhJoint { name, line, parent, offset, channels, first, end: None });
        Ok(())
    }

    /// The channels of a joint.
    fn channels(&mut self) -> Result<Vec<BvhChannel>, ImportFault> {
        self.expect("CHANNELS")?;
        let n = self.count(6)?;
        let mut channels = Vec::with_capacity(n);
        for _ in 0..n {
            let word = self.next("a channel")?;
            let channel = BvhChannel::named(word);
            channels.push(channel.ok_or_else(|| {
                self.fault(format!("there is no channel `{}`: use Xposition … Zrotation", short(word)))
            })?);
        }
        Ok(channels)
    }
}

/// The beginning of a word.
fn short(word: &str) -> String {
    word.chars().take(40).collect()
}
