//! Curves of a run for plots: one sample per step at first, thinned evenly so that there are at most [`MOST`].
//!
//! The plot shows one joint at a time. In scenes with few joints, each sample stores the numbers of all joints, so
//! that every joint has its full curve; else the curve starts when the joint is selected.

/// Largest number of samples.
const MOST: usize = 4096;

/// Measures after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepSample {
    /// Number of steps before.
    pub step: u64,
    /// Time (s).
    pub time: f64,
    /// Kinetic, gravitational and elastic energy (J).
    pub energy: [f64; 3],
    /// Length of the angular momentum about the world origin (kg·m²/s) and of the linear momentum (kg·m/s).
    pub momentum: [f64; 2],
    /// Largest joint errors (m and rad).
    pub error: [f64; 2],
    /// Residual (m/s, rad/s) and iterations of the loop solver.
    pub loops: [f64; 2],
    /// Coordinate of the selected joint (rad or m), its rate, and the force along it if known.
    pub joint: [f64; 3],
    /// Share of diagonalized tetrahedra (NaN in implicit steps, which diagonalize all), and number of contacts.
    pub flesh: [f64; 2],
    /// Computing time of the step (ms).
    pub milliseconds: f64,
}

/// Samples in order of their steps.
#[derive(Clone, Debug, Default)]
pub struct SessionCurves {
    samples: Vec<StepSample>,
    /// Numbers of all joints, sample after sample; empty if they are not kept.
    joints: Vec<[f64; 3]>,
    /// Number of changes so far.
    revision: u64,
    /// A sample is kept if its step is a multiple of two to this power.
    power: u32,
}

impl SessionCurves {
    /// The samples.
    pub fn samples(&self) -> &[StepSample] {
        &self.samples
    }

    /// Number of changes so far; a reader whose revision is the same is up to date.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Adds a sample with the numbers of all joints, or of none. Samples of this and later steps are removed first.
    pub fn push(&mut self, sample: StepSample, joints: &[[f64; 3]]) {
        self.truncate(sample.step);
        if !sample.step.is_multiple_of(1 << self.power) {
            return;
        }
        self.samples.push(sample);
        self.joints.extend(joints);
        if self.samples.len() > MOST {
            self.power += 1;
            let (n, power) = (joints.len(), self.power);
            let is_kept = |sample: &StepSample| sample.step.is_multiple_of(1 << power);
            let mut kept = self.samples.iter().flat_map(|sample| std::iter::repeat_n(is_kept(sample), n));
            self.joints.retain(|_| kept.next().unwrap_or(false));
            self.samples.retain(is_kept);
        }
    }

    /// Selects another joint.
    pub fn look_at(&mut self, joint: Option<usize>) {
        self.revision += 1;
        let n = self.n_joints();
        for (i, sample) in self.samples.iter_mut().enumerate() {
            let known = joint.filter(|&joint| joint < n).map(|joint| self.joints[i * n + joint]);
            sample.joint = known.unwrap_or([f64::NAN; 3]);
        }
    }

    /// Removes the samples from this step on.
    pub fn truncate(&mut self, step: u64) {
        let n = self.n_joints();
        self.revision += 1;
        self.samples.truncate(self.samples.partition_point(|sample| sample.step < step));
        self.joints.truncate(self.samples.len() * n);
    }

    /// Removes all samples.
    pub fn clear(&mut self) {
        *self = Self { revision: self.revision + 1, ..Self::default() };
    }

    /// Number of joints whose numbers are kept.
    fn n_joints(&self) -> usize {
        self.joints.len() / self.samples.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, SessionCurves, StepSample};

    #[test]
    fn samples_are_thinned_evenly_and_cut_off_by_branches() {
        let mut trace = SessionCurves::default();
        let joints = |step: u64| [[step as f64; 3], [-(step as f64); 3]];
        (0..50_000).for_each(|step| trace.push(StepSample { step, ..StepSample::default() }, &joints(step)));
        let steps: Vec<u64> = trace.samples().iter().map(|sample| sample.step).collect();
        assert!(steps.len() <= MOST && steps.len() > MOST / 4);
        assert!(steps.windows(2).all(|pair| pair[1] - pair[0] == steps[1]));
        let shown = |trace: &SessionCurves, sign: f64| {
            trace.samples().iter().all(|s| (s.joint[0] - sign * s.step as f64).abs() < 0.5)
        };
        trace.look_at(Some(1));
        assert!(shown(&trace, -1.0) && !shown(&trace, 1.0));
        let revision = trace.revision();
        trace.push(StepSample { step: 160, ..StepSample::default() }, &joints(160));
        trace.look_at(Some(0));
        assert!(shown(&trace, 1.0) && trace.revision() > revision);
        trace.look_at(Some(2));
        assert!(trace.samples().iter().all(|sample| sample.joint[0].is_nan()));
        assert_eq!(trace.samples().last().map(|sample| sample.step), Some(160));
    }
}
