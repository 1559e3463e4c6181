//! Malicious queries and tools.

use super::{ids, index, tool};

#[test]
fn unusual_queries_do_not_fail() {
    let index = index(&[("mail:send", "Sends an email."), ("emoji", "Finds 🦀 and مرحبا.")]);
    let mebibyte = "send ".repeat(1 << 18);
    let one_word = "x".repeat(1 << 20);
    let many_words: String = (0..200_000).map(|n| format!("w{n} ")).collect();
    for query in [
        mebibyte.as_str(),
        &one_word,
        &many_words,
        "\0\u{1}\u{7f}\u{1b}[31m",
        "the of and",
        "\u{202e}dnes\u{202c}",
        "👩‍👩‍👧‍👦🏳️‍🌈",
        "'''''''",
        "’s 's ' s",
        "\u{fffd}\u{feff}\u{200b}",
        "İ ß ŉ ﬃ ǅ",
        "ＦＵＬＬ ｗｉｄｔｈ",
        "a\u{301}\u{301}\u{301}",
    ] {
        let hits = index.search(query, 10);
        assert!(hits.len() <= 2);
    }
    assert_eq!(ids(&index.search(&mebibyte, 10)), ["mail:send"]);
    assert_eq!(ids(&index.search("مرحبا", 10)), ["emoji"]);
    assert_eq!(ids(&index.search("\0send\0", 10)), ["mail:send"]);
}

#[test]
fn words_of_every_script_are_matched_exactly() {
    for (description, query) in [
        ("使用必应搜索指定的关键词", "搜索"),
        ("Отправляет письмо.", "письмо"),
        ("メールを送る", "メール"),
        ("ส่งอีเมล", "อีเมล"),
        ("Envoie une lettre à l’école.", "école"),
        ("Straße und Öl", "straße"),
    ] {
        let index = index(&[("a", description), ("b", "Nothing of the kind.")]);
        assert_eq!(ids(&index.search(query, 5)), ["a"], "{query}");
    }
}

#[test]
fn large_tools_do_not_fail() {
    let text = "word ".repeat(1 << 20);
    let one_word = "y".repeat(1 << 22);
    let index = index(&[("a", &text), ("b", &one_word), ("c", "A word.")]);
    assert_eq!(ids(&index.search("word", 5)).len(), 2);
    let mut schema = serde_json::json!({ "type": "string", "description": "deepest" });
    for _ in 0..60 {
        schema = serde_json::json!({ "type": "object", "properties": { "inner": schema } });
    }
    let record = serde_json::json!({ "name": "deep", "inputSchema": schema });
    index.register(toolkit::Tool::from_json(record).unwrap(), toolkit::tool::ToolBackend::local("x").unwrap()).unwrap();
    assert_eq!(ids(&index.search("deepest", 5)), ["deep"]);
    index.update(tool("deep", "")).unwrap();
}
