//! Saved indexes.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;
use toolkit::Tool;
use toolkit::tool::ToolBackend;
use toolkit_search::{BehaviorHint, Fingerprint, Index, Match, OpenError, Query, Ranking};

use super::{ids, tool};

const QUESTIONS: [&str; 10] = [
    "",
    "send an email",
    "sent emials",
    "read",
    "the of and",
    "weather forecast for tomorrow",
    "cal",
    "писем",
    "base64 encode",
    "qqqq",
];

fn saved(index: &Index) -> Vec<u8> {
    let mut file = Vec::new();
    index.snapshot().save("test", &mut file).unwrap();
    file
}

fn opened(file: &[u8]) -> Index {
    Index::open("test", file).unwrap()
}

/// Returns tools with all fields that an index contains.
fn tools() -> Vec<Tool> {
    let full = json!({
        "name": "send", "namespace": "mail", "version": "1.2.0", "title": "Send", "category": "Mail",
        "description": "Sends an email. It goes out at once.", "tags": ["outgoing", "mail"],
        "annotations": { "destructiveHint": false, "idempotentHint": true },
        "aliases": ["post"], "requirements": { "secrets": [{ "id": "smtp" }] },
        "_meta": { "inputModes": ["text/plain"], "outputModes": ["application/json"] },
        "inputSchema": { "type": "object", "properties": {
            "to": { "type": "string", "description": "Whom to write to." },
            "kind": { "enum": ["letter", "postcard"] },
        } },
        "x-unknown": { "kept": true },
    });
    vec![
        Tool::from_json(full).unwrap(),
        tool("mail:list", "Lists the emails that were sent, and those that are sending."),
        tool("fs:readFile", "Reads a file; reading is cheap."),
        tool("codec:base64_encode", "Encodes."),
        tool("почта", "Отправляет письмо."),
        tool("weather", ""),
    ]
}

/// Asserts that two indexes have equal results.
#[track_caller]
fn assert_same(a: &Index, b: &Index) {
    let (a, b) = (a.snapshot(), b.snapshot());
    assert_eq!(a.len(), b.len());
    assert_eq!(a.ranking(), b.ranking());
    assert!(a.namespaces().eq(b.namespaces()));
    let all = a.search("", usize::MAX);
    for hit in &all {
        let id = &hit.summary.id;
        assert_eq!(a.get(id), b.get(id));
        assert_eq!(a.backends(id), b.backends(id));
    }
    for question in QUESTIONS {
        let hits = a.search(question, usize::MAX);
        assert_eq!(hits, b.search(question, usize::MAX), "{question}");
        for hit in hits.iter().take(2) {
            assert_eq!(a.explain(question, &hit.summary.id), b.explain(question, &hit.summary.id));
        }
        let query = Query::new(question).namespace("mail").hint(BehaviorHint::Idempotent, true);
        assert_eq!(a.search(query.clone(), 3), b.search(query, 3), "{question}");
    }
}

#[test]
fn an_opened_index_has_the_results_of_the_saved_one() {
    let index = Index::from_tools(&tools());
    let mcp = ToolBackend::mcp("files").unwrap();
    index.register(tools()[2].clone(), mcp.clone()).unwrap();
    index.register(tools()[3].clone(), ToolBackend::provider("p", "encode").unwrap()).unwrap();
    let opened = opened(&saved(&index));
    assert_same(&opened, &index);
    assert_eq!(ids(&opened.search(Query::new("").backend(mcp), 5)), ["fs:readFile"]);
    assert_eq!(ids(&opened.search(Query::new("").tag("Outgoing").category("mail"), 5)), ["mail:send:1.2.0"]);
    assert_eq!(opened.snapshot().get("mail:send:1.2.0").unwrap().0.to_json()["x-unknown"]["kept"], true);
}

#[test]
fn an_opened_index_changes_like_a_built_one() {
    let opened = opened(&saved(&Index::from_tools(&tools())));
    let mut expected = tools();
    expected[1] = tool("mail:list", "Lists something else.");
    opened.update(expected[1].clone()).unwrap();
    opened.unregister_tool("fs:readFile").unwrap();
    expected.remove(2);
    expected.push(tool("calendar:add", "Adds a meeting."));
    let added = expected[5].clone();
    opened.register(added, ToolBackend::local("calendar:add").unwrap()).unwrap();
    assert_same(&opened, &Index::from_tools(&expected));
    // Registering the same tool again is not a conflict.
    opened.register(tools()[0].clone(), ToolBackend::mcp("more").unwrap()).unwrap();
    assert_eq!(opened.snapshot().backends("mail:send:1.2.0").len(), 2);
    let error = opened.register(tool("weather", "Other."), ToolBackend::mcp("more").unwrap()).unwrap_err();
    assert!(error.to_string().contains("different definition"), "{error}");
}

