//! Contracts of the facade: scenes run as they expect, and the same arguments always give the same bits.

mod common;
mod scenes;
