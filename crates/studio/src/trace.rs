//! Curves of a run, for plots: one sample per step at first, thinned evenly so that there are never more than [`MOST`].

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
    /// A sample is kept if its step is a multiple of two to this power.
    power: u32,
}

impl Trace {
    /// The samples.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Adds a sample; those of later steps are forgotten first.
    pub fn push(&mut self, sample: Sample) {
        self.truncate(sample.step);
        if !sample.step.is_multiple_of(1 << self.power) {
            return;
        }
        self.samples.push(sample);
        if self.samples.len() > MOST {
            self.power += 1;
            self.samples.retain(|sample| sample.step.is_multiple_of(1 << self.power));
        }
    }

    /// Forgets the samples from this step on.
    pub fn truncate(&mut self, step: u64) {
        self.samples.truncate(self.samples.partition_point(|sample| sample.step < step));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Sample, Trace};

    #[test]
    fn samples_are_thinned_evenly_and_cut_off_by_branches() {
        let mut trace = Trace::default();
        (0..50_000).for_each(|step| trace.push(Sample { step, ..Sample::default() }));
        let steps: Vec<u64> = trace.samples().iter().map(|sample| sample.step).collect();
        assert!(steps.len() <= MOST && steps.len() > MOST / 4);
        assert!(steps.windows(2).all(|pair| pair[1] - pair[0] == steps[1]));
        trace.push(Sample { step: 160, ..Sample::default() });
        assert_eq!(trace.samples().last().map(|sample| sample.step), Some(160));
    }
}
