//! The formats of Agent2Agent: tools as skills of an agent; `card` has the card of the agent.

mod card;

use serde_json::{Map, Value, json};

use super::export::Export;
use super::loss::{Side, ToolExport, loss, unsupported_fields};
use super::request_limits::{Member, RequestLimits};
use toolkit::catalog::Catalog;
use toolkit::tool::{META_KEY, ParseToolError, Tool, ToolId};
use toolkit_schema::is_too_deep;

pub use self::card::{Agent, Card, CardError, card, read_card};

/// Returns the highest version of each tool as a skill of an agent, in the order of the ids.
///
/// ```
/// use toolkit_providers::a2a::skills;
///
/// /// Adds two integers.
/// #[toolkit::tool(namespace = "math", version = "1.0.0")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = skills(&toolkit::catalog![add]?);
/// assert_eq!(export.json[0]["id"], "math:add:1.0.0");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn skills(catalog: &Catalog) -> Export {
    // Skills have no name other than the id, so that no two names can clash.
    let members = catalog.latest().map(|tool| Member::new("", tool, skill(tool))).collect();
    Export::from_members(&RequestLimits::NONE, members)
}

/// The fields of this format that have no counterpart; they are kept in tools that were read.
const OWN: [&str; 3] = ["inputModes", "outputModes", "securityRequirements"];

/// Describes a tool as a skill (`AgentSkill`): its canonical id, display name, tags and examples. A skill has no
/// schemas.
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_providers::a2a::skill;
///
/// let input = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
/// let search = Tool::builder("search").namespace("notes").title("Search notes").description("Finds notes.");
/// let search = search.input(input).examples([json!({ "text": "milk" })]).build()?;
/// let export = skill(&search);
/// assert_eq!(export.json["id"], "notes:search");
/// assert_eq!(export.json["name"], "Search notes");
/// assert_eq!(export.json["examples"], json!([r#"{"text":"milk"}"#]));
/// assert!(export.losses.iter().any(|loss| loss.keyword == "inputSchema"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn skill(tool: &Tool) -> ToolExport {
    let mut skill = Map::from_iter([
        ("id".to_owned(), json!(tool.id().to_string())),
        ("name".to_owned(), json!(tool.display_name())),
        ("description".to_owned(), json!(tool.full_description())),
        ("tags".to_owned(), json!(tool.tags())),
    ]);
    let mut supported = vec!["namespace", "title", "tags", "examples"];
    // An id without a namespace has no version.
    if tool.id().namespace().is_some() {
        supported.push("version");
    }
    let unknown = &tool.metadata().unknown;
    let examples: Vec<String> = tool.examples().iter().map(Value::to_string).collect();
    if !examples.is_empty() {
        skill.insert("examples".to_owned(), examples.into());
    } else if let Some(texts) = unknown.get("examples") {
        skill.insert("examples".to_owned(), texts.clone());
    }
    for field in OWN {
        if let Some(value) = unknown.get(field) {
            skill.insert(field.to_owned(), value.clone());
            supported.push(field);
        }
    }
    let mut losses = unsupported_fields(tool, &supported);
    let at = losses.iter().position(|loss| loss.side == Side::Output).unwrap_or(losses.len());
    losses.insert(at, loss(Side::Input, "inputSchema"));
    ToolExport { json: skill.into(), losses, not_strict: Vec::new() }
}

/// Reads a skill as a tool that accepts any object and has no output schema, since a skill declares neither.
///
/// The name of the skill is the title of the tool. Examples that are JSON objects become examples of the arguments;
/// other examples are kept, but are not examples of the tool.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_providers::a2a;
/// let skill = json!({
///     "id": "notes:search:1.0.0",
///     "name": "Search notes",
///     "description": "Finds what was written.",
///     "tags": ["find"],
///     "examples": ["What did I write about milk?"],
/// });
/// let tool = a2a::read(&skill)?;
/// assert_eq!((tool.id().version(), tool.title()), (Some("1.0.0"), Some("Search notes")));
/// assert_eq!(a2a::skill(&tool).json, skill);
/// # Ok::<(), toolkit::tool::ParseToolError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the skill has no valid `id`, or if a field has the wrong type.
pub fn read(skill: &Value) -> Result<Tool, ParseToolError> {
    let invalid = |reason: &str| ParseToolError::Json(reason.to_owned());
    let Value::Object(fields) = skill else {
        return Err(invalid("a skill is an object"));
    };
    if fields.values().any(is_too_deep) {
        return Err(invalid("it is nested deeper than 127 levels"));
    }
    let mut fields = fields.clone();
    let id = match fields.shift_remove("id") {
        Some(Value::String(id)) => id.parse::<ToolId>().map_err(|error| ParseToolError::Json(error.to_string()))?,
        _ => return Err(invalid("a skill has an `id`")),
    };
    let Some(Value::String(name)) = fields.shift_remove("name") else {
        return Err(invalid("a skill has a `name`"));
    };
    if name != id.name() {
        fields.insert("title".to_owned(), name.into());
    }
    fields.insert("name".to_owned(), id.name().into());
    fields.insert("inputSchema".to_owned(), json!({ "type": "object" }));
    let mut record = json!({ "id": id });
    if let Some(tags) = fields.shift_remove("tags") {
        record["tags"] = tags;
    }
    if let Some(arguments) = fields.get("examples").and_then(objects) {
        fields.shift_remove("examples");
        record["examples"] = arguments;
    }
    fields.insert("_meta".to_owned(), json!({ META_KEY: record }));
    Tool::from_mcp_json(Value::Object(fields))
}

/// Parses the examples as arguments; `None` unless each is a JSON object.
fn objects(examples: &Value) -> Option<Value> {
    let read = |text: &Value| serde_json::from_str(text.as_str()?).ok().filter(Value::is_object);
    examples.as_array()?.iter().map(read).collect()
}
