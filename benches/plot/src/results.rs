//! The results of a run, and their file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// The variable with the path of the file.
const VARIABLE: &str = "BENCH_JSON";

/// The results of one run of a benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The command that reproduces them.
    pub command: String,
    /// The day on which they were measured, in UTC.
    pub date: String,
    /// The processor.
    pub machine: String,
    /// The load average when the run ended, over one, five and fifteen minutes.
    pub load: String,
    /// The tables, in the order in which they were printed.
    pub tables: Vec<Table>,
}

/// Measurements that belong together.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The subject of the measurements.
    pub title: String,
    /// The names of the values of each row, with their units.
    pub columns: Vec<String>,
    /// The measured things.
    pub rows: Vec<Row>,
}

/// The measurements of one thing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The subject of the measurements.
    pub name: String,
    /// The values in the order of the columns; `None` if one was not measured.
    pub values: Vec<Option<f64>>,
}

impl Results {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, or does not contain results.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        serde_json::from_str(&text).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
    }

    /// Returns the text of a file, with a line for each row.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not finite.
    pub fn to_json(&self) -> io::Result<String> {
        let quoted = |text: &str| serde_json::to_string(text);
        let mut json = format!(
            "{{\n  \"command\": {},\n  \"date\": {},\n  \"machine\": {},\n  \"load\": {},\n  \"tables\": [",
            quoted(&self.command)?,
            quoted(&self.date)?,
            quoted(&self.machine)?,
            quoted(&self.load)?
        );
        for (nth, Table { title, columns, rows }) in self.tables.iter().enumerate() {
            json.push_str(if nth == 0 { "{\n" } else { ", {\n" });
            json.push_str(&format!("    \"title\": {},\n", quoted(title)?));
            json.push_str(&format!("    \"columns\": {},\n    \"rows\": [", serde_json::to_string(columns)?));
            for (nth, row) in rows.iter().enumerate() {
                json.push_str(if nth == 0 { "\n      " } else { ",\n      " });
                json.push_str(&serde_json::to_string(row)?);
            }
            json.push_str("\n    ]\n  }");
        }
        json.push_str("]\n}\n");
        Ok(json)
    }

    /// Returns the table with that title.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none.
    pub fn table(&self, title: &str) -> io::Result<&Table> {
        let found = self.tables.iter().find(|table| table.title == title);
        found.ok_or_else(|| io::Error::other(format!("`{}` has no table `{title}`", self.command)))
    }
}

impl Table {
    /// Creates a table without rows.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// Panics if it has another number of values than the table has columns.
    pub fn row(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) {
        let values: Vec<Option<f64>> = values.into_iter().map(|value| value.map(rounded)).collect();
        assert_eq!(values.len(), self.columns.len(), "a value for each column of `{}`", self.title);
        self.rows.push(Row { name: name.into(), values });
    }

    /// Returns a value.
    #[must_use]
    pub fn value(&self, row: &Row, column: &str) -> Option<f64> {
        let at = self.columns.iter().position(|name| name == column)?;
        *row.values.get(at)?
    }
}

/// The results of the current run.
#[derive(Debug)]
pub struct Recorder {
    path: Option<PathBuf>,
    results: Results,
}

impl Recorder {
    /// Starts to record, if `BENCH_JSON` is set.
    #[must_use]
    pub fn new(command: &str) -> Self {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string()[..10].to_owned();
        let (command, tables) = (command.to_owned(), Vec::new());
        let results = Results { command, date, machine: machine(), load: String::new(), tables };
        Self { path, results }
    }

    /// Adds a table.
    pub fn add(&mut self, table: Table) {
        self.results.tables.push(table);
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        self.results.load = load();
        std::fs::write(path, self.results.to_json()?)
    }
}

/// Rounds to four digits: no measurement has more.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    format!("{value:.3e}").parse().expect("a number that was formatted")
}

fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models = info.lines().filter_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = models.map(|(_, model)| model.trim()).next().unwrap_or(std::env::consts::ARCH);
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {n_cores} cores")
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
