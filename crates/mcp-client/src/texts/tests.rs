use serde_json::{Value, json};

use super::{MAX_DATA_BYTES, MAX_MESSAGE_CHARS, followed, shortened, text_of};
use crate::failure::ServerError;

#[test]
fn the_text_of_an_error_has_its_message_and_the_beginning_of_its_data() {
    let long = "d".repeat(MAX_DATA_BYTES);
    let longer = format!("{long}d");
    for (message, data, expected) in [
        (" busy ", Value::Null, "busy"),
        ("busy", json!(" until noon "), "busy (until noon)"),
        ("busy", json!({ "until": 12 }), "busy ({\"until\":12})"),
        ("busy until noon", json!("until noon"), "busy until noon"),
        ("", json!("until noon"), "until noon"),
        ("", Value::Null, ""),
        ("busy", json!(long), &format!("busy ({long})")),
        ("busy", json!(longer), &format!("busy ({long}…)")),
        ("", json!(longer), &format!("{long}…")),
    ] {
        let data = Some(data).filter(|data| !data.is_null());
        let error = ServerError { code: 1, message: message.to_owned(), data };
        assert_eq!(text_of(&error), expected);
    }
}

#[test]
fn a_long_text_is_shortened_between_characters() {
    let longest = "é".repeat(MAX_MESSAGE_CHARS);
    assert_eq!(shortened(&longest), longest);
    assert_eq!(shortened(&format!("{longest}é")), format!("{longest}…"));
    assert_eq!([followed("it failed", ""), followed("it failed", "why")], ["it failed", "it failed: why"]);
}
