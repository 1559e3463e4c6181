//! The checks of lint rules for tools that are hard to choose or hard to call: names, hints, descriptions and schemas of arguments.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use toolkit::Tool;
use toolkit_schema::explore::Unlisted;
use toolkit_schema::{child, format, inline, quoted, walk};

use super::diagnostic::{LintDiagnostic, Rule};

/// Verbs of tools that modify something. Ambiguous verbs, such as `add`, are not listed.
const CHANGES: [&str; 6] = ["create", "overwrite", "remove", "rename", "update", "write"];
/// Verbs of tools that remove something.
const DESTROYS: [&str; 8] = ["delete", "destroy", "drop", "erase", "kill", "purge", "truncate", "wipe"];

/// Checks a tool by itself.
pub(super) fn check(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    check_description(tool, diagnostics);
    check_arguments(tool, diagnostics);
    check_unlisted_names(tool, diagnostics);
    check_example(tool, diagnostics);
    check_formats(tool, diagnostics);
    check_hints(tool, diagnostics);
}

/// Reports tools that a model confuses with each other.
pub(super) fn compare(tools: &[&Tool], diagnostics: &mut Vec<LintDiagnostic>) {
    compare_names(tools, diagnostics);
    compare_descriptions(tools, diagnostics);
    compare_versions(tools, diagnostics);
}

/// Reports versions that no client is shown, since another one has the name of the tool.
fn compare_versions(tools: &[&Tool], diagnostics: &mut Vec<LintDiagnostic>) {
    // A release precedes all pre-releases, as in `Catalog::latest`.
    let rank = |tool: &Tool| {
        let version = tool.id().semver();
        (version.as_ref().is_none_or(|version| version.pre.is_empty()), version)
    };
    let mut listed: HashMap<(Option<&str>, &str), &Tool> = HashMap::new();
    for tool in tools {
        let listed = listed.entry((tool.id().namespace(), tool.name())).or_insert(tool);
        if rank(tool) > rank(listed) {
            *listed = tool;
        }
    }
    for tool in tools {
        let listed = listed.get(&(tool.id().namespace(), tool.name()));
        let Some(listed) = listed.filter(|listed| listed.id() != tool.id()) else { continue };
        let message = format!(
            "is not listed over MCP and in exports, which have only `{}`; in this program, `Dispatcher` and `call` reach it \
             by its version; give it another name if other callers need it, or remove it",
            listed.id()
        );
        diagnostics.push(LintDiagnostic::new(Rule::UnlistedVersion, tool, "version", message));
    }
}

fn check_hints(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let verb = first_word(tool.name());
    let annotations = tool.annotations();
    let mut contradicts = |hint: &str, verb: &str| {
        let message = format!("contain `{hint}`, but the name starts with `{verb}`; change one of them");
        diagnostics.push(LintDiagnostic::new(Rule::ContradictingHint, tool, "annotations", message));
    };
    if annotations.read_only == Some(true) && (CHANGES.contains(&&*verb) || DESTROYS.contains(&&*verb)) {
        contradicts("readOnlyHint", &verb);
    } else if annotations.destructive == Some(false) && DESTROYS.contains(&&*verb) {
        contradicts("destructiveHint: false", &verb);
    }
    if annotations.may_be_destructive() && annotations.destructive.is_none() {
        let message = "have no hint about destructive effects, so that the tool counts as destructive; write `read_only`, \
                       `destructive` or `destructive = false`";
        diagnostics.push(LintDiagnostic::new(Rule::MissingHint, tool, "annotations", message));
    }
}

/// Reports tools of one namespace whose names differ only in spelling.
fn compare_names(tools: &[&Tool], diagnostics: &mut Vec<LintDiagnostic>) {
    let mut by_letters: HashMap<(Option<&str>, String), &Tool> = HashMap::new();
    for tool in tools {
        let letters: String = tool.name().chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let letters = letters.strip_suffix('s').map(str::to_owned).unwrap_or(letters);
        match by_letters.get(&(tool.id().namespace(), letters.clone())) {
            Some(other) if other.name() != tool.name() => {
                let message = format!("hardly differs from `{}`; rename one of them", other.id());
                diagnostics.push(LintDiagnostic::new(Rule::SimilarNames, tool, "name", message));
            }
            Some(_) => {}
            None => drop(by_letters.insert((tool.id().namespace(), letters), tool)),
        }
    }
}

