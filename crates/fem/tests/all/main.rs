//! Integration tests of `sinew-fem`.

mod allocation;
mod forces;
mod golden;
mod lanes;
mod materials;
mod meshes;
mod selection;
