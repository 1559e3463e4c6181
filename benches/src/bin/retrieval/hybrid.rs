//! Text and embeddings combined, compared to the best results that were published for the same sets.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use toolkit_search::embed::{Cached, LocalModel};
use toolkit_search::{Fusion, Index, Semantic};

use crate::baseline::Baseline;
use crate::data::{Half, Set};
use crate::measures::Measures;
use crate::{DEPTH, SETS, bootstrap, row};

/// Candidates for the default of [`Fusion`].
const WORTHS: [f32; 9] = [8.0, 16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0, 80.0];

/// Prints the quality of each way to combine text and embeddings, and then that of settings other than the default.
pub(crate) fn run(half: Half) -> Result<(), Box<dyn Error>> {
    let folder = folder();
    let model = LocalModel::open(&folder).map_err(|error| format!("{error}; `benches/model` fetches it"))?;
    // Cached, so that a second run takes seconds.
    let vectors = folder.with_extension("vectors");
    let cached = Arc::new(Cached::open(model, "all-MiniLM-L6-v2", &vectors)?);
    let semantic = Semantic::new(Arc::clone(&cached));
    println!(
        "| set (tools, questions) | strategy | R@1 | R@3 | R@5 | R@10 | nDCG@10 | hit@5 | MRR | over words (95 %) | over \
         meaning (95 %) | over L2 and meaning (95 %) |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut choices = Vec::new();
    for name in SETS {
        let set = Set::read(name, half)?;
        let snapshot = Index::from_tools(&set.tools).snapshot();
        let baseline = Baseline::of(&set.tools);
        semantic.update(&snapshot)?;

        let found = |question: &str, fusion: Fusion, limit: usize| {
            let hits = semantic.search(&snapshot, question, fusion, limit).expect("the model answers");
            hits.into_iter().map(|hit| (set.place_of(&hit.summary.id), hit.score)).collect::<Vec<_>>()
        };
        let places = |question: &str, fusion: Fusion| {
            found(question, fusion, DEPTH).into_iter().map(|(place, _)| place).collect::<Vec<_>>()
        };
        let with_baseline = |question: &str, by_rank: bool| {
            let mut cosines = vec![0.0; set.tools.len()];
            let by_meaning = found(question, Fusion::Meaning, set.tools.len());
            by_meaning.into_iter().for_each(|(place, cosine)| cosines[place] = f64::from(cosine));
            if by_rank {
                baseline.by_rank(question, &cosines, DEPTH)
            } else {
                baseline.by_score(question, &cosines, DEPTH)
            }
        };
        let strategies: [(&str, Vec<Measures>); 7] = [
            ("words", set.measure(|question| places(question, Fusion::Words))),
            ("meaning", set.measure(|question| places(question, Fusion::Meaning))),
            ("L2 and meaning, by rank", set.measure(|question| with_baseline(question, true))),
            ("L2 and meaning, by score", set.measure(|question| with_baseline(question, false))),
            ("`Fusion::rrf()`", set.measure(|question| places(question, Fusion::rrf()))),
            ("`Fusion::linear(0.5)`", set.measure(|question| places(question, Fusion::linear(0.5)))),
            ("`Fusion::default()`", set.measure(|question| places(question, Fusion::default()))),
        ];
        let mut title = format!("{name} ({}, {})", set.tools.len(), set.questions.len());
        for (strategy, measured) in &strategies {
            let gains = [0, 1, 3].map(|over| bootstrap::gain(measured, &strategies[over].1));
            row(&std::mem::take(&mut title), strategy, measured, &gains);
        }
        let ndcg = |worth| Measures::mean(&set.measure(|question| places(question, Fusion::additive(worth)))).ndcg;
        choices.push(WORTHS.map(ndcg));
        cached.save()?;
    }
    println!("\n| `Fusion::additive` | {} | mean |", SETS.join(" | "));
    println!("|---:|{}---:|", "---:|".repeat(SETS.len()));
    for (nth, worth) in WORTHS.iter().enumerate() {
        let of_sets: Vec<f64> = choices.iter().map(|of_set| of_set[nth]).collect();
        let mean = of_sets.iter().sum::<f64>() / of_sets.len() as f64;
        let shown: Vec<String> = of_sets.iter().map(|ndcg| format!("{ndcg:.4}")).collect();
        println!("| {worth} | {} | {mean:.4} |", shown.join(" | "));
    }
    Ok(())
}

/// The directory in `TOOLKIT_MODEL`, or the one where `benches/model` stores it.
fn folder() -> PathBuf {
    let fetched = || {
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        PathBuf::from(target).join("models/all-MiniLM-L6-v2")
    };
    std::env::var_os("TOOLKIT_MODEL").map_or_else(fetched, PathBuf::from)
}
