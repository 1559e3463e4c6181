//! Quality of search: the index compared to the best lexical baseline that was published for the same sets.
//!
//! Run it with `cargo run --release -p toolkit-benches --bin retrieval`. It reads the sets in place, from
//! `TOOLKIT_SHARED` or `../shared` beside the project: tools, questions, and the tools that answer each question. The
//! argument `tuning` takes every second question only, `test` the rest; settings were chosen with the former only.
//!
//! `threshold` measures questions without an answer.
//!
//! `hybrid` measures text search and a model together; it needs `--features model`, and the model that `benches/model`
//! downloads.

mod baseline;
mod bootstrap;
mod data;
#[cfg(feature = "model")]
mod hybrid;
mod measures;
mod threshold;

use std::error::Error;

use toolkit_plot::results::{Recorder, Table};
use toolkit_search::{Index, Ranking};

use self::baseline::Baseline;
use self::data::{Half, Set};
use self::measures::Measures;

/// In the order of the published table.
const SETS: [&str; 6] = ["metatool", "sealtools", "toolbench", "bfcl", "livemcp", "arcade"];
/// The columns of the recorded table.
const COLUMNS: [&str; 7] = ["recall_1", "recall_3", "recall_5", "recall_10", "ndcg_10", "hit_5", "mrr"];
/// The depth of the deepest measure.
const DEPTH: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut half = Half::Both;
    let (mut is_hybrid, mut is_threshold) = (false, false);
    for argument in std::env::args().skip(1) {
        match &*argument {
            "tuning" => half = Half::Tuning,
            "test" => half = Half::Test,
            "hybrid" => is_hybrid = true,
            "threshold" => is_threshold = true,
            other => return Err(format!("`{other}` is none of `tuning`, `test`, `threshold` and `hybrid`").into()),
        }
    }
    #[cfg(feature = "model")]
    if is_hybrid {
        return hybrid::run(half);
    }
    if is_hybrid {
        return Err("`hybrid` needs `--features model`".into());
    }
    if is_threshold {
        return threshold::run(half);
    }
    let mut recorder = Recorder::new("cargo run --release -p toolkit-benches --bin retrieval");
    println!(
        "| set (tools, questions) | strategy | R@1 | R@3 | R@5 | R@10 | nDCG@10 | hit@5 | MRR | nDCG@10 over L2 (95 %) |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for name in SETS {
        let set = Set::read(name, half)?;
        let title = format!("{name} ({}, {})", set.tools.len(), set.questions.len());
        let baseline = Baseline::of(&set.tools);
        let mut table = Table::new(title.clone(), &COLUMNS);
        let of_baseline = set.measure(|question| baseline.search(question, DEPTH));
        row(&title, "L2", &of_baseline, &[String::new()]);
        table.row("L2", values(&of_baseline));
        for (strategy, ranking) in [("plain BM25", Ranking::plain()), ("toolkit", Ranking::default())] {
            let index = Index::with_ranking(&set.tools, ranking);
            let measured = set.measure(|question| {
                let hits = index.search(question, DEPTH);
                hits.into_iter().map(|hit| set.place_of(&hit.summary.id)).collect()
            });
            row("", strategy, &measured, &[bootstrap::gain(&measured, &of_baseline)]);
            table.row(strategy, values(&measured));
        }
        recorder.add(table);
    }
    Ok(recorder.finish()?)
}

/// Returns the values of a row, in the order of [`COLUMNS`].
fn values(measured: &[Measures]) -> impl Iterator<Item = Option<f64>> {
    let Measures { recall: [r1, r3, r5, r10], ndcg, hit5, mrr } = Measures::mean(measured);
    [r1, r3, r5, r10, ndcg, hit5, mrr].into_iter().map(Some)
}

fn row(title: &str, strategy: &str, measured: &[Measures], gains: &[String]) {
    let Measures { recall: [r1, r3, r5, r10], ndcg, hit5, mrr } = Measures::mean(measured);
    println!(
        "| {title} | {strategy} | {r1:.3} | {r3:.3} | {r5:.3} | {r10:.3} | {ndcg:.4} | {hit5:.3} | {mrr:.3} | {} |",
        gains.join(" | ")
    );
}
