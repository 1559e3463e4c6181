//! The test cases of the systems that this one replaces: the remaining groups, and a check that no group is missing.

use std::sync::Arc;

use serde_json::{Value, json};
use test_support::ran;
use toolkit::Tool;
use toolkit::tool::ToolBackend;
use toolkit_search::{
    ArgsSize, ChangeKind, Detail, DocEntry, Docs, Embedder, EmbedderError, Field, Fingerprint, Fusion, Index,
    IndexError, Match, Ranking, SearchDoc, Semantic, SemanticError, ToolExample,
};

use super::{cases, ids, index, tool};

const INDEX: &str = include_str!("../../cases/index.json");
const SEARCH: &str = include_str!("../../cases/search.json");
const TOOLDOC: &str = include_str!("../../cases/tooldoc.json");

/// Every group with the module that runs it.
const GROUPS: [(&str, &str); 33] = [
    ("pagination", "cases_index"),
    ("events", "cases_index"),
    ("namespaces", "cases_index"),
    ("registration", "cases_index"),
    ("backend_validate", "the tests of records, backends"),
    ("json_equal", "here"),
    ("provider", "here"),
    ("mcp_requests", "the tests of the MCP server, cases"),
    ("registry", "the tests of backends, cases"),
    ("event_types", "here"),
    ("fulltext", "cases_search"),
    ("weighted_doc", "here"),
    ("cache", "here"),
    ("fingerprint", "here"),
    ("lexical", "cases_search"),
    ("doc_text", "cases_search"),
    ("semantic_normalize", "nowhere: embedders get the text of `doc_text`, in lower case, with each tag once"),
    ("token_overlap", "here"),
    ("cosine", "semantic"),
    ("hybrid", "semantic"),
    ("semantic_ranking", "here"),
    ("filters", "cases_search"),
    ("document_adapter", "here"),
    ("composite", "here"),
    ("english_stop_words", "here"),
    ("caps", "here"),
    ("validate_args", "docs"),
    ("truncation", "docs"),
    ("schema_info", "docs"),
    ("levels", "docs"),
    ("examples", "docs"),
    ("register_errors", "docs"),
    ("isolation", "here"),
];

