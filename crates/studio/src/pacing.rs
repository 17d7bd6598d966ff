//! Wall-clock pacing with a bounded backlog: how many steps are due.
//!
//! The backlog grows by elapsed time × speed, and each step reduces it by its length; nothing is rounded, so that
//! steps keep up with the clock. The backlog is limited to [`MOST_OWED`] seconds of wall-clock time: if steps take
//! longer than they simulate, motion slows down and no work piles up. The caller supplies the elapsed time; this
//! module reads no clock.

/// Largest backlog in wall-clock time (s).
const MOST_OWED: f64 = 0.25;
/// A step is due this fraction of its length early, so that a slightly short frame still has its step.
const LENT: f64 = 1.0 / 64.0;

/// Backlog of steps with respect to the wall clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepPacer {
    /// Simulated seconds per second of wall-clock time, positive.
    speed: f64,
    /// Backlog in simulated time (s).
    owed: f64,
    /// Whether the backlog was cut at the last call.
    is_late: bool,
}

impl Default for StepPacer {
    fn default() -> Self {
        Self { speed: 1.0, owed: 0.0, is_late: false }
    }
}

impl StepPacer {
    /// Slowest and fastest speed.
    pub const RANGE: (f64, f64) = (0.01, 8.0);

    /// Simulated seconds per second.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Sets the speed, clamped to [`Self::RANGE`]; NaN is ignored.
    pub fn set_speed(&mut self, speed: f64) {
        if !speed.is_nan() {
            self.speed = speed.clamp(Self::RANGE.0, Self::RANGE.1);
        }
    }

    /// Whether the simulation is slower than requested: the backlog was cut at the last call of [`Self::pass`].
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Adds elapsed wall-clock time (s).
    pub fn pass(&mut self, elapsed: f64) {
        let most = MOST_OWED * self.speed;
        self.owed += if elapsed > 0.0 { elapsed * self.speed } else { 0.0 };
        self.is_late = self.owed > most;
        self.owed = self.owed.min(most);
    }

    /// Takes a step of `dt` seconds from the backlog; false if none is due. A step longer than the largest backlog is
    /// due when the backlog is full.
    pub fn take(&mut self, dt: f64) -> bool {
        let is_due = self.wait(dt) <= 0.0;
        if is_due {
            self.owed -= dt;
        }
        is_due
    }

    /// Wall-clock time until a step of `dt` seconds is due (s): 0 if it is due, infinite if `dt` is invalid.
    pub fn wait(&self, dt: f64) -> f64 {
        if !(dt > 0.0 && dt.is_finite()) {
            return f64::INFINITY;
        }
        let price = (dt * (1.0 - LENT)).min(MOST_OWED * self.speed);
        ((price - self.owed) / self.speed).max(0.0)
    }

    /// Clears the backlog.
    pub fn restart(&mut self) {
        (self.owed, self.is_late) = (0.0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_OWED, StepPacer};

    /// Steps made after time has passed.
    fn steps(pace: &mut StepPacer, elapsed: f64, dt: f64) -> u32 {
        pace.pass(elapsed);
        (0..).take_while(|_| pace.take(dt)).count() as u32
    }

    #[test]
    fn steps_keep_up_with_the_wall_clock_at_any_frame_rate() {
        for rate in [24.0, 60.0, 61.3, 144.0, 1000.0] {
            for speed in [0.1, 1.0, 2.0] {
                let mut pace = StepPacer::default();
                pace.set_speed(speed);
                let n: u32 =
                    (0..(10.0 * rate) as u32).map(|_| steps(&mut pace, 1.0 / rate, 1.0 / 60.0)).sum();
                assert!((f64::from(n) - 600.0 * speed).abs() <= 1.0, "{rate} {speed}: {n}");
                assert!(!pace.is_late());
            }
        }
    }

    #[test]
    fn sixty_frames_have_one_step_each() {
        let mut pace = StepPacer::default();
        assert!((0..1000).all(|_| steps(&mut pace, 1.0 / 60.0, 1.0 / 60.0) == 1));
    }

    #[test]
    fn whoever_waits_as_told_is_punctual() {
        let (mut pace, mut time, dt) = (StepPacer::default(), 0.0, 1.0 / 60.0);
        for step in 1..=600 {
            let wait = pace.wait(dt);
            assert!((0.0..=dt).contains(&wait), "{wait}");
            pace.pass(wait);
            time += wait;
            assert!(pace.take(dt) && !pace.take(dt), "step {step} at {time} s");
        }
        assert!((time - 10.0).abs() < dt, "{time}");
    }

    #[test]
    fn a_late_step_is_made_up_for_and_a_long_pause_forgiven() {
        let mut pace = StepPacer::default();
        assert_eq!(steps(&mut pace, 0.2, 1.0 / 60.0), 12);
        assert!(!pace.is_late());
        let n = steps(&mut pace, 30.0, 1.0 / 60.0);
        assert!(f64::from(n) <= MOST_OWED * 60.0 + 1.0 && pace.is_late(), "{n}");
        assert_eq!(steps(&mut pace, 1.0 / 60.0, 1.0 / 60.0), 1);
        assert!(!pace.is_late());
    }

    #[test]
    fn steps_that_take_too_long_never_pile_up() {
        // Each step takes three times as long as it simulates.
        let (mut pace, dt) = (StepPacer::default(), 1.0 / 60.0);
        for _ in 0..1000 {
            pace.pass(3.0 * dt);
            assert!(pace.take(dt));
        }
        assert!(pace.is_late());
        assert!(steps(&mut pace, 0.0, dt) <= (MOST_OWED / dt) as u32 + 1);
    }

    #[test]
    fn steps_longer_than_all_that_can_be_owed_are_made() {
        let mut pace = StepPacer::default();
        let n: u32 = (0..600).map(|_| steps(&mut pace, 1.0 / 60.0, 1.0)).sum();
        assert!((8..=11).contains(&n), "{n}");
    }

    #[test]
    fn nonsense_is_no_time() {
        let mut pace = StepPacer::default();
        for (elapsed, dt) in [(f64::NAN, 0.1), (-1.0, 0.1), (0.05, 0.0), (0.05, f64::NAN), (0.05, -1.0)] {
            assert_eq!(steps(&mut pace, elapsed, dt), 0, "{elapsed} {dt}");
        }
        pace.set_speed(f64::NAN);
        assert!(pace.speed() > 0.99);
    }
}
