//! Tests of the public interface of `toolkit-nats`.

mod nats;
