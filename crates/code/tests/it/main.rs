//! Tests of the public interface of `toolkit-code`.

mod engine;
mod mode;
mod sandbox;
