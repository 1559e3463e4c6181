//! Tools for programs that depend on this library and contain `toolkit::link!({{krate}});`.

pub mod tools;
