pub(crate) mod point_spring;
pub(crate) mod rotation;
pub(crate) mod scalar;
pub(crate) mod set;
pub(crate) mod sink;
