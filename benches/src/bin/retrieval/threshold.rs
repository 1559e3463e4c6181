//! Questions without an answer: the quality, and the fraction of questions that find nothing, by the threshold.

use std::error::Error;

use serde_json::Value;
use toolkit::{Manifest, Tool};
use toolkit_search::{Index, Ranking};

use crate::data::{Half, Set, lines, shared};
use crate::measures::Measures;
use crate::{DEPTH, SETS};

const THRESHOLDS: [f32; 9] = [0.0, 3.0, 6.0, 7.5, 9.0, 10.5, 12.0, 15.0, 20.0];
/// Requests that no tool of a server answers, also for the test of the index.
const REQUESTS: &str = include_str!("../../../../crates/search/tests/cases/unanswered.json");
/// Servers that answer no question of `arcade` except those about [`RELATED`].
const SERVERS: [&str; 6] = ["git", "antv-chart", "opgg-mcp", "met-museum", "music-analysis", "yahoo-finance"];
/// The toolkits of `arcade` with the same subjects as some of [`SERVERS`].
const RELATED: [&str; 2] = ["github", "spotify"];

/// Prints a row for each threshold.
pub(crate) fn run(half: Half) -> Result<(), Box<dyn Error>> {
    println!("| threshold | {} | requests | questions of arcade |", SETS.join(" | "));
    println!("|---:|{}", "---:|".repeat(SETS.len() + 2));
    let sets = SETS.map(|name| Set::read(name, half));
    let sets = sets.into_iter().collect::<Result<Vec<_>, _>>()?;
    let requests: Value = serde_json::from_str(REQUESTS)?;
    let mut asked = Vec::new();
    for (server, requests) in requests["servers"].as_object().into_iter().flatten() {
        asked.push((tools_of(server)?, texts(requests.as_array())));
    }
    let arcade = lines(&shared().join("data/retrieval/arcade/queries.jsonl"))?;
    let arcade = arcade.iter().filter(|question| !RELATED.iter().any(|toolkit| question["toolkit"] == *toolkit));
    let arcade: Vec<String> = arcade.filter_map(|question| Some(question["query"].as_str()?.to_owned())).collect();
    let mut foreign = Vec::new();
    for server in SERVERS {
        foreign.push((tools_of(server)?, arcade.clone()));
    }
    for threshold in THRESHOLDS {
        let mut ranking = Ranking::default();
        ranking.threshold = threshold;
        let quality = sets.iter().map(|set| {
            let index = Index::with_ranking(&set.tools, ranking);
            let measured = set.measure(|question| {
                let hits = index.search(question, DEPTH);
                hits.into_iter().map(|hit| set.place_of(&hit.summary.id)).collect()
            });
            format!("{:.4}", Measures::mean(&measured).ndcg)
        });
        let quality: Vec<String> = quality.collect();
        let [requests, foreign] = [&asked, &foreign].map(|asked| unanswered(asked, ranking));
        println!("| {threshold} | {} | {requests:.3} | {foreign:.3} |", quality.join(" | "));
    }
    Ok(())
}

/// Returns the fraction of questions that find nothing.
fn unanswered(asked: &[(Vec<Tool>, Vec<String>)], ranking: Ranking) -> f64 {
    let (mut n_questions, mut n_unanswered) = (0, 0);
    for (tools, questions) in asked {
        let index = Index::with_ranking(tools, ranking);
        n_questions += questions.len();
        n_unanswered += questions.iter().filter(|question| index.search(*question, DEPTH).is_empty()).count();
    }
    n_unanswered as f64 / f64::from(u32::try_from(n_questions).unwrap_or(u32::MAX))
}

/// Returns the tools of a server among the shared manifests.
fn tools_of(server: &str) -> Result<Vec<Tool>, Box<dyn Error>> {
    let folder = shared().join("data/manifests");
    let paths = [folder.clone(), folder.join("livemcpbench")].map(|folder| folder.join(format!("{server}.json")));
    let path = paths.into_iter().find(|path| path.exists()).ok_or_else(|| format!("no manifest of {server}"))?;
    let manifest = Manifest::from_mcp_json(std::fs::read(path)?)?;
    Ok(manifest.listings().filter_map(|listing| listing.tool().cloned()).collect())
}

fn texts(texts: Option<&Vec<Value>>) -> Vec<String> {
    texts.into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
}
