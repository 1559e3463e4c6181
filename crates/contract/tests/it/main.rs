//! Tests of the public interface of `toolkit-contract`.

mod lint;
mod lock;
mod matrix;