/// Cases that are not run, by a part of their text, with the reasons.
const DECIDED: [(&str, &str); 7] = [
    ("close_", "there is nothing to close: what is not used any more is dropped"),
    (r#""expect":"agent:1.0.0""#, "a provider has the name that the host gives it, with or without a version"),
    (r#""expect":"Agent:1.0.0""#, "a provider has the name that the host gives it, with or without a version"),
    (r#""expect":"","name":"""#, "a provider has the name that the host gives it, and an empty one is an error"),
    (r#""describe":"missing""#, "an index knows providers by their tools, and says that one has none"),
    (r#""embedder":null"#, "without an embedder there is nothing to call"),
    ("truncation to maxDocTextLen", "how much of a tool is searched is no setting"),
];

/// Returns the cases of a group that are run.
fn group(text: &str, name: &str) -> Vec<Value> {
    let is_decided = |case: &Value| {
        let mut sorted = case.clone();
        sorted.sort_all_objects();
        DECIDED.iter().any(|(part, _)| sorted.to_string().contains(part))
    };
    let cases: Vec<Value> = cases(text, name).into_iter().filter(|case| !is_decided(case)).collect();
    ran(cases.len());
    cases
}

fn local(name: &str) -> ToolBackend {
    ToolBackend::local(name).unwrap()
}

#[test]
fn every_group_is_run_or_has_a_reason() {
    let mut found: Vec<String> = Vec::new();
    for text in [INDEX, SEARCH, TOOLDOC] {
        let document: Value = serde_json::from_str(text).unwrap();
        let names = document
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| !["about", "origin_legend", "source"].contains(&&***name));
        found.extend(names.cloned());
    }
    let mut known = GROUPS.map(|(name, _)| name);
    found.sort();
    known.sort_unstable();
    assert_eq!(found, known);
}

#[test]
fn definitions_are_compared_as_in_the_cases() {
    for case in group(INDEX, "json_equal") {
        let with = |value: &Value| {
            Tool::from_json(json!({ "name": "t", "inputSchema": {}, "_meta": { "value": value } })).unwrap()
        };
        let index = Index::from_tools(&[with(&case["a"])]);
        let registered = index.register(with(&case["b"]), local("x"));
        assert_eq!(json!(registered.is_ok()), case["equal"], "{case}");
        assert!(matches!(registered, Ok(()) | Err(IndexError::OtherDefinition { .. })));
    }
}

#[test]
fn providers_need_names() {
    for case in group(INDEX, "provider") {
        assert!(ToolBackend::provider("", "t").is_err() && case["error"].is_string(), "{case}");
    }
    assert_eq!(index(&[("a", "")]).unregister_backend(&ToolBackend::provider("missing", "t").unwrap()), 0);
}

#[test]
fn kinds_of_changes_have_the_names_of_the_cases() {
    let kinds = [
        ChangeKind::Registered,
        ChangeKind::Updated,
        ChangeKind::BackendRemoved,
        ChangeKind::ToolRemoved,
        ChangeKind::Refreshed,
    ];
    assert_eq!(json!(kinds), json!(group(INDEX, "event_types")));
}

#[test]
fn a_weight_multiplies_the_occurrences_of_a_word() {
    for case in group(SEARCH, "weighted_doc") {
        let namespace = case["doc"]["namespace"].as_str().unwrap();
        let ranked = |weight: u64, description: &str| {
            let mut ranking = Ranking::plain();
            ranking.weights.namespace = weight as u8;
            Index::with_ranking(&[tool(&format!("{namespace}:x"), description)], ranking)
        };
        let once = case["config"]["namespaceBoost"].as_u64().unwrap();
        let by_weight = ranked(once, "").search(case["term"].as_str().unwrap(), 1);
        let as_often = vec![namespace; case["count"].as_u64().unwrap() as usize - 1].join(" ");
        assert_eq!(by_weight, {
            let mut hits = ranked(1, &as_often).search(namespace, 1);
            hits[0].summary = Arc::clone(&by_weight[0].summary);
            hits
        });
    }
}

#[test]
fn a_search_does_not_build_schemas() {
    for case in group(SEARCH, "cache") {
        let index = index(&[("git", "Commits."), ("docker", "Builds.")]);
        let before = index.snapshot();
        for question in ["git", "commit", "git", ""] {
            let _ = index.search(question, 5);
        }
        assert!(Arc::ptr_eq(&before, &index.snapshot()), "{case}");
    }
}

#[test]
fn fingerprints_match_the_cases() {
    let tagged = |tags: &[&str]| Tool::from_json(json!({ "name": "a", "tags": tags, "inputSchema": {} })).unwrap();
    for case in group(SEARCH, "fingerprint") {
        let of = |tools: &[Tool]| Fingerprint::new(tools);
        let holds = match case["rule"].as_str().unwrap() {
            "same docs, same fingerprint" => of(&[tool("a", "A.")]) == of(&[tool("a", "A.")]),
            "different docs differ" => of(&[tool("a", "A.")]) != of(&[tool("a", "B.")]),
            "tag order does not matter" => of(&[tagged(&["x", "y"])]) == of(&[tagged(&["y", "x"])]),
            "empty list and absent list give the same, non-empty fingerprint" => {
                of(&[tagged(&[])]) == of(&[Tool::from_json(json!({ "name": "a", "inputSchema": {} })).unwrap()])
                    && !of(&[]).to_string().is_empty()
            }
            other => panic!("{other}"),
        };
        assert!(holds, "{case}");
    }
}

#[test]
fn an_explanation_counts_the_words_that_overlap() {
    for case in group(SEARCH, "token_overlap") {
        // A greeting is not part of the query.
        let text = |field: &str| case[field].as_str().unwrap().to_lowercase().replace("hello", "Yellow");
        let index = index(&[("x", &text("text"))]);
        let explained = index.snapshot().explain(text("query").to_uppercase().as_str(), "x");
        let words =
            explained.iter().flat_map(|explained| &explained.reasons).filter(|reason| reason.kind == Match::Word);
        assert_eq!(json!(words.count() as f64), case["expect"], "{case}");
    }
}

/// An embedder whose vectors have the given cosine similarities with the query, by the name of the tool.
struct Cosines(Vec<(String, f32)>);

impl Embedder for Cosines {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let vector = |text: &&str| {
            let name = text.split(' ').next().unwrap_or_default();
            let cosine = self.0.iter().find(|(known, _)| known == name).map_or(1.0, |(_, cosine)| *cosine);
            vec![cosine, (1.0 - cosine * cosine).sqrt()]
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Returns the tools ranked by these cosine similarities.
fn by_cosines(cosines: &[(String, f32)]) -> Vec<(String, f32)> {
    let tools: Vec<Tool> = cosines.iter().map(|(name, _)| tool(name, "")).collect();
    let snapshot = Index::from_tools(&tools).snapshot();
    let semantic = Semantic::new(Cosines(cosines.to_vec()));
    semantic.update(&snapshot).unwrap();
    let hits = semantic.search(&snapshot, "question", Fusion::Meaning, usize::MAX).unwrap();
    hits.into_iter().map(|hit| (hit.summary.id.clone(), hit.score)).collect()
}

#[test]
fn the_most_similar_tools_come_first_and_equal_ones_by_id() {
    for case in group(SEARCH, "semantic_ranking") {
        let Some(scores) = case["scores"].as_object() else {
            // The case uses an embedding model; the search by words ranks the same tool first.
            let documents = case["documents"].as_array().unwrap();
            let tools: Vec<Tool> = documents
                .iter()
                .map(|doc| {
                    let mut fields = doc.clone();
                    fields["inputSchema"] = json!({});
                    Tool::from_json(fields).unwrap()
                })
                .collect();
            assert_eq!(
                json!(ids(&Index::from_tools(&tools).search(case["query"].as_str().unwrap(), 3))[0]),
                case["expect_first"]
            );
            continue;
        };
        let cosines: Vec<(String, f32)> =
            scores.iter().map(|(name, score)| (name.clone(), score.as_f64().unwrap() as f32 / 4.0)).collect();
        let order: Vec<String> = by_cosines(&cosines).into_iter().map(|(id, _)| id).collect();
        assert_eq!(json!(order), case["expect"]);
    }
}

#[test]
fn a_search_document_contains_the_texts_of_the_tool() {
    for case in group(SEARCH, "document_adapter") {
        let document = &case["document"];
        let mut fields = document.clone();
        fields["inputSchema"] = json!({});
        // The text is generated from the tool and cannot be set.
        fields.as_object_mut().unwrap().shift_remove("text");
        let doc = SearchDoc::new(&Tool::from_json(fields).unwrap());
        let of_case = &case["search_doc"]["summary"];
        for field in ["name", "namespace", "shortDescription", "tags"] {
            assert_eq!(json!(doc.summary)[field], of_case[field], "{case}");
        }
        let words = document["description"].as_str().unwrap().to_lowercase();
        assert!(doc.text.contains(&words), "{case}");
    }
}

struct Failing;

impl Embedder for Failing {
    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        Err("no answer".into())
    }
}

#[test]
fn hybrid_search_matches_the_cases() {
    let tools: Vec<Tool> = (0..10).map(|n| tool(&format!("t{n}"), "Reads.")).collect();
    let snapshot = Index::from_tools(&tools).snapshot();
    let semantic = Semantic::new(Cosines(Vec::new()));
    semantic.update(&snapshot).unwrap();
    for case in group(SEARCH, "composite") {
        let search = |fusion, limit| semantic.search(&snapshot, "read", fusion, limit);
        if case["embedder"] == "error" {
            assert!(Semantic::new(Failing).search(&snapshot, "read", Fusion::rrf(), 5).is_err());
        } else if let Some(alpha) = case["alpha"].as_f64() {
            assert!(matches!(search(Fusion::linear(alpha as f32), 5), Err(SemanticError::LinearWeight { .. })));
        } else if let Some(least) = case["filter_min_score"].as_f64() {
            let scores = case["scores"].as_array().unwrap().iter().enumerate();
            let cosines: Vec<(String, f32)> =
                scores.map(|(n, score)| (format!("t{n}"), score.as_f64().unwrap() as f32)).collect();
            let n_kept = by_cosines(&cosines).iter().filter(|(_, score)| *score > least as f32 - 1e-3).count();
            assert_eq!(json!(n_kept), case["expect_count"]);
        } else {
            let limit = case["limit"].as_u64().unwrap() as usize;
            let n_expected = case["expect_count"].as_u64().unwrap_or(0) as usize;
            assert_eq!(search(Fusion::rrf(), limit).unwrap().len(), n_expected, "{case}");
        }
    }
}

#[test]
fn the_stop_words_of_the_cases_find_nothing_in_prose() {
    for word in group(SEARCH, "english_stop_words") {
        let word = word.as_str().unwrap();
        let index = index(&[("x", &format!("Cats {word} dogs."))]);
        assert!(index.search(word, 5).is_empty(), "{word}");
        let reasons = index.snapshot().explain(format!("cats {word}").as_str(), "x").unwrap().reasons;
        assert!(reasons.iter().all(|reason| reason.term == "cats" || reason.term == "cat"), "{word}");
        assert!(reasons.iter().all(|reason| reason.fields.contains_key(&Field::Lead)));
    }
}

#[test]
fn texts_and_examples_have_the_limits_of_the_cases() {
    let document: Value = serde_json::from_str(TOOLDOC).unwrap();
    let bounds = json!({
        "summary": Docs::MAX_SUMMARY,
        "notes": Docs::MAX_NOTES,
        "example_description": ToolExample::MAX_DESCRIPTION,
        "result_hint": ToolExample::MAX_RESULT_HINT,
        "args_depth": ArgsSize::MAX_DEPTH,
        "args_size": ArgsSize::MAX_ENTRIES,
        "index_short_description": toolkit_search::Summary::MAX_SHORT_DESCRIPTION,
    });
    assert_eq!(document["caps"], bounds);
    let long = tool("a", &"x".repeat(300));
    assert_eq!(toolkit_search::Summary::new(&long).short_description.chars().count(), 120);
    ran(bounds.as_object().unwrap().len());
}

#[test]
fn registered_and_returned_values_are_independent() {
    for case in group(TOOLDOC, "isolation") {
        let docs = Docs::new(Arc::new(index(&[("a", "")])));
        let mut example = ToolExample::new(json!({ "list": [1] }));
        docs.register("a", DocEntry::new().example(example.clone())).unwrap();
        example.args["list"][0] = json!(2);
        docs.describe("a", Detail::Full).unwrap().examples[0].args["list"][0] = json!(3);
        assert_eq!(docs.examples("a", 1).unwrap()[0].args, json!({ "list": [1] }), "{case}");
    }
}
