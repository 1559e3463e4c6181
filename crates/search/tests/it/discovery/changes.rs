//! Searches during changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use toolkit::Tool;
use toolkit::tool::ToolBackend;
use toolkit_search::{Index, Query};

use super::{ids, tool};

const WORDS: [&str; 12] = [
    "read", "reads", "reading", "write", "file", "files", "weather", "forecast", "mail", "send", "sending", "calendar",
];

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<(usize, Vec<usize>)>),
    Remove(usize),
    RemoveNamespace(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop::collection::vec(0..WORDS.len(), 0..6);
    prop_oneof![
        4 => prop::collection::vec((0..40_usize, text), 1..12).prop_map(Step::Put),
        2 => (0..40_usize).prop_map(Step::Remove),
        1 => (0..4_usize).prop_map(Step::RemoveNamespace),
    ]
}

fn made(number: usize, text: &[usize]) -> Tool {
    let words: Vec<&str> = text.iter().map(|word| WORDS[*word]).collect();
    tool(&format!("ns{}:{}_{number}", number % 4, WORDS[number % WORDS.len()]), &words.join(" "))
}

proptest! {
    #![proptest_config(test_support::random(24))]

    #[test]
    fn after_any_changes_an_index_equals_a_rebuilt_one(steps in prop::collection::vec(step(), 1..24)) {
        let index = Index::new();
        let mut expected: BTreeMap<String, Tool> = BTreeMap::new();
        let backend = ToolBackend::local("x").unwrap();
        for step in steps {
            match step {
                Step::Put(tools) => {
                    let tools: BTreeMap<String, Tool> =
                        tools.iter().map(|(number, text)| made(*number, text)).map(|tool| (tool.id().to_string(), tool)).collect();
                    let (known, new): (Vec<_>, Vec<_>) = tools.into_iter().partition(|(id, _)| expected.contains_key(id));
                    for (id, tool) in known {
                        index.update(tool.clone()).unwrap();
                        expected.insert(id, tool);
                    }
                    index.register_all(new.iter().map(|(_, tool)| (tool.clone(), backend.clone()))).unwrap();
                    expected.extend(new);
                }
                Step::Remove(number) => {
                    let id = made(number, &[]).id().to_string();
                    prop_assert_eq!(index.unregister_tool(&id).is_ok(), expected.remove(&id).is_some());
                }
                Step::RemoveNamespace(number) => {
                    let namespace = format!("ns{number}");
                    let n_before = expected.len();
                    expected.retain(|_, tool| tool.id().namespace() != Some(&namespace));
                    prop_assert_eq!(index.unregister_namespace(&namespace), n_before - expected.len());
                }
            }
            let anew = Index::from_tools(expected.values());
            prop_assert_eq!(index.namespaces(), anew.namespaces());
            prop_assert_eq!(index.snapshot().len(), expected.len());
            for query in ["", "read files", "weather forecast 3", "send the mail reading", "calendar", "calen", "ns1 writing"] {
                for limit in [1, 3, 100] {
                    let (hits, hits_anew) = (index.search(query, limit), anew.search(query, limit));
                    prop_assert_eq!(hits, hits_anew, "{}", query);
                }
                let of_namespace = Query::new(query).namespace("ns1");
                prop_assert_eq!(index.search(of_namespace.clone(), 4), anew.search(of_namespace, 4));
            }
        }
    }

    #[test]
    fn a_smaller_limit_returns_a_prefix(texts in prop::collection::vec(prop::collection::vec(0..WORDS.len(), 0..20), 50..400), query in prop::collection::vec(0..WORDS.len(), 1..6)) {
        let tools: Vec<Tool> = texts.iter().enumerate().map(|(number, text)| made(number, text)).collect();
        let index = Index::from_tools(&tools);
        let query: Vec<&str> = query.iter().map(|word| WORDS[*word]).collect();
        let query = query.join(" ");
        let all = index.search(&query, usize::MAX);
        for limit in [1, 2, 5, 10, 50] {
            prop_assert_eq!(&index.search(&query, limit)[..], &all[..limit.min(all.len())]);
        }
    }
}

/// One of sixty words, of which some are common and most are rare.
fn skewed_word() -> impl Strategy<Value = String> {
    (0.0..1.0_f64).prop_map(|share| {
        let nth = (60.0 * share.powi(3)) as u8;
        ["k", "t", "m", "r", "d", "p"][usize::from(nth % 6)].to_owned()
            + ["ab", "ob", "ug", "ak", "od"][usize::from(nth / 6 % 5)]
            + if nth < 30 { "oz" } else { "ix" }
    })
}

/// Returns a tool with one to three of the words in its name.
fn skewed_tool(number: usize, text: &[String]) -> Tool {
    let name = text[..text.len().min(1 + number % 3)].join("_");
    let tool = Tool::builder(format!("{name}_{number}")).description(text.join(" "));
    if number.is_multiple_of(2) { tool.tags(["even"]).build().unwrap() } else { tool.build().unwrap() }
}

