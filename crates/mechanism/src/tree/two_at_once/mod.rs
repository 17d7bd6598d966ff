pub(crate) mod balls;
pub(crate) mod hinges;
pub(crate) mod joints;
pub(crate) mod pairs;
