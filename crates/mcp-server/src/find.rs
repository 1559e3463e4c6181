//! Three tools that replace a long list: `search_tools`, `describe_tool` and `call_tool`.
//!
//! Models choose badly among hundreds of tools, and some clients pass only the first 128 to the model.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolkit::call::{Coercion, ErrorKind};
use toolkit::catalog::Naming;
use toolkit::internals::coerced;
use toolkit::mcp::{Revision, list_tools, write_error};
use toolkit::{Arguments, Catalog, Dispatcher, Tool, ToolError};
use toolkit_mcp::{json_bytes, response};
use toolkit_runtime::spawn_tool;
#[cfg(feature = "search")]
use toolkit_search::Summary;

use super::observe::Observed;
use super::served::ServedTools;
use super::state::{Search, ServerState};

const SEARCH: &str = "search_tools";
const DESCRIBE: &str = "describe_tool";
const CALL: &str = "call_tool";

/// The default of `limit`.
const N_FOUND: usize = 10;

/// The maximum of `limit`.
const MAX_FOUND: usize = 50;

/// The key in `_meta` of the estimated number of tokens that the text of a result costs the model.
const ESTIMATE_KEY: &str = "rs.toolkit/estimatedTokens";

/// The fields of a listed tool that a model needs to decide on a call and to make it.
const DESCRIBED: [&str; 5] = ["name", "description", "inputSchema", "outputSchema", "annotations"];

/// A request for a search or a description.
pub(super) struct Find {
    pub(super) shared: Arc<ServerState>,
    pub(super) served: Arc<ServedTools>,
    pub(super) call: SearchToolCall<'static>,
    pub(super) id: Box<RawValue>,
    pub(super) revision: Revision,
    pub(super) observed: Option<Observed>,
    /// The name of the caller that has a share of the calls.
    pub(super) caller: Option<String>,
}

impl Find {
    /// Answers the request on a thread for tools and returns the response.
    pub(super) async fn answer(mut self) -> Vec<u8> {
        let observed = self.observed.take();
        let (shared, id, revision) = (Arc::clone(&self.shared), self.id.clone(), self.revision);
        let answered = async {
            let permit = shared.calls.acquire(SEARCH, self.caller.as_deref()).await;
            let permit = permit.map_err(|error| ToolError::new(ErrorKind::Overloaded, error.to_string()))?;
            let found = spawn_tool(SEARCH, async move {
                let _permit = permit;
                let result = self.call.answer(&self.served, self.shared.search.as_deref(), self.revision);
                self.shared.response(&self.id, self.revision, &result)
            });
            found.await.map_err(ToolError::internal)
        };
        let outcome = match shared.call_timeout {
            Some(limit) => tokio::time::timeout(limit, answered).await.unwrap_or_else(|_| {
                let message = format!("{SEARCH}: the call took longer than {limit:?}, the timeout of the server");
                Err(ToolError::new(ErrorKind::TimedOut, message))
            }),
            None => answered.await,
        };
        if let Some(observed) = observed {
            observed.end(outcome.as_ref().err().map(ToolError::kind), None);
        }
        outcome.unwrap_or_else(|error| response(&id, shared.meta_fields(revision), &write_error(&error, revision)))
    }
}

/// The parsed arguments of one of the three tools.
pub(super) enum SearchToolCall<'m> {
    Search { query: String, limit: usize },
    Describe { name: String },
    Call { name: Cow<'m, str>, arguments: Arguments<'m> },
}

#[derive(Deserialize)]
struct CallArguments<'m> {
    #[serde(borrow)]
    name: Cow<'m, str>,
    #[serde(borrow)]
    arguments: Option<&'m RawValue>,
}

