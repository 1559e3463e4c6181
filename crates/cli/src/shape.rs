//! A simplified view of a JSON Schema: its properties and their kinds.
//!
//! The kinds cover the schemas that are derived from Rust types. Any other schema is [`Kind::Any`], which accepts JSON. The
//! dispatcher validates the values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// A schema merged with the schemas that it refers to.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'s> {
    root: &'s Value,
    /// The schema, then the target of its `$ref` or its only branch other than `null`, and so on.
    layers: Vec<&'s Map<String, Value>>,
    nullable: bool,
}

/// The maximum length of a chain of references, which may be cyclic.
const MAX_LAYERS: usize = 16;

impl<'s> Shape<'s> {
    /// Creates the shape of a root schema.
    pub(crate) fn new(schema: &'s Value) -> Self {
        Self::within(schema, schema)
    }

    fn within(root: &'s Value, schema: &'s Value) -> Self {
        let mut shape = Self { root, layers: Vec::new(), nullable: false };
        let mut next = Some(schema);
        while let Some(Value::Object(layer)) = next.take() {
            if shape.layers.len() == MAX_LAYERS {
                break;
            }
            shape.layers.push(layer);
            next = shape.next_layer(layer);
        }
        shape
    }

    /// Returns the target of the reference in `layer`, or its only branch other than `null`.
    fn next_layer(&mut self, layer: &'s Map<String, Value>) -> Option<&'s Value> {
        if let Some(Value::String(reference)) = layer.get("$ref") {
            return toolkit::__private::resolve(self.root, reference);
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let branches = layer.get(keyword).and_then(Value::as_array);
            let mut branches: Vec<&Value> = branches.into_iter().flatten().collect();
            let n_branches = branches.len();
            branches.retain(|branch| branch.get("type").is_none_or(|ty| ty != "null"));
            if let [branch] = branches[..] {
                self.nullable |= n_branches > 1;
                return Some(branch);
            }
        }
        None
    }

    /// Returns the value of `keyword`. A keyword next to a reference takes precedence over its target.
    pub(crate) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.layers.iter().find_map(|layer| layer.get(keyword))
    }

    /// Returns true if both are the same schema object, as in a recursive type.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.layers.last(), other.layers.last()) {
            (Some(one), Some(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    /// Returns the description, without the descriptions of single enum values.
    pub(crate) fn description(&self) -> Option<&'s str> {
        let text = self.get("description")?.as_str()?;
        let first_value = match self.get("enum") {
            Some(_) if text.starts_with("- `") => Some(0),
            Some(_) => text.find("\n- `"),
            None => None,
        };
        let text = text[..first_value.unwrap_or(text.len())].trim_end();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the description of an enum value: a line of the description such as ``- `fast`: In a hurry.``
    fn description_of(&self, value: &str) -> Option<&'s str> {
        let texts = self.layers.iter().filter_map(|layer| layer.get("description")?.as_str());
        let mut lines = texts.flat_map(str::lines);
        lines.find_map(|line| line.strip_prefix("- `")?.strip_prefix(value)?.strip_prefix("`: "))
    }

    /// Returns true if the value may be `null`.
    pub(crate) fn is_nullable(&self) -> bool {
        let types = self.get("type").and_then(Value::as_array);
        self.nullable || types.is_some_and(|types| types.iter().any(|ty| ty == "null"))
    }

    /// Returns the JSON types other than `null`.
    fn types(&self) -> Vec<&'s str> {
        let named = match self.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if self.get("properties").is_some() => vec!["object"],
            _ => Vec::new(),
        };
        named.into_iter().filter(|name| *name != "null").collect()
    }

    /// Returns the branches of `keywords` other than `null`.
    fn branches(&self, keywords: &[&str]) -> Vec<Self> {
        let deepest = self.layers.last();
        let lists = keywords.iter().filter_map(|keyword| deepest?.get(*keyword)?.as_array());
        let branches = lists.flatten().map(|branch| Self::within(self.root, branch));
        branches.filter(|branch| branch.get("type").is_none_or(|ty| ty != "null")).collect()
    }
}

