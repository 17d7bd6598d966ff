//! How many steps are due: the clock of the wall turned into steps, without ever running after it.
//!
//! Elapsed time is owed, multiplied by the speed, and every step pays for its length: nothing is rounded away, so that steps
//! keep up with the clock to the step. What was lost to a late step is made up for, up to [`MOST_OWED`]; what is owed beyond
//! that is forgiven, and motion slows down instead of piling up work. The caller brings the elapsed time; no clock is read here.

/// Longest stretch of wall-clock time that is made up for, s.
const MOST_OWED: f64 = 0.25;
/// A frame that is a little short still earns its step: this part of one is lent.
const LENT: f64 = 1.0 / 64.0;

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

    /// Whether the simulation is slower than it should be: time was forgiven when time last passed.
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// Wall-clock time passes, s.
    pub fn pass(&mut self, elapsed: f64) {
        let most = MOST_OWED * self.speed;
        self.owed += if elapsed > 0.0 { elapsed * self.speed } else { 0.0 };
        self.is_late = self.owed > most;
        self.owed = self.owed.min(most);
    }

    /// Pays for a step of `dt` seconds; false if none is due. One that is longer than all that can be owed is due when that
    /// much is.
    pub fn take(&mut self, dt: f64) -> bool {
        let is_due = self.wait(dt) <= 0.0;
        if is_due {
            self.owed -= dt;
        }
        is_due
    }

    /// Wall-clock time until a step of `dt` seconds is due, s; 0 if it is, infinite if it never will be.
    pub fn wait(&self, dt: f64) -> f64 {
        if !(dt > 0.0 && dt.is_finite()) {
            return f64::INFINITY;
        }
        let price = (dt * (1.0 - LENT)).min(MOST_OWED * self.speed);
        ((price - self.owed) / self.speed).max(0.0)
    }

    /// Nothing is owed from here on.
    pub fn restart(&mut self) {
        (self.owed, self.is_late) = (0.0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_OWED, Pace};

    /// Steps made after time has passed.
    fn steps(pace: &mut Pace, elapsed: f64, dt: f64) -> u32 {
        pace.pass(elapsed);
        (0..).take_while(|_| pace.take(dt)).count() as u32
    }

    #[test]
    fn steps_keep_up_with_the_wall_clock_at_any_frame_rate() {
        for rate in [24.0, 60.0, 61.3, 144.0, 1000.0] {
            for speed in [0.1, 1.0, 2.0] {
                let mut pace = Pace::default();
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
        let mut pace = Pace::default();
        assert!((0..1000).all(|_| steps(&mut pace, 1.0 / 60.0, 1.0 / 60.0) == 1));
    }

    #[test]
    fn whoever_waits_as_told_is_punctual() {
        let (mut pace, mut time, dt) = (Pace::default(), 0.0, 1.0 / 60.0);
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
        let mut pace = Pace::default();
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
        let (mut pace, dt) = (Pace::default(), 1.0 / 60.0);
        for _ in 0..1000 {
            pace.pass(3.0 * dt);
            assert!(pace.take(dt));
        }
        assert!(pace.is_late());
        assert!(steps(&mut pace, 0.0, dt) <= (MOST_OWED / dt) as u32 + 1);
    }

    #[test]
    fn steps_longer_than_all_that_can_be_owed_are_made() {
        let mut pace = Pace::default();
        let n: u32 = (0..600).map(|_| steps(&mut pace, 1.0 / 60.0, 1.0)).sum();
        assert!((8..=11).contains(&n), "{n}");
    }

    #[test]
    fn nonsense_is_no_time() {
        let mut pace = Pace::default();
        for (elapsed, dt) in [(f64::NAN, 0.1), (-1.0, 0.1), (0.05, 0.0), (0.05, f64::NAN), (0.05, -1.0)] {
            assert_eq!(steps(&mut pace, elapsed, dt), 0, "{elapsed} {dt}");
        }
        pace.set_speed(f64::NAN);
        assert!(pace.speed() > 0.99);
    }
}
