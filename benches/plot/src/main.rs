//! Makes the plots in `benches/plots` from the results in `benches/results`: `cargo run -p toolkit-plot`.

use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in `benches`");
    for (name, svg) in toolkit_plot::figures::all(&benches.join("results"))? {
        std::fs::write(benches.join("plots").join(name).with_extension("svg"), svg)?;
    }
    Ok(())
}