/// Doubles a number.
#[toolkit::tool(namespace = "math", tags = ["sums"], examples = [r#"{"number": 2}"#])]
fn double(number: f64) -> f64 {
    number * 2.0
}

#[test]
fn a_saved_function_is_opened_as_its_description() {
    let catalog = toolkit::catalog![double].unwrap();
    let opened = opened(&saved(&Index::from_tools(&catalog)));
    assert_same(&opened, &Index::from_tools(&catalog));
    let snapshot = opened.snapshot();
    let (tool, backend) = snapshot.get("math:double").unwrap();
    assert!(tool.location().is_none(), "a description");
    assert_eq!(backend, &ToolBackend::local("math:double").unwrap());
}

#[test]
fn the_same_tools_have_the_same_bytes_with_any_history() {
    let index = Index::from_tools(&tools()[..2]);
    index.register(tool("gone", "Quite other words."), ToolBackend::local("gone").unwrap()).unwrap();
    for tool in &tools()[2..] {
        index.register(tool.clone(), ToolBackend::local(tool.id().to_string()).unwrap()).unwrap();
    }
    index.unregister_tool("gone").unwrap();
    let file = saved(&Index::from_tools(&tools()));
    assert_eq!(saved(&index), file);
    assert_eq!(saved(&opened(&file)), file);
    assert_eq!(saved(&Index::new()), saved(&opened(&saved(&Index::new()))));
}

/// If this test fails, the meaning of files has changed: increase `FORMAT`.
#[test]
fn the_file_format_is_stable() {
    let words = "Relational generalizations of the unhappily traded XMLParser's userIDs, sized 640x480: don't! \
                 caresses ponies ties cats feed agreed plastered motoring sing conflated troubled sized hopping \
                 falling hissing failing filing happy sky relational conditional rationally 検索 l’eau";
    let index = Index::from_tools(&[tool("a:b", words)]);
    expect!["2274874630"].assert_eq(&crc32fast::hash(&saved(&index)).to_string());
    // Stems are computed when a file is opened, and have to equal those of queries.
    let reasons = index.snapshot().explain(words, "a:b").unwrap().reasons;
    let mut stems: Vec<&str> =
        reasons.iter().filter(|reason| reason.kind == Match::Stem).map(|reason| &*reason.term).collect();
    stems.sort_unstable();
    expect!["480 640 640x480 agre caress cat condit conflat eau fail fall feed file general happi hiss hop id motor parser plaster poni ration relat sing size sky tie trade troubl unhappili user xml 検 索"].assert_eq(&stems.join(" "));
}

