//! Closed loops: against dense solves and closed forms, as a hierarchy, under budgets, and on bad input.

mod assembling;
mod budget;
mod displacing;
mod grabs;
mod graphs;
mod hardship;
mod hierarchy;
mod linkages;
mod opening;
mod released;
