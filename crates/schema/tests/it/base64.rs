//! Bytes that are base64 in JSON.

use serde_json::{Value, json};
use toolkit_schema::{Base64, Schema};

fn read(text: &str) -> Result<Vec<u8>, String> {
    serde_json::from_value::<Base64>(json!(text)).map(|bytes| bytes.0).map_err(|error| error.to_string())
}

#[test]
fn both_alphabets_are_read_with_and_without_padding() {
    for (text, bytes) in [
        ("", &b""[..]),
        ("aGVsbG8=", b"hello"),
        ("aGVsbG8", b"hello"),
        ("+/8=", b"\xfb\xff"),
        ("+/8", b"\xfb\xff"),
        ("-_8=", b"\xfb\xff"),
        ("-_8", b"\xfb\xff"),
        ("YQ==", b"a"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(bytes), "{text}");
    }
}

#[test]
fn other_texts_are_rejected_with_the_place() {
    for (text, reason) in [
        ("aGVsbG8!", "expected base64: invalid symbol at 7"),
        ("data:image/png;base64,aGVsbG8=", "expected base64 alone, without the `data:` of a URL"),
        ("aGVs\nbG8=", "expected base64: wrong padding"),
        ("YQ=", "expected base64: wrong padding"),
        ("====", "expected base64: wrong padding"),
        ("YQ=a", "expected base64: invalid symbol at 2"),
        ("YWJjZ", "expected base64: invalid length at 4"),
    ] {
        assert_eq!(read(text).as_ref().map_err(|error| &**error), Err(reason), "{text}");
    }
    assert!(serde_json::from_value::<Base64>(json!([104, 105])).is_err());
}

#[test]
fn bytes_are_written_in_the_standard_alphabet_with_padding() {
    assert_eq!(json!(Base64::from(vec![0xfb, 0xff])), "+/8=");
    assert_eq!(Base64(vec![1, 2, 3]).len(), 3);
}

#[test]
fn the_example_of_the_schema_is_base64() {
    let schema = Schema::input::<Vec<Base64>>().unwrap();
    assert_eq!(schema.as_value()["items"], json!({ "type": "string", "contentEncoding": "base64" }));
    let example = Schema::input::<Base64>().unwrap().example().unwrap();
    assert_eq!(example.as_str().map(read), Some(Ok(b"hello".to_vec())), "{example}");
    assert_eq!(Schema::output::<Base64>().unwrap().as_value()["contentEncoding"], Value::from("base64"));
}
