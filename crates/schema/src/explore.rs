//! Exploration of a type through its `Deserialize`, to find what its schema lacks: aliases, maps whose keys cannot be
//! JSON strings, and objects without declared properties that accept any.
//!
//! Derived schemas contain none of these. The type reveals them while it reads: it passes the names of its fields and
//! variants to the deserializer, and requests a key of a type that a string cannot be. Therefore texts are grown from
//! nothing, each extended by what the type requests at its end ([`TypeRequest`]). A type that is read through
//! [`deserialize_any`](serde::Deserializer::deserialize_any), such as the fields of an internally tagged enum, reveals
//! nothing and stays undecided. The names of its variants are in the error for a name that no variant has.

mod places;
mod tags;

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use serde_json::{Map, Value, json};

use self::places::Places;
use self::tags::NO_VARIANT;
use super::alias::OtherTag;
use super::plan::{ProbeOutcome, TypeRequest};
use super::pointer::child;
use super::{alias, example, walk};

/// Reads the start of a text as a type, and returns what the type requests.
pub(crate) type Probe<'p> = &'p dyn Fn(&[u8]) -> ProbeOutcome;

/// The maximum number of texts that are tried for one type.
const MAX_TEXTS: usize = 2_000;
/// The maximum depth of a location that is explored.
const MAX_DEPTH: usize = 24;

/// The name of a field and its aliases.
type Aliases = (&'static str, Vec<&'static str>);

/// The differences between what a type reads and what its schema describes.
#[derive(Debug, Default)]
pub struct Explored {
    /// The aliases of properties, by the location of their object in the schema.
    pub(crate) aliases: Vec<(String, Vec<Aliases>)>,
    /// The aliases of variants, by the location of the variant in the schema.
    variants: Vec<(String, Aliases)>,
    /// The names of tags that the schema lacks, by the location of a branch of the choice.
    tags: Vec<(String, OtherTag)>,
    /// The locations of variants without data in the schemas of enums that read any other name too.
    other_names: BTreeSet<String>,
    /// The closed objects without properties that the type does not read as a struct, by their location in the schema.
    pub(crate) open: BTreeSet<String>,
    /// The maps whose keys cannot be read from a string, by their location in a value.
    pub impossible_maps: Vec<String>,
    /// The names that the type reads and the schema rejects, with their location in a value.
    pub unlisted: Vec<(String, Unlisted)>,
}

/// A name that a type reads and its schema rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// A field that may be an alias.
    Field(&'static str),
    /// A variant, or an alias of one.
    Variant(&'static str),
    /// Any other name, which selects the variant with `#[serde(other)]`.
    OtherVariants,
}

/// Explores the type that this schema was derived from.
pub fn explore<'s>(schema: &'s Value, probe: Probe<'s>) -> Explored {
    let root = Position {
        front: String::new(),
        pointer: String::new(),
        schemas: vec![String::new()],
        inside: Vec::new(),
        depth: 0,
    };
    let mut explorer = Explorer {
        places: Places(schema),
        probe,
        left: MAX_TEXTS,
        pending: VecDeque::from([root]),
        found: Explored::default(),
    };
    while let Some(position) = explorer.pending.pop_front() {
        explorer.explore(&position);
    }
    explorer.found
}

/// Returns true if the type reads the text, which is a complete value.
pub fn reads(text: &str, probe: Probe<'_>) -> bool {
    probed(text, probe).is_value
}

/// Runs the type's deserializer, which may panic.
fn probed(front: &str, probe: Probe<'_>) -> ProbeOutcome {
    catch_unwind(AssertUnwindSafe(|| probe(front.as_bytes()))).unwrap_or_else(|payload| {
        // Dropping the payload of a panic may panic again.
        std::mem::forget(payload);
        ProbeOutcome::default()
    })
}

