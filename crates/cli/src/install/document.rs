//! A configuration file as text, in which one entry changes, after checks with the positions of errors.

use std::fmt;

use jsonc_parser::ast::{self, Object, ObjectProp};
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::client::{Entry, input_id};

/// A configuration: JSON, in which comments and trailing commas are allowed.
pub(super) struct Document {
    root: CstRootNode,
    servers_key: &'static str,
    has_byte_order_mark: bool,
}

/// An error at a position in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

impl Document {
    /// Parses a configuration. An empty one has no servers.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON, if a part that `install` reads has another type, or if it exists twice.
    pub(super) fn parse(text: &str, servers_key: &'static str, server: &str) -> Result<Self, Malformed> {
        let (has_byte_order_mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        check(text, servers_key, server)?;
        let root = CstRootNode::parse(text, &parse_options()).map_err(|error| malformed(&error))?;
        Ok(Self { root, servers_key, has_byte_order_mark })
    }

    /// Returns the value of a field of the server, if both exist and it is a text.
    pub(super) fn text_field(&self, server: &str, field: &str) -> Option<String> {
        match self.server(server)?.get(field)?.value()? {
            CstNode::Leaf(leaf) => CstNode::Leaf(leaf).as_string_lit()?.decoded_value().ok(),
            CstNode::Container(_) => None,
        }
    }

    /// Returns the texts in an array of the server, which are none if it does not exist.
    pub(super) fn texts(&self, server: &str, field: &str) -> Vec<String> {
        let array = self.server(server).and_then(|entry| entry.array_value(field));
        let elements = array.map(|array| array.elements()).unwrap_or_default();
        elements.iter().filter_map(|element| element.as_string_lit()?.decoded_value().ok()).collect()
    }

    /// Returns true if the configuration has a server of that name.
    pub(super) fn has(&self, server: &str) -> bool {
        self.server(server).is_some()
    }

    /// Returns those of the variables of a server that have no value yet.
    pub(super) fn empty_variables(&self, server: &str, variables: &[String]) -> Vec<String> {
        let environment = self.server(server).and_then(|entry| entry.object_value("env"));
        let value = |name: &String| environment.as_ref()?.get(name)?.value();
        let is_empty = |name: &&String| value(name).is_some_and(|node| is(&node, &Value::String(String::new())));
        variables.iter().filter(is_empty).cloned().collect()
    }

    /// Adds an entry, or changes the fields in which it differs. Other fields of the entry remain.
    pub(super) fn set(&self, server: &str, entry: &Entry) {
        let root = self.root.object_value_or_set();
        let servers = root.object_value_or_set(self.servers_key);
        match servers.object_value(server) {
            None => {
                let fields = entry.fields.iter().map(|(field, value)| ((*field).to_owned(), input(value)));
                servers.append(server, CstInputValue::Object(fields.collect()));
            }
            Some(present) => {
                for field in entry.obsolete_fields() {
                    remove(&present, field);
                }
                for (field, value) in &entry.fields {
                    merge(&present, field, value, &entry.to_fill_in);
                }
            }
        }
        if !entry.inputs.is_empty() {
            add_inputs(&root.array_value_or_set("inputs"), &entry.inputs);
        }
    }

    /// Removes an entry, and the inputs of VS Code that belong to it.
    pub(super) fn remove(&self, server: &str) {
        let Some(root) = self.root.object_value() else { return };
        if let Some(servers) = root.object_value(self.servers_key) {
            remove(&servers, server);
        }
        let prefix = input_id(server, "");
        let rest = self.root.to_string();
        let is_used = |id: &str| rest.contains(&format!("${{input:{id}}}"));
        for input in root.array_value("inputs").map(|inputs| inputs.elements()).unwrap_or_default() {
            if id_of(&input).is_some_and(|id| id.starts_with(&prefix) && !is_used(&id)) {
                input.remove();
            }
        }
    }

    fn server(&self, server: &str) -> Option<CstObject> {
        self.root.object_value()?.object_value(self.servers_key)?.object_value(server)
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_byte_order_mark {
            f.write_str("\u{feff}")?;
        }
        self.root.fmt(f)
    }
}

/// Sets a field unless it has that value. Objects are merged, and a value that the user has filled in remains.
fn merge(object: &CstObject, field: &str, value: &Value, to_fill_in: &[String]) {
    let Some(present) = object.get(field) else {
        object.append(field, input(value));
        return;
    };
    match (present.object_value(), value) {
        (Some(present), Value::Object(values)) => {
            for (name, value) in values {
                let is_filled_in = to_fill_in.contains(name) && present.get(name).is_some();
                if !is_filled_in {
                    merge(&present, name, value, to_fill_in);
                }
            }
        }
        _ if present.value().is_some_and(|node| is(&node, value)) => {}
        _ => present.set_value(input(value)),
    }
}

fn remove(object: &CstObject, field: &str) {
    if let Some(field) = object.get(field) {
        field.remove();
    }
}

/// Adds the inputs whose ids are new.
fn add_inputs(array: &CstArray, inputs: &[Value]) {
    let present: Vec<String> = array.elements().iter().filter_map(id_of).collect();
    for new in inputs {
        if !present.iter().any(|id| new["id"] == **id) {
            array.ensure_multiline();
            array.append(input(new));
        }
    }
}

fn id_of(input: &CstNode) -> Option<String> {
    input.as_object()?.get("id")?.value()?.as_string_lit()?.decoded_value().ok()
}

/// Returns true if a node has the value, which contains no numbers.
fn is(node: &CstNode, value: &Value) -> bool {
    match value {
        Value::String(text) => {
            node.as_string_lit().and_then(|node| node.decoded_value().ok()).is_some_and(|node| node == *text)
        }
        Value::Bool(value) => node.as_boolean_lit().is_some_and(|node| node.value() == *value),
        Value::Array(items) => node.as_array().is_some_and(|node| {
            let elements = node.elements();
            elements.len() == items.len() && elements.iter().zip(items).all(|(node, item)| is(node, item))
        }),
        _ => false,
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Comments and trailing commas, and nothing else that JSON does not have.
pub(super) fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Checks the parts of a configuration that `install` reads and changes.
pub(super) fn check(text: &str, servers_key: &str, server: &str) -> Result<(), Malformed> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &parse_options()).map_err(|error| malformed(&error))?;
    let at = |node: &dyn Ranged, message: String| Err(at(text, node.start(), message));
    let Some(root) = parsed.value else { return Ok(()) };
    let ast::Value::Object(root) = root else {
        return at(&root, "a configuration must be an object".to_owned());
    };
    // A list of inputs, which only VS Code has.
    match only(text, &root, "inputs")? {
        Some(property) if servers_key == "servers" && !matches!(property.value, ast::Value::Array(_)) => {
            return at(&property.value, "`inputs` must be an array".to_owned());
        }
        _ => {}
    }
    let mut object = root;
    for key in [servers_key, server] {
        let Some(property) = only(text, &object, key)? else { return Ok(()) };
        object = match &property.value {
            ast::Value::Object(inner) => inner.clone(),
            other => return at(other, format!("`{key}` must be an object")),
        };
    }
    for key in ["type", "command", "args", "env", "url", "headers"] {
        if let Some(ObjectProp { value: ast::Value::Object(inner), .. }) = only(text, &object, key)? {
            for property in &inner.properties {
                only(text, inner, property.name.as_str())?;
            }
        }
    }
    Ok(())
}

/// Returns the property of that name.
///
/// # Errors
///
/// Returns an error at the second of several, of which programs read different ones.
fn only<'o, 't>(text: &str, object: &'o Object<'t>, name: &str) -> Result<Option<&'o ObjectProp<'t>>, Malformed> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    let first = found.next();
    match found.next() {
        Some(second) => Err(at(text, second.start(), format!("`{name}` occurs twice in the same object"))),
        None => Ok(first),
    }
}

/// Converts an error of the parser.
pub(super) fn malformed(error: &ParseError) -> Malformed {
    let message = error.kind().to_string();
    let mut letters = message.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    let message = format!("{first}{}", letters.as_str().trim_end_matches('.'));
    Malformed { line: error.line_display(), column: error.column_display(), message }
}

/// Creates an error at a byte of the text.
fn at(text: &str, offset: usize, message: String) -> Malformed {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().count() + 1;
    Malformed { line: before.matches('\n').count() + 1, column, message }
}
