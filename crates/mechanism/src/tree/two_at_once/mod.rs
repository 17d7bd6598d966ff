//! Two neighbouring pairs linearized at once in SIMD lanes, to the bit as one by one (docs/adr/0016).

pub(crate) mod balls;
pub(crate) mod hinges;
pub(crate) mod joints;
pub(crate) mod pairs;
