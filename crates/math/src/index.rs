//! Typed indices: a wrong index is a type error.
//!
//! [`define_index!`](crate::define_index) defines a `u32` newtype; [`IndexVec`] is a vector that only this type can
//! index. Indices are dense, start at 0 and are valid for one owner only. Out-of-range access panics like that of a
//! slice.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense index type made by [`define_index!`](crate::define_index).
pub trait TypedIndex: Copy + Ord + fmt::Debug {
    /// From a position.
    fn from_index(index: usize) -> Self;
    /// The position.
    fn index(self) -> usize;
}

/// Define `u32` newtypes for indexing.
///
/// The type is `Copy`, ordered, hashable, prints as `BodyId(3)` and, with the feature `serde` of this crate, is
/// serialized as a plain number.
///
/// ```
/// use sinew_math::{IndexVec, define_index};
///
/// define_index!(
///     /// A bone.
///     BoneId
/// );
/// let mut lengths: IndexVec<BoneId, f64> = IndexVec::new();
/// let femur = lengths.push(0.45);
/// assert_eq!(lengths[femur], 0.45);
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

        impl $crate::TypedIndex for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self::from_index(index)
            }
            #[inline]
            fn index(self) -> usize {
                self.index()
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

/// A vector indexed by `I` only.
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    key: PhantomData<fn(I)>,
}

impl<I: TypedIndex, T> IndexVec<I, T> {
    /// Empty.
    pub const fn new() -> Self {
        Self { items: Vec::new(), key: PhantomData }
    }

    /// `n` copies of `item`.
    pub fn from_elem(item: T, n: usize) -> Self
    where
        T: Clone,
    {
        Self::from(vec![item; n])
    }

    /// Append; the index of the new item.
    pub fn push(&mut self, item: T) -> I {
        let index = I::from_index(self.items.len());
        self.items.push(item);
        index
    }

    /// Number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item, if the index is in range.
    #[inline]
    pub fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.index())
    }

    /// All indices in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Items in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// Indices and items in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, item)| (I::from_index(i), item))
    }

    /// Plain slice, for kernels.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Plain mutable slice, for kernels.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I: TypedIndex, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<I, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, key: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self::from(items.into_iter().collect::<Vec<T>>())
    }
}

impl<'a, I, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<I: TypedIndex, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, index: I) -> &T {
        &self.items[index.index()]
    }
}

impl<I: TypedIndex, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.index()]
    }
}