/// Adds to a schema the aliases of all fields and variants and the names that `#[serde(other)]` accepts, and opens the
/// objects without properties that are not structs.
pub fn completed(mut schema: Value, probe: Probe<'_>) -> Value {
    let explored = explore(&schema, probe);
    for place in explored.open {
        if let Some(Value::Object(object)) = schema.pointer_mut(&place) {
            object.shift_remove("additionalProperties");
        }
    }
    // The inner objects come first, since an alias copies the schema of its property.
    for (place, aliases) in explored.aliases.into_iter().rev() {
        if let Some(object) = schema.pointer_mut(&place) {
            let aliases: Vec<(&str, &[&str])> = aliases.iter().map(|(name, others)| (*name, &others[..])).collect();
            *object = alias::with_aliases(std::mem::take(object), &aliases);
        }
    }
    // The data of a variant is copied too, with the aliases of its fields.
    for (place, (variant, aliases)) in explored.variants.iter().rev() {
        alias::add_to_variant(&mut schema, place, variant, aliases);
    }
    for (place, other) in explored.tags.into_iter().rev() {
        alias::add_tag(&mut schema, &place, &other);
    }
    for place in explored.other_names {
        accept_other_names(&mut schema, &place);
    }
    schema
}

/// Accepts any text beside the names at this location: those of one schema, or one of several beside each other.
fn accept_other_names(schema: &mut Value, place: &str) {
    let any = json!({ "type": "string", "description": "Any other text." });
    match schema.pointer_mut(place).and_then(Value::as_object_mut) {
        Some(names) if names.contains_key("enum") => {
            let beside = names.iter().filter(|(keyword, _)| walk::is_annotation(keyword));
            let mut choice: Map<String, Value> = beside.map(|(key, value)| (key.clone(), value.clone())).collect();
            names.retain(|keyword, _| !walk::is_annotation(keyword));
            choice.insert("anyOf".to_owned(), json!([std::mem::take(names), any]));
            *names = choice;
        }
        _ => {
            let around = place.rsplit_once('/').and_then(|(branches, _)| branches.strip_suffix("/oneOf"));
            let around = around.and_then(|around| schema.pointer_mut(around)).and_then(Value::as_object_mut);
            // Each name is a text too, so that two branches accept it.
            if let Some(around) = around
                && let Some(Value::Array(mut branches)) = around.shift_remove("oneOf")
            {
                branches.push(any);
                around.insert("anyOf".to_owned(), branches.into());
            }
        }
    }
}

/// A location in a value at which the type requests the next value.
struct Position {
    /// The text before it.
    front: String,
    pointer: String,
    /// The locations in the schema that describe it. Empty if they are unknown.
    schemas: Vec<String>,
    /// The structs and enums around it, identified by their lists of names, so that a recursive type is entered once.
    inside: Vec<&'static [&'static str]>,
    depth: usize,
}

impl Position {
    fn then(&self, text: &str, token: &str, schemas: Vec<String>) -> Self {
        let front = format!("{}{text}", self.front);
        Self {
            front,
            pointer: child(&self.pointer, token),
            schemas,
            inside: self.inside.clone(),
            depth: self.depth + 1,
        }
    }

    fn member(&self, key: &str, schemas: Vec<String>) -> Self {
        self.then(&format!("{{{}:", quoted(key)), key, schemas)
    }
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

struct Explorer<'s> {
    places: Places<'s>,
    probe: Probe<'s>,
    left: usize,
    pending: VecDeque<Position>,
    found: Explored,
}

