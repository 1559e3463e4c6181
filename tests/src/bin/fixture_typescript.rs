//! Writes declarations of TypeScript, and what a compiler has to find in them; `tests/providers/run` compiles them.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{hostile, json_schema_suite, real_catalog, shared_text};
use toolkit::catalog::ExportedName;
use toolkit::schema::Schema;
use toolkit::{Catalog, Tool};
use toolkit_providers::typescript::{Detail, declarations, describe};
use toolkit_providers::{Effect, Loss};

type Written = Result<(), Box<dyn Error>>;

const DETAILS: [(&str, Detail); 3] =
    [("full", Detail::Full), ("compact", Detail::Compact), ("signatures", Detail::Signatures)];

fn main() -> Written {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("expected a folder")?);
    for (name, detail) in DETAILS {
        std::fs::write(folder.join(format!("real-{name}.d.ts")), declarations(&real_catalog(), detail).text)?;
    }
    names(&folder)?;
    hostile(&folder)?;
    calls(&folder)?;
    suite(&folder)
}

/// Expressions with the declarations of the tools that they call.
#[derive(Default)]
struct Expressions {
    tools: Vec<Tool>,
    lines: Vec<String>,
    cases: Vec<Value>,
}

impl Expressions {
    fn push(&mut self, line: String, case: Value) {
        self.lines.push(line);
        self.cases.push(case);
    }

    /// Writes the expressions, one on each line, and their cases.
    fn write(self, folder: &Path, name: &str, declarations: &str) -> Written {
        std::fs::write(folder.join(format!("{name}.d.ts")), declarations)?;
        std::fs::write(folder.join(format!("{name}.ts")), self.lines.join("\n"))?;
        Ok(std::fs::write(folder.join(format!("{name}.json")), Value::from(self.cases).to_string())?)
    }
}

/// Writes tools whose names are words of the language, and calls of all of them.
fn names(folder: &Path) -> Written {
    const WORDS: &str = "abstract any arguments as async await bigint boolean break case catch class const constructor \
        continue debugger declare default delete do else enum eval export exports extends false finally for from \
        function get global globalThis if implements import in infer instanceof interface is keyof let module \
        namespace never new null number object of package private protected prototype public readonly require \
        return satisfies set static string super switch symbol then this throw toString true try type typeof \
        undefined unique unknown using var void while with yield Promise Record Array Object tools args __proto__ \
        hasOwnProperty a-b a.b a_b a_b_2 2fa -- _ __ .";
    let mut tools = Vec::new();
    for word in WORDS.split_whitespace() {
        tools.push(Tool::builder(word.to_owned()).build()?);
        tools.push(Tool::builder("call").namespace(format!("{word}-")).build()?);
        tools.push(Tool::builder("call").namespace(word.to_owned()).build()?);
        tools.push(Tool::builder(word.to_owned()).namespace("all").build()?);
    }
    let declared = declarations(&Catalog::new(tools)?, Detail::Full);
    let mut calls = Expressions::default();
    for name in declared.names.iter() {
        calls.push(
            format!("export const r{}: Promise<unknown> = tools.{name}();", calls.lines.len()),
            json!({ "valid": true, "kind": "name" }),
        );
    }
    calls.write(folder, "names", &declared.text)
}

/// Writes tools with hostile texts in every field. All of them have the same structure.
fn hostile(folder: &Path) -> Written {
    let tools = hostile::tools_of_code();
    let names: Vec<ExportedName> =
        tools.iter().enumerate().map(|(idx, tool)| ExportedName::new(format!("t{idx}"), tool.id().clone())).collect();
    for (name, detail) in DETAILS {
        let declared = describe(names.iter().zip(&tools), detail);
        std::fs::write(folder.join(format!("hostile-{name}.d.ts")), declared.text)?;
    }
    Ok(())
}

fn lines(path: &str) -> Vec<Value> {
    let text = shared_text(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("the data is JSON")).collect()
}

