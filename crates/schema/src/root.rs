//! Input schemas whose root is a plain object with properties.
//!
//! APIs of models refuse a request if any of its tools has a choice at the root of its input schema. [`list`] rewrites a
//! schema for the lists that hosts pass on to them; the contract of a tool, which validates its arguments, stays as it is.

use serde_json::{Map, Value, json};

use super::merge::{Keywords, append, has_in_place, join_all, names, simplify_unevaluated};
use super::normal::normalized;
use super::{alias, inline, values, walk, width};

/// The keywords that the root of a listed schema does not have.
const COMBINATORS: [&str; 11] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "$ref", "$dynamicRef"];

/// The depth of nested choices below which recursive references are not followed.
const MAX_DEPTH: usize = 32;

/// Rewrites an input schema for a list of tools: without [aliases](alias) and bounds of the [width] of a type, with its
/// definitions inlined, and with a plain object at the root. Choices at the root are merged, and their forms are added to the description.
///
/// The result accepts all objects that the schema accepts without aliases, and more: any combination of the properties of
/// a choice. A property that only one branch of a choice between open objects declares has to match that branch. A schema
/// that accepts other values than objects keeps its root.
///
/// ```
/// use serde_json::json;
///
/// let mut schema = json!({ "type": "object", "oneOf": [
///     { "properties": { "op": { "const": "add" }, "n": { "type": "integer" } }, "required": ["op", "n"] },
///     { "properties": { "op": { "const": "list" } }, "required": ["op"], "description": "Lists all." },
/// ] });
/// toolkit_schema::root::list(&mut schema);
/// assert_eq!(schema, json!({
///     "type": "object",
///     "properties": { "op": { "enum": ["add", "list"] }, "n": { "type": "integer" } },
///     "required": ["op"],
///     "description": "One of these forms:\n- {op: \"add\", n}\n- {op: \"list\"}: Lists all.",
/// }));
/// ```
pub fn list(schema: &mut Value) {
    alias::remove(schema);
    width::remove(schema);
    inline::inline(schema);
    if !values::is_object(schema) {
        return;
    }
    if COMBINATORS.iter().any(|keyword| schema.get(keyword).is_some()) {
        *schema = flattened(schema);
        // A reference may not be recursive any longer.
        inline::inline(schema);
    }
    if let Value::Object(keywords) = schema {
        // Most schemas have both, which then need no new keys.
        if keywords.get("type").and_then(Value::as_str) != Some("object") {
            keywords.insert("type".to_owned(), "object".into());
        }
        if !keywords.contains_key("properties") {
            keywords.insert("properties".to_owned(), Map::new().into());
        }
    }
}

fn flattened(schema: &Value) -> Value {
    // References to the root refer to a definition, which keeps the choice.
    let Value::Object(mut root) = normalized(schema, |_| false).schema else {
        return schema.clone();
    };
    let document = Value::Object(root.clone());
    let mut parts = Parts { document: &document, inside: Vec::new(), depth: 0, room: walk::MAX_NODES };
    parts.resolve(&mut root);
    lower_condition(&mut root);
    merge_choices(&mut root, false);
    describe_values(&mut root);
    for keyword in COMBINATORS {
        // What cannot be resolved may declare properties.
        if root.shift_remove(keyword).is_some() {
            root.shift_remove("unevaluatedProperties");
        }
    }
    simplify_unevaluated(&mut root);
    if root.get("required") == Some(&json!([])) {
        root.shift_remove("required");
    }
    // The normal form is that of the default draft.
    root.shift_remove("$schema");
    root.into()
}

/// Replaces the recursive references of the schemas that describe one value.
struct Parts<'d> {
    document: &'d Value,
    /// The references that were followed.
    inside: Vec<String>,
    depth: usize,
    /// The number of values by which the schema may still grow.
    room: usize,
}

impl Parts<'_> {
    fn resolve(&mut self, keywords: &mut Keywords) {
        let mut target = None;
        if let Some(Value::String(reference)) = keywords.get("$ref")
            && !self.inside.contains(reference)
            && self.depth < MAX_DEPTH
            && let Some(found) = walk::resolve(self.document, reference)
            && let Some(room) = self.room.checked_sub(walk::size(found))
        {
            self.room = room;
            target = Some((reference.clone(), found.clone()));
        }
        self.depth += 1;
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if let Some(Value::Array(parts)) = keywords.get_mut(keyword) {
                parts.iter_mut().filter_map(Value::as_object_mut).for_each(|part| self.resolve(part));
            }
        }
        if let Some((reference, target)) = &mut target {
            self.inside.push(std::mem::take(reference));
            target.as_object_mut().into_iter().for_each(|target| self.resolve(target));
            self.inside.pop();
        }
        self.depth -= 1;
        if let Some((_, target)) = target {
            keywords.shift_remove("$ref");
            if let Value::Array(parts) = keywords.entry("allOf").or_insert_with(|| json!([])) {
                parts.push(target);
            }
        }
    }
}

