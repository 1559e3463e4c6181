//! Tests of the public interface of `toolkit-explorer`.

mod explorer;
