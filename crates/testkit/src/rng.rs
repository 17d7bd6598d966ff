//! A small deterministic random number generator (SplitMix64, Steele et al. 2014).
//!
//! Integer arithmetic and square roots only: the same seed gives the same bits on every platform. Not meant
//! for anything but tests.

use glam::{DQuat, DVec3};

/// A seeded stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The stream of a seed; different seeds give unrelated streams.
    pub fn new(seed: u64) -> Self {
        let mut rng = Self { state: seed ^ 0x5ee0_9e37_79b9_7f4a };
        rng.next_u64();
        rng
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `[lo, hi)`.
    pub fn uniform(&mut self, lo: f64, hi: f64) -> f64 {
        let unit = (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        lo + (hi - lo) * unit
    }

    /// Uniform integer in `0..n`; `n` must be positive.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "below(0) has no value to return");
        (self.next_u64() % n as u64) as usize
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform(0.0, 1.0) < probability
    }

    /// Nearly normal with mean 0 and variance 1 (sum of twelve uniforms, so always within ±6).
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform(0.0, 1.0)).sum::<f64>() - 6.0
    }

    /// Ten to a uniformly drawn whole power in `lo..=hi`: magnitudes for badly scaled problems.
    pub fn power_of_ten(&mut self, lo: i32, hi: i32) -> f64 {
        10f64.powi(lo + self.below((hi - lo + 1) as usize) as i32)
    }

    /// Each component uniform in `[lo, hi)`.
    pub fn vec3(&mut self, lo: f64, hi: f64) -> DVec3 {
        DVec3::new(self.uniform(lo, hi), self.uniform(lo, hi), self.uniform(lo, hi))
    }

    /// Uniform on the unit sphere.
    pub fn unit_vec(&mut self) -> DVec3 {
        loop {
            let v = self.vec3(-1.0, 1.0);
            let square = v.length_squared();
            if (1e-4..=1.0).contains(&square) {
                return v / square.sqrt();
            }
        }
    }

    /// Uniform over all rotations, as a unit quaternion with `w ≥ 0`.
    pub fn rotation(&mut self) -> DQuat {
        loop {
            let [x, y, z, w] = std::array::from_fn(|_| self.uniform(-1.0, 1.0));
            let square = x * x + y * y + z * z + w * w;
            if (1e-4..=1.0).contains(&square) {
                let scale = f64::copysign(1.0 / square.sqrt(), w);
                return DQuat::from_xyzw(x * scale, y * scale, z * scale, w * scale);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_right() {
        let mut rng = Rng::new(1);
        let n = 20_000;
        let samples: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let mean = samples.iter().sum::<f64>() / n as f64;
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "mean {mean}, variance {variance}");
        let centre: DVec3 = (0..n).map(|_| rng.unit_vec()).sum::<DVec3>() / n as f64;
        assert!(centre.length() < 0.03, "{centre}");
    }

    #[test]
    fn rotations_are_unit_and_seeds_reproduce() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        for _ in 0..100 {
            let q = a.rotation();
            assert!((q.length() - 1.0).abs() < 1e-15 && q.w >= 0.0);
            assert_eq!(q, b.rotation());
        }
        assert_ne!(Rng::new(1).next_u64(), Rng::new(2).next_u64());
    }
}
