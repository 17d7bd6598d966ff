pub(crate) mod assemble;
pub(crate) mod errors;
