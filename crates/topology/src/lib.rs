//! Kinematic graphs: spanning forests, loops, islands and perfect elimination orders.
