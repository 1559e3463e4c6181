//! Makes the plots in `benches/plots` and the ratios in README from the results in `benches/results`: `cargo run -p toolkit-plot`.
//!
//! `cargo run -p toolkit-plot -- compare BEFORE NOW` prints the ratios that differ between two files with results. With
//! `check` instead, it fails if one of them has changed by more than 15 %.

use std::io;
use std::path::Path;

use toolkit_plot::compare::Comparison;
use toolkit_plot::results::Results;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => plot(),
        [command @ ("compare" | "check"), before, now] => {
            let [before, now] = [before, now].map(|path| Results::read(Path::new(path)));
            let comparison = Comparison::new(&before?, &now?);
            print!("{comparison}");
            if command == "check" && comparison.is_outdated() {
                let message = "a ratio has changed by more than 15 %: find the cause, or publish the new results";
                return Err(io::Error::other(message));
            }
            Ok(())
        }
        _ => Err(io::Error::other("expected no arguments, `compare BEFORE NOW` or `check BEFORE NOW`")),
    }
}

fn plot() -> io::Result<()> {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in `benches`");
    for (name, svg) in toolkit_plot::figures::all(&benches.join("results"))? {
        std::fs::write(benches.join("plots").join(name).with_extension("svg"), svg)?;
    }
    let readme = benches.join("../README.md");
    let text = std::fs::read_to_string(&readme)?;
    std::fs::write(readme, toolkit_plot::speed::in_readme(&text, &benches.join("results"))?)
}
