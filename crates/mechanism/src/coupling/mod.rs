pub(crate) mod companion;
