//! Numbers in reports: quantities, counts, times and step lengths as text.

/// A quantity with four significant digits; with an exponent where that is shorter.
pub(crate) fn quantity(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if (1e-3..1e5).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{x:.decimals$}");
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        };
    }
    format!("{x:.2e}")
}

/// A count with the singular or plural form of its noun.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// The shortest and the longest step, or the only step length.
pub(crate) fn step_lengths((short, long): (f64, f64)) -> String {
    if short < long { format!("{} to {}", step_length(short), step_length(long)) } else { step_length(short) }
}

/// A step length: `1/n s` where it is that to rounding.
fn step_length(seconds: f64) -> String {
    let rate = (1.0 / seconds).round();
    let is_fraction = (2.0..1e6).contains(&rate) && (seconds * rate - 1.0).abs() < 1e-12;
    if is_fraction { format!("1/{rate} s") } else { duration(seconds) }
}

/// A time in s, ms, µs or ns.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{} s", quantity(s)),
        s if s >= 1e-3 => format!("{} ms", quantity(1e3 * s)),
        s if s >= 1e-6 => format!("{} µs", quantity(1e6 * s)),
        s => format!("{} ns", quantity(1e9 * s)),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, quantity, step_length};

    #[test]
    fn quantities_keep_four_digits() {
        let texts = [0.0, 1.0, 0.012345, 123.456, 99_999.0, 1.5e-9, -2e7].map(quantity);
        assert_eq!(texts, ["0", "1", "0.01235", "123.5", "99999", "1.50e-9", "-2.00e7"]);
    }

    #[test]
    fn durations_have_fitting_units() {
        assert_eq!([2.5, 2.5e-3, 2.5e-6, 2.5e-9].map(duration), ["2.5 s", "2.5 ms", "2.5 µs", "2.5 ns"]);
        assert_eq!([1.0 / 60.0, 0.01, 0.0123].map(step_length), ["1/60 s", "1/100 s", "12.3 ms"]);
    }
}
