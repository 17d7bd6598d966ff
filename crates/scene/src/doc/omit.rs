//! Fields with default values, which are left out of written scenes.

/// Whether a field has the value it would have if it were left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
