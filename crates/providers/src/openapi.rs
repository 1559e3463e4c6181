//! Tools as the operations of an HTTP API, described by a document of OpenAPI 3.1.
//!
//! Each tool is `POST /tools/NAME`. The document has the schemas that MCP lists, which are JSON Schema 2020-12 like those of
//! OpenAPI 3.1. The fields of MCP that OpenAPI lacks are in `x-mcp-tool` of the operation, so that nothing is lost.

use serde_json::{Map, Value, json};
use toolkit::tool::META_KEY;
use toolkit_schema::pointer::{child, tokens};
use toolkit_schema::walk::{self, CONTAINERS};

/// The name of the security scheme of a server that requires tokens.
const BEARER: &str = "bearer";

/// The dialect of all schemas of a document without another `$schema`.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The statuses of failed calls, with their reasons.
const ERRORS: [(&str, &str); 11] = [
    ("400", "The body is not JSON."),
    ("403", "The caller may not call the tool, or lacks credentials that it requires."),
    ("404", "No tool has this name; the message has the most similar name."),
    ("409", "A decision about the call is open; it may be made again later."),
    ("413", "The arguments exceed the size limit."),
    (
        "422",
        "The arguments do not match the schema, with all violations, or the tool failed with a message for its caller.",
    ),
    ("429", "The rate limit of the caller is reached."),
    ("500", "The tool failed with an unexpected error, which the server has logged."),
    ("502", "The server behind the tool answered wrongly, or the connection to it was lost during the call."),
    ("503", "A limit of the server is reached, or the tool is not available at the moment."),
    ("504", "The call took longer than its timeout."),
];

/// Returns the document of an API with these tools, which are entries of `tools/list` in revision 2026-07-28, such as those
/// of [`list_tools`](toolkit::mcp::list_tools).
///
/// # Examples
///
/// ```
/// use toolkit::catalog::Naming;
/// use toolkit::mcp::{Revision, list_tools};
/// use toolkit_providers::openapi;
///
/// /// Adds two integers.
/// #[toolkit::tool(namespace = "math")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let list = list_tools(&toolkit::catalog![add]?, Revision::V2026_07_28, Naming::NamespaceName)?;
/// let document = openapi::document("Math", "1.0.0", list["tools"].as_array().into_iter().flatten());
/// let operation = &document["paths"]["/tools/math_add"]["post"];
/// assert_eq!(operation["operationId"], "math_add");
/// let body = &operation["requestBody"]["content"]["application/json"]["schema"];
/// assert_eq!(body["properties"]["a"]["type"], "integer");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn document<'t>(title: &str, version: &str, tools: impl IntoIterator<Item = &'t Value>) -> Value {
    let mut schemas = Map::from_iter([("Error".to_owned(), error_schema()), ("Content".to_owned(), content_schema())]);
    let mut paths = Map::new();
    for tool in tools {
        let path = format!("/tools/{}", name(tool));
        let operation = operation(tool, &path, &mut schemas);
        paths.insert(path, json!({ "post": operation }));
    }
    let responses = ERRORS.iter().map(|(status, description)| ((*status).to_owned(), error_response(description)));
    json!({
        "openapi": "3.1.0",
        "info": { "title": title, "version": version },
        "paths": paths,
        "components": { "schemas": schemas, "responses": responses.collect::<Map<_, _>>() },
    })
}

