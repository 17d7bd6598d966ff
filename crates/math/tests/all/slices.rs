//! Sums over slices of every short length, exact in whole numbers.

use sinew_math::{add_scaled, dot};

#[test]
fn products_of_whole_numbers_are_exact() {
    for n in 0..14 {
        let a: Vec<f64> = (0..n).map(|i| f64::from(3 * i - 7)).collect();
        let b: Vec<f64> = (0..n).map(|i| f64::from(i * i + 2)).collect();
        let expected: i32 = (0..n).map(|i| (3 * i - 7) * (i * i + 2)).sum();
        assert_eq!(dot(&a, &b), f64::from(expected), "{n} numbers");
        let mut sum = a.clone();
        add_scaled(&mut sum, -2.0, &b);
        for (i, sum) in (0..n).zip(sum) {
            assert_eq!(sum, f64::from(3 * i - 7 - 2 * (i * i + 2)));
        }
    }
}
