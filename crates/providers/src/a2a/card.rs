//! Agent cards (`AgentCard`, protocol version 1.0).

use std::fmt;

use serde_json::{Map, Value, json};

use super::{read, skills};
use crate::export::Export;
use toolkit::catalog::Catalog;
use toolkit::tool::{ParseToolError, Tool};
use toolkit_schema::{is_too_deep, order};

/// The fields of a card that describe the agent itself.
///
/// ```
/// # use toolkit_providers::a2a::{Agent, card};
/// let agent = Agent::new("Clerk").description("Keeps notes.").version("1.0.0").url("https://example.com/a2a");
/// let agent = agent.field("documentationUrl", "https://example.com/docs");
/// let json = card(&agent, &toolkit::Catalog::new([])?).json;
/// assert_eq!((&json["name"], &json["documentationUrl"]), (&"Clerk".into(), &"https://example.com/docs".into()));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Agent {
    /// The name of the agent.
    pub name: String,
    /// The description of the agent.
    pub description: String,
    /// The version of the agent.
    pub version: String,
    /// The URL of the agent.
    pub url: String,
    /// The other fields of the card, such as `provider` or `securitySchemes`. They take precedence over the defaults of
    /// [`card`], for example that of `capabilities`.
    pub others: Map<String, Value>,
}

impl Agent {
    /// Creates an agent with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the version.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the URL of the agent.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Sets another field of the card; see [`Agent::others`].
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.others.insert(name.into(), value.into());
        self
    }
}

/// An agent card that was read.
///
/// ```
/// use toolkit::{Catalog, Tool};
/// use toolkit_providers::a2a::{Agent, card, read_card};
///
/// let agent = Agent::new("Clerk").version("1.0.0").url("https://example.com/a2a");
/// let mut json = card(&agent, &Catalog::new([Tool::builder("keep").build()?])?).json;
/// // A skill without an id.
/// json["skills"].as_array_mut().unwrap().push(serde_json::json!({ "name": "Lose" }));
///
/// let card = read_card(&json)?;
/// assert_eq!(card.agent, agent);
/// for skill in card.skills {
///     match skill {
///         Ok(tool) => assert_eq!(tool.name(), "keep"),
///         Err(error) => assert!(error.to_string().contains("a skill has an `id`")),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Card {
    /// The agent.
    pub agent: Agent,
    /// The skills as tools. A skill that cannot be read does not affect the others.
    pub skills: Vec<Result<Tool, ParseToolError>>,
}

/// Returns the card of an agent with the tools of `catalog` (`AgentCard`, protocol version 1.0).
///
/// ```
/// # use toolkit_providers::a2a::{Agent, card};
/// /// Keeps a note.
/// #[toolkit::tool]
/// fn keep(text: String) -> usize {
///     text.len()
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let agent = Agent::new("Clerk").version("1.0.0").url("https://example.com/a2a");
/// let export = card(&agent, &toolkit::catalog![keep]?);
/// assert_eq!(export.json["supportedInterfaces"][0]["url"], "https://example.com/a2a");
/// assert_eq!(export.json["skills"][0]["id"], "keep");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn card(agent: &Agent, catalog: &Catalog) -> Export {
    let mut export = skills(catalog);
    let mut card = fields(agent);
    card.values_mut().for_each(order::sort);
    // The skills are sorted already.
    card.insert("skills".to_owned(), export.json);
    card.sort_keys();
    export.json = card.into();
    export
}

/// Reads an agent card; [`card`] writes the same card again.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_providers::a2a;
/// let json = json!({
///     "name": "Clerk",
///     "description": "Keeps notes.",
///     "version": "1.0.0",
///     "supportedInterfaces": [
///         { "url": "https://example.com/a2a", "protocolBinding": "GRPC", "protocolVersion": "1.0" },
///     ],
///     "capabilities": { "streaming": false },
///     "defaultInputModes": ["text/plain"],
///     "defaultOutputModes": ["text/plain"],
///     "skills": [{ "id": "keep", "name": "Keep", "description": "Keeps a note.", "tags": ["notes"] }],
/// });
/// let card = a2a::read_card(&json).unwrap();
/// assert_eq!(card.agent.url, "https://example.com/a2a");
/// let catalog = toolkit::Catalog::new(card.skills.into_iter().flatten())?;
/// assert_eq!(a2a::card(&card.agent, &catalog).json, json);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
///
/// # Errors
///
/// Returns an error if a required field is missing or has the wrong type.
pub fn read_card(json: &Value) -> Result<Card, CardError> {
    let invalid = |reason: &str| CardError { reason: reason.to_owned() };
    let Value::Object(card) = json else {
        return Err(invalid("expected an object"));
    };
    if is_too_deep(json) {
        return Err(invalid("it is nested deeper than 127 levels"));
    }
    let text = |field: &str| match card.get(field) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(invalid(&format!("`{field}` must be a string"))),
        None => Err(invalid(&format!("missing field `{field}`"))),
    };
    // Before version 1.0 of the protocol, a card had a single `url`.
    let Some(Value::String(url)) = json.pointer("/supportedInterfaces/0/url") else {
        return Err(invalid("missing `url` in `supportedInterfaces`, which version 1.0 requires"));
    };
    let Some(Value::Array(skills)) = card.get("skills") else {
        return Err(invalid("`skills` must be an array"));
    };
    let mut agent = Agent {
        name: text("name")?,
        description: text("description")?,
        version: text("version")?,
        url: url.clone(),
        others: Map::new(),
    };
    let written = fields(&agent);
    let others = card.iter().filter(|(field, value)| *field != "skills" && written.get(*field) != Some(value));
    agent.others = others.map(|(field, value)| (field.clone(), value.clone())).collect();
    Ok(Card { agent, skills: skills.iter().map(read).collect() })
}

/// Returns the card without its skills.
fn fields(agent: &Agent) -> Map<String, Value> {
    let fields = json!({
        "name": agent.name,
        "description": agent.description,
        "version": agent.version,
        "supportedInterfaces": [{ "url": agent.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": { "streaming": true },
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json"],
    });
    let others = agent.others.iter().map(|(field, value)| (field.clone(), value.clone()));
    fields.as_object().cloned().into_iter().flatten().chain(others).collect()
}

/// An error of [`read_card`].
///
/// ```
/// use toolkit_providers::a2a::read_card;
///
/// let error = read_card(&serde_json::json!({ "name": "Clerk", "url": "https://example.com/a2a" })).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "invalid agent card: missing `url` in `supportedInterfaces`, which version 1.0 requires"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardError {
    reason: String,
}

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid agent card: {}", self.reason)
    }
}

impl std::error::Error for CardError {}
