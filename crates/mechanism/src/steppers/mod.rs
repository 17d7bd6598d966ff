pub(crate) mod displacement;
pub(crate) mod explicit;
pub(crate) mod implicit;
pub(crate) mod joint_space;
pub(crate) mod point_solver;
pub(crate) mod step;
