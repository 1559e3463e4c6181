//! Tests of the public interface of `toolkit-http`.

mod pool;
mod proxies;