#[test]
fn files_of_other_kinds_have_distinct_errors() {
    let file = saved(&Index::from_tools(&tools()));
    let error = |file: &[u8]| Index::open("test", file).unwrap_err();
    assert_eq!(error(b"").to_string(), "the file is not an index of tools");
    assert!(matches!(error(br#"{"tools": []}"#), OpenError::NotAnIndex));
    let mut other = file.clone();
    other[8] = 77;
    assert_eq!(error(&other).to_string(), "the index has format 77, but this release reads format 3; rebuild it");
    assert!(matches!(error(&[&file[..], b"\n"].concat()), OpenError::Damaged("the file is too long")));
    let stale = Index::open("tools of tomorrow", &file[..]).unwrap_err();
    assert_eq!(stale.to_string(), "the index has the label `test`; rebuild it");
    for len in 0..file.len() {
        match error(&file[..len]) {
            OpenError::NotAnIndex | OpenError::Damaged("the file is too short") => {}
            other => panic!("{len}: {other}"),
        }
    }
}

#[test]
fn a_wrong_length_allocates_no_memory() {
    let mut file = saved(&Index::from_tools(&tools()));
    file[24..32].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    for index_len in [u64::from(u32::MAX), u64::MAX] {
        file[16..24].copy_from_slice(&index_len.to_le_bytes());
        assert!(matches!(Index::open("test", &file[..]), Err(OpenError::Damaged("the file is too short"))));
    }
}

/// Corrects the checksum.
fn signed(mut file: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&file[16..]);
    file[12..16].copy_from_slice(&sum.to_le_bytes());
    file
}

/// Words share prefixes with their predecessors, so that a few bytes could expand to a long word.
#[test]
fn a_small_file_does_not_expand_to_a_large_index() {
    let file = saved(&Index::from_tools(&[tool("a", "")]));
    let index_len = u64::from_le_bytes(file[16..24].try_into().unwrap()) as usize;
    let (index, tools) = file[32..].split_at(index_len);
    // One word; no shared prefix, and a text of one byte; one tool with the word in its name, the first one, with three
    // occurrences; no other tools.
    let before = index.strip_suffix(&[1, 0, 1, b'a', 1, 0, 3, 0]).unwrap();
    let with = |words: &[u8]| {
        let index = [before, words].concat();
        let len = (index.len() as u64).to_le_bytes();
        Index::open("test", &signed([&file[..16], &len, &file[24..32], &index, tools].concat())[..])
    };
    assert_eq!(ids(&with(&[1, 0, 1, b'a', 1, 0, 3, 0]).unwrap().search("a", 5)), ["a"]);
    let longer_and_longer: Vec<u8> = (0..100).flat_map(|nth| [nth, 1, b'a', 1, 0, 3, 0]).collect();
    assert!(with(&[&[100], &longer_and_longer[..]].concat()).is_ok());
    let too_long = [&[1, 0, 129, 1], &[b'a'; 129][..], &[1, 0, 3, 0]].concat();
    assert!(matches!(with(&too_long), Err(OpenError::Damaged("the content is not an index"))));
}

proptest! {
    #![proptest_config(test_support::random(512))]

    #[test]
    fn every_changed_byte_is_detected(at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let mut file = saved(&Index::from_tools(&tools()));
        let at = at.index(file.len());
        file[at] ^= flip;
        prop_assert!(Index::open("test", &file[..]).is_err());
    }

    #[test]
    fn a_forged_file_is_an_error_or_an_index(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let (index, server) = (Index::from_tools(&tools()), ToolBackend::mcp("more").unwrap());
        index.register_all(tools().into_iter().map(|tool| (tool, server.clone()))).unwrap();
        let mut file = saved(&index);
        for (at, byte) in edits {
            // A byte after the header, whose checksum is then corrected.
            let at = 32 + at.index(file.len() - 32);
            file[at] = byte;
        }
        if let Ok(index) = Index::open("test", &signed(file)[..]) {
            let all = index.search("", usize::MAX);
            for question in QUESTIONS {
                prop_assert!(index.search(question, 100).len() <= all.len());
                for hit in &all {
                    let _ = index.snapshot().explain(question, &hit.summary.id);
                }
            }
            index.unregister_backend(&server);
            let rest = index.search("", usize::MAX);
            prop_assert!(rest.iter().all(|hit| all.iter().any(|known| known.summary.id == hit.summary.id)));
            for hit in &rest {
                let found = index.snapshot().get(&hit.summary.id).map(|(tool, _)| tool.id().to_string());
                prop_assert!(found.is_none_or(|found| found == hit.summary.id));
                index.unregister_tool(&hit.summary.id).unwrap();
            }
            prop_assert!(index.snapshot().is_empty());
        }
    }
}

#[test]
fn a_fingerprint_changes_with_the_definitions() {
    let of = |tools: &[Tool]| Fingerprint::new(tools).to_string();
    assert_eq!(of(&tools()), of(&tools()));
    assert_eq!(of(&tools()).len(), 16);
    let mut other = tools();
    other[5] = tool("weather", "Rain.");
    assert_ne!(of(&other), of(&tools()));
    assert_ne!(of(&tools()[1..]), of(&tools()));
    // The same on every machine and in every release.
    assert_eq!(of(&[tool("a", "")]), "ad76ef4c525ea66b");
}

#[test]
fn the_ranking_is_saved_too() {
    let mut ranking = Ranking::plain();
    ranking.k1 = 0.9;
    let index = Index::with_ranking(&tools(), ranking);
    assert_same(&opened(&saved(&index)), &index);
}
