//! Removal of unused definitions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{CONTAINERS, pointer};

/// Removes the definitions that are not reachable from the root.
pub(crate) fn remove_unused(document: &mut Value) {
    let mut used = BTreeSet::new();
    let mut pending: Vec<String> = match document.as_object() {
        Some(root) => root
            .iter()
            .filter(|(keyword, _)| !CONTAINERS.contains(&keyword.as_str()))
            .flat_map(|(_, value)| references_at_any_place(value))
            .chain(root.get("$ref").and_then(Value::as_str).and_then(pointer))
            .collect(),
        None => return,
    };
    while let Some(target) = pending.pop() {
        // A reference into a definition keeps all of it.
        let mut parts = target.splitn(4, '/').skip(1);
        let (Some(container), Some(name)) = (parts.next(), parts.next()) else {
            continue;
        };
        let owner = format!("/{container}/{name}");
        if CONTAINERS.contains(&container)
            && let Some(schema) = document.pointer(&owner)
            && used.insert(owner)
        {
            pending.extend(references_at_any_place(schema));
        }
    }
    for container in CONTAINERS {
        let Some(Value::Object(named)) = document.get_mut(container) else {
            continue;
        };
        named.retain(|name, _| {
            let name = name.replace('~', "~0").replace('/', "~1");
            used.contains(&format!("/{container}/{name}"))
        });
        if named.is_empty()
            && let Some(root) = document.as_object_mut()
        {
            root.remove(container);
        }
    }
}

// Searches everywhere, since a pointer may lead to a schema under an unknown keyword.
fn references_at_any_place(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(list) => pending.extend(list),
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).and_then(pointer));
                pending.extend(map.values());
            }
            _ => {}
        }
    }
    found
}
