//! Tools in any number, the same in every run.

use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::catalog::Diagnostics;

use crate::words::Words;

const VERBS: [&str; 16] = [
    "read", "write", "list", "find", "delete", "update", "create", "merge", "export", "import", "check", "send",
    "fetch", "rename", "archive", "convert",
];
const NOUNS: [&str; 16] = [
    "file", "message", "invoice", "calendar", "issue", "branch", "customer", "order", "image", "report", "user",
    "ticket", "event", "document", "payment", "channel",
];
const VOCABULARY: usize = 30_000;

/// Creates tools with one description of four words and two parameters.
pub(crate) fn small(n_tools: usize) -> Result<Vec<Tool>, Diagnostics> {
    (0..n_tools).map(small_tool).collect()
}

/// Creates tools with a name of 2 to 4 words, a description of 10 to 60 and 1 to 6 described parameters, some of which are
/// lists and objects.
pub(crate) fn varied(n_tools: usize) -> Result<Vec<Tool>, Diagnostics> {
    let mut words = Words::new(1, VOCABULARY);
    (0..n_tools).map(|nth| varied_tool(nth, &mut words)).collect()
}

fn small_tool(nth: usize) -> Result<Tool, Diagnostics> {
    let (verb, noun) = (VERBS[nth % 16], NOUNS[nth / 16 % 16]);
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "limit": { "type": "integer", "minimum": 0 } },
        "required": ["path"],
    });
    Tool::builder(format!("{verb}_{noun}_{nth}"))
        .namespace(format!("{noun}s"))
        .version("1.0.0")
        .description(format!("{verb} {noun} number {nth}"))
        .input(schema)
        .build()
}

fn varied_tool(nth: usize, words: &mut Words) -> Result<Tool, Diagnostics> {
    let namespace = words.draw_between(1, 1).concat();
    let name = words.draw_between(2, 4).join("_");
    Tool::builder(format!("{name}_{nth}"))
        .namespace(namespace)
        .version("1.0.0")
        .description(words.draw_between(10, 60).join(" "))
        .input(object(words, 6, true))
        .build()
}

/// Returns the schema of an object with up to `most` properties. Only the outermost one has lists and objects.
fn object(words: &mut Words, most: usize, is_outermost: bool) -> Value {
    let names = words.draw_between(1, most);
    let mut properties = Map::new();
    for (nth, name) in names.iter().enumerate() {
        let kind = if is_outermost { nth % 6 } else { nth % 3 };
        let mut schema = match kind {
            0 => json!({ "type": "string", "minLength": 1, "maxLength": 200 }),
            1 => json!({ "type": "integer", "minimum": 0, "maximum": 1000 }),
            2 => json!({ "enum": words.draw_between(2, 5) }),
            3 => object(words, 4, false),
            4 => json!({ "type": "array", "items": { "type": "string" }, "maxItems": 20 }),
            _ => json!({ "type": "array", "items": object(words, 3, false) }),
        };
        schema["description"] = words.draw_between(2, 12).join(" ").into();
        properties.insert(name.clone(), schema);
    }
    json!({ "type": "object", "properties": properties, "required": [names[0]], "additionalProperties": false })
}
