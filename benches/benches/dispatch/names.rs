//! Lookup of a tool by name among many tools.

use std::any::TypeId;
use std::collections::HashMap;
use std::hint::black_box;

use toolkit::__private::{Code, Entry, Run, catalog_of, location};
use toolkit::ToolError;
use toolkit::schema::plan::discard;
use toolkit::tool::Metadata;
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;

pub(crate) fn measure(recorder: &mut Recorder) {
    for n_tools in [10, 1_000, 100_000] {
        let entries: Vec<&'static Entry> = (0..n_tools).map(entry).collect();
        let catalog = catalog_of(&entries).expect("no two have one name");
        let map: HashMap<&str, usize> = entries.iter().enumerate().map(|(idx, entry)| (entry.id, idx)).collect();
        // In an order that no cache predicts, and with strings that are not the catalog's own.
        let asked: Vec<String> = (0..4_096).map(|nth| entries[nth * 7_919 % n_tools].id.to_owned()).collect();

        let mut table = Table::new(format!("4,096 lookups among {n_tools} tools"));
        table.row("`HashMap<&str, usize>`", "–", || {
            for name in &asked {
                black_box(map.get(&**name));
            }
        });
        table.row("`Catalog::get`", "–", || {
            for name in &asked {
                black_box(catalog.get(name));
            }
        });
        table.measure().report(recorder);
    }
}

/// Creates the record that `#[tool]` generates, at run time: with a macro, rustc would compile each of them.
fn entry(nth: usize) -> &'static Entry {
    let name: &'static str = format!("look_up_this_tool_{nth:06}").leak();
    Box::leak(Box::new(Entry {
        id: name,
        namespace: None,
        name,
        version: None,
        aliases: &[],
        timeout: None,
        requires: false,
        prompt: None,
        show_errors: false,
        enforce_formats: false,
        metadata: Metadata::default,
        location: location(file!(), line!(), 1),
        input: || serde_json::json!({ "type": "object" }),
        sole: None,
        read: discard::<()>,
        output: || None,
        types: [TypeId::of::<()>(); 2],
        returns_unit: false,
        states: &[],
        code: Code::new(const { &Run::Sync(|_| Err(ToolError::failed("only looked up"))) }),
    }))
}
