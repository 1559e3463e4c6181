//! The layers that ARCHITECTURE.md states.

use std::collections::BTreeMap;

/// For each crate its modules, with the layer of each: 0 is the top.
pub type Layers = BTreeMap<String, BTreeMap<String, usize>>;

/// Reads the indented block of the section "Layers": a line that ends in `:` names a crate, and each line below it the
/// modules of one layer, from the top down.
pub fn layers(document: &str) -> Layers {
    let section = document.split("\n## ").find(|section| section.starts_with("Layers\n")).expect("a section `Layers`");
    let mut layers = Layers::new();
    let mut of_crate = None;
    for (idx, line) in section.lines().enumerate() {
        let Some(line) = line.strip_prefix("    ") else { continue };
        if let Some(name) = line.strip_suffix(':') {
            assert!(!layers.contains_key(name), "ARCHITECTURE.md lists the layers of `{name}` twice");
            of_crate = Some(layers.entry(name.to_owned()).or_default());
        } else if let Some(modules) = &mut of_crate {
            modules.extend(line.split(',').map(|module| (module.trim().to_owned(), idx)));
        }
    }
    layers
}
