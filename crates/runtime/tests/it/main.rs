//! Tests of the public interface of `toolkit-runtime`.

mod guard;
mod pool;
mod proxies;
