//! Generation of types with `typify`, with simpler types as a fallback, and properties that only the branches of a condition or
//! alternative declare.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars08::schema::RootSchema;
use serde_json::{Map, Value, json};
use typify_impl::{TypeSpace, TypeSpaceSettings};

use crate::parse::{Field, Items, Shape, parse};
use crate::simplify::{BRANCHES, Object, Simplifier, add, fallback, list, required, simplify};

/// The types of a schema.
pub(crate) enum Types {
    /// An object without properties: the tool has no arguments.
    Empty,
    /// Generated types, and the properties whose type is simpler than their schema.
    Typed(Items, Vec<String>),
    /// Any JSON object, since no type could be generated.
    Any,
}

/// The maximum length of a schema in bytes, since the work of `typify` is not linear in it.
const MAX_LEN: usize = 1 << 18;

/// The maximum number of properties that are tried one after the other, each with all previous ones.
const MAX_ATTEMPTS: usize = 200;

/// The keywords of a schema without properties. Any other keyword may apply to undeclared properties.
const EMPTY_OBJECT_KEYWORDS: [&str; 12] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "$defs",
    "definitions",
    "examples",
];

/// Generates the types of `schema`, with `root` as the name of the root type. Returns an error if the schema is invalid.
pub(crate) fn types(schema: &Value, root: &str) -> Result<Types, String> {
    if !schema.is_object() {
        return Err("the schema is not an object".to_owned());
    }
    if schema.to_string().len() > MAX_LEN {
        return Ok(Types::Any);
    }
    let Some(mut simple) = simplify(schema, root)? else { return Ok(Types::Any) };
    let has = |field: &&str| simple.contains_key(*field);
    let is_object = simple.get("type").is_none_or(|name| name == "object");
    if is_object && !["properties", "oneOf", "$ref"].iter().any(has) {
        return Ok(if is_empty_object(schema) { Types::Empty } else { Types::Any });
    }
    // The simplified schema may be longer, since references are inlined.
    if Value::Object(simple.clone()).to_string().len() > MAX_LEN {
        return Ok(Types::Any);
    }
    simple.insert("title".to_owned(), root.into());
    if let Some(items) = attempt(&simple, root) {
        return Ok(Types::Typed(items, Vec::new()));
    }
    if simple.get("properties").and_then(Value::as_object).is_some_and(|properties| properties.len() > MAX_ATTEMPTS) {
        return Ok(Types::Any);
    }
    let simplified = simplify_properties(&mut simple, root);
    Ok(attempt(&simple, root).map_or(Types::Any, |items| Types::Typed(items, simplified)))
}

/// Returns true if an object schema without properties does not accept any.
fn is_empty_object(schema: &Value) -> bool {
    let is_closed = schema.get("additionalProperties").is_none_or(|given| *given == json!(false));
    is_closed
        && schema.as_object().is_some_and(|schema| schema.keys().all(|word| EMPTY_OBJECT_KEYWORDS.contains(&&**word)))
}

/// Replaces each property that `typify` does not support with a simpler one, and returns the names of these properties.
fn simplify_properties(simple: &mut Map<String, Value>, root: &str) -> Vec<String> {
    let Some(Value::Object(properties)) = simple.shift_remove("properties") else { return Vec::new() };
    let mut simplified = Vec::new();
    let mut kept = Map::new();
    for (name, property) in properties {
        // Tried together with the previous properties, since two types may get the same name.
        kept.insert(name.clone(), property.clone());
        for simpler in [fallback(&property), json!({})] {
            simple.insert("properties".to_owned(), kept.clone().into());
            if attempt(simple, root).is_some() {
                break;
            }
            if simplified.last() != Some(&name) {
                simplified.push(name.clone());
            }
            kept.insert(name.clone(), simpler);
        }
    }
    simple.insert("properties".to_owned(), kept.into());
    simplified
}

/// Generates the types with `typify`, or returns `None` if it fails. `typify` panics for some schemas.
fn attempt(schema: &Map<String, Value>, root: &str) -> Option<Items> {
    let schema = Value::Object(schema.clone());
    let root_schema: RootSchema = serde_json::from_value(schema.clone()).ok()?;
    let generated = catch_unwind(AssertUnwindSafe(|| {
        let mut settings = TypeSpaceSettings::default();
        settings.with_map_type("::std::collections::BTreeMap");
        let mut types = TypeSpace::new(&settings);
        types.add_root_schema(root_schema).ok()?;
        Some(types.to_stream())
    }));
    let mut items = parse(generated.ok()??, root)?;
    let mut declared = HashMap::new();
    find_names(&schema, &mut declared);
    let shapes =
        items.enums.iter_mut().flat_map(|item| &mut item.variants).filter_map(|variant| match &mut variant.shape {
            Shape::Struct(fields) => Some(fields),
            Shape::Unit | Shape::Tuple(_) => None,
        });
    items
        .structs
        .iter_mut()
        .map(|item| &mut item.fields)
        .chain(shapes)
        .for_each(|fields| sort_fields(fields, &declared));
    Some(items)
}

