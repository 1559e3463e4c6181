//! What finding tools costs, beside tantivy over the same texts, and whether scores are the same.
//!
//! Run it as `cargo run --release -p toolkit-search-bench`, with numbers of tools as arguments where others than 1,000,
//! 10,000 and 100,000 are wanted. It reads `/proc`, so that it needs Linux for the memory.

mod corpus;
mod peer;

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use toolkit::Tool;
use toolkit::discovery::{Index, Ranking};

use self::corpus::Made;
use self::peer::Peer;

const QUESTIONS: usize = 300;
const LIMIT: usize = 10;
/// Each question is asked so often, and its median counts: the machine has other things to do as well.
const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000] } else { sizes };
    println!("{} scores are those of tantivy\n", compare_scores(2_000)?);
    println!("| tools | | build, ms | memory, MB | query p50, µs | p99, µs | update of one, µs |");
    println!("|---:|---|---:|---:|---:|---:|---:|");
    for size in sizes {
        let made = corpus::tools(size);
        let questions = corpus::questions(QUESTIONS);
        measure_index(size, "toolkit, BM25 alone", &made, Ranking::plain(), &questions);
        measure_index(size, "toolkit", &made, Ranking::default(), &questions);
        let before = memory();
        let start = Instant::now();
        let peer = Peer::of(made.iter().map(|made| made.text.as_str()))?;
        let build = start.elapsed();
        let memory = memory().saturating_sub(before);
        let queries: Vec<_> = questions.iter().map(|question| peer.question(question)).collect();
        let times =
            Times::of(queries.len(), |at| peer.search(&*queries[at], LIMIT).map(|found| found.len()).unwrap_or(0));
        println!(
            "| {size} | tantivy 0.27.0 | {} | {memory} | {:.1} | {:.1} | |",
            build.as_millis(),
            times.p50,
            times.p99
        );
    }
    Ok(())
}

fn measure_index(size: usize, name: &str, made: &[Made], ranking: Ranking, questions: &[String]) {
    let tools: Vec<Tool> = made.iter().map(|made| made.tool.clone()).collect();
    let before = memory();
    let start = Instant::now();
    let index = Index::ranked(&tools, ranking);
    let build = start.elapsed();
    let memory = memory().saturating_sub(before);
    let snapshot = index.snapshot();
    let times = Times::of(questions.len(), |at| snapshot.search(questions[at].as_str(), LIMIT).len());
    drop(snapshot);
    let updates = tools.iter().step_by(tools.len() / 100);
    let mut updates: Vec<Duration> = updates
        .map(|tool| {
            let start = Instant::now();
            index.update(tool.clone()).expect("the tool is there");
            start.elapsed()
        })
        .collect();
    updates.sort();
    let update = micros(updates[updates.len() / 2]);
    println!(
        "| {size} | {name} | {} | {memory} | {:.1} | {:.1} | {update:.0} |",
        build.as_millis(),
        times.p50,
        times.p99
    );
}

struct Times {
    p50: f64,
    p99: f64,
}

impl Times {
    fn of(n: usize, search: impl Fn(usize) -> usize) -> Self {
        let mut medians: Vec<f64> = (0..n)
            .map(|at| {
                let mut times: Vec<Duration> = (0..ROUNDS)
                    .map(|_| {
                        let start = Instant::now();
                        black_box(search(at));
                        start.elapsed()
                    })
                    .collect();
                times.sort();
                micros(times[ROUNDS / 2])
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        Self { p50: medians[n / 2], p99: medians[n * 99 / 100] }
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// What this process holds in memory, in MB.
fn memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident: u64 = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
    resident * 4096 / 1_000_000
}

/// Every score of every question, beside tantivy's.
///
/// # Errors
///
/// One differs by more than rounding, or a tool is found by one of the two only.
fn compare_scores(n_tools: usize) -> Result<usize, Box<dyn Error>> {
    /// Scores are whole 65,536ths, and each word's part is cut off to one.
    const ROUNDING: f32 = 1e-4;

    let made = corpus::tools(n_tools);
    let peer = Peer::of(made.iter().map(|made| made.text.as_str()))?;
    let index = Index::ranked(made.iter().map(|made| &made.tool), Ranking::plain());
    let mut n_compared = 0;
    for question in corpus::questions(QUESTIONS) {
        let scores = peer.scores(&*peer.question(&question), made.len())?;
        let hits = index.search(question.as_str(), usize::MAX);
        if hits.len() != scores.len() {
            return Err(format!("`{question}` finds {} tools, and {} in tantivy", hits.len(), scores.len()).into());
        }
        for hit in hits {
            let number: usize = hit.summary.id.rsplit(':').next().unwrap_or_default().parse()?;
            let of_peer = scores.get(&number).copied().unwrap_or_default();
            if (hit.score - of_peer).abs() > ROUNDING {
                return Err(format!("`{question}`: tool {number} has {}, and {of_peer} in tantivy", hit.score).into());
            }
            n_compared += 1;
        }
    }
    Ok(n_compared)
}

#[cfg(test)]
mod tests {
    #[test]
    fn scores_are_those_of_tantivy() {
        assert!(super::compare_scores(1_000).unwrap() > 10_000);
    }
}
