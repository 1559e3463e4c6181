//! Positions in a segment.

/// Converts a position. Memory would run out before a segment reached 2^32 of anything.
pub(super) fn place(len: usize) -> u32 {
    u32::try_from(len).expect("a segment holds fewer than 2^32 of anything")
}
