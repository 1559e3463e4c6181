//! Generated tools and questions, in any number, and the same in every run.

use std::cell::OnceCell;
use std::io;

use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit_search::Index;

use crate::words::Words;

/// The number of words of each corpus.
const UNIFORM_VOCABULARY: usize = 20_000;
const VARIED_VOCABULARY: usize = 30_000;

/// Tools and questions.
pub(crate) struct Corpus {
    pub(crate) tools: Vec<Tool>,
    /// All words of each tool.
    pub(crate) texts: Vec<String>,
    pub(crate) questions: Vec<String>,
    /// The saved index of the tools.
    file: OnceCell<Vec<u8>>,
}

impl Corpus {
    /// Creates tools with a name of 2 words and a description of 28, and 300 questions of 3 words.
    pub(crate) fn uniform(n_tools: usize) -> Self {
        let mut words = Words::new(1, UNIFORM_VOCABULARY);
        let (tools, texts) = (0..n_tools).map(|number| uniform_tool(number, &mut words)).unzip();
        let mut words = Words::new(99, UNIFORM_VOCABULARY);
        let questions = (0..300).map(|_| words.draw_many(3).join(" ")).collect();
        Self { tools, texts, questions, file: OnceCell::new() }
    }

    /// Creates tools with a name of 2 to 4 words, a description of 10 to 40 and up to 4 described parameters, and 3,000
    /// questions of 1 to 5 words.
    pub(crate) fn varied(n_tools: usize) -> Self {
        let mut words = Words::new(1, VARIED_VOCABULARY);
        let (tools, texts) = (0..n_tools).map(|number| varied_tool(number, &mut words)).unzip();
        let mut words = Words::new(99, VARIED_VOCABULARY);
        let questions = (0..3_000).map(|_| words.draw_between(1, 5).join(" ")).collect();
        Self { tools, texts, questions, file: OnceCell::new() }
    }

    /// Saves the index of the tools.
    pub(crate) fn file(&self) -> io::Result<&[u8]> {
        if self.file.get().is_none() {
            let mut file = Vec::new();
            Index::from_tools(&self.tools).snapshot().save("the corpus", &mut file)?;
            file.shrink_to_fit();
            let _ = self.file.set(file);
        }
        Ok(self.file.get().map(Vec::as_slice).unwrap_or_default())
    }
}

fn uniform_tool(number: usize, words: &mut Words) -> (Tool, String) {
    let name = words.draw_many(2).join("_");
    let description = words.draw_many(28).join(" ");
    let text = format!("{} {description}", name.replace('_', " "));
    (tool(number, &name, &description, json!({ "type": "object" })), text)
}

fn varied_tool(number: usize, words: &mut Words) -> (Tool, String) {
    let name = words.draw_between(2, 4).join("_");
    let description = words.draw_between(10, 40).join(" ");
    let mut text = format!("{} {description}", name.replace('_', " "));
    let mut parameters = Map::new();
    for parameter in words.draw_between(0, 4) {
        let about = words.draw_between(2, 6).join(" ");
        if !parameters.contains_key(&parameter) {
            text += &format!(" {parameter} {about}");
            parameters.insert(parameter, json!({ "type": "string", "description": about }));
        }
    }
    let input = json!({ "type": "object", "properties": parameters });
    (tool(number, &name, &description, input), text)
}

fn tool(number: usize, name: &str, description: &str, input: Value) -> Tool {
    let fields = json!({
        "name": name,
        // The numbers are in the version, which is not searched.
        "namespace": "",
        "version": format!("{number:06}"),
        "description": description,
        "inputSchema": input,
    });
    Tool::from_json(fields).expect("the tool is valid")
}