/// The names of the properties of objects, in the order of their declaration, by their set.
type DeclaredNames<'s> = HashMap<BTreeSet<&'s str>, Vec<&'s str>>;

fn find_names<'s>(schema: &'s Value, found: &mut DeclaredNames<'s>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| find_names(item, found)),
        Value::Object(keywords) => {
            if let Some(Value::Object(properties)) = keywords.get("properties") {
                let names = properties.keys().map(String::as_str);
                found.entry(names.clone().collect()).or_insert_with(|| names.collect());
            }
            keywords.values().for_each(|value| find_names(value, found));
        }
        _ => {}
    }
}

/// Puts the fields of a type in the order of its schema. `typify` sorts them by name.
fn sort_fields(fields: &mut [Field], declared: &DeclaredNames<'_>) {
    let Some(names) = declared.get(&fields.iter().filter_map(|field| field.json.as_deref()).collect()) else { return };
    let places: HashMap<&str, usize> = names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    // The map of additional properties is last.
    let place = |name: &str| places.get(name).copied().unwrap_or(usize::MAX);
    fields.sort_by_key(|field| field.json.as_deref().map_or(usize::MAX, place));
}

impl Simplifier<'_> {
    /// Adds the properties that only the branches of a schema declare.
    pub(crate) fn branches(
        &mut self,
        schema: &Object,
        simple: &mut Object,
        place: &str,
        is_part: bool,
    ) -> Result<(), String> {
        let mut found = match simple.shift_remove(BRANCHES) {
            Some(Value::Object(of_parts)) => Branches(of_parts),
            _ => Branches::default(),
        };
        let has_properties = simple.contains_key("properties");
        if !has_properties && !is_part {
            return Ok(());
        }
        // A closed object has no other properties, even if its branches declare some.
        if schema.get("additionalProperties") != Some(&json!(false)) {
            let mut branches = list(schema, "oneOf", place)?;
            branches.extend(list(schema, "anyOf", place)?);
            let at = |word: &str| format!("{place}/{word}");
            branches.extend(["then", "else"].iter().filter_map(|word| Some((at(word), schema.get(*word)?))));
            if let Some(Value::Object(dependent)) = schema.get("dependentSchemas") {
                branches.extend(dependent.values().map(|branch| (at("dependentSchemas"), branch)));
            }
            for (at, branch) in branches {
                if let Value::Object(branch) = self.inlined(branch, &at)? {
                    found.add(branch);
                }
            }
        }
        match simple.get_mut("properties") {
            Some(Value::Object(properties)) => add(properties, found.0),
            _ => {
                required(schema, place)?.iter().filter_map(Value::as_str).for_each(|name| found.add_name(name));
                simple.insert(BRANCHES.to_owned(), found.0.into());
            }
        }
        Ok(())
    }
}

/// The properties in the branches of a schema. None is required; the dispatcher validates their combination.
#[derive(Default)]
struct Branches(Object);

impl Branches {
    /// Adds the properties of a branch. A property with different schemas in two branches becomes any value.
    fn add(&mut self, mut branch: Object) {
        for word in ["properties", BRANCHES] {
            let Some(Value::Object(properties)) = branch.shift_remove(word) else { continue };
            for (name, property) in properties {
                match self.0.get_mut(&name) {
                    Some(have) if !is_same(have, &property) => *have = json!({}),
                    Some(_) => {}
                    None => drop(self.0.insert(name, property)),
                }
            }
        }
    }

    /// Adds a property without a schema.
    fn add_name(&mut self, name: &str) {
        self.0.entry(name).or_insert_with(|| json!({}));
    }
}

/// Returns true if two schemas are equal except for their descriptions.
fn is_same(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return a == b };
    let n_keywords = |schema: &Object| schema.len() - usize::from(schema.contains_key("description"));
    n_keywords(a) == n_keywords(b) && a.iter().all(|(word, value)| word == "description" || b.get(word) == Some(value))
}
