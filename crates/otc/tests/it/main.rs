//! Tests of the public interface of `toolkit-otc`.

mod otc;
