//! Tests of the public interface of `toolkit-contract`.

mod calls;
mod hosts;
mod lint;
mod lock;
mod matrix;
mod ported;
