//! Tests of the public interface of `toolkit-runtime`.

mod guard;
mod headers;
mod pool;
mod proxies;
