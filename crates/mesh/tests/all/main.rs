//! Integration tests of `sinew-mesh`.

mod embed;
mod golden;
mod lattice;
mod readers;
mod shapes;
mod surface;
mod tetgen;
