//! Tests of the public interface of `toolkit-backends`.

mod backends;
mod chains;
