pub(crate) mod joint;
pub(crate) mod measures;
