//! Proofs that one schema accepts every value that another one accepts.
//!
//! A proof shows that *facts* about a value entail a *goal*. The facts are the assertions of a schema about the value,
//! or about a location inside it. The goal is proven keyword by keyword. If the facts allow several cases (`anyOf`,
//! several types), each case must entail the goal. A keyword without a rule here is not proven. Therefore proofs are
//! sound but not complete: whatever is proven holds, and what is not proven may also hold.
//!
//! Each schema is interpreted by its own dialect and within its own document. As in validation, annotations (including
//! `format` and the content keywords) are neither facts nor goals.
//!
//! Recursive schemas are compared by induction on the size of the value: a goal that recurs for the same facts after a
//! step into the value holds there.

mod arrays;
mod assume;
mod children;
mod document;
mod empty;
mod facts;
mod goal;
mod leaf;
mod number;
mod objects;
mod pattern;
mod prover;
mod same;
mod split;
mod text;

pub(super) use self::document::Document;
pub(super) use self::prover::{Prover, STACK, Stack};
