//! How many steps are due: the clock of the wall turned into steps, without ever running after it.
//!
//! Elapsed time is owed, multiplied by the speed. What cannot be paid back soon is forgiven: after a frame longer than
//! [`LONGEST_FRAME`], or when more than [`MOST_STEPS`] steps are due at once, motion slows down instead of piling up work.
//! The caller brings the elapsed time; no clock is read here.

/// Longest stretch of wall-clock time that is taken into account at once, s.
const LONGEST_FRAME: f64 = 0.1;
/// Most steps at once.
const MOST_STEPS: u32 = 64;

/// Steps owed to the wall clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Simulated seconds per second of the wall clock, above 0.
    speed: f64,
    /// Simulated time owed, s.
    owed: f64,
    /// Whether time was forgiven at the last call.
    is_late: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { speed: 1.0, owed: 0.0, is_late: false }
    }
}

impl Pace {
    /// Slowest and fastest speed.
    pub const RANGE: (f64, f64) = (0.01, 8.0);

    /// Simulated seconds per second.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Changes the speed; out of range it is the nearest that is allowed, and what is no number is ignored.
    pub fn set_speed(&mut self, speed: f64) {
        if !speed.is_nan() {
            self.speed = speed.clamp(Self::RANGE.0, Self::RANGE.1);
        }
    }

    /// Whether the simulation is slower than it should be: time was forgiven at the last call.
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Number of steps of `dt` seconds that are due after `elapsed` seconds of the wall clock.
    pub fn due(&mut self, elapsed: f64, dt: f64) -> u32 {
        let elapsed = if elapsed > 0.0 { elapsed } else { 0.0 };
        self.is_late = elapsed > LONGEST_FRAME;
        self.owed += elapsed.min(LONGEST_FRAME) * self.speed;
        if !(dt > 0.0 && dt.is_finite()) {
            self.owed = 0.0;
            return 0;
        }
        // A frame that is a little short still earns its step: a sixty-fourth of a step is lent.
        let steps = (self.owed / dt + 1.0 / 64.0).floor();
        if steps > f64::from(MOST_STEPS) {
            (self.owed, self.is_late) = (0.0, true);
            return MOST_STEPS;
        }
        self.owed -= steps * dt;
        steps as u32
    }

    /// Forgives what is owed: steps that were due could not be made in time.
    pub fn forgive(&mut self) {
        (self.owed, self.is_late) = (0.0, true);
    }

    /// Nothing is owed from here on.
    pub fn restart(&mut self) {
        (self.owed, self.is_late) = (0.0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_FRAME, MOST_STEPS, Pace};

    #[test]
    fn steps_keep_up_with_the_wall_clock_at_any_frame_rate() {
        for rate in [24.0, 60.0, 61.3, 144.0, 1000.0] {
            for speed in [0.1, 1.0, 2.0] {
                let mut pace = Pace::default();
                pace.set_speed(speed);
                let steps: u32 = (0..(10.0 * rate) as u32).map(|_| pace.due(1.0 / rate, 1.0 / 60.0)).sum();
                assert!((f64::from(steps) - 600.0 * speed).abs() <= 1.0, "{rate} {speed}: {steps}");
                assert!(!pace.is_late());
            }
        }
    }

    #[test]
    fn sixty_frames_have_one_step_each() {
        let mut pace = Pace::default();
        assert!((0..1000).all(|_| pace.due(1.0 / 60.0, 1.0 / 60.0) == 1));
    }

    #[test]
    fn a_long_frame_is_forgiven() {
        let mut pace = Pace::default();
        let steps = pace.due(30.0, 1.0 / 60.0);
        assert!(f64::from(steps) <= LONGEST_FRAME * 60.0 + 1.0 && pace.is_late());
        assert_eq!(pace.due(1.0 / 60.0, 1.0 / 60.0), 1);
        assert_eq!(pace.due(0.1, 1e-9), MOST_STEPS);
        assert_eq!(pace.due(0.0, 1.0), 0);
    }

    #[test]
    fn nonsense_is_no_time() {
        let mut pace = Pace::default();
        for (elapsed, dt) in [(f64::NAN, 0.1), (-1.0, 0.1), (0.05, 0.0), (0.05, f64::NAN), (0.05, -1.0)] {
            assert_eq!(pace.due(elapsed, dt), 0, "{elapsed} {dt}");
        }
        pace.set_speed(f64::NAN);
        assert!(pace.speed() > 0.99);
    }
}
