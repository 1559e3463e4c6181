//! Tests of the public interface of `toolkit-http`.

mod guard;
mod pool;
mod proxies;
