//! Truncation of results that are too long for a model. The truncated text states what is missing.

use serde_json::{Map, Value};
use toolkit_schema::json::length;

/// The least number of bytes that a property keeps before others are left out.
const MIN_SHARE: usize = 48;

/// The least number of bytes that an item of an array keeps before others are left out. A few whole items are better
/// than many fragments.
const MIN_ITEM_SHARE: usize = 512;

/// Returns a text of at most about `max_bytes`, without its middle.
pub(crate) fn truncate_text(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(max_bytes / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - max_bytes / 3);
    let n_missing = tail - head;
    format!("{}[… {n_missing} of {} bytes left out …]{}", &text[..head], text.len(), &text[tail..])
}

/// Returns JSON text of at most about `max_bytes`: long texts lose their middle, and arrays and objects their last
/// items. Each place states what is missing. Text that is not JSON is truncated as text.
pub(crate) fn truncate_json(json: &str, max_bytes: usize) -> String {
    if json.len() <= max_bytes {
        return json.to_owned();
    }
    match serde_json::from_str::<Value>(json) {
        Ok(value) => truncate_text(&truncated(value, max_bytes).to_string(), max_bytes.saturating_mul(2)),
        Err(_) => truncate_text(json, max_bytes),
    }
}

fn truncated(value: Value, max_bytes: usize) -> Value {
    if length(&value, max_bytes) <= max_bytes {
        return value;
    }
    match value {
        Value::String(text) => Value::String(truncate_text(&text, max_bytes.max(MIN_SHARE))),
        Value::Array(items) => truncated_array(items, max_bytes),
        Value::Object(properties) => truncated_object(properties, max_bytes),
        other => other,
    }
}

fn truncated_array(items: Vec<Value>, max_bytes: usize) -> Value {
    let n_items = items.len();
    let lengths = items.iter().map(|item| length(item, max_bytes) + 1);
    let (n_kept, share) = shares(lengths.collect(), MIN_ITEM_SHARE, max_bytes);
    let mut kept: Vec<Value> = items.into_iter().take(n_kept).map(|item| truncated(item, share)).collect();
    if n_kept < n_items {
        kept.push(Value::String(format!("[… {} of {n_items} items left out]", n_items - n_kept)));
    }
    Value::Array(kept)
}

fn truncated_object(properties: Map<String, Value>, max_bytes: usize) -> Value {
    let n_properties = properties.len();
    let lengths = properties.iter().map(|(key, value)| length(value, max_bytes) + key.len() + 4);
    let (n_kept, share) = shares(lengths.collect(), MIN_SHARE, max_bytes);
    let kept = properties.into_iter().take(n_kept).map(|(key, value)| {
        let share = share.saturating_sub(key.len() + 4);
        (truncate_text(&key, max_bytes), truncated(value, share))
    });
    let mut kept: Map<String, Value> = kept.collect();
    if n_kept < n_properties {
        let missing = format!("{} of {n_properties} properties left out", n_properties - n_kept);
        kept.insert("[…]".to_owned(), Value::String(missing));
    }
    Value::Object(kept)
}

/// Divides `max_bytes` among items of these lengths. Returns how many items are kept, and the most that each may take:
/// short items are kept whole, and the others share what is left.
pub(crate) fn shares(mut lengths: Vec<usize>, min_share: usize, max_bytes: usize) -> (usize, usize) {
    // As many items as fit if each takes no more than `min_share`.
    let mut n_bytes = 0;
    let min_share = min_share.min(max_bytes);
    let fits = |length: &&usize| {
        n_bytes += (**length).min(min_share);
        n_bytes <= max_bytes
    };
    let n_kept = lengths.iter().take_while(fits).count();
    lengths.truncate(n_kept);
    (n_kept, share(lengths, max_bytes))
}

/// Returns the most that each of several items may take, so that all of them take at most `max_bytes`.
pub(crate) fn share(mut lengths: Vec<usize>, max_bytes: usize) -> usize {
    lengths.sort_unstable();
    let (mut rest, mut n_rest) = (max_bytes, lengths.len());
    for length in lengths {
        if length.saturating_mul(n_rest) > rest {
            return rest / n_rest;
        }
        rest -= length;
        n_rest -= 1;
    }
    max_bytes
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{share, truncate_json, truncate_text};

    #[test]
    fn a_text_keeps_its_ends_and_says_how_much_is_missing() {
        let text = format!("{}ü{}", "a".repeat(100), "z".repeat(100));
        let short = truncate_text(&text, 30);
        assert_eq!(short, format!("{}[… 172 of 202 bytes left out …]{}", "a".repeat(20), "z".repeat(10)));
        assert_eq!(truncate_text("short", 30), "short");
    }

    #[test]
    fn json_stays_json_and_says_what_is_missing() {
        let rows: Vec<Value> = (0..200).map(|n| json!({ "id": n, "name": "x".repeat(40) })).collect();
        let long = json!({ "total": 200, "rows": rows, "next": "page-2" }).to_string();
        let short: Value = serde_json::from_str(&truncate_json(&long, 1000)).unwrap();
        assert_eq!((&short["total"], &short["next"]), (&json!(200), &json!("page-2")));
        let rows = short["rows"].as_array().unwrap();
        assert_eq!(rows[0], json!({ "id": 0, "name": "x".repeat(40) }));
        let n_kept = rows.len() - 1;
        assert!(n_kept > 5, "{n_kept}");
        assert_eq!(rows[n_kept], format!("[… {} of 200 items left out]", 200 - n_kept));
    }

    #[test]
    fn short_items_are_kept_whole() {
        assert_eq!(share(vec![10, 1000, 20, 1000], 230), 100);
        assert_eq!(share(vec![10, 20], 230), 230);
    }
}