/// The kind of a value.
#[derive(Clone, Debug)]
pub(crate) enum Kind<'s> {
    Boolean,
    Integer,
    Number,
    Text,
    /// One of these strings.
    Choice(Vec<Choice<'s>>),
    List(Shape<'s>),
    /// An object whose properties are known.
    Object(Vec<Property<'s>>),
    /// An object with keys of the caller's choice.
    Map(Option<Shape<'s>>),
    /// Any other value, with its JSON types; empty if all types are allowed.
    Any(Vec<&'s str>),
}

/// A string of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice<'s> {
    pub(crate) value: &'s str,
    pub(crate) description: Option<&'s str>,
}

/// A property of an object.
#[derive(Clone, Debug)]
pub(crate) struct Property<'s> {
    pub(crate) name: &'s str,
    pub(crate) required: bool,
    /// One shape, or one for each variant that declares the property.
    shapes: Vec<Shape<'s>>,
}

impl<'s> Shape<'s> {
    /// Returns the kind of a value.
    pub(crate) fn kind(&self) -> Kind<'s> {
        if let Some(choices) = self.choices() {
            return Kind::Choice(choices);
        }
        let types = self.types();
        match types[..] {
            ["boolean"] => Kind::Boolean,
            ["integer"] => Kind::Integer,
            ["number"] => Kind::Number,
            ["string"] => Kind::Text,
            ["array"] => match self.get("items") {
                Some(items @ Value::Object(_)) if self.get("prefixItems").is_none() => {
                    Kind::List(Self::within(self.root, items))
                }
                _ => Kind::Any(types),
            },
            ["object"] => match properties(self) {
                properties if properties.is_empty() => Kind::Map(self.values_of_map()),
                properties => Kind::Object(properties),
            },
            // Several branches, as in an enum.
            [] => match &self.types_of_branches()[..] {
                ["object"] => Kind::Object(properties(self)),
                types => Kind::Any(types.to_vec()),
            },
            _ => Kind::Any(types),
        }
    }

    /// Returns the types of the branches; empty if one of them allows any type.
    fn types_of_branches(&self) -> Vec<&'s str> {
        let mut types = Vec::new();
        for branch in self.branches(&["anyOf", "oneOf"]) {
            match branch.types() {
                named if named.is_empty() => return Vec::new(),
                named => types.extend(named),
            }
        }
        types.sort_unstable();
        types.dedup();
        types
    }

    /// Returns the strings of an enumeration.
    fn choices(&self) -> Option<Vec<Choice<'s>>> {
        let choice = |value: &'s Value| {
            let description = self.description();
            value.as_str().map(|value| Choice { value, description })
        };
        if let Some(value) = self.get("const") {
            return choice(value).map(|choice| vec![choice]);
        }
        if let Some(Value::Array(values)) = self.get("enum") {
            let listed = |value: &'s Value| {
                let value = value.as_str()?;
                let description = self.description_of(value);
                Some(Choice { value, description })
            };
            let values = values.iter().filter(|value| !value.is_null());
            return values.map(listed).collect();
        }
        let branches = self.branches(&["oneOf", "anyOf"]);
        if branches.is_empty() {
            return None;
        }
        let choices: Option<Vec<Vec<Choice<'_>>>> = branches.iter().map(Self::choices).collect();
        choices.map(|choices| choices.concat())
    }

    fn values_of_map(&self) -> Option<Self> {
        let values = self.get("additionalProperties")?;
        values.is_object().then(|| Self::within(self.root, values))
    }
}