impl Explorer<'_> {
    fn probe(&mut self, front: &str) -> ProbeOutcome {
        if self.left == 0 {
            return ProbeOutcome::default();
        }
        self.left -= 1;
        probed(front, self.probe)
    }

    fn probe_after(&mut self, position: &Position, text: &str) -> ProbeOutcome {
        self.probe(&format!("{}{text}", position.front))
    }

    fn explore(&mut self, position: &Position) {
        let outcome = self.probe(&position.front);
        if outcome.wants_value && !matches!(outcome.request, Some(TypeRequest::Struct(_))) {
            self.found
                .open
                .extend(position.schemas.iter().filter_map(|place| self.places.closed_without_properties(place)));
        }
        if !outcome.wants_value || position.depth >= MAX_DEPTH {
            return;
        }
        let schemas = self.places.alternatives(&position.schemas);
        let is_adjacent = matches!(outcome.request, Some(TypeRequest::Struct([_, _])));
        if let Some(tagged) = self.places.tagged(&schemas)
            && self.explore_tags(position, &tagged, is_adjacent)
            && is_adjacent
        {
            return;
        }
        let Some(request) = outcome.request else { return };
        match request {
            TypeRequest::Struct(names) | TypeRequest::Enum(names)
                if position.inside.iter().any(|outer| ptr::eq(*outer, names)) => {}
            TypeRequest::Struct(fields) => self.explore_struct(position, &schemas, fields),
            TypeRequest::Enum(variants) => self.explore_enum(position, &schemas, variants),
            TypeRequest::Map => self.explore_map(position, &schemas),
            TypeRequest::List => self.explore_list(position, &schemas),
        }
    }

    fn explore_struct(&mut self, position: &Position, schemas: &[String], fields: &'static [&'static str]) {
        let home = self.places.object_of(schemas, fields);
        let around = home.as_slice();
        for field in fields {
            let mut inner = position.member(field, self.places.member(around, field));
            inner.inside.push(fields);
            self.pending.push_back(inner);
        }
        if let Some(home) = home {
            self.find_aliases(position, home, fields);
        }
    }

    /// Finds out which fields are aliases of which property.
    ///
    /// serde lists a field and its aliases side by side without a boundary between fields, and also lists fields that
    /// are hidden from the schema. But serde rejects an alias beside its field before it reads the value.
    fn find_aliases(&mut self, position: &Position, home: String, fields: &'static [&'static str]) {
        let Some(properties) = self.places.properties(&home) else { return };
        let is_declared = |field: &&&'static str| properties.contains_key(**field);
        let mut found: Vec<Aliases> = Vec::new();
        for (place, other) in fields.iter().enumerate().filter(|(_, field)| !is_declared(field)) {
            let before = fields[..place].iter().rev().find(is_declared);
            let after = fields[place..].iter().find(is_declared);
            let (mut of, mut is_decided) = (None, true);
            for name in before.into_iter().chain(after) {
                let value = example::within(self.places.0, &properties[*name]);
                match value.and_then(|value| self.is_alias(position, name, other, &value)) {
                    Some(true) => of = of.or(Some(*name)),
                    Some(false) => {}
                    None => is_decided = false,
                }
            }
            match (of, found.iter_mut().find(|(name, _)| Some(*name) == of)) {
                (Some(_), Some((_, aliases))) => aliases.push(other),
                (Some(name), None) => found.push((name, vec![other])),
                (None, _) if is_decided => {}
                (None, _) => self.found.unlisted.push((position.pointer.clone(), Unlisted::Field(other))),
            }
        }
        if !found.is_empty() {
            self.found.aliases.push((home, found));
        }
    }

    /// Returns `None` if the type rejects the generated value of the field.
    fn is_alias(&mut self, position: &Position, name: &str, other: &str, value: &Value) -> Option<bool> {
        let (name, other) = (quoted(name), quoted(other));
        let alone = self.probe_after(position, &format!("{{{other}:"));
        let beside = self.probe_after(position, &format!("{{{name}:{value},{other}:"));
        beside.at_end.then_some(alone.wants_value && !beside.wants_value)
    }

    fn explore_enum(&mut self, position: &Position, schemas: &[String], variants: &'static [&'static str]) {
        let listed = self.places.variants(schemas);
        for variant in variants {
            let mut inner = position.member(variant, self.places.member(schemas, variant));
            inner.inside.push(variants);
            self.pending.push_back(inner);
        }
        let is_listed = |variant: &&&'static str| listed.contains(**variant);
        if !variants.iter().any(|variant| is_listed(&variant)) {
            return;
        }
        for (place, other) in variants.iter().enumerate().filter(|(_, variant)| !is_listed(variant)) {
            // serde lists a variant and its aliases side by side.
            let before = variants[..place].iter().rev().find(is_listed);
            let after = variants[place..].iter().find(is_listed);
            match self.owner_of_alias(position, schemas, before.into_iter().chain(after), other) {
                Some((home, name)) => {
                    let same = |(place, (owner, _)): &&mut (String, Aliases)| *place == home && *owner == name;
                    match self.found.variants.iter_mut().find(same) {
                        Some((_, (_, aliases))) if aliases.contains(other) => {}
                        Some((_, (_, aliases))) => aliases.push(other),
                        None => self.found.variants.push((home, (name, vec![other]))),
                    }
                }
                None => self.found.unlisted.push((position.pointer.clone(), Unlisted::Variant(other))),
            }
        }
        if self.probe(&position.member(NO_VARIANT, Vec::new()).front).wants_value {
            let names = variants.iter().filter(is_listed).find_map(|name| self.places.name_of(schemas, name));
            match names {
                Some(place) => drop(self.found.other_names.insert(place)),
                None => self.found.unlisted.push((position.pointer.clone(), Unlisted::OtherVariants)),
            }
        }
    }

    /// Returns the variant that an alias stands for, with its location in the schema: the one whose data is read under the
    /// name of the alias. Returns `None` if it may be one of two variants with different data.
    fn owner_of_alias(
        &mut self,
        position: &Position,
        schemas: &[String],
        variants: impl Iterator<Item = &'static &'static str>,
        other: &str,
    ) -> Option<(String, &'static str)> {
        let mut owner: Option<(String, &'static str)> = None;
        for variant in variants {
            let named = self.places.name_of(schemas, variant);
            let (home, data) = match named {
                Some(home) => (home, None),
                None => self.places.object_with(schemas, variant)?,
            };
            let sample = data.map_or(Some(Value::Null), |data| example::within(self.places.0, data));
            // A rejected value is not read to the end of the text.
            let text = format!("{{{}:{}}}", quoted(other), sample?);
            if !self.probe_after(position, &text).at_end {
                continue;
            }
            match &owner {
                None => owner = Some((home, variant)),
                Some((first, name)) => {
                    let data_of = |name: &str, home: &String| {
                        let schema = self.places.at(home);
                        schema.and_then(|schema| schema.get("properties")?.get(name)).cloned()
                    };
                    if data_of(name, first) != data_of(variant, &home) {
                        return None;
                    }
                }
            }
        }
        owner
    }

    fn explore_map(&mut self, position: &Position, schemas: &[String]) {
        /// Names for a key that is a string, and for one that is a number.
        const KEYS: [&str; 2] = ["a", "0"];

        let mut is_impossible = true;
        let mut variants: &[&str] = &[];
        let mut has_any = false;
        let declared = self.places.keys(schemas);
        for key in declared.iter().map(String::as_str).chain(KEYS) {
            let inner = position.member(key, self.places.member(schemas, key));
            let outcome = self.probe(&inner.front);
            variants = outcome.key_variants.unwrap_or(variants);
            is_impossible &= outcome.at_end && (outcome.is_key_impossible || outcome.key_variants.is_some());
            if outcome.wants_value {
                is_impossible = false;
                // A single undeclared key represents all of them.
                if !(KEYS.contains(&key) && std::mem::replace(&mut has_any, true)) {
                    self.pending.push_back(inner);
                }
            }
        }
        is_impossible &= variants.iter().all(|variant| {
            let outcome = self.probe(&position.member(variant, Vec::new()).front);
            outcome.at_end && !outcome.wants_value && outcome.is_key_impossible
        });
        if is_impossible {
            self.found.impossible_maps.push(position.pointer.clone());
        }
    }

    fn explore_list(&mut self, position: &Position, schemas: &[String]) {
        self.pending.push_back(position.then("[", "0", self.places.item(schemas, 0)));
        let mut text = String::from("[");
        for idx in 1..self.places.n_items(schemas) {
            let before = self.places.item(schemas, idx - 1);
            let part = before.first().and_then(|place| self.places.at(place));
            let Some(before) = part.and_then(|part| example::within(self.places.0, part)) else { break };
            text.push_str(&format!("{before},"));
            self.pending.push_back(position.then(&text, &idx.to_string(), self.places.item(schemas, idx)));
        }
    }
}
