//! The number of tokens that a tool adds to a prompt, by a tokenizer or by an estimate.

mod estimate;

use std::iter::Sum;
use std::ops::Add;

use serde::Serialize;
use serde_json::Value;
use toolkit_schema::walk;

pub use self::estimate::estimate;

/// The number of tokens that a tool adds to a prompt. Costs can be added.
///
/// The counted text is the JSON that is sent, without spaces. Providers convert it to an unpublished form for the
/// model, which is shorter by some of the punctuation, and an MCP client omits fields that it does not show to the
/// model. The numbers therefore show which tools cost most and what a change saves, but not the exact number of billed
/// tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// The tokens of the whole tool.
    pub total: usize,
    /// The tokens of its name.
    pub name: usize,
    /// The tokens of its description.
    pub description: usize,
    /// The tokens of its input schema, with the descriptions.
    pub input: usize,
    /// The tokens of the descriptions in its input schema.
    pub input_descriptions: usize,
    /// The tokens of its output schema.
    pub output: usize,
}

impl Cost {
    /// Counts the tokens of a tool in any format that this crate writes. `count` returns the number of tokens of a text: it is
    /// [`estimate()`], or the tokenizer of any crate, as `|text: &str| bpe.count(text)`.
    ///
    /// ```
    /// # use toolkit_providers::cost::{Cost, estimate};
    /// # use toolkit_providers::openai::{Options, describe};
    /// # use toolkit::Tool;
    /// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
    /// let tool = Tool::builder("add").description("Adds two integers.").build()?;
    /// let cost = Cost::new(&describe(&tool, "add", Options::responses()).json, &estimate);
    /// assert!(cost.description < cost.total);
    ///
    /// // The number of bytes, instead of tokens.
    /// let cost = Cost::new(&tool.to_mcp_json(), &|text: &str| text.len());
    /// assert_eq!(cost.description, r#""Adds two integers.""#.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(tool: &Value, count: &dyn Fn(&str) -> usize) -> Self {
        // Chat Completions nests all fields under `function`, Bedrock under `toolSpec`, Open Tool Calling the schema under
        // `input`.
        let places = ["function", "toolSpec", "input"].map(|name| tool.get(name));
        let find = |names: &[&str]| {
            std::iter::once(tool)
                .chain(places.into_iter().flatten())
                .find_map(|place| names.iter().find_map(|name| place.get(name)))
        };
        let count = |part: &Value| count(&part.to_string());
        let part = |names: &[&str]| find(names).map_or(0, count);
        let input = find(&["inputSchema", "input_schema", "parameters", "parametersJsonSchema"]);
        let mut input_descriptions = 0;
        if let Some(input) = input {
            each_description(input, &mut |text| input_descriptions += count(text));
        }
        Self {
            total: count(tool),
            name: part(&["name"]),
            description: part(&["description"]),
            input: input.map_or(0, count),
            input_descriptions,
            output: part(&["outputSchema", "output_schema", "response", "responseJsonSchema", "output"]),
        }
    }
}

/// Calls `visit` with each description in a schema.
fn each_description(schema: &Value, visit: &mut impl FnMut(&Value)) {
    let Value::Object(keywords) = schema else { return };
    keywords.get("description").into_iter().for_each(&mut *visit);
    // Bedrock's schema is in `json`.
    keywords.get("json").into_iter().for_each(|schema| each_description(schema, visit));
    walk::each(keywords, |_, schema| each_description(schema, visit));
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            name: self.name + other.name,
            description: self.description + other.description,
            input: self.input + other.input,
            input_descriptions: self.input_descriptions + other.input_descriptions,
            output: self.output + other.output,
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::add)
    }
}
