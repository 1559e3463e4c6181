//! Search results and their order.

use serde_json::json;
use toolkit::{Catalog, Tool};
use toolkit_search::{BehaviorHint, Index, Query, Ranking, ScoreType, SearchDoc, Summary};

use super::{ids, index, tool};

#[test]
fn identifiers_in_any_case_are_found_by_their_words() {
    for name in ["read_file", "readFile", "read-file", "ReadFile", "fs.read.file", "READ_FILE"] {
        let index = index(&[(name, ""), ("other", "Writes.")]);
        for query in ["read a file", "readFile", "read_file", "file"] {
            assert_eq!(ids(&index.search(query, 5)), [name], "{query}");
        }
    }
    for (name, query) in [
        ("XMLParser", "xml"),
        ("XMLParser", "parser"),
        ("listUserIDs", "ids"),
        ("listUserIDs", "user"),
        ("encode_base64", "base64"),
        ("s3upload", "s3upload"),
        ("getS3Object", "s3"),
        ("v2_list", "v2"),
    ] {
        assert_eq!(ids(&index(&[(name, "")]).search(query, 5)), [name], "{name} {query}");
    }
}

#[test]
fn a_form_of_a_word_matches_all_forms_and_itself_best() {
    let index =
        index(&[("a", "Lists the issues."), ("b", "Reads an issue."), ("c", "Issued a warrant."), ("d", "Emits.")]);
    assert_eq!(ids(&index.search("issue", 5))[0], "b");
    assert_eq!(ids(&index.search("issues", 5))[0], "a");
    assert_eq!(index.search("issue", 5).len(), 3);
}

#[test]
fn arguments_are_searched_at_any_depth() {
    let tool = Tool::builder("send")
        .input(json!({
            "type": "object",
            "properties": {
                "recipient": { "type": "string", "description": "Who gets the postcard." },
                "options": { "$ref": "#/$defs/Options" },
            },
            "$defs": { "Options": { "type": "object", "properties": { "priority": { "enum": ["express", "economy"] } } } },
        }))
        .build()
        .unwrap();
    let index = Index::from_tools(&Catalog::new([tool]).unwrap());
    for query in ["recipient", "postcards", "priority", "express"] {
        assert_eq!(ids(&index.search(query, 5)), ["send"], "{query}");
    }
}

#[test]
fn a_misspelled_or_incomplete_word_matches_names() {
    let index = index(&[("weather:forecast", "Says what comes."), ("calendar:list", "Lists meetings.")]);
    for query in ["forcast", "forecats", "forecst", "forecasr", "forec", "lsit", "lis"] {
        assert_eq!(index.search(query, 5).len(), 1, "{query}");
    }
    // Only words of names are completed or corrected, only for unknown words, and only with the same first letter.
    assert!(index.search("gorecast", 5).is_empty());
    assert!(index.search("meetinsg", 5).is_empty());
    assert_eq!(ids(&index.search("lists", 5)), ["calendar:list"]);
}

#[test]
fn a_letter_with_a_diacritic_is_one_wrong_character() {
    let index = index(&[("resume:create", "Writes a file."), ("calendar:naive_date", "Returns a date.")]);
    for (query, expected) in [("naïve", "calendar:naive_date"), ("creäte", "resume:create")] {
        assert_eq!(ids(&index.search(query, 5)), [expected], "{query}");
    }
}

#[test]
fn plain_bm25_has_neither_fuzzy_matching_nor_stems() {
    let tools = [tool("weather:forecast", "Says what comes."), tool("calendar:list", "Lists meetings.")];
    let index = Index::with_ranking(&tools, Ranking::plain());
    assert!(index.search("forcast", 5).is_empty());
    assert!(index.search("meeting", 5).is_empty());
    assert_eq!(ids(&index.search("meetings", 5)), ["calendar:list"]);
}

/// Each field of a tool has a word of its own, and the other tools are as long.
#[test]
fn plain_bm25_weighs_all_fields_alike() {
    let of = |[name, namespace, tag, text, argument, described, choice]: [&str; 7]| {
        let property = json!({ "type": "string", "description": described, "enum": [choice] });
        let tool =
            Tool::builder(name.to_owned()).namespace(namespace.to_owned()).tags([tag]).description(text.to_owned());
        tool.input(json!({ "type": "object", "properties": { argument: property } })).build().unwrap()
    };
    let words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"];
    let tools = [of(words), of(["hotel", "india", "juliett", "kilo", "lima", "mike", "november"])];
    let index = Index::with_ranking(&tools, Ranking::plain());
    let scores = words.map(|word| {
        let hits = index.search(word, 5);
        assert_eq!(ids(&hits), ["bravo:alpha"], "{word}");
        hits[0].score
    });
    assert!(scores.iter().all(|score| *score == scores[0]), "{scores:?}");
}

