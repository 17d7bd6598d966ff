//! Integration tests of `sinew-flesh`.

mod against_explicit;
mod carry;
mod contact;
mod dense;
mod explicit;
mod frequency;
mod loops;
mod motions;
mod skin;
mod statics;
mod support;
