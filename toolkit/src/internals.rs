//! What the other crates of this workspace share with this one. Not public API.

pub use crate::backend::changes::Changes;
pub use crate::call::decode::typed_arguments;
pub use crate::call::unwind::caught_future;
pub use crate::unwind::shielded;
