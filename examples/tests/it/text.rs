//! Tests of the text tools.

use serde_json::json;
use toolkit::Content;

use super::common::Host;

#[test]
fn counts() {
    let host = Host::read_only();
    let counts = host.call("count_text", json!({"text": "Grüße,\n  Welt"}));
    assert_eq!(counts, json!({"lines": 2, "words": 2, "characters": 13, "bytes": 15}));
    assert_eq!(host.call("count_text", json!({"text": ""}))["lines"], 0);
    host.misfit("count_text", json!({"text": "x".repeat(10_000_000)}), "at most 1000000 characters");
    host.misfit("count_text", json!({"text": 3}), "/text must be a string");
    host.misfit("count_text", json!({}), "/text is required");
}

#[test]
fn replaces_with_groups() {
    let host = Host::read_only();
    let replace = |text: &str, pattern: &str, replacement: &str| {
        host.call("replace_text", json!({"text": text, "pattern": pattern, "replacement": replacement}))
    };
    assert_eq!(
        replace("2024-05-06", r"(\d+)-(\d+)-(\d+)", "$3.$2.$1"),
        json!({"text": "06.05.2024", "replacements": 1})
    );
    assert_eq!(replace("a b", "(?<w>[a-z])", "${w}!")["text"], "a! b!");
    assert_eq!(replace("5", "5", "$$5")["text"], "$5");
    assert_eq!(replace("a\nb", "^", "> ")["text"], "> a\n> b");
    let one = json!({"text": "aAa", "pattern": "a", "replacement": "x", "ignore_case": true, "limit": 2});
    assert_eq!(host.call("replace_text", one)["text"], "xxa");
}

#[test]
fn hostile_replacements_are_refused() {
    let host = Host::read_only();
    let arguments = |text: String, pattern: &str, replacement: String| json!({"text": text, "pattern": pattern, "replacement": replacement});
    host.refused("replace_text", arguments("a".into(), r"\w{1000}", String::new()), "too large once compiled");
    host.refused("replace_text", arguments("a".into(), r"(a)\1", String::new()), "no back-references");
    host.refused("replace_text", arguments("a".repeat(900_000), "a", "bbbbbbbbbb".into()), "set `limit`");
    host.refused("replace_text", arguments("a".repeat(900_000), ".*", "$0".repeat(4000)), "set `limit`");
    host.misfit("replace_text", arguments("a".repeat(10_000_000), "a", String::new()), "at most 1000000 characters");
    host.misfit("replace_text", arguments("a".into(), "", String::new()), "/pattern must have at least 1 character");
    assert_eq!(host.call("replace_text", arguments("a".repeat(100_000), "(a*)*b", String::new()))["replacements"], 0);
}

#[test]
fn slugs() {
    let host = Host::read_only();
    let slug = |title: &str| host.call("slugify", json!({"title": title}));
    assert_eq!(slug("Héllo, World!"), "hello-world");
    assert_eq!(slug("  Straße Łódź ÆON 2 "), "strasse-lodz-aeon-2");
    assert_eq!(slug(&"x".repeat(300)), "x".repeat(80));
    let bounded = json!({"title": "one two three", "max_length": 8, "separator": "_"});
    assert_eq!(host.call("slugify", bounded), "one_two");
    host.refused("slugify", json!({"title": "日本"}), "transliteration");
    host.misfit("slugify", json!({"title": "x", "separator": "--"}), "/separator must match");
    host.misfit("slugify", json!({"title": "x", "max_length": 7}), "/max_length must be at least 8");
}

