//! The text of a result that is longer than its tool declares.

use serde_json::{Map, Value};

/// Cuts the texts of a written result after `max` characters in all, where a line or a word ends, with a note for the model.
///
/// The other content and `structuredContent`, which programs read, stay. Returns `None` if the texts are not longer.
pub(super) fn shorten(result: &[u8], max: usize) -> Option<Vec<u8>> {
    // A character has at least one byte.
    if result.len() <= max {
        return None;
    }
    let mut result: Map<String, Value> = serde_json::from_slice(result).ok()?;
    let content = result.get_mut("content")?.as_array_mut()?;
    let n_chars: usize = content.iter().filter_map(text_of).map(|text| text.chars().count()).sum();
    if n_chars <= max {
        return None;
    }
    let mut n_kept = 0;
    content.retain_mut(|block| {
        let Some(Value::String(text)) = block.get_mut("text") else { return true };
        let (is_kept, length) = (n_kept < max, text.chars().count());
        if is_kept && n_kept + length >= max {
            let end = text.char_indices().nth(max - n_kept).map_or(text.len(), |(at, _)| at);
            let part = if end < text.len() { whole_lines(&text[..end]) } else { text.as_str() };
            *text = format!(
                "{part}\n\n[The result has {n_chars} characters; these are the first {}. Ask for a smaller part, if the tool \
                 has arguments for that.]",
                n_kept + part.chars().count()
            );
        }
        n_kept += length;
        is_kept
    });
    serde_json::to_vec(&result).ok()
}

fn text_of(block: &Value) -> Option<&str> {
    block.get("text")?.as_str()
}

/// Returns the text up to its last line end, or else its last space, if that is in its second half.
fn whole_lines(text: &str) -> &str {
    let half = text.len() / 2;
    let end = text.rfind('\n').filter(|at| *at >= half).or_else(|| text.rfind(' ').filter(|at| *at >= half));
    text[..end.unwrap_or(text.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shortened(content: Value, max: usize) -> Option<Value> {
        let result = json!({ "content": content, "structuredContent": { "kept": true } });
        let shorter = shorten(&serde_json::to_vec(&result).unwrap(), max)?;
        let mut shorter: Value = serde_json::from_slice(&shorter).unwrap();
        assert_eq!(shorter["structuredContent"], json!({ "kept": true }));
        Some(shorter["content"].take())
    }

    fn note(has: usize, shown: usize) -> String {
        format!(
            "\n\n[The result has {has} characters; these are the first {shown}. Ask for a smaller part, if the tool has \
             arguments for that.]"
        )
    }

    #[test]
    fn a_result_of_the_declared_length_is_whole_in_characters_and_not_in_bytes() {
        let text = "ä".repeat(100);
        assert_eq!(shortened(json!([{ "type": "text", "text": text }]), 100), None);
        let cut = shortened(json!([{ "type": "text", "text": text }]), 99).unwrap();
        assert_eq!(cut[0]["text"], json!(format!("{}{}", "ä".repeat(99), note(100, 99))));
    }

    #[test]
    fn a_text_is_cut_where_a_line_ends_or_a_word() {
        for (text, max, kept) in [
            ("one line\nanother line\nthe last line", 25, "one line\nanother line"),
            ("one two three four five", 12, "one two"),
            ("one\nabcdefghijklmnopqrstuvwxyz", 20, "one\nabcdefghijklmnop"),
        ] {
            let cut = shortened(json!([{ "type": "text", "text": text }]), max).unwrap();
            assert_eq!(cut[0]["text"], json!(format!("{kept}{}", note(text.len(), kept.len()))), "{text}");
        }
    }

    #[test]
    fn texts_after_the_cut_are_left_out_and_other_content_stays() {
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let text = |text: &str| json!({ "type": "text", "text": text });
        let cut = shortened(json!([text("0123456789"), image, text("abcdefghij"), text("never"), image]), 15).unwrap();
        assert_eq!(cut, json!([text("0123456789"), image, text(&format!("abcde{}", note(25, 15))), image]));
        let cut = shortened(json!([text("0123456789"), text("abcdefghij")]), 10).unwrap();
        assert_eq!(cut, json!([text(&format!("0123456789{}", note(20, 10)))]));
    }
}
