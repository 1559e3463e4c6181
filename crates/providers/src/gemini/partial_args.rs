//! Arguments of a call that arrive in pieces, each with its JSON path, as Vertex AI streams them.

use serde_json::{Map, Value};

use super::content::{BOOL_VALUE, JSON_PATH, NULL_VALUE, NUMBER_VALUE, STRING_VALUE, WILL_CONTINUE, get};

/// The maximum number of items of arrays that a model skips in the arguments of all calls.
const MAX_SKIPPED: usize = 10_000;

/// The maximum number of keys and indexes in a path.
const MAX_DEPTH: usize = 100;

/// A key or an index of a path.
#[derive(Debug, PartialEq)]
enum PathStep {
    Key(String),
    Index(usize),
}

/// Adds a piece to arguments. `open_string` is the path of a string whose end has not arrived yet. Items of arrays that
/// were skipped are null, and are added to `n_skipped`, which is bounded, as an index may be any number.
///
/// Returns the path if it is invalid, or leads too far.
pub(super) fn add_piece(
    piece: &Value,
    args: &mut Map<String, Value>,
    open_string: &mut Option<String>,
    n_skipped: &mut usize,
) -> Result<(), String> {
    let path = get(piece, JSON_PATH).and_then(Value::as_str).map(str::to_owned).or_else(|| open_string.clone());
    let Some((path, value)) = path.zip(value(piece)) else { return Ok(()) };
    let place = steps(&path).and_then(|steps| place(args, &steps, n_skipped));
    let Some(place) = place else { return Err(path) };
    match (place, value) {
        (Value::String(text), Value::String(more)) if open_string.as_ref() == Some(&path) => text.push_str(&more),
        (place, value) => *place = value,
    }
    *open_string = (get(piece, WILL_CONTINUE) == Some(&Value::Bool(true))).then_some(path);
    Ok(())
}

fn value(piece: &Value) -> Option<Value> {
    let null = get(piece, NULL_VALUE).map(|_| Value::Null);
    [STRING_VALUE, NUMBER_VALUE, BOOL_VALUE].into_iter().find_map(|field| get(piece, field).cloned()).or(null)
}

/// Parses a path such as `$.a.b[0]['c d']`.
fn steps(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() && steps.len() < MAX_DEPTH {
        let (step, after) = match rest.strip_prefix('.') {
            Some(name) => {
                let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
                ((!name.is_empty()).then(|| PathStep::Key(name.to_owned()))?, after)
            }
            None => bracket(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
        rest = after;
    }
    rest.is_empty().then_some(steps)
}

/// Parses what follows a `[`, and returns the rest.
fn bracket(text: &str) -> Option<(PathStep, &str)> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let (index, after) = text.split_once(']')?;
        return Some((PathStep::Index(index.parse().ok()?), after));
    };
    // The name, as a JSON string.
    let mut json = String::from('"');
    let mut chars = text.char_indices().skip(1);
    loop {
        match chars.next()?.1 {
            '\\' => match chars.next()?.1 {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            c if c == quote => break,
            '"' => json.push_str("\\\""),
            c => json.push(c),
        }
    }
    json.push('"');
    let (bracket, end) = chars.next().map(|(position, c)| (c, position + 1))?;
    let key = serde_json::from_str(&json).ok().filter(|_| bracket == ']')?;
    Some((PathStep::Key(key), &text[end..]))
}

/// Returns the place of a path, which is created if there is none.
fn place<'v>(args: &'v mut Map<String, Value>, steps: &[PathStep], n_skipped: &mut usize) -> Option<&'v mut Value> {
    let (PathStep::Key(first), steps) = steps.split_first()? else { return None };
    let mut place = args.entry(first.as_str()).or_insert(Value::Null);
    for step in steps {
        place = match step {
            PathStep::Key(key) => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(key.as_str()).or_insert(Value::Null)
            }
            PathStep::Index(index) => {
                if !place.is_array() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                if let Some(n_more) = index.checked_sub(items.len()) {
                    *n_skipped = n_skipped.checked_add(n_more).filter(|n_skipped| *n_skipped <= MAX_SKIPPED)?;
                    items.resize(index + 1, Value::Null);
                }
                items.get_mut(*index)?
            }
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{MAX_SKIPPED, PathStep, add_piece, steps};

    #[test]
    fn a_path_has_names_indexes_and_quoted_names() {
        let key = |key: &str| PathStep::Key(key.to_owned());
        assert_eq!(steps("$.a.b[12].c"), Some(vec![key("a"), key("b"), PathStep::Index(12), key("c")]));
        assert_eq!(steps(r#"$['a.b']["c]"]['d\'"\u00e4']"#), Some(vec![key("a.b"), key("c]"), key("d'\"ä")]));
        for invalid in ["a", "$a", "$..a", "$.a[", "$.a[-1]", "$.a[*]", "$['a'", "$['a'x", "$['", "$.a[1e3]"] {
            assert_eq!(steps(invalid), None, "{invalid}");
        }
        assert_eq!(steps(&format!("${}", ".a".repeat(101))), None);
    }

    #[test]
    fn the_number_of_skipped_items_is_bounded() {
        let (mut args, mut n_skipped) = (Map::new(), MAX_SKIPPED - 10);
        let mut add = |path: &str| {
            let piece = json!({ "jsonPath": path, "numberValue": 1 });
            add_piece(&piece, &mut args, &mut None, &mut n_skipped)
        };
        add("$.a[4]").unwrap();
        add("$.b[6]").unwrap();
        add("$.c[0]").unwrap();
        for path in ["$.d[1]", "$.a[999999999]", "$.a[18446744073709551615]", "$[0]", "$"] {
            assert_eq!(add(path), Err(path.to_owned()));
        }
        assert_eq!(args["a"], json!([Value::Null, Value::Null, Value::Null, Value::Null, 1]));
    }
}
