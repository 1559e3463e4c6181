//! Invisible characters of foreign text.

use toolkit_schema::excerpt::{effect, escaped, hidden, is_invisible, quoted, shown_id, shown_pointer};

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

#[test]
fn a_message_repeats_so_much_of_a_foreign_text_that_it_can_be_recognized() {
    for (shown, n_shown) in [
        (quoted as fn(&str) -> String, 120),
        (|text| format!("`{}`", shown_pointer(text)), 240),
        (|text| format!("`{}`", shown_id(text)), 376),
    ] {
        assert_eq!(shown(&"é".repeat(n_shown)), format!("`{}`", "é".repeat(n_shown)));
        assert_eq!(shown(&"é".repeat(n_shown + 1)), format!("`{}…`", "é".repeat(n_shown)));
        assert_eq!(shown("it's \"a\\b\"\n\u{202e}\u{0}"), "`it's \"a\\b\"\\n\\u{202e}\\0`");
    }
}

#[test]
fn each_kind_of_invisible_character_has_its_effect() {
    for (chars, expected) in [
        (&['\u{e0000}', '\u{e0041}', '\u{e007f}'][..], "a tag character, which spells a hidden text"),
        (
            &['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200e}', '\u{200f}', '\u{61c}'],
            "it changes the direction of the text",
        ),
        (&['\u{fe00}', '\u{fe0d}', '\u{e0100}', '\u{e01ef}'], "a variation selector, which can carry hidden bytes"),
        (&['\u{2028}', '\u{2029}'], "it ends a line"),
        (&['\u{0}', '\u{7f}', '\u{85}'], "a control character"),
        (&['\u{200b}', '\u{feff}', '\u{ad}', '\u{3164}', '\u{180e}', '\u{206f}', '\u{1d173}'], "it has no width"),
    ] {
        for c in chars {
            assert!(is_invisible(*c), "{c:?}");
            assert_eq!(effect(*c), expected, "{c:?}");
        }
    }
    for c in ['a', ' ', '\n', '\r', '\t', '\u{fe0e}', '\u{fe0f}', 'é', '\u{2010}', '\u{2070}'] {
        assert!(!is_invisible(c), "{c:?}");
    }
}
