//! The declaration of documents, and fields with default values, which are left out of written scenes.

/// Declares a document: a struct that refuses unknown fields. A field that is left out takes the value behind `=`, else
/// the default of its type. Fields marked `[omit]` are left out of written scenes while they have the default of their
/// type.
macro_rules! document {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {$(
            $(#[$field_attribute:meta])*
            $([$omit:ident])? pub $field:ident: $type:ty $(= $value:expr)?,
        )*}
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {$(
            $(#[$field_attribute])*
            $(#[serde(skip_serializing_if = "super::omit::is_default")] #[cfg_attr(any(), $omit)])?
            pub $field: $type,
        )*}

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: document!(@value $($value)?)),* }
            }
        }
    };
    (@value) => { Default::default() };
    (@value $value:expr) => { $value };
}

/// Whether a field has the value it would have if it were left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
