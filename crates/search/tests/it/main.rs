//! Tests of the public interface of `toolkit-search`.

mod discovery;
mod embed;
