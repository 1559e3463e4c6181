//! The table of providers in `docs/providers.md` is the one that the data gives. `TOOLKIT_BLESS=1` writes it.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use toolkit_providers::{Dialect, RequestLimits};

const BEGIN: &str = "<!-- written by `TOOLKIT_BLESS=1 cargo test -p toolkit-providers --test it matrix` -->\n";
const END: &str = "<!-- end -->\n";

/// The title of each API, its key in `stop_reasons.json`, its package, and how its tools are exported.
type Row = (&'static str, &'static str, &'static str, Dialect, Option<Dialect>, RequestLimits, &'static str);

fn rows() -> [Row; 7] {
    let (openai, strict) = (Dialect::OPENAI, Some(Dialect::OPENAI_STRICT));
    let limits = RequestLimits::OPENAI;
    [
        (
            "OpenAI Responses",
            "responses",
            "openai",
            openai.clone(),
            strict.clone(),
            limits.clone(),
            "namespaces, deferred tools, output schemas",
        ),
        ("OpenAI Chat Completions", "chat", "openai", openai.clone(), strict, limits.clone(), "descriptions cut"),
        (
            "Anthropic Messages",
            "anthropic",
            "anthropic",
            Dialect::ANTHROPIC,
            Some(Dialect::ANTHROPIC_STRICT),
            RequestLimits::ANTHROPIC,
            "deferred tools, callers, examples, renamed arguments",
        ),
        (
            "Bedrock Converse",
            "bedrock",
            "botocore",
            Dialect::BEDROCK,
            Some(Dialect::BEDROCK_STRICT),
            RequestLimits::BEDROCK,
            "open objects, renamed arguments",
        ),
        (
            "Gemini `generateContent`",
            "gemini",
            "google-genai",
            Dialect::GEMINI_OPENAPI,
            None,
            RequestLimits::GEMINI,
            "JSON Schema or OpenAPI, output schemas, behavior",
        ),
        ("Mistral Chat", "mistral", "mistralai", openai.clone(), None, limits.clone(), "ids of nine characters"),
        ("Ollama", "ollama", "ollama", openai, None, limits, "calls matched by order"),
    ]
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn table(root: &Path) -> String {
    let data = |name: &str| serde_json::from_str::<Value>(&read(&root.join("tests/providers").join(name))).unwrap();
    let (reasons, sdks) = (data("stop_reasons.json"), data("sdk_types.json"));
    let mut table = String::from(
        "| API | package, checked with | rules | rules of strict mode | tools | reasons to stop (calls run) | also |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (title, key, package, dialect, strict, limits, also) in rows() {
        let of_api = reasons[key]["reasons"].as_object().unwrap();
        let n_running = of_api.values().filter(|kind| *kind == "runs").count();
        let version = sdks["versions"][package].as_str().unwrap();
        let strict = strict.map_or_else(|| "–".to_owned(), |strict| strict.rules().count().to_string());
        let tools = limits.tools.map_or_else(|| "–".to_owned(), |tools| tools.to_string());
        let (n_rules, n_reasons) = (dialect.rules().count(), of_api.len());
        writeln!(
            table,
            "| {title} | {package} {version} | {n_rules} | {strict} | {tools} | {n_reasons} ({n_running}) | {also} |"
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
