//! The package of the compile error tests; trybuild adds its dependencies to each program.
