//! The committed limits, and the comparison with them.

use std::process::ExitCode;

use crate::{counted, search, servers};

/// The calls of a floor, with the maximum ratio of each to it.
pub(crate) struct Limits {
    pub(crate) floor: &'static str,
    pub(crate) n_calls: u64,
    pub(crate) rows: &'static [(&'static str, f64)],
}

/// Leaves 3 to 9 % for differences between compilers, and between machines in the work of the allocator. The floor is
/// not a minimum: `serde_json` reads it.
const LIMITS: [Limits; 13] = [
    Limits {
        floor: "floor-add",
        n_calls: 2_000,
        rows: &[
            ("prepared-add", 1.41),
            ("add", 1.55),
            ("add_async", 2.00),
            ("handle-add", 0.39),
            ("handle-add_async", 0.70),
            ("mcp-add", 5.40),
        ],
    },
    Limits {
        floor: "floor-search",
        n_calls: 500,
        rows: &[
            ("prepared-search", 1.05),
            ("search", 1.06),
            ("search_async", 1.12),
            ("mcp-search", 1.77),
            // With arguments that match after five changes.
            ("coerced", 6.90),
        ],
    },
    Limits {
        floor: "floor-batch",
        n_calls: 5,
        rows: &[("prepared-batch", 0.89), ("batch", 0.89), ("batch_async", 0.93), ("mcp-batch", 1.52)],
    },
    // With nine, four, and one violations.
    Limits { floor: "floor-rejected", n_calls: 200, rows: &[("rejected", 3.40)] },
    Limits { floor: "floor-rejected-4", n_calls: 200, rows: &[("rejected-4", 3.85)] },
    Limits { floor: "floor-rejected-1", n_calls: 200, rows: &[("rejected-1", 3.81)] },
    // A hundred thousand integers and a text, relative to the integers alone, which are accepted.
    Limits { floor: "total", n_calls: 3, rows: &[("total-rejected", 3.50)] },
    // A comparison with each of ten thousand names, and as many calls as a chain has steps.
    Limits { floor: "floor-unknown-name", n_calls: 20, rows: &[("unknown-name", 71.0)] },
    Limits { floor: "floor-chain", n_calls: 200, rows: &[("chain", 4.95)] },
    // With a hundred tools, relative to parsing their list as a tree.
    Limits { floor: "floor-manifest", n_calls: 10, rows: &[("manifest", 2.06), ("check", 1.38), ("tool-list", 2.01)] },
    // A search among 100,000 tools, in relation to a selection from as many scores.
    Limits { floor: "floor-find", n_calls: 5 * search::QUERIES, rows: &[("find", 0.65)] },
    // The engine alone, and a call without a program. The globals that models expect are added to each engine.
    Limits { floor: "floor-program", n_calls: 20, rows: &[("program", 2.82)] },
    Limits { floor: "add_async", n_calls: 500, rows: &[("program-add_async", 34.0)] },
];

/// The maximum number of times that a row above its limit is counted again. The least count is used.
const MAX_REPEATS: u32 = 2;

/// Counts all rows and prints the table; fails if a row exceeds its limit.
pub(crate) fn hold() -> ExitCode {
    if !counted::is_possible() {
        println!("skipped 1 check: valgrind is not installed, so that no instructions can be counted");
        return ExitCode::SUCCESS;
    }
    match n_exceeded() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(n) => {
            eprintln!("{n} rows take more than `{}` and `servers.rs` allow", file!());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn n_exceeded() -> std::io::Result<usize> {
    search::save()?;
    let instructions = LIMITS.iter().chain(&servers::LIMITS);
    Ok(print("instructions", instructions, counted::instructions)?
        + print("system calls", &servers::SYSTEM_CALLS, counted::system_calls)?)
}

/// Prints a table of counts. Returns the number of rows that exceed their limits.
fn print<'l>(
    counted: &str,
    limits: impl IntoIterator<Item = &'l Limits>,
    count: impl Fn(&str, u64) -> std::io::Result<f64>,
) -> std::io::Result<usize> {
    let mut n_exceeded = 0;
    println!("\n| a call of | {counted} | ratio | at most |");
    println!("|---|---:|---:|---:|");
    for &Limits { floor, n_calls, rows } in limits {
        let least = count(floor, n_calls)?;
        println!("| `{floor}` | {least} | 1.00 | |");
        for &(row, limit) in rows {
            let mut taken = count(row, n_calls)?;
            // Two runs differ in more than the calls if their hash maps do, whose seeds are random.
            for _ in 0..MAX_REPEATS {
                if taken / least <= limit {
                    break;
                }
                taken = taken.min(count(row, n_calls)?);
            }
            let ratio = taken / least;
            let exceeds = ratio > limit;
            n_exceeded += usize::from(exceeds);
            println!("| `{row}` | {taken} | {ratio:.3} | {limit:.2}{} |", if exceeds { " exceeded" } else { "" });
        }
    }
    Ok(n_exceeded)
}
