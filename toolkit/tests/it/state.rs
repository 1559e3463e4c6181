//! State that a host passes to its tools: instances of toolsets, errors about missing state, and the dispatcher as a
//! parameter.

mod advice;
mod defaults;
mod generic;
mod injected;
mod instances;
mod modules;
