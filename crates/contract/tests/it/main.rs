//! Tests of the public interface of `toolkit-contract`.

mod calls;
mod lint;
mod lock;
mod matrix;
mod ported;
