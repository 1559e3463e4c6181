//! Provider formats: lowering and its laws, exports and readers.

mod cases;
mod fields;
mod laws;
mod lowering;
mod manifests;
#[allow(dead_code, reason = "shared with the tests of the plan, which use all of it")]
mod namespaces;
mod recursive;
mod requests;
mod rules;
mod skills;
mod written;

use serde_json::{Value, json};
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, list_tools};
use toolkit::schema::Schema;
use toolkit::{Catalog, Tool};
use toolkit_otc::Definition;
use toolkit_providers::{Dialect, Effect, Lowered, Side, lower};
use toolkit_providers::{Loss, a2a, anthropic, bedrock, gemini, openai, typescript};

/// The dialects whose lowered schemas are valid JSON Schema.
const DIALECTS: [Dialect; 5] =
    [Dialect::OPENAI, Dialect::OPENAI_STRICT, Dialect::ANTHROPIC, Dialect::ANTHROPIC_STRICT, Dialect::GEMINI];

/// The export of a tool by one adapter.
type Said = Option<(Value, Vec<Loss>)>;
type Describe = fn(&Tool) -> Said;

/// All adapters with all their options.
const ADAPTERS: [(&str, Describe); 17] = [
    ("mcp 2025-11-25", |tool| mcp(tool, Revision::V2025_11_25)),
    ("mcp 2026-07-28", |tool| mcp(tool, Revision::V2026_07_28)),
    ("openai", |tool| openai(tool, openai::Options::responses())),
    ("openai output", |tool| openai(tool, openai::Options::responses().with_output_schemas())),
    ("openai strict", |tool| openai(tool, openai::Options::responses().strict())),
    ("openai namespaces", |tool| openai(tool, openai::Options::responses().namespaced().deferred())),
    ("openai chat", |tool| openai(tool, openai::Options::chat_completions())),
    ("anthropic", |tool| anthropic(tool, anthropic::Options::default())),
    ("anthropic strict", |tool| anthropic(tool, anthropic::Options::default().strict().deferred())),
    ("gemini", |tool| exported(gemini::tools(&alone(tool)?, Naming::Name, gemini::Options::default()).ok()?)),
    ("gemini output", |tool| exported(gemini::tools(&alone(tool)?, Naming::Name, gemini_output()).ok()?)),
    ("bedrock", |tool| exported(bedrock::tools(&alone(tool)?, Naming::Name, bedrock::Options::default()).ok()?)),
    ("a2a", |tool| exported(a2a::skills(&alone(tool)?))),
    ("otc", otc),
    ("typescript", |tool| typescript(tool, typescript::Detail::Full)),
    ("typescript compact", |tool| typescript(tool, typescript::Detail::Compact)),
    ("typescript signatures", |tool| typescript(tool, typescript::Detail::Signatures)),
];

fn gemini_output() -> gemini::Options {
    let mut options = gemini::Options::default();
    options.output_schemas = true;
    options
}

fn alone(tool: &Tool) -> Option<Catalog> {
    Catalog::new([tool.clone()]).ok()
}

fn exported(export: toolkit_providers::Export) -> Said {
    Some((export.json, export.losses.into_iter().flat_map(|(_, losses)| losses).collect()))
}

fn typescript(tool: &Tool, detail: typescript::Detail) -> Said {
    let declared = typescript::declarations(&alone(tool)?, detail);
    Some((json!(declared.text), declared.losses.into_iter().flat_map(|(_, losses)| losses).collect()))
}

fn mcp(tool: &Tool, revision: Revision) -> Said {
    Some((list_tools(&alone(tool)?, revision, Naming::NamespaceName).ok()?, Vec::new()))
}

fn openai(tool: &Tool, options: openai::Options) -> Said {
    exported(openai::tools(&alone(tool)?, Naming::Name, options).ok()?)
}

fn anthropic(tool: &Tool, options: anthropic::Options) -> Said {
    exported(anthropic::tools(&alone(tool)?, Naming::Name, options).ok()?)
}

