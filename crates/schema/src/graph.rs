//! The graph of the schemas in a document and of the values that they apply to, within the limits of a schema.

mod node;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use self::node::SchemaPlace;
pub(crate) use self::node::{Label, SchemaNode};
pub(super) use self::node::{MAX_DEPTH, MAX_SUBSCHEMAS};
use super::dialect::Dialect;
use super::error::{MAX_DIAGNOSTICS, SchemaDiagnostic, SchemaErrorKind};
use super::pointer::child;
use super::reference::{Base, References, ResolvedReference};
use super::{tagged, walk};

/// The schemas of a document, the root first. Includes the schemas that references reach in unknown locations, which
/// are outside of all schema keywords.
pub(super) struct Graph<'s> {
    pub(super) nodes: Vec<SchemaNode<'s>>,
    ids: HashMap<*const Value, usize>,
    dialect: Dialect,
    /// True if items of a value are compared with each other (`uniqueItems`).
    pub(super) compares_items: bool,
}

/// The maximum number of targets of all dynamic references together. The validator compiles each target once per path.
const MAX_DYNAMIC: usize = 10_000;

/// A pattern, and the schema that contains it.
pub(super) struct Pattern<'s> {
    pub(super) node: usize,
    pub(super) text: &'s str,
    /// True if the pattern is a key of `patternProperties`.
    pub(super) of_keys: bool,
}

/// The results of walking a document, in addition to its schemas.
pub(super) struct GraphFindings<'s> {
    pub(super) patterns: Vec<Pattern<'s>>,
    pub(super) diagnostics: Vec<SchemaDiagnostic>,
    pending: Vec<PendingReference<'s>>,
    names: HashSet<String>,
}

/// A reference that has not been followed yet.
struct PendingReference<'s> {
    from: usize,
    keyword: &'static str,
    text: &'s str,
}

impl GraphFindings<'_> {
    /// Adds a defect of a keyword, up to the limit. The message is built only if it is needed.
    fn diagnostic(
        &mut self,
        graph: &Graph<'_>,
        id: usize,
        keyword: &str,
        diagnostic: impl FnOnce() -> (SchemaErrorKind, String),
    ) {
        if self.diagnostics.len() <= MAX_DIAGNOSTICS {
            let (kind, message) = diagnostic();
            self.diagnostics.push(SchemaDiagnostic::new(kind, child(&graph.pointer(id), keyword), message));
        }
    }
}

impl<'s> Graph<'s> {
    /// Finds the schemas of a document and follows every reference, including those that no value can reach.
    ///
    /// # Errors
    ///
    /// Returns a defect that prevents the search: too many schemas, or too many targets of dynamic references.
    pub(super) fn new(
        root: &'s Value,
        dialect: Dialect,
        references: &'s References<'s>,
    ) -> Result<(Self, GraphFindings<'s>), SchemaDiagnostic> {
        let mut graph = Self { nodes: Vec::new(), ids: HashMap::new(), dialect, compares_items: false };
        let mut found =
            GraphFindings { patterns: Vec::new(), diagnostics: Vec::new(), pending: Vec::new(), names: HashSet::new() };
        let mut dynamic = Vec::new();
        graph.add(root, SchemaPlace::Root, references.root());
        let mut next = 0;
        loop {
            while next < graph.nodes.len() {
                graph.walk(next, references, &mut found);
                next += 1;
                if graph.nodes.len() > MAX_SUBSCHEMAS {
                    let message = format!("the schema has more than {} subschemas", MAX_SUBSCHEMAS);
                    return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
                }
            }
            // All schemas with a known location have been added, so a reference that adds one points to an unknown
            // location.
            for PendingReference { from, keyword, text } in std::mem::take(&mut found.pending) {
                match references.resolve(&graph.nodes[from].base, text) {
                    Ok(ResolvedReference::Schema(target, base)) => {
                        let target = graph.add(target, SchemaPlace::At(text), base);
                        graph.nodes[from].in_place.push(target);
                        if keyword == "$dynamicRef" {
                            dynamic.push((from, text.rsplit('#').next().unwrap_or_default()));
                        }
                    }
                    Ok(ResolvedReference::MetaSchema) => {}
                    Err(unresolved) => found.diagnostic(&graph, from, keyword, || references.explain(text, unresolved)),
                }
            }
            if next == graph.nodes.len() {
                break;
            }
        }
        graph.connect_dynamic(&dynamic)?;
        Ok((graph, found))
    }