/// Replaces a condition by a choice between its consequences.
fn lower_condition(keywords: &mut Keywords) {
    if keywords.shift_remove("if").is_none() {
        return;
    }
    let consequences = ["then", "else"].map(|keyword| keywords.shift_remove(keyword).unwrap_or(Value::Bool(true)));
    keywords.shift_remove("unevaluatedProperties");
    if let Value::Array(parts) = keywords.entry("allOf").or_insert_with(|| json!([])) {
        parts.push(json!({ "anyOf": consequences }));
    }
}

/// Adds the values of an `enum` to the description.
fn describe_values(keywords: &mut Keywords) {
    if let Some(Value::Array(values)) = keywords.get("enum") {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        append(keywords, &format!("One of {}.", values.join(", ")));
    }
}

/// A choice or conjunction that was merged into its schema.
#[derive(Debug, PartialEq)]
pub struct MergedChoice {
    /// Its keyword.
    pub keyword: &'static str,
    /// The reason why the schema does not accept some values that it accepted before.
    pub narrowed: Option<&'static str>,
    /// True if its parts declare all properties that they accept.
    shows_all: bool,
}

/// Merges the choices and conjunctions of an object schema into one object with the properties of all parts, and adds the
/// forms of each choice to the description. With `closes`, undeclared properties are rejected later.
pub fn merge_choices(keywords: &mut Keywords, closes: bool) -> Vec<MergedChoice> {
    let (mut merged, mut added) = (Vec::new(), Schemas::new());
    let left = keywords.shift_remove("allOf").and_then(|parts| match parts {
        Value::Array(parts) => Some(join_all(keywords, parts)).filter(|left| !left.is_empty()),
        _ => None,
    });
    if let Some(left) = left {
        keywords.insert("allOf".to_owned(), left.into());
    }
    // A choice that was joined came before those that are left.
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let Some(Value::Array(mut parts)) = keywords.shift_remove(keyword) else {
            continue;
        };
        let is_join = keyword == "allOf";
        let mut choice = MergedChoice { keyword, narrowed: None, shows_all: true };
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            choice.narrowed = choice.narrowed.or(merge_nested(part, closes));
            // A conjunction has no description of its own.
            if is_join && let Some(Value::String(text)) = part.shift_remove("description") {
                add_paragraph(keywords, text);
            }
        }
        if !is_join && let Some(forms) = forms(keyword, &parts) {
            add_paragraph(keywords, forms);
        }
        let (narrowed, shows_all) = merge_objects(keywords, &mut added, &parts, is_join, closes);
        (choice.narrowed, choice.shows_all) = (choice.narrowed.or(narrowed), shows_all);
        merged.push(choice);
    }
    let shows_all = merged.iter().all(|choice| choice.shows_all);
    if keywords.get("unevaluatedProperties") == Some(&Value::Bool(false)) && shows_all && !merged.is_empty() {
        keywords.shift_remove("unevaluatedProperties");
        keywords.entry("additionalProperties").or_insert(Value::Bool(false));
    } else if !closes && !shows_all {
        // A part may evaluate properties that the merged object does not declare.
        keywords.shift_remove("unevaluatedProperties");
    }
    merged
}

/// Merges the choices of a part. Returns a reason if it does not accept some values that it accepted before.
fn merge_nested(part: &mut Keywords, closes: bool) -> Option<&'static str> {
    let merged = merge_choices(part, closes);
    if merged.iter().any(|choice| !choice.shows_all) {
        part.shift_remove("unevaluatedProperties");
        part.entry("additionalProperties").or_insert(Value::Bool(true));
    }
    merged.iter().find_map(|choice| choice.narrowed)
}

/// Returns a sentence about the forms of a choice: the properties of each, with their constants.
fn forms(keyword: &str, parts: &[Value]) -> Option<String> {
    let forms: Vec<String> = parts.iter().filter(|part| may_be_object(part)).map(form).collect();
    if forms.len() < 2 || forms.iter().all(|form| *form == forms[0]) {
        return None;
    }
    let is_closed = |part: &Value| part.get("additionalProperties") == Some(&Value::Bool(false));
    let start = match keyword == "oneOf" || parts.iter().all(is_closed) {
        true => "One of these forms",
        false => "At least one of these forms",
    };
    Some(format!("{start}:\n- {}", forms.join("\n- ")))
}

