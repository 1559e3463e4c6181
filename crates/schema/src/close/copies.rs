//! The definitions of a closed document, with one copy for each mode in which a definition is used.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use crate::pointer::{last_token, unescaped};
use crate::walk;

/// Allocates names for copies at their first reference, and queues the copies.
pub(super) struct Copies<'a> {
    original: &'a Value,
    /// The references to copies, by pointer and mode.
    made: BTreeMap<(String, Mode), String>,
    /// Caches which definitions contain nothing to close, by pointer.
    inert: BTreeMap<String, bool>,
    names: BTreeSet<String>,
    pending: VecDeque<(String, &'a Value, Mode)>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(original: &'a Value) -> Self {
        // Reserves the names of all definitions.
        let names = walk::CONTAINERS
            .iter()
            .filter_map(|container| original.get(container)?.as_object())
            .flat_map(|definitions| definitions.keys().cloned())
            .collect();
        Self { original, made: BTreeMap::new(), inert: BTreeMap::new(), names, pending: VecDeque::new() }
    }

    /// Returns the next definition to copy.
    pub(super) fn next(&mut self) -> Option<(String, &'a Value, Mode)> {
        self.pending.pop_front()
    }

    /// Returns the reference to a copy in `mode`, in place of `reference`.
    pub(super) fn reference(&mut self, reference: &str, mode: Mode) -> String {
        let target =
            walk::pointer(reference).and_then(|pointer| Some((walk::resolve(self.original, reference)?, pointer)));
        let Some((target, pointer)) = target else {
            return reference.to_owned();
        };
        if pointer.is_empty() && mode == Mode::Closed {
            return reference.to_owned();
        }
        // A definition with nothing to close needs a single copy.
        if !self.inert.contains_key(&pointer) {
            self.inert.insert(pointer.clone(), is_inert(target));
        }
        let mode = if self.inert[&pointer] { Mode::Closed } else { mode };
        let key = (pointer, mode);
        if let Some(made) = self.made.get(&key) {
            return made.clone();
        }

        let name = self.name(&key.0, mode);
        let reference = walk::reference("$defs", &name);
        self.pending.push_back((name, target, mode));
        self.made.insert(key, reference.clone());
        reference
    }

    fn name(&mut self, pointer: &str, mode: Mode) -> String {
        if mode == Mode::Closed
            && let Some(own) = pointer.strip_prefix("/$defs/")
            && !own.contains('/')
        {
            return unescaped(own).into_owned();
        }
        let base = last_token(pointer).unwrap_or("root".into());
        let mut name = format!("{base}{}", mode.suffix());
        let mut n = 1;
        while !self.names.insert(name.clone()) {
            n += 1;
            name = format!("{base}{}{n}", mode.suffix());
        }
        name
    }
}

fn is_inert(schema: &Value) -> bool {
    let Value::Object(map) = schema else {
        return true;
    };
    let may_describe_objects =
        allows_objects(map) || is_explicit(map) || map.keys().any(|k| is_in_place(k) && k == "$ref");
    let mut inert = !may_describe_objects;
    walk::each(map, |_, sub| inert = inert && is_inert(sub));
    inert
}

/// The mode in which a schema is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// The schema and everything in it is closed.
    Closed,
    /// The schema stays open because others describe the same object. The values inside are closed.
    Open,
    /// The same as [`Mode::Open`], without the schema's own `additionalProperties: false`.
    Loose,
    /// Unchanged, but without the schema's own `additionalProperties: false`.
    LooseOnly,
    /// Unchanged, including the values inside.
    Original,
}

impl Mode {
    /// Returns the mode for the values inside a schema that is copied in this mode.
    pub(super) fn below(self) -> Self {
        match self {
            Self::Closed | Self::Open | Self::Loose => Self::Closed,
            Self::LooseOnly | Self::Original => Self::Original,
        }
    }

    pub(super) fn drops_refusals(self) -> bool {
        matches!(self, Self::Loose | Self::LooseOnly)
    }

    /// Returns the suffix that distinguishes the name of a copy from that of the definition.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Closed => "",
            Self::Open => "_open",
            Self::Loose | Self::LooseOnly => "_part",
            Self::Original => "_as_is",
        }
    }
}

/// Returns the mode for the subschemas of `keyword`.
pub(super) fn for_keyword(keyword: &str, here: Mode, below: Mode) -> Mode {
    match keyword {
        _ if is_in_place(keyword) => here,
        // Rejecting more in these keywords does not make the whole schema reject more.
        _ if is_test(keyword) => Mode::Original,
        _ => below,
    }
}

/// Returns true if the schema of `keyword` only tests a value.
pub(super) fn is_test(keyword: &str) -> bool {
    matches!(keyword, "not" | "if" | "contains" | "propertyNames")
}

/// Returns true if the subschemas of `keyword` apply to the same value.
pub(super) fn is_in_place(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "allOf" | "anyOf" | "oneOf" | "then" | "else" | "dependentSchemas" | "dependencies")
}

/// Returns true if `keyword` determines which objects are accepted, and so must be known where the object is closed.
pub(super) fn is_about_objects(keyword: &str) -> bool {
    matches!(
        keyword,
        "type" | "properties" | "patternProperties" | "required" | "additionalProperties" | "unevaluatedProperties"
    )
}

/// Returns true if the keywords of a schema describe objects, as opposed to any value.
pub(super) fn allows_objects(map: &Map<String, Value>) -> bool {
    match map.get("type") {
        Some(Value::String(_) | Value::Array(_)) => walk::may_be(map, "object"),
        _ => map.contains_key("properties") || map.contains_key("patternProperties"),
    }
}

/// Returns true if a schema states itself which undeclared properties it accepts.
pub(super) fn is_explicit(map: &Map<String, Value>) -> bool {
    map.contains_key("additionalProperties") || map.contains_key("unevaluatedProperties")
}

/// Returns true if a keyword rejects every undeclared property.
pub(super) fn refuses_the_rest(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "additionalProperties" | "unevaluatedProperties") && *value == false
}

/// Adds `additionalProperties: false` to a schema that describes an object by its properties.
pub(super) fn seal(map: &mut Map<String, Value>) {
    let by_value = map.contains_key("const") || map.contains_key("enum");
    if by_value || is_explicit(map) || !allows_objects(map) {
        return;
    }
    let named = |keyword: &str| map.get(keyword).and_then(Value::as_object).map_or(0, Map::len);
    let by_pattern = named("patternProperties") > 0;
    // Rules for keys or their number, without declared keys, describe a map.
    let rules = ["propertyNames", "minProperties", "maxProperties"];
    if named("properties") == 0 && !by_pattern && rules.iter().any(|k| map.contains_key(*k)) {
        return;
    }
    // A required property is declared, even without a schema of its own.
    if let (Some(Value::Array(required)), false) = (map.get("required").cloned(), by_pattern) {
        let properties = map.entry("properties").or_insert_with(|| Map::new().into()).as_object_mut();
        if let Some(properties) = properties {
            for name in required.iter().filter_map(Value::as_str) {
                properties.entry(name).or_insert_with(|| Map::new().into());
            }
        }
    }
    map.insert("additionalProperties".to_owned(), false.into());
}
