//! Linear-time block LDLT factorization of trees, and the solvers that stand on it.
