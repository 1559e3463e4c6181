//! The table of providers in `docs/providers.md` is the one that the data gives. `TOOLKIT_BLESS=1` writes it.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use toolkit_providers::{Dialect, RequestLimits};

const BEGIN: &str = "<!-- written by `TOOLKIT_BLESS=1 cargo test -p toolkit-providers --test it matrix` -->\n";
const END: &str = "<!-- end -->\n";

/// An API in the table.
struct Row {
    title: &'static str,
    /// Its key in `stop_reasons.json` and `since.json`.
    key: &'static str,
    package: &'static str,
    dialect: Dialect,
    strict: Option<Dialect>,
    limits: RequestLimits,
    /// What is done without a field of the API.
    also: &'static str,
}

fn rows() -> [Row; 11] {
    let row = |title, key, package| Row {
        title,
        key,
        package,
        dialect: Dialect::OPENAI,
        strict: None,
        limits: RequestLimits::OPENAI,
        also: "",
    };
    let openai = |title, key, package| Row { strict: Some(Dialect::OPENAI_STRICT), ..row(title, key, package) };
    let gemini =
        |title, key| Row { dialect: Dialect::GEMINI, limits: RequestLimits::GEMINI, ..row(title, key, "google-genai") };
    [
        openai("OpenAI Responses", "responses", "openai"),
        Row { also: "descriptions cut", ..openai("OpenAI Chat Completions", "chat", "openai") },
        openai("OpenRouter", "openrouter", "openrouter"),
        Row {
            dialect: Dialect::ANTHROPIC,
            strict: Some(Dialect::ANTHROPIC_STRICT),
            limits: RequestLimits::ANTHROPIC,
            also: "renamed arguments",
            ..row("Anthropic Messages", "anthropic", "anthropic")
        },
        Row {
            dialect: Dialect::BEDROCK,
            strict: Some(Dialect::BEDROCK_STRICT),
            limits: RequestLimits::BEDROCK,
            also: "open objects, renamed arguments",
            ..row("Bedrock Converse", "bedrock", "botocore")
        },
        gemini("Gemini `generateContent`", "gemini"),
        gemini("Gemini Interactions", "interactions"),
        Row { also: "ids of nine characters", ..row("Mistral Chat", "mistral", "mistralai") },
        row("Mistral Conversations", "conversations", "mistralai"),
        row("Cohere Chat, version 2", "cohere", "cohere"),
        Row { also: "calls matched by order", ..row("Ollama", "ollama", "ollama") },
    ]
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the features of an API with the first version of its package that has each.
fn features(since: &Value, key: &str) -> String {
    let of_api = since.as_array().unwrap().iter().filter(|entry| entry["api"] == key);
    let texts = of_api.map(|entry| {
        let text = |field: &str| entry[field].as_str().unwrap_or_else(|| panic!("{key} has no {field}"));
        format!("{} ({})", text("feature"), text("since"))
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn table(root: &Path) -> String {
    let data = |name: &str| serde_json::from_str::<Value>(&read(&root.join("tests/providers").join(name))).unwrap();
    let (reasons, sdks, since) = (data("stop_reasons.json"), data("sdk_types.json"), data("since.json"));
    let mut table = String::from(
        "| API | package, checked with | features, since version of the package | rules | rules of strict mode | tools \
         | reasons to stop (calls run) | also |\n|---|---|---|---|---|---|---|---|\n",
    );
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    for Row { title, key, package, dialect, strict, limits, also } in rows() {
        let reasons = reasons[key]["reasons"].as_object().map(|of_api| {
            let n_running = of_api.values().filter(|kind| *kind == "runs").count();
            format!("{} ({n_running})", of_api.len())
        });
        let version = sdks["versions"][package].as_str().unwrap();
        let features = features(&since, key);
        let strict = or_dash(strict.map(|strict| strict.rules().count().to_string()));
        let tools = or_dash(limits.tools.map(|tools| tools.to_string()));
        let (n_rules, reasons) = (dialect.rules().count(), or_dash(reasons));
        writeln!(
            table,
            "| {title} | {package} {version} | {features} | {n_rules} | {strict} | {tools} | {reasons} | {also} |"
        )
        .unwrap();
    }
    table
}

#[test]
fn the_table_of_providers_in_the_documentation_is_that_of_the_data() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("docs/providers.md");
    let text = read(&path);
    let (before, rest) = text.split_once(BEGIN).expect("the page has the table");
    let (written, after) = rest.split_once(END).expect("the table has an end");
    let table = table(&root);
    if std::env::var_os("TOOLKIT_BLESS").is_some() {
        return std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    }
    assert_eq!(written, table, "the table is stale; write it with TOOLKIT_BLESS=1");
}
