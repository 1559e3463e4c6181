//! Invisible characters of foreign text.

use toolkit_schema::excerpt::{escaped, hidden};

#[test]
fn a_joiner_is_hidden_unless_the_character_before_it_needs_one() {
    let hidden_at = |text: &str| hidden(text).map(|(at, _)| at).collect::<Vec<_>>();
    // Persian, Devanagari, and emoji that are joined from several.
    for text in
        ["\u{645}\u{6cc}\u{200c}\u{62e}", "\u{915}\u{93f}\u{200d}", "👨\u{200d}👩\u{200d}👧", "❤\u{fe0f}\u{200d}🔥"]
    {
        assert!(hidden_at(text).is_empty(), "{text:?}");
    }
    assert_eq!(hidden_at("pass\u{200d}word"), [4], "behind a letter of ASCII");
    assert_eq!(hidden_at("\u{200c}first"), [0]);
    assert_eq!(hidden_at("\u{645}\u{200c}\u{200c}"), [5], "a joiner behind a joiner");
    assert_eq!(hidden_at("1\u{200d}"), [1]);
}

#[test]
fn every_other_invisible_character_is_hidden_and_escaped() {
    assert_eq!(escaped("a\u{202e}b\u{e0041}\n\u{7}"), "a\\u{202e}b\\u{e0041}\n\\u{7}");
    assert_eq!(
        escaped("one\u{2028}two\u{2029}"),
        "one\\u{2028}two\\u{2029}",
        "ends of lines that editors show as such"
    );
    assert_eq!(escaped("👩\u{200d}🚀 ☎\u{fe0f}"), "👩\u{200d}🚀 ☎\u{fe0f}");
}
