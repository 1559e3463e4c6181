//! Exploration of a type through its `Deserialize`, to find what its schema lacks: aliases, and maps whose keys cannot
//! be JSON strings.
//!
//! Derived schemas contain neither. The type reveals both while it reads: it passes the names of its fields and
//! variants to the deserializer, and requests a key of a type that a string cannot be. Therefore texts are grown from
//! nothing, each extended by what the type requests at its end ([`Asked`]). A type that is read through
//! [`deserialize_any`](serde::Deserializer::deserialize_any), such as the variants of an internally tagged enum,
//! reveals nothing and stays undecided.

mod place;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use serde_json::Value;

use self::place::Places;
use super::plan::{Answer, Asked};
use super::{alias, child, example};

/// Reads the start of a text as a type, and returns what the type requests.
pub(crate) type Ask = fn(&[u8]) -> Answer;

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
pub fn explore(schema: &Value, ask: Ask) -> Explored {
    let root = Stop {
        front: String::new(),
        pointer: String::new(),
        schemas: vec![String::new()],
        inside: Vec::new(),
        depth: 0,
    };
    let mut explorer = Explorer {
        places: Places(schema),
        ask,
        left: MAX_TEXTS,
        pending: VecDeque::from([root]),
        found: Explored::default(),
    };
    while let Some(stop) = explorer.pending.pop_front() {
        explorer.look(&stop);
    }
    explorer.found
}

/// Adds the aliases of all fields to a schema.
pub fn with_aliases(mut schema: Value, ask: Ask) -> Value {
    // The inner objects come first, since an alias copies the schema of its property.
    for (place, aliases) in explore(&schema, ask).aliases.into_iter().rev() {
        if let Some(object) = schema.pointer_mut(&place) {
            let aliases: Vec<(&str, &[&str])> = aliases.iter().map(|(name, others)| (*name, &others[..])).collect();
            *object = alias::with_aliases(std::mem::take(object), &aliases);
        }
    }
    schema
}

/// A location in a value at which the type requests the next value.
struct Stop {
    /// The text before it.
    front: String,
    pointer: String,
    /// The locations in the schema that describe it. Empty if they are unknown.
    schemas: Vec<String>,
    /// The structs and enums around it, identified by their lists of names, so that a recursive type is entered once.
    inside: Vec<&'static [&'static str]>,
    depth: usize,
}

impl Stop {
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
    ask: Ask,
    left: usize,
    pending: VecDeque<Stop>,
    found: Explored,
}