/// Writes real calls, and mutations of them that are not valid.
fn calls(folder: &Path) -> Written {
    let mut calls = Expressions::default();
    let mut numbers: HashMap<String, Option<usize>> = HashMap::new();
    for path in ["data/calls-bfcl.jsonl", "data/calls-live.jsonl", "data/calls-arcade.jsonl"] {
        for call in lines(path) {
            let schema = call.pointer("/tool/inputSchema").or(call.get("inputSchema")).ok_or("a call has a schema")?;
            let tools = &mut calls.tools;
            let number = *numbers.entry(schema.to_string()).or_insert_with(|| {
                let tool = Tool::builder(format!("t{}", tools.len())).input(schema.clone()).build().ok()?;
                tools.push(tool);
                Some(tools.len() - 1)
            });
            // One real server has an invalid schema.
            let Some(number) = number else { continue };
            let tool = calls.tools[number].clone();
            let mut push = |arguments: &Value, kind: &str| {
                let shown = if *arguments == json!({}) { String::new() } else { arguments.to_string() };
                let case = json!({ "valid": tool.input().is_valid(arguments), "kind": kind, "of": path });
                calls.push(format!("tools.t{number}({shown});"), case);
            };
            push(&call["args"], "call");
            for mutation in call["invalid"].as_array().into_iter().flatten() {
                push(&mutation["args"], mutation["keyword"].as_str().unwrap_or_default());
            }
        }
    }
    let declared = declarations(&Catalog::new(calls.tools.clone())?, Detail::Full);
    calls.write(folder, "calls", &declared.text)
}

/// Writes the instances of the official suite, each as a value of the type that the schema is converted to.
fn suite(folder: &Path) -> Written {
    let mut values = Expressions::default();
    let mut losses: Vec<Vec<Loss>> = Vec::new();
    let mut tests: Vec<(usize, Value, String)> = Vec::new();
    let Some(root) = json_schema_suite(&folder.with_file_name("suite").to_string_lossy()) else { return Ok(()) };
    for (draft, uri) in [
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
    ] {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(root.join(draft))?.map(|file| Ok(file?.path())).collect::<Result<_, std::io::Error>>()?;
        files.sort();
        for file in files.iter().filter(|file| file.is_file()) {
            let groups: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
            for group in groups.as_array().into_iter().flatten() {
                let mut schema = group["schema"].clone();
                if let Value::Object(keywords) = &mut schema {
                    keywords.entry("$schema").or_insert(json!(uri));
                }
                if Schema::from_value(schema.clone()).is_err() {
                    continue;
                }
                let Ok(tool) = Tool::builder(format!("t{}", values.tools.len())).output(schema).build() else {
                    continue;
                };
                let name = ExportedName::new(tool.name(), tool.id().clone());
                let described = describe([(&name, &tool)], Detail::Full);
                losses.push(described.losses.into_iter().flat_map(|(_, losses)| losses).collect());
                for test in group["tests"].as_array().into_iter().flatten() {
                    let place = format!(
                        "{draft}/{}: {}: {}",
                        file.file_stem().unwrap_or_default().to_string_lossy(),
                        group["description"],
                        test["description"]
                    );
                    tests.push((values.tools.len(), test.clone(), place));
                }
                values.tools.push(tool);
            }
        }
    }
    values.push("declare function is<T>(): <V extends T>(value: V) => void;".to_owned(), Value::Null);
    for (number, test, place) in tests {
        let has = |effect| losses[number].iter().any(|loss| loss.effect == effect);
        let case = json!({
            "valid": test["valid"], "kind": place,
            "narrowed": has(Effect::Narrowed), "widened": has(Effect::Widened),
        });
        values.push(format!("is<Awaited<ReturnType<typeof tools.t{number}>>>()({});", test["data"]), case);
    }
    let declared = declarations(&Catalog::new(values.tools.clone())?, Detail::Full);
    values.write(folder, "suite", &declared.text)
}
