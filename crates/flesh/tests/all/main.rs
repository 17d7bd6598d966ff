//! Integration tests of `sinew-flesh`.

mod against_explicit;
mod carry;
mod contact;
mod dense;
mod explicit;
mod frequency;
mod locking;
mod loops;
mod motions;
mod quadratic;
mod skin;
mod statics;
mod support;