fn form(part: &Value) -> String {
    let none = Map::new();
    let properties = part.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> = part.as_object().into_iter().flat_map(walk::required).collect();
    let undeclared = required.iter().copied().filter(|name| !properties.contains_key(*name)).map(|name| (name, None));
    let declared = properties.iter().map(|(name, schema)| (name.as_str(), schema.get("const")));
    let mut members: Vec<(&str, Option<&Value>)> = declared.chain(undeclared).collect();
    // A tag decides about the others.
    members.sort_by_key(|(_, constant)| constant.is_none());
    let members = members.into_iter().map(|(name, constant)| {
        let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let quoted = if is_plain { name.to_owned() } else { json!(name).to_string() };
        let optional = if required.contains(&name) { "" } else { "?" };
        let constant = constant.map(|constant| format!(": {constant}")).unwrap_or_default();
        format!("{quoted}{optional}{constant}")
    });
    let members: Vec<String> = members.collect();
    let text =
        part.get("description").and_then(Value::as_str).map(|text| format!(": {}", text.trim().replace('\n', " ")));
    format!("{{{}}}{}", members.join(", "), text.unwrap_or_default())
}

fn add_paragraph(keywords: &mut Keywords, text: String) {
    let text = match keywords.get("description").and_then(Value::as_str).map(str::trim_end) {
        None | Some("") => text,
        Some(before) => format!("{before}\n{text}"),
    };
    keywords.insert("description".to_owned(), text.into());
}

/// The list of schemas of each property that only parts declare, in their order.
type Schemas = Map<String, Value>;

/// Merges the properties of the parts of a choice or conjunction into the whole schema. Returns a reason if the whole
/// does not accept some values that the parts accept, and true if the parts declare all properties that they accept.
fn merge_objects(
    keywords: &mut Keywords,
    added: &mut Schemas,
    parts: &[Value],
    is_join: bool,
    closes: bool,
) -> (Option<&'static str>, bool) {
    let parts: Vec<ChoicePart> =
        parts.iter().filter(|part| is_join || may_be_object(part)).map(ChoicePart::new).collect();
    let mut schemas = Schemas::new();
    let mut required: Option<Vec<Value>> = None;
    for part in &parts {
        for (name, schema) in part.keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
            add_schemas(&mut schemas, name, std::slice::from_ref(schema));
        }
        let these = part.keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        required = Some(match (required, is_join) {
            (None, _) => these,
            (Some(those), true) => those.into_iter().chain(these).collect(),
            (Some(those), false) => those.into_iter().filter(|name| these.contains(name)).collect(),
        });
    }
    let shows_all = parts.iter().all(|part| !part.hides && !part.welcomes);
    let restricts = !is_join
        && schemas.keys().any(|name| parts.iter().any(|part| !part.declares(name) && part.accepts_unknown(closes)));
    // An undeclared object is a map.
    let is_empty = |has: &Keywords| has.get("properties").and_then(Value::as_object).is_none_or(|has| has.is_empty());
    let has_map = !is_join && is_empty(keywords) && parts.iter().any(|part| !part.refuses && is_empty(&part.keywords));
    let loses_required =
        !is_join && !keywords.contains_key("additionalProperties") && requires_unknown(keywords, &parts, &schemas);
    let all_closed = !parts.is_empty() && parts.iter().all(|part| part.refuses) && !is_join;

    let properties = keywords.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, schemas) in &schemas {
            // Another choice may have the property too. The schema of the whole is about all values.
            if !properties.contains_key(name) || added.contains_key(name) {
                let all = add_schemas(added, name, schemas.as_array().map_or(&[], Vec::as_slice));
                properties.insert(name.clone(), either(all));
            }
        }
    }
    if let Value::Array(there) = keywords.entry("required").or_insert_with(|| json!([])) {
        for name in required.unwrap_or_default() {
            if !there.contains(&name) {
                there.push(name);
            }
        }
    }
    if all_closed {
        keywords.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    let narrowed = if closes && !shows_all {
        Some(
            "at the root is merged into one object; properties that a nested schema or a pattern of a part declares cannot be sent",
        )
    } else if closes && has_map {
        Some(
            "at the root is merged into one object; properties of arbitrary names, which a part accepts, cannot be sent",
        )
    } else if closes && loses_required {
        Some(
            "at the root is merged into one object; properties that a part requires and does not declare cannot be sent",
        )
    } else if restricts {
        Some(
            "at the root is merged into one object; properties that only one part declares have to match the schema of that part",
        )
    } else {
        None
    };
    (narrowed, shows_all)
}

