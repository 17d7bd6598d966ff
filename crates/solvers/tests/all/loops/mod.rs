//! Loop refinement: rows on top of a tree, their responders and methods.

mod closed;
mod contradiction;
mod graphs;
mod ladder;
mod limits;
mod random_graphs;
mod reaction;
mod variables;
mod weights;