    /// Finds the direct subschemas of a schema and its references.
    fn walk(&mut self, id: usize, references: &References<'s>, found: &mut GraphFindings<'s>) {
        let schema = self.nodes[id].schema;
        let Value::Object(keywords) = schema else {
            return;
        };
        if id > 0
            && let Some(diagnostic) = keywords.get("$schema").and_then(|named| self.other_dialect(named))
        {
            found.diagnostic(self, id, "$schema", || diagnostic);
        }
        // The reference that led here has already set the base URI.
        let is_entered = matches!(self.nodes[id].place, SchemaPlace::At(_));
        match references.base_of(&self.nodes[id].base, schema).filter(|_| !is_entered) {
            Some(Ok(base)) => self.nodes[id].base = base,
            Some(Err(message)) => found.diagnostic(self, id, "$id", || (SchemaErrorKind::InvalidSchema, message)),
            None => {}
        }
        if !is_entered {
            for (keyword, name) in references.names(&self.nodes[id].base, schema) {
                if !found.names.insert(name) {
                    let message = format!("`{keyword}` gives two schemas the same name; names must be unique");
                    found.diagnostic(self, id, keyword, || (SchemaErrorKind::InvalidSchema, message));
                }
            }
        }
        // Draft-07 has no dynamic references. It ignores the keywords beside a `$ref`, but they must still be valid.
        let is_7 = self.dialect == Dialect::Draft7;
        let keywords_that_refer = if is_7 { &["$ref"][..] } else { &["$ref", "$dynamicRef"] };
        for &keyword in keywords_that_refer {
            if let Some(Value::String(text)) = keywords.get(keyword) {
                found.pending.push(PendingReference { from: id, keyword, text });
            }
        }
        let is_ignored = is_7 && keywords.get("$ref").is_some_and(Value::is_string);

        let mut choices: [Vec<usize>; 2] = Default::default();
        walk::each_at(keywords, |keyword, token, sub| {
            let base = self.nodes[id].base.clone();
            let sub = self.add(sub, SchemaPlace::Below(id, keyword, token), base);
            match keyword {
                _ if is_ignored => {}
                "anyOf" => choices[0].push(sub),
                "oneOf" => choices[1].push(sub),
                _ => self.nodes[id].connect(keyword, token, sub),
            }
        });
        for (keyword, branches) in ["anyOf", "oneOf"].into_iter().zip(choices) {
            let node = &mut self.nodes[id];
            let list = keywords.get(keyword).and_then(Value::as_array);
            match list.and_then(|list| tagged::tag(list)) {
                Some(_) => node.tagged.push(branches),
                None => node.in_place.extend(branches),
            }
        }
        self.compares_items |= keywords.get("uniqueItems") == Some(&Value::Bool(true));
        found.patterns.extend(patterns_of(id, keywords));
    }