impl<'m> SearchToolCall<'m> {
    /// Returns the name of the search tool.
    pub(super) fn name(&self) -> &'static str {
        match self {
            SearchToolCall::Search { .. } => SEARCH,
            SearchToolCall::Describe { .. } => DESCRIBE,
            SearchToolCall::Call { .. } => CALL,
        }
    }

    /// Parses a call of one of the three tools, coerced like calls of the tools that are served. Returns `None` for other
    /// tools.
    pub(super) fn parse(
        name: &str,
        arguments: &Arguments<'m>,
        dispatcher: &Dispatcher,
    ) -> Option<Result<Self, ToolError>> {
        let tool = search_tools().iter().find(|tool| tool.name() == name)?;
        Some(Self::read(tool, arguments, dispatcher.coercion(tool)))
    }

    fn read(tool: &Tool, arguments: &Arguments<'m>, coercion: Coercion) -> Result<Self, ToolError> {
        let mut value = arguments.to_value()?;
        let refused =
            |reason: String| ToolError::new(ErrorKind::InvalidArguments, format!("{}: {reason}", tool.name()));
        if tool.validate_input(&value).is_err() {
            value = coerced(tool.input(), value, coercion);
            tool.validate_input(&value).map_err(|violations| refused(violations.to_string()))?;
        }
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        Ok(match tool.name() {
            SEARCH => {
                let limit = value["limit"].as_u64().and_then(|limit| limit.try_into().ok()).unwrap_or(N_FOUND);
                SearchToolCall::Search { query: text("query"), limit: limit.min(MAX_FOUND) }
            }
            DESCRIBE => SearchToolCall::Describe { name: text("name") },
            _ => {
                let Arguments::Json(Cow::Borrowed(json)) = arguments else {
                    return Err(refused("the arguments must be JSON text".to_owned()));
                };
                let given: CallArguments<'m> =
                    serde_json::from_slice(json).map_err(|error| refused(error.to_string()))?;
                let arguments = match given.arguments {
                    // The text of an object, in which numbers keep their digits.
                    Some(text) if text.get().starts_with('"') => {
                        let object: String = serde_json::from_str(text.get()).unwrap_or_default();
                        Arguments::Json(Cow::Owned(object.into_bytes()))
                    }
                    Some(object) => Arguments::from(object),
                    None => Arguments::NONE,
                };
                SearchToolCall::Call { name: given.name, arguments }
            }
        })
    }

    /// Copies the arguments, so that the request does not borrow from its message.
    pub(super) fn into_owned(self) -> SearchToolCall<'static> {
        match self {
            SearchToolCall::Search { query, limit } => SearchToolCall::Search { query, limit },
            SearchToolCall::Describe { name } => SearchToolCall::Describe { name },
            SearchToolCall::Call { name, arguments } => {
                SearchToolCall::Call { name: Cow::Owned(name.into_owned()), arguments: arguments.into_owned() }
            }
        }
    }

    /// Returns the result of a search or a description (`CallToolResult`).
    pub(super) fn answer(&self, served: &ServedTools, search: Option<&Search>, revision: Revision) -> Vec<u8> {
        let found = match self {
            SearchToolCall::Search { query, limit } => Ok(found(served, search, query, *limit)),
            SearchToolCall::Describe { name } => described(served, name, revision),
            // The server runs calls and never passes them here. A description is a harmless result.
            SearchToolCall::Call { name, .. } => described(served, name, revision),
        };
        match found {
            Ok(value) => {
                let text = value.to_string();
                let mut result = json!({
                    "_meta": { ESTIMATE_KEY: estimated_tokens(&text) },
                    "content": [{ "type": "text", "text": text }],
                    "structuredContent": value,
                    "isError": false,
                });
                if revision == Revision::V2026_07_28 {
                    result["resultType"] = "complete".into();
                }
                json_bytes(&result)
            }
            Err(error) => write_error(&error, revision),
        }
    }
}

fn found(served: &ServedTools, search: Option<&Search>, query: &str, limit: usize) -> Value {
    let catalog = served.dispatcher.catalog();
    let ids = match search {
        // Requests more hits than wanted, since the filter may remove some.
        Some(search) => search(catalog, query, limit.saturating_mul(4)),
        #[cfg(feature = "search")]
        None => served.index().search(query, limit).into_iter().map(|hit| hit.summary.id.clone()).collect(),
        // These servers list all tools.
        #[cfg(not(feature = "search"))]
        None => Vec::new(),
    };
    let entry = |id: &String| {
        let id = catalog.get(id)?.id().to_string();
        served.entries.iter().find(|entry| *entry.id == *id)
    };
    let entries = ids.iter().filter_map(entry).take(limit);
    let tools: Vec<Value> =
        entries.map(|entry| json!({ "name": entry.name, "summary": summary(served.tool(entry)) })).collect();
    if tools.is_empty() {
        return json!({ "tools": [], "note": "no tool matches this query; describe the task in other words" });
    }
    json!({ "tools": tools })
}

