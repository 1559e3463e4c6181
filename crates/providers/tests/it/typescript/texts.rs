//! The documentation in declarations.

use expect_test::expect;
use serde_json::json;
use test_support::{hostile, ran};
use toolkit::Tool;
use toolkit::catalog::ExportedName;
use toolkit::schema::excerpt::hidden;
use toolkit_providers::typescript::{Detail, describe};

use super::declared;

fn search() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1, "description": "What to find,\nin any language." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 30 },
            "since": { "anyOf": [{ "type": "string", "format": "date" }, { "type": "null" }], "description": "A day." },
            "tags": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$", "description": "A tag" } },
            "within": {
                "type": "object",
                "description": "A part of the notes.",
                "properties": { "folder": { "type": "string", "description": "A folder, such as **/*.md" } },
            },
        },
        "required": ["query"],
    });
    let tool = Tool::builder("search-all").namespace("notes").description("Finds notes. Ranks them.\n\nSlow */ text.");
    tool.deprecated("use `find`").input(input).build().unwrap()
}

#[test]
fn full_declarations_have_all_documentation() {
    expect![[r#"
        declare namespace tools.notes {
        /** Finds notes. Ranks them.

        Slow *\/ text.

        Deprecated: use `find` */
        function search_all(args: {
         query: string // >=1 chars; What to find, in any language.
         limit?: number // int 1..100 =30
         since?: string|null // date; A day.
         tags?: string[] // each: /^[a-z]+$/; A tag
         within?: { // A part of the notes.
          folder?: string // A folder, such as **/*.md
         }
        }): Promise<unknown>
        }
    "#]]
    .assert_eq(&declared(search(), Detail::Full).text);
}

#[test]
fn compact_declarations_have_one_line_for_each_tool() {
    expect![[r#"
        declare namespace tools.notes {
        function search_all(args: { query: string; limit?: number; since?: string|null; tags?: string[]; within?: { folder?: string } }): Promise<unknown> // Finds notes. Deprecated: use `find`
        }
    "#]]
    .assert_eq(&declared(search(), Detail::Compact).text);
}

#[test]
fn a_first_sentence_does_not_end_at_an_abbreviation() {
    let summary = |description: &'static str| {
        let text = declared(Tool::builder("t").description(description).build().unwrap(), Detail::Compact).text;
        text.lines().nth(1).unwrap().split_once(" // ").unwrap().1.to_owned()
    };
    assert_eq!(summary("Reads files, e.g. notes. Slowly."), "Reads files, e.g. notes.");
    assert_eq!(summary("Steps: 1. Read. 2. Write."), "Steps: 1. Read.");
    assert_eq!(summary("Uses v1.2 of it! Always."), "Uses v1.2 of it!");
    assert_eq!(summary("検索する。並べる。"), "検索する。");
    assert!(summary(Box::leak("word ".repeat(100).into_boxed_str())).ends_with("word…"));
}

/// `tests/providers/run` parses the declarations of these tools.
#[test]
fn hostile_texts_are_visible_and_on_lines_of_comments() {
    let tools = hostile::tools_of_code();
    for tool in &tools {
        let name = ExportedName::new("t", tool.id().clone());
        for detail in [Detail::Full, Detail::Compact, Detail::Signatures] {
            let text = describe([(&name, tool)], detail).text;
            assert_eq!(hidden(&text).next(), None, "{text:?}");
            assert!(!text.contains(['\u{2028}', '\u{2029}', '\r', '\u{85}']), "{text:?}");
        }
    }
    ran(3 * tools.len());
}