impl Explorer<'_> {
    /// Runs the type's deserializer, which may panic.
    fn ask(&mut self, front: &str) -> Answer {
        if self.left == 0 {
            return Answer::default();
        }
        self.left -= 1;
        catch_unwind(AssertUnwindSafe(|| (self.ask)(front.as_bytes()))).unwrap_or_else(|payload| {
            // Dropping the payload of a panic may panic again.
            std::mem::forget(payload);
            Answer::default()
        })
    }

    fn ask_after(&mut self, stop: &Stop, text: &str) -> Answer {
        self.ask(&format!("{}{text}", stop.front))
    }

    fn look(&mut self, stop: &Stop) {
        let answer = self.ask(&stop.front);
        let Some(asked) = answer.asked.filter(|_| answer.wants_value && stop.depth < MAX_DEPTH) else {
            return;
        };
        let schemas = self.places.alternatives(&stop.schemas);
        match asked {
            Asked::Struct(names) | Asked::Enum(names) if stop.inside.iter().any(|outer| ptr::eq(*outer, names)) => {}
            Asked::Struct(fields) => self.look_at_struct(stop, &schemas, fields),
            Asked::Enum(variants) => self.look_at_enum(stop, &schemas, variants),
            Asked::Map => self.look_at_map(stop, &schemas),
            Asked::List => self.look_at_list(stop, &schemas),
        }
    }

    fn look_at_struct(&mut self, stop: &Stop, schemas: &[String], fields: &'static [&'static str]) {
        let home = self.places.object_of(schemas, fields);
        let around = home.as_slice();
        for field in fields {
            let mut inner = stop.member(field, self.places.member(around, field));
            inner.inside.push(fields);
            self.pending.push_back(inner);
        }
        if let Some(home) = home {
            self.find_aliases(stop, home, fields);
        }
    }

    /// Finds out which fields are aliases of which property.
    ///
    /// serde lists a field and its aliases side by side without a boundary between fields, and also lists fields that
    /// are hidden from the schema. But serde rejects an alias beside its field before it reads the value.
    fn find_aliases(&mut self, stop: &Stop, home: String, fields: &'static [&'static str]) {
        let Some(properties) = self.places.properties(&home) else { return };
        let is_declared = |field: &&&'static str| properties.contains_key(**field);
        let mut found: Vec<Aliases> = Vec::new();
        for (place, other) in fields.iter().enumerate().filter(|(_, field)| !is_declared(field)) {
            let before = fields[..place].iter().rev().find(is_declared);
            let after = fields[place..].iter().find(is_declared);
            let (mut of, mut is_decided) = (None, true);
            for name in before.into_iter().chain(after) {
                let value = example::within(self.places.0, &properties[*name]);
                match value.and_then(|value| self.is_alias(stop, name, other, &value)) {
                    Some(true) => of = of.or(Some(*name)),
                    Some(false) => {}
                    None => is_decided = false,
                }
            }
            match (of, found.iter_mut().find(|(name, _)| Some(*name) == of)) {
                (Some(_), Some((_, aliases))) => aliases.push(other),
                (Some(name), None) => found.push((name, vec![other])),
                (None, _) if is_decided => {}
                (None, _) => self.found.unlisted.push((stop.pointer.clone(), Unlisted::Field(other))),
            }
        }
        if !found.is_empty() {
            self.found.aliases.push((home, found));
        }
    }

    /// Returns `None` if the type rejects the generated value of the field.
    fn is_alias(&mut self, stop: &Stop, name: &str, other: &str, value: &Value) -> Option<bool> {
        let (name, other) = (quoted(name), quoted(other));
        let alone = self.ask_after(stop, &format!("{{{other}:"));
        let beside = self.ask_after(stop, &format!("{{{name}:{value},{other}:"));
        beside.at_end.then_some(alone.wants_value && !beside.wants_value)
    }

    fn look_at_enum(&mut self, stop: &Stop, schemas: &[String], variants: &'static [&'static str]) {
        /// A name that no variant has.
        const NO_VARIANT: &str = "\u{1}none of the variants";

        let listed = self.places.variants(schemas);
        for variant in variants {
            let mut inner = stop.member(variant, self.places.member(schemas, variant));
            inner.inside.push(variants);
            self.pending.push_back(inner);
        }
        if !variants.iter().any(|variant| listed.contains(variant)) {
            return;
        }
        let unlisted = variants.iter().filter(|variant| !listed.contains(*variant)).map(|name| Unlisted::Variant(name));
        let others = self.ask(&stop.member(NO_VARIANT, Vec::new()).front).wants_value;
        let unlisted = unlisted.chain(others.then_some(Unlisted::OtherVariants));
        self.found.unlisted.extend(unlisted.map(|name| (stop.pointer.clone(), name)));
    }

    fn look_at_map(&mut self, stop: &Stop, schemas: &[String]) {
        /// Names for a key that is a string, and for one that is a number.
        const KEYS: [&str; 2] = ["a", "0"];

        let mut is_impossible = true;
        let mut variants: &[&str] = &[];
        let mut has_any = false;
        let declared = self.places.keys(schemas);
        for key in declared.iter().map(String::as_str).chain(KEYS) {
            let inner = stop.member(key, self.places.member(schemas, key));
            let answer = self.ask(&inner.front);
            variants = answer.key_variants.unwrap_or(variants);
            is_impossible &= answer.at_end && (answer.is_key_impossible || answer.key_variants.is_some());
            if answer.wants_value {
                is_impossible = false;
                // A single undeclared key represents all of them.
                if !(KEYS.contains(&key) && std::mem::replace(&mut has_any, true)) {
                    self.pending.push_back(inner);
                }
            }
        }
        is_impossible &= variants.iter().all(|variant| {
            let answer = self.ask(&stop.member(variant, Vec::new()).front);
            answer.at_end && !answer.wants_value && answer.is_key_impossible
        });
        if is_impossible {
            self.found.impossible_maps.push(stop.pointer.clone());
        }
    }

    fn look_at_list(&mut self, stop: &Stop, schemas: &[String]) {
        self.pending.push_back(stop.then("[", "0", self.places.item(schemas, 0)));
        let mut text = String::from("[");
        for idx in 1..self.places.n_items(schemas) {
            let before = self.places.item(schemas, idx - 1);
            let part = before.first().and_then(|place| self.places.0.pointer(place));
            let Some(before) = part.and_then(|part| example::within(self.places.0, part)) else { break };
            text.push_str(&format!("{before},"));
            self.pending.push_back(stop.then(&text, &idx.to_string(), self.places.item(schemas, idx)));
        }
    }
}
