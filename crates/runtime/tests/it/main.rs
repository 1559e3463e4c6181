//! Tests of the public interface of `toolkit-runtime`.

mod events;
mod guard;
mod headers;
mod lines;
mod pool;
mod proxies;
