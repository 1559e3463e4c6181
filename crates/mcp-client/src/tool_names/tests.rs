use serde_json::{Value, json};

use super::{MAX_NAME_LEN, NAME_KEY, valid_names};

/// Returns the listed names of tools, each with the name that it has at the server.
fn listed(names: &[&str], namespace: &str) -> Vec<(String, String)> {
    let mut tools: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    valid_names(&mut tools, namespace);
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let own = |tool: &Value| tool["_meta"].get(NAME_KEY).map_or_else(|| name(tool), |own| own.as_str().unwrap().into());
    tools.iter().map(|tool| (name(tool), own(tool))).collect()
}

fn has_suffix(name: &str, before: &str) -> bool {
    let digits = name.strip_prefix(before).and_then(|rest| rest.strip_prefix('_'));
    digits.is_some_and(|digits| digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[test]
fn names_are_listed_with_characters_that_all_clients_accept() {
    for (name, expected) in [("aZ_09-.", "aZ_09-."), ("a/b c", "a_b_c"), ("ä1", "_1"), ("a:b", "a_b"), ("", "")] {
        assert_eq!(listed(&[name], "n"), [(expected.to_owned(), name.to_owned())]);
    }
    // Names without a letter or digit, and names that would be listed as another one, have a suffix.
    for name in ["ä", "??"] {
        assert!(has_suffix(&listed(&[name], "n")[0].0, &"_".repeat(name.chars().count())), "{name}");
    }
    let names = listed(&["a_b", "a b", "a:b", "a_c"], "n");
    assert_eq!((&*names[0].0, &*names[3].0), ("a_b", "a_c"));
    assert!(has_suffix(&names[1].0, "a_b") && has_suffix(&names[2].0, "a_b") && names[1].0 != names[2].0);
    assert_eq!(names[1].1, "a b");
    // It depends on the name alone.
    assert_eq!(listed(&["a_b", "a b"], "n")[1], names[1]);
}

#[test]
fn names_are_as_long_as_clients_accept_with_their_namespace() {
    // The length of the namespace, and the length up to which a name is unchanged.
    for (n_namespace, max) in [(1, 62), (10, 53), (47, 16), (48, MAX_NAME_LEN), (100, MAX_NAME_LEN)] {
        let namespace = "n".repeat(n_namespace);
        let longest = "a".repeat(max);
        assert_eq!(listed(&[&longest], &namespace)[0].0, longest);
        let (longer, _) = &listed(&[&format!("{longest}a")], &namespace)[0];
        assert!(longer.len() == max && has_suffix(longer, &longest[..max - 9]), "{n_namespace}: {longer}");
    }
}