fn first_word(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && !word.is_empty()) {
            break;
        }
        word.extend(c.to_lowercase());
    }
    word
}

fn check_description(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let description = tool.description().trim();
    if description.is_empty() {
        diagnostics.push(LintDiagnostic::new(
            Rule::MissingDescription,
            tool,
            "description",
            "is missing; describe what the tool does",
        ));
        return;
    }
    let (described, named) = (words(description), words(&split(tool.name())));
    if described.is_subset(&named) || described.len() < 2 {
        let message = "only repeats the name; describe the input, the output and when to use the tool";
        diagnostics.push(LintDiagnostic::new(Rule::VagueDescription, tool, "description", message));
    }
}

/// Reports tools with the same description.
fn compare_descriptions(tools: &[&Tool], diagnostics: &mut Vec<LintDiagnostic>) {
    let mut by_words: HashMap<BTreeSet<String>, &Tool> = HashMap::new();
    for tool in tools {
        let described = words(tool.description());
        if described.is_empty() {
            continue;
        }
        match by_words.get(&described) {
            // Versions of one tool may have the same description.
            Some(other) if other.id().unversioned() != tool.id().unversioned() => {
                let message = format!("is the same as that of `{}`; describe how the tools differ", other.id());
                diagnostics.push(LintDiagnostic::new(Rule::SimilarDescriptions, tool, "description", message));
            }
            Some(_) => {}
            None => drop(by_words.insert(described, tool)),
        }
    }
}

/// Returns the words of a text in lower case, without stop words.
fn words(text: &str) -> BTreeSet<String> {
    const EMPTY: [&str; 10] = ["a", "an", "the", "of", "to", "and", "or", "for", "this", "tool"];

    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let stem = |word: String| word.strip_suffix('s').map(str::to_owned).unwrap_or(word);
    words.filter(|word| !word.is_empty() && !EMPTY.contains(&word.as_str())).map(stem).collect()
}

/// Splits a name into words: `readFile` and `read_file` are two words each.
fn split(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            text.push(' ');
        }
        text.push(c);
    }
    text
}

fn check_arguments(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let schema = inline::inlined(tool.input().as_value());
    for (name, argument) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let place = child("inputSchema/properties", name);
        if !is_described(argument) {
            let message = "has no description; describe its meaning and format";
            diagnostics.push(LintDiagnostic::new(Rule::UndescribedParameter, tool, &place, message));
        }
        if is_untyped(argument) {
            let message = "has no type; declare the accepted values";
            diagnostics.push(LintDiagnostic::new(Rule::UntypedParameter, tool, &place, message));
        }
    }
}

fn is_described(argument: &Value) -> bool {
    let says =
        |keyword: &str| argument.get(keyword).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    let branches = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|choice| argument.get(choice)?.as_array());
    says("description") || says("title") || branches.flatten().any(is_described)
}

fn is_untyped(argument: &Value) -> bool {
    match argument {
        Value::Object(keywords) => keywords.keys().all(|keyword| walk::is_annotation(keyword)),
        _ => true,
    }
}

/// Compares the type of the arguments with their schema: whether it reads an example, and what it reads without each of its
/// required properties.
fn check_example(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let given = tool.examples().into_iter().find(|example| tool.input().is_valid(example));
    let Some(mut example) = given.or_else(|| tool.input().example()) else { return };
    let shown = example.to_string();
    let Some(is_read) = tool.reads(&shown) else { return };
    if !is_read {
        let message = format!(
            "reject {}, which their schema accepts; give the tool an example that they accept, with `examples = [r#\"…\"#]` \
             or `#[schemars(example = …)]`, or state what they accept, with `#[schemars(with = \"…\")]` \
             or `#[schemars(extend(\"pattern\" = \"…\"))]`",
            quoted(&shown),
        );
        diagnostics.push(LintDiagnostic::new(Rule::UnreadExample, tool, "arguments", message));
        return;
    }
    let mut places = vec![String::new()];
    while let Some(place) = places.pop() {
        let Some(Value::Object(object)) = example.pointer(&place) else { continue };
        let names: Vec<String> = object.keys().cloned().collect();
        for name in names {
            let Some(Value::Object(object)) = example.pointer_mut(&place) else { continue };
            let Some(value) = object.shift_remove(&name) else { continue };
            let is_needless = !tool.input().is_valid(&example) && tool.reads(&example.to_string()) == Some(true);
            if let Some(Value::Object(object)) = example.pointer_mut(&place) {
                object.insert(name.clone(), value);
            }
            let place = child(&place, &name);
            if is_needless {
                let message = "is required by the schema, but its type can be read without it; write `#[serde(default)]`, \
                               or `#[schemars(with = \"Option<…>\")]`";
                diagnostics.push(LintDiagnostic::new(
                    Rule::NeedlessRequired,
                    tool,
                    format!("arguments{place}"),
                    message,
                ));
            }
            places.push(place);
        }
    }
}

