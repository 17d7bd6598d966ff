//! Typed indices: a wrong index is a type error.
//!
//! [`define_index!`](crate::define_index) defines a `u32` newtype. Indices are dense, start at 0 and are valid for one
//! owner only.

/// Define `u32` newtypes for indexing.
///
/// The type is `Copy`, ordered, hashable, prints as `BodyId(3)` and, with the feature `serde` of this crate, is
/// serialized as a plain number.
///
/// ```
/// use sinew_math::define_index;
///
/// define_index!(
///     /// A bone.
///     BoneId
/// );
/// let femur = BoneId::from_index(2);
/// assert_eq!([0.1, 0.2, 0.45][femur.index()], 0.45);
/// ```
#[macro_export]
macro_rules! define_index {
    ($($(#[$attribute:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The index at this position.
            ///
            /// # Panics
            /// If the position needs more than 32 bits.
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                assert!(index <= u32::MAX as usize, "more than 2³² items");
                Self(index as u32)
            }

            /// The position as `usize`.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        $crate::index_serde!($name);
    )+};
}

/// Serialization of an index as a plain number.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! index_serde {
    ($name:ident) => {
        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::serde::Serialize::serialize(&self.0, serializer)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::serde::Deserialize::deserialize(deserializer).map(Self)
            }
        }
    };
}

/// Without the feature `serde`: nothing.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! index_serde {
    ($name:ident) => {};
}
