//! A counter of allocations and of their bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system allocator with counters for each thread.
#[derive(Debug)]
pub struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Returns the number of allocations and reallocations of this thread.
#[must_use]
pub fn count() -> u64 {
    COUNT.get()
}

/// Returns the bytes that this thread has allocated, less those that it has freed.
///
/// The number is negative on a thread that frees the blocks of others.
#[must_use]
pub fn bytes() -> i64 {
    BYTES.get()
}

fn note(allocated: usize, freed: usize) {
    COUNT.set(COUNT.get() + 1);
    BYTES.set(BYTES.get() + allocated as i64 - freed as i64);
}

#[expect(unsafe_code, reason = "there is no safe way to be the global allocator")]
// SAFETY: all calls are forwarded to the system allocator; the counters neither allocate nor have destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size, layout.size());
        // SAFETY: the caller upholds the contract.
        unsafe { System.realloc(old, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as i64);
        // SAFETY: the caller upholds the contract.
        unsafe { System.dealloc(block, layout) }
    }
}
