//! Scale of long-running tests.
//!
//! Such a test has `soak` in its name and multiplies its count by [`soak_scale`]: `cargo test` runs the short
//! count, `cargo xtask soak` runs every test of that name in release mode with the long one.

/// Factor on the counts of tests named `…soak…`: 1, or 10 while the variable `SINEW_SOAK` is set.
pub fn soak_scale() -> usize {
    if std::env::var_os("SINEW_SOAK").is_some() { 10 } else { 1 }
}
