//! Tests of the public interface of `toolkit-tower`.

mod layers;