impl<'s> Property<'s> {
    /// Returns the kind of a value, or `Any` if variants have different kinds.
    pub(crate) fn kind(&self) -> Kind<'s> {
        let mut kinds = self.shapes.iter().map(Shape::kind);
        let first = kinds.next().unwrap_or(Kind::Any(Vec::new()));
        kinds.fold(first, |all, one| match (all, one) {
            // The tag of an enum has one value in each variant.
            (Kind::Choice(mut all), Kind::Choice(one)) => {
                all.extend(one);
                Kind::Choice(all.into_iter().fold(Vec::new(), with_choice))
            }
            (Kind::Boolean, Kind::Boolean) => Kind::Boolean,
            (Kind::Integer, Kind::Integer) => Kind::Integer,
            (Kind::Number, Kind::Number) => Kind::Number,
            (Kind::Text, Kind::Text) => Kind::Text,
            _ => Kind::Any(Vec::new()),
        })
    }

    /// Returns the description by the author.
    pub(crate) fn description(&self) -> Option<&'s str> {
        self.shapes.iter().find_map(Shape::description)
    }

    /// Returns the default of the schema in the form of a flag; `None` for `null`.
    pub(crate) fn default(&self) -> Option<String> {
        match self.shapes.iter().find_map(|shape| shape.get("default"))? {
            Value::Null => None,
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }

    /// Returns true if the property may be `null`.
    pub(crate) fn is_nullable(&self) -> bool {
        self.shapes.iter().any(Shape::is_nullable)
    }

    /// Returns the shape, if there is only one.
    pub(crate) fn shape(&self) -> Option<&Shape<'s>> {
        match &self.shapes[..] {
            [shape] => Some(shape),
            _ => None,
        }
    }
}

fn with_choice<'s>(mut choices: Vec<Choice<'s>>, choice: Choice<'s>) -> Vec<Choice<'s>> {
    if choices.iter().all(|other| other.value != choice.value) {
        choices.push(choice);
    }
    choices
}

/// Returns the properties of `shape`, required ones first.
fn properties<'s>(shape: &Shape<'s>) -> Vec<Property<'s>> {
    let Collected { shapes, required } = collect(shape, 0);
    let properties =
        shapes.into_iter().map(|(name, shapes)| Property { name, required: required.contains(name), shapes });
    let mut properties: Vec<Property<'s>> = properties.collect();
    properties.sort_by_key(|property| !property.required);
    properties
}

/// The properties of an object, including those of composed schemas, by name, each with its shape in every schema that
/// declares it.
#[derive(Default)]
struct Collected<'s> {
    shapes: BTreeMap<&'s str, Vec<Shape<'s>>>,
    required: BTreeSet<&'s str>,
}

/// Collects the properties of a schema and of its composed schemas.
fn collect<'s>(shape: &Shape<'s>, depth: usize) -> Collected<'s> {
    /// The maximum depth of composition, which may be cyclic.
    const MAX_DEPTH: usize = 8;

    let mut all = Collected::default();
    if depth > MAX_DEPTH {
        return all;
    }
    for layer in &shape.layers {
        for (name, schema) in layer.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let shapes = all.shapes.entry(name).or_default();
            shapes.push(Shape::within(shape.root, schema));
        }
        let required = layer.get("required").and_then(Value::as_array);
        all.required.extend(required.into_iter().flatten().filter_map(Value::as_str));
    }
    for part in shape.branches(&["allOf"]) {
        let part = collect(&part, depth + 1);
        all.required.extend(&part.required);
        all.add(part);
    }
    let variants = shape.branches(&["oneOf", "anyOf"]).into_iter();
    let variants: Vec<Collected<'s>> = variants.map(|variant| collect(&variant, depth + 1)).collect();
    if let [first, rest @ ..] = &variants[..] {
        let in_all = |name: &&&str| rest.iter().all(|variant| variant.required.contains(**name));
        all.required.extend(first.required.iter().filter(in_all));
    }
    for variant in variants {
        all.add(variant);
    }
    all
}

impl<'s> Collected<'s> {
    fn add(&mut self, other: Self) {
        for (name, shapes) in other.shapes {
            self.shapes.entry(name).or_default().extend(shapes);
        }
    }
}

