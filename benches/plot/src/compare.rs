//! Ratios that differ between two runs of a benchmark, the increases next to the decreases.

use std::fmt;

use crate::results::{Results, Row, Table};

/// The differences between two runs, as a Markdown table.
#[derive(Debug)]
pub struct Comparison {
    worse: Vec<Change>,
    better: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    name: String,
    before: f64,
    now: f64,
}

impl Comparison {
    /// Compares the ratios that both runs contain. A ratio has changed if its ranges from p10 to p90 do not overlap; times
    /// are not compared, since they depend on the machine and its load.
    #[must_use]
    pub fn new(before: &Results, now: &Results) -> Self {
        let (mut worse, mut better) = (Vec::new(), Vec::new());
        for table in &now.tables {
            let Ok(earlier) = before.table(&table.title) else { continue };
            for row in &table.rows {
                let name = name(table, row);
                let same = earlier.rows.iter().find(|row| self::name(earlier, row) == name);
                let ranges = same.and_then(|row| range(earlier, row)).zip(range(table, row));
                let Some(([low, before, high], [now_low, now, now_high])) = ranges else { continue };
                if now_low > high {
                    worse.push(Change { name, before, now });
                } else if now_high < low {
                    better.push(Change { name, before, now });
                }
            }
        }
        worse.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
        better.sort_by(|a, b| a.factor().total_cmp(&b.factor()));
        Self { worse, better }
    }

    /// Returns true if a ratio has changed by more than 15 %, so that published results no longer describe the code.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        let is_large = |change: &Change| change.factor().max(1.0 / change.factor()) > MAX_FACTOR;
        self.worse.iter().chain(&self.better).any(is_large)
    }
}

/// The factor by which a ratio changes before published results are outdated.
const MAX_FACTOR: f64 = 1.15;

/// Returns the name of a row in its table, with its size if it has one.
fn name(table: &Table, row: &Row) -> String {
    match (table.columns.first().map(String::as_str), row.values.first()) {
        (Some(unit @ ("bytes" | "tools" | "calls" | "steps" | "layers")), Some(Some(size))) => {
            format!("{}: {}, {unit}: {size}", table.title, row.name)
        }
        _ => format!("{}: {}", table.title, row.name),
    }
}

fn range(table: &Table, row: &Row) -> Option<[f64; 3]> {
    Some([table.value(row, "ratio_p10")?, table.value(row, "ratio")?, table.value(row, "ratio_p90")?])
}

impl Change {
    fn factor(&self) -> f64 {
        self.now / self.before
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| worse | before | now | better | before | now |\n|---|---:|---:|---|---:|---:|")?;
        let cells = |change: Option<&Change>| match change {
            Some(Change { name, before, now }) => format!("{name} | {before:.2} | {now:.2}"),
            None => " |  | ".to_owned(),
        };
        for nth in 0..self.worse.len().max(self.better.len()) {
            writeln!(f, "| {} | {} |", cells(self.worse.get(nth)), cells(self.better.get(nth)))?;
        }
        Ok(())
    }
}
