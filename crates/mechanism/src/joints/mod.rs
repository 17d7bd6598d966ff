pub(crate) mod errors;
pub(crate) mod evaluate;
pub(crate) mod families;
pub(crate) mod frames;
pub(crate) mod relative;
pub(crate) mod rows;
pub(crate) mod swing;
pub(crate) mod twist;
