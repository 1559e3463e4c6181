//! The first lessons of the example catalog as a program: `toolkit-first-tools call math:add --a 1 --b 2`.

#[path = "../../src/math.rs"]
mod math;
#[path = "../../src/units.rs"]
mod units;

fn main() -> std::process::ExitCode {
    toolkit_cli::program!().main()
}
