// What the other crates of this workspace share with this one. Not public API.

pub use crate::unwind::shielded;
