//! System calls of a worker that was taken over, for tests.
//!
//! The workspace forbids unsafe code, and a program that has escaped from its engine does not.

#![cfg(target_os = "linux")]

/// An argument of a system call.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// A number, such as a descriptor.
    Number(i64),
    /// The address of a path or another text that ends with a zero byte.
    Text(&'static std::ffi::CStr),
    /// The address of 4 KiB that can be read and written, filled with zeros.
    Memory,
    /// The address of the process's stack.
    Stack,
    /// The address of a socket address: port 80 of this machine.
    Address,
}

/// Performs a system call. Returns its result, or the negative number of its error.
#[must_use]
pub fn syscall(number: i64, arguments: &[Argument]) -> i64 {
    #[repr(align(4096))]
    struct Page([u8; 4096]);

    let mut page = Page([0; 4096]);
    // The family `AF_INET`, port 80 and 127.0.0.1.
    let address: [u8; 16] = [2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let stack = 0_u64;
    let mut raw = [0_i64; 6];
    for (raw, argument) in raw.iter_mut().zip(arguments) {
        *raw = match argument {
            Argument::Number(number) => *number,
            Argument::Text(text) => text.as_ptr() as i64,
            Argument::Memory => page.0.as_mut_ptr() as i64,
            Argument::Stack => (&raw const stack) as i64,
            Argument::Address => address.as_ptr() as i64,
        };
    }
    let [a, b, c, d, e, f] = raw;
    // SAFETY: Each pointer is that of memory which lives until the call returns, at least as long as the kernel's
    // structures for these calls. The calls themselves are meant to fail or to end the process: they are made in a
    // process that exists for nothing else.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 { -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { result }
}