/// Returns the summary of a tool.
fn summary(tool: &Tool) -> String {
    #[cfg(feature = "search")]
    return Summary::new(tool).short_description;
    #[cfg(not(feature = "search"))]
    return tool.description().to_owned();
}

fn described(served: &ServedTools, name: &str, revision: Revision) -> Result<Value, ToolError> {
    let Some(nth) = served.get(name) else {
        if let Some(error) = served.shared_name(name) {
            return Err(error);
        }
        return Err(ToolError::new(ErrorKind::UnknownTool, served.not_found(name)));
    };
    let mut tool: Map<String, Value> = serde_json::from_slice(&served.listed(revision)[nth]).unwrap_or_default();
    tool.retain(|field, _| DESCRIBED.contains(&field.as_str()));
    for schema in ["inputSchema", "outputSchema"] {
        if let Some(Value::Object(schema)) = tool.get_mut(schema) {
            schema.shift_remove("$schema");
        }
    }
    let examples = served.tool(&served.entries[nth]).examples();
    if !examples.is_empty() {
        tool.insert("examples".to_owned(), examples.into());
    }
    Ok(tool.into())
}

/// Estimates the number of tokens of a text. Tokenizers differ, and running one would cost more than the search.
fn estimated_tokens(text: &str) -> usize {
    /// The average size of a token of JSON about tools. `benches/tables/tokens.md` reports the error.
    const BYTES: usize = 4;
    text.len().div_ceil(BYTES)
}

/// Returns the entries of the three tools in `tools/list`, which all revisions accept.
pub(super) fn listed() -> &'static [Vec<u8>] {
    static LISTED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    LISTED.get_or_init(|| {
        let catalog = Catalog::new(search_tools().iter().cloned()).expect("their names differ");
        let list = list_tools(&catalog, Revision::V2025_11_25, Naming::Name).expect("their names are portable");
        list["tools"].as_array().into_iter().flatten().map(json_bytes).collect()
    })
}

/// Returns the three tools that a server lists in place of a long list. Their cost in tokens does not depend on the
/// number of tools.
///
/// # Examples
///
/// ```
/// let names: Vec<_> = toolkit_mcp_server::search_tools().iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["search_tools", "describe_tool", "call_tool"]);
/// ```
pub fn search_tools() -> &'static [Tool] {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let object = |properties: Value, required: &[&str]| {
            json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            })
        };
        let name = json!({ "type": "string", "description": "The name of a tool, as returned by `search_tools`" });
        let search = Tool::builder(SEARCH)
            .description("Finds tools by a description of the task. Call this first: the server has more tools than it lists.")
            .read_only(true)
            .input(object(
                json!({
                    "query": { "type": "string", "description": "What the tool should do, in a few words" },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_FOUND,
                        "description": format!("The maximum number of tools; default: {N_FOUND}"),
                    },
                }),
                &["query"],
            ));
        let describe = Tool::builder(DESCRIBE)
            .description("Returns the description and the schemas of a tool. Call this before `call_tool`.")
            .read_only(true)
            .input(object(json!({ "name": name }), &["name"]));
        let call = Tool::builder(CALL)
            .description("Calls a tool that `search_tools` has returned.")
            // An approval of `call_tool` may approve any tool.
            .read_only(false)
            .destructive(true)
            .input(object(
                json!({
                    "name": name,
                    "arguments": { "type": "object", "description": "The arguments, according to the schema of `describe_tool`" },
                }),
                &["name"],
            ));
        let tools = [search, describe, call].map(|tool| tool.build().expect("the three are sound"));
        tools.to_vec()
    })
}