/// Returns true if a part requires a property that neither the part nor the whole declares. The whole declares the
/// properties that it requires or that all parts require, so that such a property accepts any value unless another part
/// declares it.
fn requires_unknown(keywords: &Keywords, parts: &[ChoicePart], schemas: &Schemas) -> bool {
    let is_known = |name: &str| {
        let requires = |keywords: &Keywords| walk::required(keywords).any(|required| required == name);
        let is_required = requires(keywords) || parts.iter().all(|part| requires(&part.keywords));
        declares(keywords, name) || (is_required && !schemas.contains_key(name))
    };
    parts
        .iter()
        .filter(|part| !part.refuses)
        .any(|part| walk::required(&part.keywords).any(|name| !part.declares(name) && !is_known(name)))
}

fn declares(keywords: &Keywords, name: &str) -> bool {
    keywords.get("properties").is_some_and(|properties| properties.get(name).is_some())
}

/// A part, with its rules for undeclared properties.
struct ChoicePart {
    keywords: Keywords,
    /// Other schemas of the same value, or patterns, may declare properties.
    hides: bool,
    /// It rejects undeclared properties.
    refuses: bool,
    /// It explicitly accepts undeclared properties.
    welcomes: bool,
}

impl ChoicePart {
    fn new(part: &Value) -> Self {
        let mut keywords = part.as_object().cloned().unwrap_or_default();
        simplify_unevaluated(&mut keywords);
        let others = keywords.get("additionalProperties");
        let unevaluated = keywords.get("unevaluatedProperties");
        let hides = has_in_place(&keywords) || keywords.contains_key("patternProperties");
        let refuses = !hides && others == Some(&Value::Bool(false));
        let welcomes = others.or(unevaluated).is_some_and(|others| *others != false) || *part == true;
        Self { refuses, welcomes, hides, keywords }
    }

    fn declares(&self, name: &str) -> bool {
        declares(&self.keywords, name)
    }

    /// Returns true if an undeclared property may have any value. A part without a rule is closed if every object has
    /// to be.
    fn accepts_unknown(&self, closes: bool) -> bool {
        self.welcomes || self.hides || !(self.refuses || closes)
    }
}

/// Returns true if a part may accept objects. Arguments are objects, so that other branches are irrelevant.
fn may_be_object(part: &Value) -> bool {
    let allows = |name: &Value| names(name).is_none_or(|names| names.contains(&"object"));
    *part != false && part.get("type").is_none_or(allows)
}

/// Adds schemas to those of a property, and returns all of them.
fn add_schemas<'s>(there: &'s mut Schemas, name: &str, schemas: &[Value]) -> &'s [Value] {
    match there.entry(name).or_insert_with(|| json!([])) {
        Value::Array(all) => {
            schemas.iter().for_each(|schema| add_schema(all, schema));
            all
        }
        _ => &[],
    }
}

/// Adds a schema to those of a property. Schemas that differ in their descriptions only become one with both.
fn add_schema(schemas: &mut Vec<Value>, schema: &Value) {
    match schemas.iter_mut().find(|there| is_same(there, schema)) {
        None => schemas.push(schema.clone()),
        Some(Value::Object(there)) => {
            let text = |schema: &Value| schema.as_str().unwrap_or_default().to_owned();
            let (known, new) = (there.get("description").map(text), schema.get("description").map(text));
            if let Some(new) = new.filter(|new| !known.unwrap_or_default().contains(new)) {
                append(there, &new);
            }
        }
        Some(_) => {}
    }
}

/// Returns true if two schemas are the same apart from their descriptions.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let n_keywords = |schema: &Keywords| schema.len() - usize::from(schema.contains_key("description"));
            n_keywords(a) == n_keywords(b)
                && a.iter().all(|(keyword, value)| keyword == "description" || b.get(keyword) == Some(value))
        }
        _ => a == b,
    }
}

/// Returns the only schema, an `enum` of constants, or else a choice.
fn either(schemas: &[Value]) -> Value {
    if let [only] = schemas {
        return only.clone();
    }
    let constants: Option<Vec<&Value>> = schemas.iter().map(|schema| schema.get("const")).collect();
    let Some(constants) = constants else {
        return json!({ "anyOf": schemas });
    };
    let mut values = json!({ "enum": constants });
    let kind = schemas[0].get("type");
    if let Some(kind) = kind.filter(|kind| schemas.iter().all(|schema| schema.get("type") == Some(*kind))) {
        values["type"] = kind.clone();
    }
    values
}
