//! Benchmarks of Sinew.