fn otc(tool: &Tool) -> Said {
    let definition = Definition::from_tool(tool, &toolkit_otc::Naming::new("none", "0.0.0")).ok()?;
    Some((json!(definition), definition.losses(tool)))
}

fn input(schema: &Value, dialect: &Dialect) -> Lowered {
    lower(schema, dialect, Side::Input)
}

fn has(lowered: &Lowered, effect: Effect) -> bool {
    lowered.losses.iter().any(|loss| loss.effect == effect)
}

/// Returns the arguments in the form that a model sends for the lowered schema, with null for each absent required
/// property. A choice may have several such forms.
fn held_to(schema: &Value, value: &Value) -> Vec<Value> {
    // The root becomes a definition, so that each part can be validated separately.
    let text = schema.to_string();
    let text = text.replace(r##""$ref":"#""##, r##""$ref":"#/$defs/ROOT""##);
    let mut root: Value =
        serde_json::from_str(&text.replace(r##""$ref":"#/properties"##, r##""$ref":"#/$defs/ROOT/properties"##))
            .unwrap();
    let mut definitions = root.as_object_mut().and_then(|root| root.shift_remove("$defs")).unwrap_or_else(|| json!({}));
    definitions["ROOT"] = root.clone();
    root["$defs"] = definitions;
    ways(&root, &root, value, &[])
}

/// Returns the forms of a value. `followed` are the references that were followed since the last step into the value.
fn ways(root: &Value, schema: &Value, value: &Value, followed: &[&str]) -> Vec<Value> {
    const MOST: usize = 32;
    if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
        // A reference that leads to itself without a step into the value has no form.
        if followed.contains(&to) {
            return vec![value.clone()];
        }
        let target = root.pointer(&to[1..].replace("%20", " ")).expect("it leads somewhere");
        return ways(root, target, value, &[followed, &[to]].concat());
    }
    let mut all = vec![value.clone()];
    for keyword in ["anyOf", "oneOf"] {
        for branch in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            all.extend(ways(root, branch, value, followed));
        }
    }
    if let (Some(properties), Value::Object(members)) = (schema.get("properties").and_then(Value::as_object), value) {
        let mut objects = vec![members.clone()];
        for (name, property) in properties {
            let choices = match members.get(name) {
                Some(member) => ways(root, property, member, &[]),
                None => {
                    let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                    if !required {
                        continue;
                    }
                    vec![Value::Null]
                }
            };
            let with = objects.iter().flat_map(|object| {
                choices.iter().map(move |choice| {
                    let mut object = object.clone();
                    object.insert(name.clone(), choice.clone());
                    object
                })
            });
            objects = with.take(MOST).collect();
        }
        all.extend(objects.into_iter().map(Value::Object));
    }
    if let (Some(items), Value::Array(list)) = (schema.get("items").filter(|items| items.is_object()), value) {
        let places = schema.get("prefixItems").and_then(Value::as_array);
        let mut lists = vec![Vec::new()];
        for (idx, item) in list.iter().enumerate() {
            let of = places.and_then(|places| places.get(idx)).unwrap_or(items);
            let choices = ways(root, of, item, &[]);
            let with = lists
                .iter()
                .flat_map(|list| choices.iter().map(|choice| [&list[..], std::slice::from_ref(choice)].concat()));
            lists = with.take(MOST).collect();
        }
        all.extend(lists.into_iter().map(Value::Array));
    }
    all.truncate(4 * MOST);
    // Only matching items are combined, since the number of all combinations is too large.
    let mut whole = schema.clone();
    whole["$defs"] = root.get("$defs").cloned().unwrap_or_else(|| json!({}));
    let accepts = jsonschema::validator_for(&whole).unwrap();
    let fitting: Vec<Value> = all.iter().filter(|way| accepts.is_valid(way)).take(2).cloned().collect();
    if fitting.is_empty() { vec![value.clone()] } else { fitting }
}
