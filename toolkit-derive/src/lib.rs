//! Implementation detail of `toolkit`.
