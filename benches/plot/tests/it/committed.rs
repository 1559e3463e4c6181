//! The committed plots, and the results that they show.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toolkit_plot::figures;
use toolkit_plot::results::{Results, Table};

fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in `benches`").to_owned()
}

#[test]
fn every_plot_is_made_from_the_committed_results() {
    let made = figures::all(&benches().join("results")).expect("the results are complete");
    let names: BTreeSet<String> = made.iter().map(|(name, _)| format!("{name}.svg")).collect();
    for (name, svg) in made {
        let committed = fs::read_to_string(benches().join("plots").join(name).with_extension("svg"));
        let committed =
            committed.unwrap_or_else(|error| panic!("{name}: {error}; `cargo run -p toolkit-plot` makes it"));
        assert!(committed == svg, "{name}.svg is outdated; `cargo run -p toolkit-plot` makes it");
    }
    let committed = fs::read_dir(benches().join("plots")).expect("there are plots");
    let committed: BTreeSet<String> =
        committed.map(|file| file.unwrap().file_name().into_string().expect("UTF-8")).collect();
    assert_eq!(committed, names);
}

#[test]
fn the_readmes_show_every_plot() {
    let text = |path: &str| fs::read_to_string(benches().join(path)).expect("it exists");
    let (readme, guide) = (text("../README.md"), text("README.md"));
    for file in fs::read_dir(benches().join("plots")).expect("there are plots") {
        let name = file.unwrap().file_name().into_string().expect("UTF-8");
        assert!(guide.contains(&format!("(plots/{name})")), "benches/README.md does not show {name}");
    }
    for name in ["dispatch", "servers"] {
        assert!(readme.contains(&format!("(benches/plots/{name}.svg)")), "README.md does not show {name}");
    }
}

#[test]
fn the_ratios_of_readme_are_those_of_the_results() {
    let readme = fs::read_to_string(benches().join("../README.md")).expect("it exists");
    let made = toolkit_plot::speed::in_readme(&readme, &benches().join("results")).expect("the results are complete");
    assert!(readme == made, "README has other ratios than `benches/results`; `cargo run -p toolkit-plot` writes them");
}

#[test]
fn the_tables_of_the_pages_have_the_ratios_of_the_results() {
    for (name, page) in [("dispatch", "calls"), ("servers", "servers"), ("servers-clients", "servers")] {
        let results = Results::read(&benches().join("results").join(name).with_extension("json")).unwrap();
        let page = fs::read_to_string(benches().join("tables").join(page).with_extension("md")).unwrap();
        // A table of sizes has another form.
        for table in results.tables.iter().filter(|table| table.columns[0] != "bytes") {
            for row in &table.rows {
                let Some(ratio) = table.value(row, "ratio") else { continue };
                let lines = page.lines().filter(|line| line.starts_with(&format!("| {} |", row.name)));
                let cells = lines.flat_map(|line| line.split(" | ")).filter_map(|cell| cell.split(" (").next());
                // Results have four digits, and tables two after the point.
                let is_near = |shown: f64| (shown - ratio).abs() < f64::max(0.0051, ratio / 1000.0);
                let is_shown = cells.filter_map(|cell| cell.parse().ok()).any(is_near);
                assert!(is_shown, "{name}, {}: no table has {ratio} for {}", table.title, row.name);
            }
        }
    }
}

#[test]
fn the_commands_that_made_the_results_are_documented() {
    let readme = fs::read_to_string(benches().join("README.md")).expect("it exists");
    for file in fs::read_dir(benches().join("results")).expect("there are results") {
        let path = file.unwrap().path();
        let results = Results::read(&path).expect("it has the format");
        assert!(readme.contains(&format!("`{}`", results.command)), "{}: {}", path.display(), results.command);
        let rows = || results.tables.iter().flat_map(|table| &table.rows);
        assert!(rows().flat_map(|row| &row.values).flatten().all(|value| value.is_finite()), "{}", path.display());
        assert!(rows().count() > 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), results.to_json().unwrap(), "{}", path.display());
    }
}

#[test]
#[should_panic(expected = "a value for each column")]
fn a_row_has_a_value_for_each_column() {
    Table::new("t", &["ns", "ratio"]).row("r", [Some(1.0)]);
}
