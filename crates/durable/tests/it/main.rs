//! Tests of the public interface of `toolkit-durable`.

mod durable;
