//! What a tool costs the model that reads it, in tokens.

mod estimate;

use std::iter::Sum;
use std::ops::Add;

use serde::Serialize;
use serde_json::Value;

pub use self::estimate::Estimate;

/// Counts tokens as some model does.
///
/// A function from a text to a number is one, so that the tokenizer of any crate fits: `|text: &str| bpe.count(text)`.
pub trait TokenCounter {
    /// How many tokens `text` is.
    fn count(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> TokenCounter for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// What a tool costs the model that reads it, in tokens; the sum of several is what they cost together.
///
/// What is counted is the JSON as it is sent, without spaces. Providers write it out for the model in a form of their
/// own, which they do not publish and which is shorter by some of the punctuation; a client of MCP leaves out what it
/// does not show to the model. So the numbers say which tools cost most, and what a change saves, rather than what is
/// billed to the token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// The whole tool.
    pub total: usize,
    /// Its description.
    pub description: usize,
    /// The schema of what it takes.
    pub input: usize,
    /// The schema of what it gives.
    pub output: usize,
}

impl Cost {
    /// What a tool costs in the words of any target that this crate writes.
    ///
    /// ```
    /// # use toolkit::adapter::cost::{Cost, Estimate};
    /// # use toolkit::adapter::openai::{Options, describe};
    /// # use toolkit::Tool;
    /// # fn main() -> Result<(), toolkit::catalog::Problems> {
    /// let tool = Tool::builder("add").description("Adds two integers.").build()?;
    /// let cost = Cost::of(&describe(&tool, "add", Options::responses()).json, &Estimate);
    /// assert!(cost.description < cost.total);
    ///
    /// // An exact counter is any function.
    /// let cost = Cost::of(&tool.to_mcp_json(), &|text: &str| text.len());
    /// assert_eq!(cost.description, r#""Adds two integers.""#.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn of(tool: &Value, counter: &dyn TokenCounter) -> Self {
        // Chat Completions has all of it one level down, Open Tool Calling the schemas.
        let places = [Some(tool), tool.get("function"), tool.get("input")];
        let part = |names: &[&str]| {
            let found = places.into_iter().flatten().find_map(|place| names.iter().find_map(|name| place.get(name)));
            found.map_or(0, |part| counter.count(&part.to_string()))
        };
        Self {
            total: counter.count(&tool.to_string()),
            description: part(&["description"]),
            input: part(&["inputSchema", "input_schema", "parameters", "parametersJsonSchema"]),
            output: part(&["outputSchema", "output_schema", "response", "responseJsonSchema", "output"]),
        }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            description: self.description + other.description,
            input: self.input + other.input,
            output: self.output + other.output,
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::add)
    }
}