/// Describes a kind, such as `list of integers`.
pub(crate) fn describe_kind(kind: &Kind<'_>) -> String {
    match kind {
        Kind::Boolean => "boolean".to_owned(),
        Kind::Integer => "integer".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Text => "string".to_owned(),
        Kind::Choice(choices) => {
            let values: Vec<&str> = choices.iter().map(|choice| choice.value).collect();
            values.join(" | ")
        }
        Kind::List(items) => format!("list of {}", plural(&items.kind())),
        Kind::Object(_) => "object".to_owned(),
        Kind::Map(Some(values)) => format!("map of {}", plural(&values.kind())),
        Kind::Map(None) => "object".to_owned(),
        Kind::Any(types) if types.is_empty() => "any JSON".to_owned(),
        Kind::Any(types) => {
            let words = types.iter().map(|name| match *name {
                "array" => "list",
                name => name,
            });
            words.collect::<Vec<_>>().join(" or ")
        }
    }
}

fn plural(kind: &Kind<'_>) -> String {
    match kind {
        Kind::Boolean | Kind::Integer | Kind::Number | Kind::Object(_) | Kind::Map(None) => {
            format!("{}s", describe_kind(kind))
        }
        Kind::Text => "strings".to_owned(),
        Kind::List(items) => format!("lists of {}", plural(&items.kind())),
        Kind::Map(Some(values)) => format!("maps of {}", plural(&values.kind())),
        Kind::Any(types) if types.is_empty() => describe_kind(kind),
        Kind::Choice(_) | Kind::Any(_) => format!("({})", describe_kind(kind)),
    }
}

/// Describes the constraints of a value, such as `1 to 14`.
pub(crate) fn constraints(shape: &Shape<'_>) -> Vec<String> {
    let mut words = Vec::new();
    let mut range = |least: &str, most: &str, unit: &str| {
        words.extend(describe_range(shape.get(least), shape.get(most), unit));
    };
    range("minimum", "maximum", "");
    range("minLength", "maxLength", "character|characters");
    range("minItems", "maxItems", "item|items");
    range("minProperties", "maxProperties", "entry|entries");
    for (keyword, before) in
        [("exclusiveMinimum", "more than "), ("exclusiveMaximum", "less than "), ("multipleOf", "a multiple of ")]
    {
        words.extend(shape.get(keyword).map(|limit| format!("{before}{limit}")));
    }
    if let Some(Value::String(pattern)) = shape.get("pattern") {
        words.push(format!("matches {pattern}"));
    }
    if let Some(Value::String(format)) = shape.get("format").filter(|format| !is_rust_width(format)) {
        words.push(format.clone());
    }
    if shape.get("uniqueItems") == Some(&Value::Bool(true)) {
        words.push("unique items".to_owned());
    }
    words
}

/// Describes a range. `unit` is the singular and the plural of the unit, such as `item|items`.
fn describe_range(least: Option<&Value>, most: Option<&Value>, unit: &str) -> Option<String> {
    let counted = |limit: &Value| match unit.split_once('|') {
        None => limit.to_string(),
        Some((one, _)) if limit == 1 => format!("1 {one}"),
        Some((_, many)) => format!("{limit} {many}"),
    };
    match (least, most) {
        // `minimum: 0` of an unsigned integer is shown, since JSON has no unsigned integers.
        (Some(least), Some(most)) if least == most => Some(format!("exactly {}", counted(least))),
        (Some(least), Some(most)) => Some(format!("{least} to {}", counted(most))),
        (Some(least), None) => Some(format!("at least {}", counted(least))),
        (None, Some(most)) => Some(format!("at most {}", counted(most))),
        (None, None) => None,
    }
}

/// Returns true for formats that are Rust types, such as `uint8` and `double`, and not textual formats.
fn is_rust_width(format: &Value) -> bool {
    let name = format.as_str().unwrap_or_default();
    matches!(name, "float" | "double" | "int" | "uint")
        || ["int", "uint"].iter().any(|prefix| {
            let width = name.strip_prefix(prefix).unwrap_or_default();
            !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit())
        })
}