/// Adds to a document that all of its operations require a token, with these scopes of a tool by its name.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::openapi;
///
/// let tools = [json!({ "name": "now", "inputSchema": { "type": "object" } })];
/// let mut document = openapi::document("Clock", "1.0.0", &tools);
/// openapi::require_tokens(&mut document, |_tool| vec!["time:read".to_owned()]);
/// assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
/// assert_eq!(document["paths"]["/tools/now"]["post"]["security"], json!([{ "bearer": ["time:read"] }]));
/// ```
pub fn require_tokens(document: &mut Value, scopes: impl Fn(&str) -> Vec<String>) {
    document["components"]["securitySchemes"] = json!({ BEARER: { "type": "http", "scheme": "bearer" } });
    document["components"]["responses"]["401"] =
        error_response("The token of the request is missing, invalid or expired.");
    let paths = document["paths"].as_object_mut();
    for operation in paths.into_iter().flat_map(Map::values_mut).map(|path| &mut path["post"]) {
        let scopes = scopes(operation["operationId"].as_str().unwrap_or_default());
        operation["responses"]["401"] = response_reference("401");
        operation["security"] = json!([{ BEARER: scopes }]);
    }
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

fn operation(tool: &Value, path: &str, schemas: &mut Map<String, Value>) -> Value {
    let name = name(tool);
    let at = child(&child("/paths", path), "post");
    let record = &tool["_meta"][META_KEY];
    let mut operation = Map::from_iter([("operationId".to_owned(), json!(name))]);
    if let Some(title) = tool.get("title") {
        operation.insert("summary".to_owned(), title.clone());
    }
    if let Some(description) = tool.get("description") {
        operation.insert("description".to_owned(), description.clone());
    }
    let namespace = record["id"].as_str().and_then(|id| Some(id.split_once(':')?.0));
    if let Some(namespace) = namespace {
        operation.insert("tags".to_owned(), json!([namespace]));
    }
    let at_body = format!("{at}/requestBody/content/application~1json/schema");
    let mut body = json!({ "schema": in_document(&tool["inputSchema"], &format!("{name}-input"), &at_body, schemas) });
    if let Some(examples) = record["examples"].as_array() {
        let named =
            examples.iter().enumerate().map(|(nth, example)| (format!("{}", nth + 1), json!({ "value": example })));
        body["examples"] = named.collect::<Map<_, _>>().into();
    }
    operation.insert("requestBody".to_owned(), json!({ "required": true, "content": { "application/json": body } }));
    let at_result = format!("{at}/responses/200/content/application~1json/schema");
    let result = match tool.get("outputSchema") {
        Some(output) => in_document(output, &format!("{name}-output"), &at_result, schemas),
        None => content_result(),
    };
    let mut responses = json!({
        "200": { "description": "The result of the tool.", "content": { "application/json": { "schema": result } } },
    });
    for (status, _) in ERRORS {
        responses[status] = response_reference(status);
    }
    operation.insert("responses".to_owned(), responses);
    let own = ["name", "title", "description", "inputSchema", "outputSchema"];
    let others = tool.as_object().into_iter().flatten().filter(|(field, _)| !own.contains(&field.as_str()));
    let others: Map<String, Value> = others.map(|(field, value)| (field.clone(), value.clone())).collect();
    if !others.is_empty() {
        operation.insert("x-mcp-tool".to_owned(), others.into());
    }
    operation.into()
}

/// Returns a schema for a position in the document. Its definitions become components of the document, since generators of
/// clients find them only there, and its references lead to where they then stand.
fn in_document(schema: &Value, prefix: &str, at: &str, schemas: &mut Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    let Value::Object(keywords) = &mut schema else { return schema };
    if keywords.get("$schema").is_some_and(|dialect| dialect == DIALECT) {
        keywords.shift_remove("$schema");
    }
    let definitions = CONTAINERS.map(|container| keywords.shift_remove(container));
    move_references(&mut schema, prefix, at);
    for (name, mut definition) in definitions.into_iter().flatten().filter_map(into_object).flatten() {
        move_references(&mut definition, prefix, at);
        schemas.insert(component(prefix, &name), definition);
    }
    schema
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn move_references(schema: &mut Value, prefix: &str, at: &str) {
    let Value::Object(keywords) = schema else { return };
    walk::each_mut(keywords, |_, sub| move_references(sub, prefix, at));
    if let Some(Value::String(reference)) = keywords.get_mut("$ref")
        && let Some(pointer) = walk::pointer(reference)
    {
        let mut parts = tokens(&pointer);
        let container = parts.next().filter(|container| CONTAINERS.contains(&&**container));
        *reference = match container.and_then(|_| parts.next()) {
            Some(name) => {
                let definition = format!("#/components/schemas/{}", component(prefix, &name));
                parts.fold(definition, |pointer, token| child(&pointer, &token))
            }
            None => format!("#{at}{pointer}"),
        };
    }
}

/// Returns the key of a definition, which consists of the characters that OpenAPI allows there. Two definitions have
/// different keys.
fn component(prefix: &str, name: &str) -> String {
    let mut key = String::new();
    for byte in format!("{prefix}-{name}").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => key.push(char::from(byte)),
            _ => key.push_str(&format!(".{byte:02x}")),
        }
    }
    key
}

fn response_reference(status: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/{status}") })
}

fn error_response(description: &str) -> Value {
    let schema = json!({ "$ref": "#/components/schemas/Error" });
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

/// Returns the schema of the body of a failed call.
fn error_schema() -> Value {
    let violation = json!({
        "type": "object",
        "description": "An argument that does not match the schema of the tool.",
        "properties": {
            "pointer": { "type": "string", "description": "The JSON Pointer of the argument." },
            "keyword": { "type": "string", "description": "The keyword of the schema." },
            "rule": { "type": "string", "description": "The rule, such as `must be at most 14`." },
            "suggestion": { "type": "string", "description": "The value or the name that was probably meant." },
        },
        "required": ["pointer", "keyword", "rule"],
    });
    let error = json!({
        "type": "object",
        "properties": {
            "kind": { "type": "string", "description": "The stable name of the kind of error, such as `invalid_arguments`." },
            "message": { "type": "string", "description": "What is wrong, for people and models." },
            "retryable": { "type": "boolean", "description": "True if the same call may succeed later." },
            "retryAfterMs": { "type": "integer", "description": "The time to wait before, in milliseconds." },
            "violations": { "type": "array", "items": violation },
            "content": { "type": "array", "items": { "$ref": "#/components/schemas/Content" } },
            "data": { "description": "The data with which the tool describes its error." },
        },
        "required": ["kind", "message", "retryable"],
    });
    json!({ "type": "object", "properties": { "error": error }, "required": ["error"] })
}

/// Returns the schema of a block of content of MCP.
fn content_schema() -> Value {
    json!({
        "type": "object",
        "description": "A block of content of MCP: text, an image, audio, a resource, or a link to one.",
        "properties": {
            "type": { "type": "string", "description": "`text`, `image`, `audio`, `resource` or `resource_link`." },
            "text": { "type": "string" },
            "data": { "type": "string", "description": "The bytes of an image or of audio, in base64." },
            "mimeType": { "type": "string" },
            "uri": { "type": "string" },
        },
        "required": ["type"],
    })
}

/// Returns the schema of the result of a tool that returns content.
fn content_result() -> Value {
    json!({
        "description": "The text of the tool, its blocks of content if they are not all text, or null if there are none.",
        "anyOf": [
            { "type": "null" },
            { "type": "string" },
            { "type": "array", "items": { "$ref": "#/components/schemas/Content" } },
        ],
    })
}
