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
//!
//! | module | contents |
//! |---|---|
//! | `goal` | the entry, and proofs of goals keyword by keyword |
//! | `containers`, `leaf`, `number` | goals about arrays and objects, about known values and lengths, about numbers |
//! | `empty` | facts that hold for no value, which entail every goal |
//! | `facts` | documents, the schemas in them, and facts about a value |
//! | `assume` | schemas as facts, and the cases of facts |
//! | `children` | facts about the values inside a value |
//! | `same` | schemas and documents with the same keywords |
//! | `prover` | the state that all of them share: budget, open goals, results |

mod assume;
mod children;
mod containers;
mod empty;
mod facts;
mod goal;
mod leaf;
mod number;
mod prover;
mod same;

pub(super) use self::facts::Document;
pub(super) use self::goal::accepts_all;
pub(super) use self::prover::{Prover, STACK, Stack};
