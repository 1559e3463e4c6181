//! The requests that the official packages send for the same intents, which `tests/providers/sent.py` records.

use schemars::JsonSchema;
use serde_json::{Value, json};
use toolkit_providers::reply::Api;
use toolkit_providers::request::{Request, RequestError, Thinking, ToolChoice};

use super::{catalog, sorted};

const RECORDED: &str = include_str!("../../cases/requests.json");

#[derive(JsonSchema)]
struct Sum {
    #[allow(dead_code, reason = "only its schema is used")]
    total: i64,
}

fn request(api: Api, intent: &Value) -> Request {
    let mut request = Request::new(api, "model-1").user("What is 2 + 3?");
    for (option, value) in intent.as_object().unwrap() {
        request = match (option.as_str(), value) {
            ("system", text) => request.system(text.as_str().unwrap()),
            ("tools", _) => request.tools(&api.export(&catalog()).unwrap()),
            ("max_tokens", n) => request.max_tokens(n.as_u64().unwrap()),
            ("stream", _) => request.streamed(),
            ("sequential", _) => request.one_call_at_a_time(),
            ("cache", _) => request.cached(),
            ("answer", _) => request.answer::<Sum>(),
            ("thinking", Value::Number(n)) => request.thinking(Thinking::Tokens(n.as_u64().unwrap())),
            ("thinking", level) => request.thinking(match level.as_str().unwrap() {
                "off" => Thinking::Off,
                "low" => Thinking::Low,
                _ => Thinking::High,
            }),
            ("choice", Value::String(choice)) => request.tool_choice(match choice.as_str() {
                "auto" => ToolChoice::Auto,
                "required" => ToolChoice::Required,
                _ => ToolChoice::None,
            }),
            ("choice", choice) => request.tool_choice(ToolChoice::Tool(choice["tool"].as_str().unwrap().to_owned())),
            (other, _) => panic!("{other}"),
        };
    }
    request
}

#[test]
fn each_request_is_that_of_the_official_package_field_by_field() {
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    let mut n_apis = std::collections::BTreeSet::new();
    let mut different = Vec::new();
    for Recorded { api, name, intent, expected } in recorded.iter().map(Recorded::new) {
        n_apis.insert(api.id());
        let built: Result<_, RequestError> = request(api, intent).build();
        let found = built.map(|http| {
            let http = http.with_key("key");
            let headers: serde_json::Map<String, Value> =
                http.headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
            json!({ "method": http.method, "url": http.url, "headers": headers, "body": http.body })
        });
        match (found, expected) {
            (Ok(found), Some(expected)) => {
                let mut expected = expected.clone();
                if api.key_variable().is_none() {
                    // Ollama needs no key, and ignores one.
                    expected["headers"]["authorization"] = "Bearer key".into();
                }
                if sorted(&found) != sorted(&expected) {
                    different.push(format!("{api}, {name}:\nfound    {found}\nexpected {expected}\n"));
                }
            }
            (Err(_), None) => {}
            (found, expected) => different.push(format!("{api}, {name}:\nfound    {found:?}\nexpected {expected:?}\n")),
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert_eq!(n_apis.len(), Api::all().len());
}

/// A recorded request.
struct Recorded<'r> {
    api: Api,
    name: &'r str,
    intent: &'r Value,
    /// `None` if the API has no field for the intent.
    expected: Option<&'r Value>,
}

impl<'r> Recorded<'r> {
    fn new(json: &'r Value) -> Self {
        Self {
            api: Api::with_id(json["api"].as_str().unwrap()).unwrap(),
            name: json["name"].as_str().unwrap(),
            intent: &json["intent"],
            expected: Some(&json["request"]).filter(|request| !request.is_null()),
        }
    }
}

/// Checks the table of `docs/agents.md`.
#[test]
fn the_chapter_lists_the_options_that_are_errors() {
    let chapter = include_str!("../../../../../docs/agents.md");
    for api in Api::all() {
        let request = || Request::new(api, "model-1").user("Hi!").max_tokens(4000);
        let choice = |choice| request().tools(&api.export(&catalog()).unwrap()).tool_choice(choice);
        let options: [(&str, Request); 9] = [
            ("`tool_choice(Required)`", choice(ToolChoice::Required)),
            ("`tool_choice(None)`", choice(ToolChoice::None)),
            ("`tool_choice(Tool)`", choice(ToolChoice::Tool("math_add".to_owned()))),
            ("`one_call_at_a_time`", request().one_call_at_a_time()),
            ("`thinking(Off)`", request().thinking(Thinking::Off)),
            ("`thinking(Low)`", request().thinking(Thinking::Low)),
            ("`thinking(Tokens)`", request().thinking(Thinking::Tokens(2000))),
            ("`cached`", request().cached()),
            ("`answer` beside tools", choice(ToolChoice::Auto).answer::<Sum>()),
        ];
        let errors: Vec<&str> =
            options.iter().filter(|(_, request)| request.build().is_err()).map(|(option, _)| *option).collect();
        let errors = if errors.is_empty() { "–".to_owned() } else { errors.join(", ") };
        let row = format!("\n| {api} | {errors} |\n");
        assert!(chapter.contains(&row), "docs/agents.md lacks{row}");
    }
}

#[test]
fn an_option_that_an_api_does_not_have_is_an_error_that_names_it() {
    for api in Api::all() {
        let request = || Request::new(api, "model-1").user("Hi!").tools(&api.export(&catalog()).unwrap());
        let options: [(&str, Request); 6] = [
            ("one_call_at_a_time", request().one_call_at_a_time()),
            ("tool_choice", request().tool_choice(ToolChoice::Tool("math_add".to_owned()))),
            ("tool_choice", request().tool_choice(ToolChoice::None)),
            ("thinking", request().thinking(Thinking::Off)),
            ("thinking", request().thinking(Thinking::Medium)),
            ("cached", request().cached()),
        ];
        let plain = request().build().unwrap();
        for (option, request) in options {
            match request.build() {
                // Some providers cache all requests by themselves.
                Ok(http) => assert!(option == "cached" || http.body != plain.body, "{api}: {option}"),
                Err(error) => {
                    assert_eq!(error.option(), option);
                    assert!(error.to_string().starts_with(&format!("`{option}` of a request to {api}: ")), "{error}");
                }
            }
        }
    }
}