/// Checks for formats of texts that neither the schema nor the type of an argument enforces.
fn check_formats(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    const NO_FORMAT: &str = "a text that has no format";
    let given = tool.examples().into_iter().find(|example| tool.input().is_valid(example));
    let Some(example) = given.or_else(|| tool.input().example()) else { return };
    let schema = tool.input().as_value();
    // Optional arguments may be absent from the example.
    let properties = schema.get("properties").and_then(Value::as_object);
    let declared = properties.into_iter().flatten().filter_map(|(name, property)| Some((name, format_of(property)?)));
    let mut found: Vec<(String, &str)> = declared.map(|(name, format)| (child("", name), format)).collect();
    let mut places = vec![String::new()];
    while let Some(place) = places.pop() {
        match example.pointer(&place) {
            Some(Value::Object(object)) => places.extend(object.keys().map(|name| child(&place, name))),
            Some(Value::Array(items)) => places.extend((0..items.len()).map(|idx| child(&place, &idx.to_string()))),
            Some(Value::String(_)) if !found.iter().any(|(known, _)| *known == place) => {
                found.extend(format::at(schema, &place).map(|format| (place, format)));
            }
            _ => {}
        }
    }
    for (place, format) in found {
        let mut other = example.clone();
        if let Some(text) = other.pointer_mut(&place) {
            *text = NO_FORMAT.into();
        } else if let Value::Object(arguments) = &mut other {
            arguments.insert(place[1..].replace("~1", "/").replace("~0", "~"), NO_FORMAT.into());
        }
        if tool.input().is_valid(&other) && tool.reads(&other.to_string()) == Some(true) {
            let message = format!(
                "has the format {}, which is not enforced; {}",
                quoted(format),
                match format::is_enforceable(format) {
                    true => "take a type that parses it, or write `#[tool(enforce_formats)]`",
                    false => "take a type that parses it, or add `#[schemars(regex(pattern = r\"…\"))]`",
                }
            );
            diagnostics.push(LintDiagnostic::new(Rule::UnenforcedFormat, tool, format!("arguments{place}"), message));
        }
    }
}

/// Returns the format in the schema of a text, or in a branch for texts.
fn format_of(property: &Value) -> Option<&str> {
    let branches = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| property.get(keyword)?.as_array()).flatten();
    let is_text = |schema: &&Value| {
        let ty = schema.get("type");
        ty.is_some_and(|ty| ty == "string" || ty.as_array().is_some_and(|types| types.iter().any(|ty| ty == "string")))
    };
    std::iter::once(property).chain(branches).filter(is_text).find_map(|schema| schema.get("format")?.as_str())
}

/// Checks for names that the type of an argument accepts and its closed schema rejects.
fn check_unlisted_names(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    for (pointer, name) in tool.explored().unlisted {
        let message = match name {
            Unlisted::Field(name) => format!(
                "has the field or alias {}, which the schema does not list, so that it cannot be sent; write a \
                 `#[schemars(example = …)]` for the field, so that its aliases are recognized",
                quoted(name)
            ),
            Unlisted::Variant(name) => format!(
                "has the variant or alias {}, which the schema does not list, so that it cannot be sent; write a \
                 `#[schemars(example = …)]` for the data of the variant, so that its aliases are recognized",
                quoted(name)
            ),
            Unlisted::OtherVariants => "has a variant with `#[serde(other)]`, but the schema rejects all unlisted \
                                        names; make it a variant that holds a `String`, or remove the attribute"
                .to_owned(),
        };
        diagnostics.push(LintDiagnostic::new(Rule::UnlistedName, tool, format!("arguments{pointer}"), message));
    }
}
