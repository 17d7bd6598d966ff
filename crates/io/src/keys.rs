//! Key frames: those that others between them can be made from.
//!
//! Ramer, Douglas and Peucker: between two kept frames the worst one is kept too, until no error is above the bound. `n log n` errors as a rule, `n²` at worst.

/// The frames of `0..n` to keep. `error(a, b, i)` tells how wrong frame `i` is if it is made from `a` and `b`, relative to what is allowed.
pub(crate) fn kept_frames(n: usize, error: impl Fn(usize, usize, usize) -> f64) -> Vec<usize> {
    if n < 3 {
        return (0..n).collect();
    }
    let mut keep = vec![false; n];
    (keep[0], keep[n - 1]) = (true, true);
    let mut open = vec![(0, n - 1)];
    while let Some((a, b)) = open.pop() {
        let errors = (a + 1..b).map(|i| (i, error(a, b, i)));
        let worst =
            errors.fold((a, 1.0), |worst, (i, error)| if error > worst.1 { (i, error) } else { worst });
        if worst.0 > a {
            keep[worst.0] = true;
            open.extend([(a, worst.0), (worst.0, b)]);
        }
    }
    (0..n).filter(|&i| keep[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::kept_frames;

    #[test]
    fn corners_stay_and_lines_go() {
        let values = [0.0f64, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0, 5.0];
        let error = |a: usize, b: usize, i: usize| {
            let part = (i - a) as f64 / (b - a) as f64;
            (values[a] + (values[b] - values[a]) * part - values[i]).abs() / 1e-6
        };
        assert_eq!(kept_frames(values.len(), error), [0, 3, 6, 8, 9]);
        assert_eq!(kept_frames(1, error), [0]);
        assert!(kept_frames(0, error).is_empty());
    }
}
