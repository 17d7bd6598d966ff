//! Curves of a run, for plots: one sample per step at first, thinned evenly so that there are never more than [`MOST`].
//!
//! Joints are many and one is looked at: where there are few, the numbers of all are kept with each sample, so that whichever is chosen
//! has its curve from the beginning; else its curve begins when it is chosen.

/// Most samples kept.
const MOST: usize = 4096;

/// What is measured after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Number of steps made.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Energies of motion, height and springs, J.
    pub energy: [f64; 3],
    /// Momentum: length of its angular part about the world origin (kg·m²/s) and of its linear part (kg·m/s).
    pub momentum: [f64; 2],
    /// How far joints are from being met, m and rad.
    pub error: [f64; 2],
    /// Residual of the loops (m/s, rad/s) and iterations on them.
    pub loops: [f64; 2],
    /// Coordinate of the joint that is looked at (rad or m), its rate, and the force along it if it is known.
    pub joint: [f64; 3],
    /// Share of tetrahedra that the selective test picked to be diagonalized (no number where steps are implicit: those diagonalize
    /// all), and contacts.
    pub flesh: [f64; 2],
    /// Wall-clock time of the step, ms.
    pub milliseconds: f64,
}

/// Samples in order of their steps.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    samples: Vec<Sample>,
    /// Numbers of every joint, sample after sample, or none.
    joints: Vec<[f64; 3]>,
    /// How often something has changed.
    revision: u64,
    /// A sample is kept if its step is a multiple of two to this power.
    power: u32,
}

impl Trace {
    /// The samples.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// How often something has changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Adds a sample with the numbers of all joints, or with none; those of later steps are forgotten first.
    pub fn push(&mut self, sample: Sample, joints: &[[f64; 3]]) {
        self.truncate(sample.step);
        if !sample.step.is_multiple_of(1 << self.power) {
            return;
        }
        self.samples.push(sample);
        self.joints.extend(joints);
        if self.samples.len() > MOST {
            self.power += 1;
            let (n, power) = (joints.len(), self.power);
            let is_kept = |sample: &Sample| sample.step.is_multiple_of(1 << power);
            let mut kept = self.samples.iter().flat_map(|sample| std::iter::repeat_n(is_kept(sample), n));
            self.joints.retain(|_| kept.next().unwrap_or(false));
            self.samples.retain(is_kept);
        }
    }

    /// Shows the curve of another joint.
    pub fn look_at(&mut self, joint: Option<usize>) {
        self.revision += 1;
        let n = self.n_joints();
        for (i, sample) in self.samples.iter_mut().enumerate() {
            let known = joint.filter(|&joint| joint < n).map(|joint| self.joints[i * n + joint]);
            sample.joint = known.unwrap_or([f64::NAN; 3]);
        }
    }

    /// Forgets the samples from this step on.
    pub fn truncate(&mut self, step: u64) {
        let n = self.n_joints();
        self.revision += 1;
        self.samples.truncate(self.samples.partition_point(|sample| sample.step < step));
        self.joints.truncate(self.samples.len() * n);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self { revision: self.revision + 1, ..Self::default() };
    }

    /// Joints whose numbers are kept.
    fn n_joints(&self) -> usize {
        self.joints.len() / self.samples.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Sample, Trace};

    #[test]
    fn samples_are_thinned_evenly_and_cut_off_by_branches() {
        let mut trace = Trace::default();
        let joints = |step: u64| [[step as f64; 3], [-(step as f64); 3]];
        (0..50_000).for_each(|step| trace.push(Sample { step, ..Sample::default() }, &joints(step)));
        let steps: Vec<u64> = trace.samples().iter().map(|sample| sample.step).collect();
        assert!(steps.len() <= MOST && steps.len() > MOST / 4);
        assert!(steps.windows(2).all(|pair| pair[1] - pair[0] == steps[1]));
        let shown = |trace: &Trace, sign: f64| {
            trace.samples().iter().all(|s| (s.joint[0] - sign * s.step as f64).abs() < 0.5)
        };
        trace.look_at(Some(1));
        assert!(shown(&trace, -1.0) && !shown(&trace, 1.0));
        let revision = trace.revision();
        trace.push(Sample { step: 160, ..Sample::default() }, &joints(160));
        trace.look_at(Some(0));
        assert!(shown(&trace, 1.0) && trace.revision() > revision);
        trace.look_at(Some(2));
        assert!(trace.samples().iter().all(|sample| sample.joint[0].is_nan()));
        assert_eq!(trace.samples().last().map(|sample| sample.step), Some(160));
    }
}
