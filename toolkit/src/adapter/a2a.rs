//! Agent2Agent: tools as the skills of an agent, and the card that says so.

use serde_json::{Map, Value, json};

use super::described::{Described, Export, description, unsaid};
use super::request::RequestLimits;
use crate::catalog::{Catalog, Naming, Problems};
use crate::tool::Tool;

/// The skills of an agent that has these tools.
///
/// # Errors
///
/// As for [`list_tools`](crate::adapter::mcp::list_tools).
pub fn skills(catalog: &Catalog) -> Result<Export, Problems> {
    Export::of(catalog, Naming::Name, &RequestLimits::NONE, |tool, _| skill(tool))
}

/// A tool as a skill (`AgentSkill`): its canonical id, what to call it, tags and examples. A skill has no schemas.
#[must_use]
pub fn skill(tool: &Tool) -> Described {
    let mut skill = Map::from_iter([
        ("id".to_owned(), json!(tool.id().to_string())),
        ("name".to_owned(), json!(tool.display_name())),
        ("description".to_owned(), json!(description(tool))),
        ("tags".to_owned(), json!(tool.tags())),
        ("inputModes".to_owned(), json!(["application/json"])),
        ("outputModes".to_owned(), json!(["application/json"])),
    ]);
    let examples: Vec<String> = tool.examples().iter().map(Value::to_string).collect();
    if !examples.is_empty() {
        skill.insert("examples".to_owned(), examples.into());
    }
    let mut losses = unsaid(tool, &["namespace", "version", "title", "tags", "examples"]);
    let at = losses.iter().position(|loss| loss.side == super::Side::Output).unwrap_or(losses.len());
    losses.insert(
        at,
        super::Loss {
            side: super::Side::Input,
            pointer: String::new(),
            keyword: "inputSchema".to_owned(),
            effect: super::Effect::Untold,
            reason: "cannot be said".to_owned(),
        },
    );
    Described { json: skill.into(), losses, not_strict: Vec::new() }
}

/// What a card says of the agent itself.
#[derive(Clone, Debug)]
pub struct Agent<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it does.
    pub description: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Where it is reached.
    pub url: &'a str,
}

/// The card of an agent that has these tools (`AgentCard`, protocol version 1.0).
///
/// # Errors
///
/// As for [`list_tools`](crate::adapter::mcp::list_tools).
pub fn card(agent: &Agent<'_>, catalog: &Catalog) -> Result<Export, Problems> {
    let mut export = skills(catalog)?;
    export.json = json!({
        "name": agent.name,
        "description": agent.description,
        "version": agent.version,
        "supportedInterfaces": [{ "url": agent.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": { "streaming": true },
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json"],
        "skills": export.json,
    });
    Ok(export)
}
