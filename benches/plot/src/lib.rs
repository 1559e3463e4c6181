//! Results of the benchmarks as JSON, and plots of them as SVG.
//!
//! A benchmark that runs with the environment variable `BENCH_JSON` writes its tables to that file, beside printing them:
//!
//! ```json
//! {
//!   "command": "cargo bench -p toolkit-benches --bench dispatch",
//!   "date": "2026-11-26",
//!   "machine": "AMD EPYC 9R14, 2 cores",
//!   "load": "0.10 0.12 0.20",
//!   "tables": [{
//!     "title": "add",
//!     "columns": ["ns", "ratio", "ratio_p10", "ratio_p90", "allocations"],
//!     "rows": [{ "name": "floor: serde, function, serde", "values": [57.1, 1.0, 1.0, 1.0, 1.0] }]
//!   }]
//! }
//! ```
//!
//! The name of a column ends in its unit (`ns`, `us`, `ms`, `bytes`); a ratio has none. A value that was not measured is
//! `null`. `load` is the load average of the machine when the run ended, by which a reader sees whether it was idle.
//!
//! The program of this package makes the plots in `benches/plots` and the ratios in README from the files in `benches/results`:
//! the same results give the same bytes. `compare` prints the ratios that differ between two files, and `check` fails if one has
//! changed by more than 15 %.
#![forbid(unsafe_code)]

mod bars;
pub mod compare;
pub mod figures;
mod lines;
pub mod results;
mod scale;
pub mod speed;
mod svg;
