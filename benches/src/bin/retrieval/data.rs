//! The data sets: tools, questions, and the tools that answer them.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolkit::Tool;

use crate::measures::Measures;

/// A part of the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Both,
    /// Every second question, starting with the first.
    Tuning,
    Test,
}

/// Tools, and questions that search for them.
pub(crate) struct Set {
    pub(crate) tools: Vec<Tool>,
    pub(crate) questions: Vec<Question>,
    places: HashMap<String, usize>,
}

/// A question, and the indexes of the tools that answer it.
pub(crate) struct Question {
    text: String,
    gold: Vec<usize>,
}

impl Set {
    /// Reads `tools.jsonl` and `queries.jsonl`.
    pub(crate) fn read(name: &str, half: Half) -> Result<Self, Box<dyn Error>> {
        let folder = shared().join("data/retrieval").join(name);
        let records = lines(&folder.join("tools.jsonl"))?;
        let tools =
            records.iter().enumerate().map(|(place, record)| tool(place, record)).collect::<Result<Vec<_>, _>>()?;
        let by_name: HashMap<&str, usize> =
            records.iter().enumerate().filter_map(|(place, record)| Some((record["id"].as_str()?, place))).collect();
        let questions = lines(&folder.join("queries.jsonl"))?;
        let questions = questions.iter().enumerate().filter(|(idx, _)| match half {
            Half::Both => true,
            Half::Tuning => idx % 2 == 0,
            Half::Test => idx % 2 == 1,
        });
        let questions = questions.map(|(_, record)| {
            let gold = record["gold"].as_array().into_iter().flatten();
            let gold = gold.filter_map(|id| by_name.get(id.as_str()?).copied()).collect();
            Question { text: record["query"].as_str().unwrap_or_default().to_owned(), gold }
        });
        let questions = questions.collect();
        let places = tools.iter().enumerate().map(|(place, tool)| (tool.id().to_string(), place)).collect();
        Ok(Self { tools, questions, places })
    }

    /// Evaluates a search, question by question.
    pub(crate) fn measure(&self, search: impl Fn(&str) -> Vec<usize>) -> Vec<Measures> {
        self.questions.iter().map(|question| Measures::of(&search(&question.text), &question.gold)).collect()
    }

    /// Returns the index of a tool among the tools.
    pub(crate) fn place_of(&self, id: &str) -> usize {
        self.places[id]
    }
}

/// A tool of the set. Its version contains its index, so that ids are unique.
fn tool(place: usize, record: &Value) -> Result<Tool, toolkit::tool::ParseToolError> {
    let mut fields = json!({
        "name": record["name"],
        "namespace": record["namespace"],
        "version": place.to_string(),
        "description": record["description"],
        "tags": record["tags"],
        "inputSchema": record["parameters"],
    });
    // A version is only printed with a namespace.
    if fields["namespace"].is_null() {
        fields["namespace"] = json!("");
    }
    if !fields["inputSchema"].is_object() {
        fields["inputSchema"] = json!({ "type": "object" });
    }
    Tool::from_json(fields)
}

pub(crate) fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

pub(crate) fn shared() -> PathBuf {
    std::env::var_os("TOOLKIT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from)
}