#[test]
fn queries_of_stop_words_match_only_names() {
    let index = index(&[("who", "Lists the users that are logged in."), ("list", "What is in a folder.")]);
    assert_eq!(ids(&index.search("who", 5)), ["who"]);
    assert!(index.search("what is in the", 5).is_empty());
    assert!(index.search("please", 5).is_empty());
}

#[test]
fn tools_with_equal_scores_are_ordered_by_id() {
    let index = index(&[("c", "Alike."), ("a", "Alike."), ("b", "Alike.")]);
    assert_eq!(ids(&index.search("alike", 5)), ["a", "b", "c"]);
    assert_eq!(ids(&index.search("alike", 2)), ["a", "b"]);
    assert_eq!(ids(&index.search("", 2)), ["a", "b"]);
    assert!(index.search("alike", 0).is_empty());
}

#[test]
fn hint_filters_exclude_tools_without_the_hint() {
    let built = |name: &'static str| Tool::builder(name).description("Cleans up.");
    let tools = [
        built("careful").read_only(true).build().unwrap(),
        built("careless").destructive(true).build().unwrap(),
        built("silent").build().unwrap(),
    ];
    let index = Index::from_tools(&tools);
    let found = |hint, value| index.search(Query::new("clean").hint(hint, value), 5).len();
    assert_eq!((found(BehaviorHint::ReadOnly, true), found(BehaviorHint::ReadOnly, false)), (1, 0));
    assert_eq!(
        (
            found(BehaviorHint::Destructive, true),
            found(BehaviorHint::Idempotent, true),
            found(BehaviorHint::OpenWorld, true)
        ),
        (1, 0, 0)
    );
    let tagged = [built("x").tags(["Full Text"]).category("Search").build().unwrap()];
    let index = Index::from_tools(&tagged);
    assert_eq!(index.search(Query::new("").tag("full text").category(" search "), 5).len(), 1);
    assert_eq!(index.search(Query::new("").tag("text"), 5).len(), 0);
}

#[test]
fn a_hit_contains_a_summary() {
    let tool =
        Tool::builder("add").namespace("math").version("1.0.0").description("Adds two integers.").build().unwrap();
    let hits = Index::from_tools(&[tool]).search("add", 1);
    assert_eq!(hits[0].score_type, ScoreType::Bm25);
    assert!(hits[0].score > 0.0);
    let written = serde_json::to_value(&hits[0]).unwrap();
    assert_eq!(
        written["summary"],
        json!({
            "id": "math:add:1.0.0",
            "name": "add",
            "namespace": "math",
            "shortDescription": "Adds two integers.",
            "summary": "Adds two integers.",
        })
    );
    assert_eq!(written["scoreType"], "bm25");
}

#[test]
fn short_descriptions_are_truncated_at_character_boundaries() {
    let long = "ä".repeat(300);
    let short = Summary::new(&tool("a", &long)).short_description;
    assert_eq!(short.chars().count(), Summary::MAX_SHORT_DESCRIPTION);
    assert!(short.ends_with("ä…"));
    assert_eq!(Summary::new(&tool("a", "One\n line.\n\nMore.")).short_description, "One line.");
}

#[test]
fn search_documents_are_deterministic() {
    let said = tool("Git:Commit", "Records  changes.");
    assert_eq!(SearchDoc::new(&said), SearchDoc::new(&said.clone()));
    assert_eq!(SearchDoc::new(&said).text, "commit git records changes.");
}

#[test]
fn parameters_out_of_range_are_clamped() {
    let mut ranking = Ranking::default();
    (ranking.k1, ranking.b, ranking.stems, ranking.name_match) = (f32::NAN, -1.0, f32::INFINITY, -5.0);
    let tools = [tool("a", "Some text."), tool("b", "Other text.")];
    let hits = Index::with_ranking(&tools, ranking).search("text", 5);
    assert_eq!(ids(&hits), ["a", "b"]);
    assert!(hits.iter().all(|hit| hit.score.is_finite()));
}
