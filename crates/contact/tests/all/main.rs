//! Integration tests of `sinew-contact`.

mod distances;
mod law;
mod memory;
mod pairs;
mod queries;
mod rigid;
mod scenes;
mod slopes;