proptest! {
    #![proptest_config(test_support::random(12))]

    #[test]
    fn of_many_tools_the_best_are_those_of_an_exhaustive_search(
        texts in prop::collection::vec(prop::collection::vec(skewed_word(), 1..14), 300..1500),
        queries in prop::collection::vec(prop::collection::vec(skewed_word(), 2..5), 8),
    ) {
        let tools: Vec<Tool> = texts.iter().enumerate().map(|(number, text)| skewed_tool(number, text)).collect();
        let index = Index::from_tools(&tools);
        // The same tools in several parts, of which the first has had other tools.
        let (first, rest) = tools.split_at(tools.len() * 3 / 4);
        let in_parts = Index::from_tools(first);
        let others: Vec<Tool> = queries.iter().map(|query| tool(&format!("other:{}", query.join("_")), &query.join(" "))).collect();
        let backend = |tool: &Tool| (tool.clone(), ToolBackend::local(tool.id().to_string()).unwrap());
        for other in &others {
            let _ = in_parts.register(other.clone(), ToolBackend::local("x").unwrap());
        }
        in_parts.unregister_namespace("other");
        for some in rest.chunks(rest.len().div_ceil(3)) {
            in_parts.register_all(some.iter().map(backend)).unwrap();
        }
        for query in queries {
            let query = query.join(" ");
            let all = index.search(&query, usize::MAX);
            for limit in [1, 3, 10, 40] {
                prop_assert_eq!(&index.search(&query, limit)[..], &all[..limit.min(all.len())], "{} {}", query, limit);
                prop_assert_eq!(&in_parts.search(&query, limit)[..], &all[..limit.min(all.len())], "{} {}", query, limit);
            }
            let filtered = Query::new(&query).tag("even");
            let all = index.search(filtered.clone(), usize::MAX);
            for limit in [1, 10] {
                prop_assert_eq!(&index.search(filtered.clone(), limit)[..], &all[..limit.min(all.len())], "{} {}", query, limit);
            }
        }
    }
}

proptest! {
    #![proptest_config(test_support::random(8))]

    #[test]
    fn concurrent_searches_see_complete_versions(steps in prop::collection::vec(step(), 4..16)) {
        let index = Index::new();
        let is_done = AtomicBool::new(false);
        let check = || {
            let mut last = 0;
            loop {
                let is_last = is_done.load(Ordering::Acquire);
                let snapshot = index.snapshot();
                assert!(snapshot.version() >= last, "versions go forward");
                last = snapshot.version();
                let all = snapshot.search("", usize::MAX);
                let tools = all.iter().map(|hit| snapshot.get(&hit.summary.id).unwrap().0.clone());
                let anew = Index::from_tools(&tools.collect::<Vec<_>>());
                for question in ["read files", "sending mail", "calen"] {
                    assert_eq!(snapshot.search(question, 5), anew.search(question, 5), "{question}");
                }
                if is_last {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            let readers = [scope.spawn(check), scope.spawn(check)];
            for step in &steps {
                match step {
                    Step::Put(tools) => tools.iter().for_each(|(number, text)| {
                        let tool = made(*number, text);
                        if index.update(tool.clone()).is_err() {
                            index.register(tool, ToolBackend::local("x").unwrap()).unwrap();
                        }
                    }),
                    Step::Remove(number) => _ = index.unregister_tool(&made(*number, &[]).id().to_string()),
                    Step::RemoveNamespace(number) => _ = index.unregister_namespace(&format!("ns{number}")),
                }
            }
            is_done.store(true, Ordering::Release);
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        });
    }
}

#[test]
fn each_search_during_changes_sees_one_version() {
    let index = Arc::new(Index::new());
    let backend = ToolBackend::local("x").unwrap();
    // In every version, all tools contain the same word.
    let about =
        |animal: &str| -> Vec<Tool> { (0..20).map(|n| tool(&format!("t{n}"), &format!("About {animal}."))).collect() };
    index.register_all(about("cats").into_iter().map(|tool| (tool, backend.clone()))).unwrap();
    let is_done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (index, is_done) = (Arc::clone(&index), Arc::clone(&is_done));
            std::thread::spawn(move || {
                let mut n_searches = 0;
                while !is_done.load(Ordering::Relaxed) || n_searches == 0 {
                    let snapshot = index.snapshot();
                    let (cats, dogs) = (snapshot.search("cats", 50).len(), snapshot.search("dogs", 50).len());
                    assert!(matches!((cats, dogs), (20, 0) | (0, 20) | (0, 0)), "{cats} {dogs}");
                    n_searches += 1;
                }
            })
        })
        .collect();
    for round in 0..50 {
        let animal = if round % 2 == 0 { "dogs" } else { "cats" };
        index.unregister_namespace("");
        index.register_all(about(animal).into_iter().map(|tool| (tool, backend.clone()))).unwrap();
    }
    is_done.store(true, Ordering::Relaxed);
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    assert_eq!(ids(&index.search("cats", 1)), ["t0"]);
}