    /// Returns the id of a schema, which is added if it is new.
    fn add(&mut self, schema: &'s Value, place: SchemaPlace<'s>, base: Base) -> usize {
        let id = self.nodes.len();
        match self.ids.entry(schema) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => new.insert(id),
        };
        self.nodes.push(SchemaNode::new(schema, place, base));
        id
    }

    /// Connects dynamic references with every schema that has their anchor.
    fn connect_dynamic(&mut self, dynamic: &[(usize, &str)]) -> Result<(), SchemaDiagnostic> {
        let mut anchors: HashMap<&str, Vec<usize>> = HashMap::new();
        for (id, node) in self.nodes.iter().enumerate() {
            if let Some(Value::String(name)) = node.schema.get("$dynamicAnchor") {
                anchors.entry(name).or_default().push(id);
            }
        }
        let ways = |name: &str| anchors.get(name).map_or(0, Vec::len);
        if dynamic.iter().map(|(_, name)| ways(name)).sum::<usize>() > MAX_DYNAMIC {
            let message = "the dynamic references have too many possible targets";
            return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
        }
        for (id, name) in dynamic {
            let known: HashSet<usize> = self.nodes[*id].in_place.iter().copied().collect();
            let more = anchors.get(name).into_iter().flatten().filter(|target| !known.contains(target));
            self.nodes[*id].in_place.extend(more);
        }
        Ok(())
    }

    fn other_dialect(&self, named: &Value) -> Option<(SchemaErrorKind, String)> {
        match Dialect::named(named) {
            Err(diagnostic) => Some(diagnostic),
            Ok(dialect) if dialect == self.dialect => None,
            Ok(dialect) => {
                let (of, here) = (dialect.uri(), self.dialect.uri());
                let message = format!(
                    "the dialect `{of}` differs from that of the document, `{here}`; a document must use a single dialect"
                );
                Some((SchemaErrorKind::UnsupportedDialect, message))
            }
        }
    }

    /// Returns the JSON Pointer to a schema.
    pub fn pointer(&self, id: usize) -> String {
        let mut tokens = Vec::new();
        let mut at = id;
        let mut pointer = loop {
            match &self.nodes[at].place {
                SchemaPlace::Root => break String::new(),
                SchemaPlace::At(reference) => {
                    break walk::pointer(reference).unwrap_or_else(|| child("", reference));
                }
                SchemaPlace::Below(parent, keyword, token) => {
                    tokens.push((*keyword, *token));
                    at = *parent;
                }
            }
        };
        for (keyword, token) in tokens.into_iter().rev() {
            pointer = token.below(child(&pointer, keyword));
        }
        pointer
    }

    /// Returns all schemas, with their ids.
    pub(super) fn schemas(&self) -> impl Iterator<Item = (usize, &'s Value)> {
        self.nodes.iter().map(|node| node.schema).enumerate()
    }

    /// Returns the schemas in unknown locations, which the meta-schema of the document does not cover.
    pub(super) fn unknown_locations(&self) -> impl Iterator<Item = (usize, &'s Value)> {
        let is_hidden = |(_, node): &(usize, &SchemaNode<'s>)| matches!(node.place, SchemaPlace::At(_));
        self.nodes.iter().enumerate().filter(is_hidden).map(|(id, node)| (id, node.schema))
    }

    /// Returns, for each schema, true if a value can be validated against it.
    #[cfg(any(test, feature = "jsonschema"))]
    pub(super) fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        let mut pending = vec![0];
        while let Some(id) = pending.pop() {
            if !std::mem::replace(&mut reached[id], true) {
                let node = &self.nodes[id];
                pending.extend(node.beside().chain(node.below()));
            }
        }
        reached
    }
}

fn patterns_of<'s>(node: usize, keywords: &'s Map<String, Value>) -> impl Iterator<Item = Pattern<'s>> {
    let of_text = keywords.get("pattern").and_then(Value::as_str).into_iter();
    let of_keys = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let of_text = of_text.map(move |text| Pattern { node, text, of_keys: false });
    of_text.chain(of_keys.map(move |text| Pattern { node, text, of_keys: true }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_pointer_of_each_schema_leads_to_it() {
        let root = json!({
            "$ref": "#/x/hidden",
            "properties": { "a/b": { "items": [true] }, "": {} },
            "anyOf": [{}, { "if": {}, "then": { "not": {} } }],
            "$defs": { "~": { "dependentSchemas": { "k": {} } } },
            "x": { "hidden": { "contains": {} } },
        });
        let references = References::new(&root, Dialect::Draft202012, false).unwrap();
        let (graph, found) = Graph::new(&root, Dialect::Draft202012, &references).unwrap();
        assert!(found.diagnostics.is_empty(), "{:?}", found.diagnostics);
        for (id, node) in graph.nodes.iter().enumerate() {
            assert_eq!(root.pointer(&graph.pointer(id)).map(std::ptr::from_ref), Some(std::ptr::from_ref(node.schema)));
        }
        let mut pointers: Vec<String> = (0..graph.nodes.len()).map(|id| graph.pointer(id)).collect();
        pointers.sort();
        let expected = [
            "",
            "/$defs/~0",
            "/$defs/~0/dependentSchemas/k",
            "/anyOf/0",
            "/anyOf/1",
            "/anyOf/1/if",
            "/anyOf/1/then",
            "/anyOf/1/then/not",
            "/properties/",
            "/properties/a~1b",
            "/properties/a~1b/items/0",
            "/x/hidden",
            "/x/hidden/contains",
        ];
        assert_eq!(pointers, expected);
        let hidden: Vec<String> = graph.unknown_locations().map(|(id, _)| graph.pointer(id)).collect();
        assert_eq!(hidden, ["/x/hidden"]);
        let unreached: Vec<String> = graph
            .reached()
            .iter()
            .enumerate()
            .filter(|(_, reached)| !**reached)
            .map(|(id, _)| graph.pointer(id))
            .collect();
        assert_eq!(unreached.len(), 2, "only the definition that nothing refers to: {unreached:?}");
        assert!(unreached.iter().all(|pointer| pointer.starts_with("/$defs/")), "{unreached:?}");
    }
}
