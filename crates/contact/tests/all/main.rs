//! Integration tests of `sinew-contact`.

mod law;
mod rigid;
mod slopes;