#[test]
fn diffs() {
    let host = Host::read_only();
    let arguments = json!({"old": "a\nb\nc\n", "new": "a\nB\nc\n", "context": 0});
    let diff = host.call("diff_text", arguments.clone());
    assert_eq!((&diff["equal"], &diff["added"], &diff["removed"]), (&json!(false), &json!(1), &json!(1)));
    assert_eq!(diff["diff"], "--- old\n+++ new\n@@ -2 +2 @@\n-b\n+B\n");
    assert_eq!(host.content("diff_text", arguments), [Content::text(diff["diff"].as_str().unwrap())]);
    let same = host.content("diff_text", json!({"old": "a", "new": "a"}));
    assert_eq!(same, [Content::text("The texts are the same.")]);
    host.misfit("diff_text", json!({"old": "x".repeat(10_000_000), "new": ""}), "at most 500000 characters");
    host.misfit("diff_text", json!({"old": "", "new": "", "context": 21}), "/context must be at most 20");
}

#[test]
fn long_texts_are_compared_in_bounded_time() {
    let host = Host::read_only();
    let lines = |step: usize| (0..60_000).map(|n| format!("{}\n", n * step % 60_013)).collect::<String>();
    let diff = host.call("diff_text", json!({"old": lines(7), "new": lines(11)}));
    assert_eq!(diff["equal"], false);
}

#[test]
fn extracts() {
    let host = Host::read_only();
    let text = "See (https://example.org/a_(b)) and https://example.org/a_(b), or <ann@example.org>.";
    let found = host.call("extract_links", json!({"text": text}));
    assert_eq!(
        found,
        json!({"links": ["https://example.org/a_(b)"], "emails": ["ann@example.org"], "truncated": false})
    );
    assert_eq!(host.call("extract_links", json!({"text": text, "only": "emails"}))["links"], json!([]));
    let many: String = (0..50).map(|n| format!("http://h/{n} ")).collect();
    assert_eq!(host.call("extract_links", json!({"text": many, "limit": 10}))["truncated"], true);
    host.misfit("extract_links", json!({"text": text, "only": "phones"}), "/only must be one of \"links\", \"emails\"");
    host.misfit("extract_links", json!({"text": "@".repeat(10_000_000)}), "at most 1000000 characters");
}

/// The end of an address is scanned once, regardless of its length.
#[test]
fn addresses_of_brackets_and_punctuation_are_cut_in_one_pass() {
    let host = Host::read_only();
    for tail in [")", "),", ").", "(.)", "((", "!?*", ")a"] {
        let text = format!("https://x{}", tail.repeat(990_000 / tail.len()));
        let found = host.call("extract_links", json!({"text": text}));
        assert_eq!(found["links"].as_array().unwrap().len(), 1, "{tail}");
    }
    let found = |text: &str| host.call("extract_links", json!({"text": text}))["links"][0].clone();
    assert_eq!(found("https://x/a))).)"), "https://x/a");
    assert_eq!(found("(https://x/(a).)"), "https://x/(a)");
    assert_eq!(found("https://x/(a)b)"), "https://x/(a)b");
}

/// A pattern that scans the rest of the text for each match, and one with thousands of live states.
#[test]
fn patterns_that_cost_too_much_are_refused() {
    let host = Host::read_only();
    let replace = |text: &str, pattern: &str| json!({"text": text, "pattern": pattern, "replacement": ""});
    host.refused("replace_text", replace(&"a".repeat(1_000_000), ".*[^a]|a"), "the replacements take too long");
    let pattern = "[ab]*a[ab]{5000}x";
    host.refused("replace_text", replace(&"ab".repeat(500_000), pattern), "for a text of this length");
    assert_eq!(host.call("replace_text", replace("ab", pattern))["replacements"], 0);
    host.put("long", "ab".repeat(500_000));
    host.put("short", "ab\n".repeat(1000));
    let found = host.call("search_files", json!({"pattern": pattern}));
    assert_eq!((&found["files_searched"], &found["files_skipped"]), (&json!(1), &json!(1)));
}

#[test]
fn texts_without_common_lines_are_compared() {
    let host = Host::read_only();
    let lines = |text: &str| format!("{text}\n").repeat(250_000);
    for (old, new) in [(lines("a"), lines("b")), (lines(""), String::new()), (lines("a"), "a".repeat(500_000))] {
        assert_eq!(host.call("diff_text", json!({"old": old, "new": new}))["equal"], false);
    }
}
