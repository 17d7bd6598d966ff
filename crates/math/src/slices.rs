//! Sums over slices of numbers, in a fixed order: the same bits on every machine. Linear cost; nothing fails.

/// `a · b`, in four partial sums.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `a += k b`.
#[inline(always)]
pub fn add_scaled(a: &mut [f64], k: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += k * b;
    }
}
