//! A client sees through a proxy what the server sent, for random values of the official schema, except for the
//! differences that `docs/proxy-results.md` lists.

use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY as EACH_CLIENT};
use test_support::mutate::Dice;
use test_support::official::assert_official;
use test_support::random;
use test_support::{schemas, shared_json};

use super::forwarded::proxied;
use super::in_the_end;
use super::raw::{EACH_WAY, Raw, Way, raw};

const REVISION: &str = "2025-11-25";

/// A source of random values of the definitions of the official schema.
struct Official {
    schema: Value,
    dice: Dice,
}

impl Official {
    fn value(&mut self, definition: &str) -> Value {
        let reference = json!({ "$ref": format!("#/$defs/{definition}") });
        let mut value = schemas::instance(&reference, &self.schema, &mut self.dice, 40);
        sound(&mut value);
        assert_official(REVISION, definition, &value);
        value
    }
}

/// Replaces texts that have a form which the schema does not express.
fn sound(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // A name that `serde_json` itself uses costs the entry.
            fields.retain(|name, _| !name.starts_with("$serde_json"));
            for (name, value) in fields {
                match (&**name, &*value) {
                    ("uri" | "src", Value::String(text)) => {
                        *value = json!(format!("https://example.com/{}", text.len()))
                    }
                    ("data" | "blob", Value::String(_)) => *value = json!("AA=="),
                    ("mimeType", Value::String(_)) => *value = json!("image/png"),
                    ("lastModified", Value::String(_)) => *value = json!("2026-01-01T00:00:00Z"),
                    ("priority", Value::Number(_)) => *value = json!(0.5),
                    _ => sound(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sound),
        _ => {}
    }
}

/// The entries of the lists of a server, and the results of its requests.
struct Sent {
    tools: Vec<Value>,
    prompts: Vec<Value>,
    resources: Vec<Value>,
    templates: Vec<Value>,
    calls: Vec<Value>,
    messages: Value,
    contents: Value,
}

const N: usize = 4;

impl Sent {
    fn random(official: &mut Official) -> Self {
        let mut entries = |definition: &str, key: &str, name: &dyn Fn(usize) -> String| -> Vec<Value> {
            (0..N)
                .map(|n| {
                    let mut entry = official.value(definition);
                    entry[key] = json!(name(n));
                    entry
                })
                .collect()
        };
        let mut tools = entries("Tool", "name", &|n| format!("t{n}"));
        for tool in &mut tools {
            let fields = tool.as_object_mut().unwrap();
            // Their forms are those of JSON Schema, and they are compared elsewhere.
            fields.insert("inputSchema".to_owned(), json!({ "type": "object", "properties": { "a": {} } }));
            fields.shift_remove("outputSchema");
            // A task changes the requests.
            fields.shift_remove("execution");
        }
        let mut prompts = entries("Prompt", "name", &|n| format!("p{n}"));
        for prompt in &mut prompts {
            let arguments = prompt.get_mut("arguments").and_then(Value::as_array_mut).into_iter().flatten();
            for (n, argument) in arguments.enumerate() {
                argument["name"] = json!(format!("a{n}"));
                // Their other fields are not passed on.
                argument
                    .as_object_mut()
                    .unwrap()
                    .retain(|key, _| ["name", "title", "description", "required"].contains(&&**key));
            }
        }
        let resources = entries("Resource", "uri", &|n| format!("test://r/{n}"));
        let templates = entries("ResourceTemplate", "uriTemplate", &|n| format!("test://t{n}/{{id}}"));
        let mut calls: Vec<Value> = (0..N).map(|_| official.value("CallToolResult")).collect();
        for call in &mut calls {
            // An empty one gets a text.
            call["content"].as_array_mut().unwrap().push(json!({ "type": "text", "text": "done" }));
        }
        let mut contents = official.value("ReadResourceResult");
        // Other fields are not passed on.
        contents.as_object_mut().unwrap().retain(|key, _| key == "contents");
        // Without contents there is no resource.
        contents["contents"].as_array_mut().unwrap().push(json!({ "uri": "", "text": "end" }));
        for content in contents["contents"].as_array_mut().unwrap() {
            content["uri"] = json!("test://r/0");
            content
                .as_object_mut()
                .unwrap()
                .retain(|key, _| ["uri", "mimeType", "text", "blob", "_meta"].contains(&&**key));
        }
        Self { tools, prompts, resources, templates, calls, messages: official.value("GetPromptResult"), contents }
    }

    async fn serve(&self, way: Way) -> Raw {
        let initialized = json!({
            "protocolVersion": REVISION,
            "capabilities": { "tools": {}, "prompts": {}, "resources": {} },
            "serverInfo": { "name": "raw", "version": "1" },
        });
        let calls = self.calls.iter().enumerate().map(|(n, result)| (format!("call_t{n}"), result.clone()));
        let responses = [
            ("initialize", initialized),
            ("tools_list", json!({ "tools": self.tools })),
            ("prompts_list", json!({ "prompts": self.prompts })),
            ("resources_list", json!({ "resources": self.resources })),
            ("resources_templates_list", json!({ "resourceTemplates": self.templates })),
            ("prompts_get", self.messages.clone()),
            ("resources_read", self.contents.clone()),
        ];
        let responses = responses.map(|(name, response)| (name.to_owned(), response)).into_iter().chain(calls);
        let responses: Vec<(String, Vec<u8>)> =
            responses.map(|(name, response)| (name, response.to_string().into_bytes())).collect();
        raw(way, responses.iter().map(|(name, response)| (&**name, response.clone()))).await
    }
}

/// Returns the result of a request through a proxy.
async fn ask(client: &mut Client, method: &str, params: &Value) -> Value {
    let mut response = in_the_end(client.send_unchecked(method, params)).await;
    if response.get("error").is_some() {
        return response;
    }
    let mut result = response["result"].take();
    let is_modern = result.get("resultType").is_some();
    assert_eq!(result["_meta"].get("io.modelcontextprotocol/serverInfo").is_some(), is_modern, "{method}: {result}");
    // The fields of the response of the proxy itself, since 2026-07-28.
    for key in ["resultType", "ttlMs", "cacheScope"] {
        result.as_object_mut().unwrap().shift_remove(key);
    }
    remove_meta(&mut result, "io.modelcontextprotocol/serverInfo");
    result
}

/// Removes a field, and `_meta` if it becomes empty.
fn remove_meta(value: &mut Value, key: &str) {
    let Some(Value::Object(meta)) = value.get_mut("_meta") else { return };
    if meta.shift_remove(key).is_some() && meta.is_empty() {
        value.as_object_mut().unwrap().shift_remove("_meta");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_entries_and_results_of_the_official_schema_pass_through_a_proxy() {
    let Some(schema) = shared_json(&format!("spec/mcp/{REVISION}.schema.json")) else { return };
    let config = random(400);
    let mut differences = Vec::new();
    for seed in 0..u64::from(config.cases) {
        let mut official =
            Official { schema: schema.clone(), dice: Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)) };
        let sent = Sent::random(&mut official);
        let way = EACH_WAY[seed as usize % EACH_WAY.len()];
        let server = sent.serve(way).await;
        let proxy = proxied(&server.backend.clone().trusted()).await;
        let mut client =
            Client::connect(&proxy, EACH_CLIENT[seed as usize / EACH_WAY.len() % EACH_CLIENT.len()], json!({})).await;

        let mut compare = |what: String, mut received: Value, sent: &Value| {
            let mut sent = sent.clone();
            without_defaults(&mut sent);
            without_defaults(&mut received);
            if received != sent {
                differences.push(format!("{what}, seed {seed}\nsent     {sent}\nreceived {received}"));
            }
        };
        for (method, list, key, sent) in [
            ("tools/list", "tools", "name", &sent.tools),
            ("prompts/list", "prompts", "name", &sent.prompts),
            ("resources/list", "resources", "uri", &sent.resources),
            ("resources/templates/list", "resourceTemplates", "uriTemplate", &sent.templates),
        ] {
            let listed = ask(&mut client, method, &json!({})).await;
            assert_eq!(listed[list].as_array().map(Vec::len), Some(N), "{method}, seed {seed}: {listed}");
            for (n, sent) in sent.iter().enumerate() {
                let mut received = listed[list][n].clone();
                received[key] = json!(own(received[key].as_str().unwrap()));
                remove_meta(&mut received, "rs.toolkit/tool");
                compare(format!("{list} {n}"), received, sent);
            }
        }
        for (n, sent) in sent.calls.iter().enumerate() {
            let params = json!({ "name": format!("peer_t{n}"), "arguments": {} });
            let mut received = ask(&mut client, "tools/call", &params).await;
            remove_meta(&mut received, "rs.toolkit/error");
            compare(format!("call {n}"), received, sent);
        }
        let arguments = sent.prompts[0].get("arguments").and_then(Value::as_array).into_iter().flatten();
        let arguments: Value =
            arguments.map(|argument| (argument["name"].as_str().unwrap().to_owned(), json!("x"))).collect();
        let received = ask(&mut client, "prompts/get", &json!({ "name": "peer_p0", "arguments": arguments })).await;
        compare("messages".to_owned(), received, &sent.messages);
        let mut received = ask(&mut client, "resources/read", &json!({ "uri": "proxy:peer/test://r/0" })).await;
        for content in received["contents"].as_array_mut().unwrap() {
            content["uri"] = json!(own(content["uri"].as_str().unwrap()));
        }
        compare("contents".to_owned(), received, &sent.contents);
    }
    assert!(
        differences.is_empty(),
        "{} differences: {}",
        differences.len(),
        differences[..differences.len().min(9)].join("\n\n")
    );
}

/// Returns the name or the URI that something behind the proxy has for its server.
fn own(name: &str) -> &str {
    name.strip_prefix("peer_").or(name.strip_prefix("proxy:peer/")).unwrap_or(name)
}

/// Removes fields that mean the same if they are absent.
fn without_defaults(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(without_defaults);
            let defaults = [
                ("_meta", json!({})),
                ("arguments", json!([])),
                ("description", json!("")),
                ("required", json!(false)),
            ];
            fields.retain(|key, value| {
                !value.is_null() && !defaults.iter().any(|(name, default)| name == key && value == default)
            });
        }
        Value::Array(items) => items.iter_mut().for_each(without_defaults),
        _ => {}
    }
}
