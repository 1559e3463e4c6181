//! `tools/list`: filter, order and pages.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolkit::catalog::Naming;
use toolkit_mcp_server::{Filter, Rule};

use super::*;

async fn names(client: &Client) -> Vec<String> {
    let list = client.send(&modern(1, "tools/list", json!({}))).await.result();
    let tools = list["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn filtered(filter: Filter) -> Client {
    Client::of(serve(Server::builder(dispatcher()).filter(filter).build().unwrap().http()).await)
}

fn rule(text: &str) -> Rule {
    text.parse().unwrap()
}

#[tokio::test]
async fn the_list_has_the_order_of_the_catalog() {
    let client = client().await;
    let catalog = tools::catalog();
    let expected: Vec<String> = catalog.latest().map(|tool| Naming::NamespaceName.wire_name(tool.id())).collect();
    assert_eq!(names(&client).await, expected);
    for make in [request, modern] {
        let list = client.send(&make(1, "tools/list", json!({}))).await.result();
        let add = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "math_add").unwrap();
        let record = &add["_meta"]["rs.toolkit/tool"];
        assert_eq!((&record["id"], &record["version"]), (&json!("math:add:1.0.0"), &json!("1.0.0")));
        assert_eq!(record["tags"], json!(["arithmetic"]));
        assert_eq!(add["outputSchema"]["properties"]["sum"]["type"], "integer");
    }
}

#[tokio::test]
async fn pages_together_are_the_list() {
    let server = Server::builder(dispatcher()).page_size(3).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let whole = names(&self::client().await).await;
    for make in [request, modern] {
        let (mut found, mut params, mut n_pages) = (Vec::new(), json!({}), 0);
        loop {
            let page = client.send(&make(1, "tools/list", params)).await.result();
            let tools = page["tools"].as_array().unwrap();
            assert!(tools.len() <= 3);
            found.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            n_pages += 1;
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(found, whole);
        assert_eq!(n_pages, whole.len().div_ceil(3));
    }
    for cursor in [json!("nonsense"), json!(3), json!("AAAA")] {
        assert_eq!(client.send(&modern(1, "tools/list", json!({ "cursor": cursor }))).await.code(), -32602);
    }
}

#[tokio::test]
async fn a_list_has_cache_hints() {
    let server = Server::builder(dispatcher()).list_ttl(std::time::Duration::from_secs(90)).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let list = client.send(&modern(1, "tools/list", json!({}))).await.result();
    assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(90_000), &json!("public")));
    let earlier = client.send(&request(1, "tools/list", json!({}))).await.result();
    assert!(earlier.get("ttlMs").is_none() && earlier.get("cacheScope").is_none());
}

#[tokio::test]
async fn only_tools_that_pass_the_filter_are_listed_and_called() {
    for (filter, listed) in [
        (Filter::all().allow(rule("namespace=math")), &["math_add", "math_half"][..]),
        (Filter::all().allow(rule("tag=arithmetic")).deny(rule("math:half")), &["math_add"]),
        (Filter::all().allow(rule("namespace=math")).deny(rule("hint=open-world")), &["math_half"]),
        (Filter::all().allow(rule("math:add:1.0.0")), &["math_add"]),
        (Filter::all().allow(rule("hint=idempotent")), &["math_half"]),
        (Filter::all().read_only(), &["math_add", "math_half"]),
        (Filter::all().allow(rule("namespace=files")).deny(rule("hint=destructive")), &[]),
    ] {
        let client = filtered(filter.clone()).await;
        assert_eq!(names(&client).await, listed, "{filter:?}");
        let denied = client.send(&modern(1, "tools/call", call("files_delete_all", json!({})))).await;
        assert_eq!(denied.code(), -32602);
        assert!(!denied.text().contains("did you mean `files_delete_all`"), "what is denied is not named");
    }
}

#[test]
fn an_invalid_rule_is_an_error_with_the_valid_forms() {
    for text in ["color=red", "hint=nice", "tag=", "a:b:c:d", "a b"] {
        assert!(text.parse::<Rule>().is_err(), "{text}");
    }
}

static N_BUILT: AtomicUsize = AtomicUsize::new(0);

/// A point, whose schema counts how often it is built.
#[derive(serde::Deserialize, serde::Serialize)]
struct Point {
    x: i64,
}

impl schemars::JsonSchema for Point {
    fn schema_name() -> Cow<'static, str> {
        "Point".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        N_BUILT.fetch_add(1, Ordering::Relaxed);
        schemars::json_schema!({ "type": "object", "properties": { "x": { "type": "integer" } }, "required": ["x"] })
    }
}

/// Returns the point on the other side.
#[toolkit::tool]
fn mirrored(point: Point) -> Point {
    Point { x: -point.x }
}

/// Returns a coordinate.
#[toolkit::tool]
fn x_of(point: Point) -> i64 {
    point.x
}

#[tokio::test]
async fn lists_for_all_revisions_build_the_schemas_of_a_type_once() {
    let dispatcher = Dispatcher::new(toolkit::catalog![mirrored, x_of].unwrap()).unwrap();
    let client = Client::of(serve(Server::new(dispatcher).unwrap().http()).await);
    let mut lists = [json!(null), json!(null)];
    for (list, make) in lists.iter_mut().zip([request, modern]) {
        *list = client.send(&make(1, "tools/list", json!({}))).await.result()["tools"].take();
    }
    assert_eq!(lists[0][0], lists[1][0]);
    let results = lists.map(|list| list[1]["outputSchema"].clone());
    assert_eq!(results[0]["properties"]["result"], results[1], "earlier revisions wrap what is no object");
    assert_eq!(N_BUILT.load(Ordering::Relaxed), 2, "one of the arguments, one of a result");
}

/// A name, which only its schema tells from an argument struct.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
struct FileName(String);

/// Returns the size of a file.
#[toolkit::tool]
fn size_of(path: FileName) -> usize {
    path.0.len()
}

/// Returns the time of a change.
#[toolkit::tool]
fn changed(file: FileName) -> usize {
    file.0.len()
}

#[tokio::test]
async fn listed_arguments_of_one_type_keep_their_names() {
    let dispatcher = Dispatcher::new(toolkit::catalog![size_of, changed].unwrap()).unwrap();
    let client = Client::of(serve(Server::new(dispatcher).unwrap().http()).await);
    let tools = client.send(&modern(1, "tools/list", json!({}))).await.result()["tools"].take();
    let names = [&tools[0], &tools[1]].map(|tool| &tool["inputSchema"]["required"]);
    assert_eq!(names, [&json!(["file"]), &json!(["path"])]);
    assert_eq!(tools[0]["outputSchema"], tools[1]["outputSchema"]);
}

#[tokio::test]
async fn the_root_of_each_input_schema_is_a_plain_object() {
    let choice = json!({ "type": "object", "oneOf": [
        { "properties": { "at": { "const": "start" } }, "required": ["at"], "additionalProperties": false },
        { "properties": { "at": { "const": "line" }, "n": { "type": "integer" } }, "required": ["at", "n"], "additionalProperties": false },
    ] });
    let insert = toolkit::Tool::builder("insert").description("Inserts.").input(choice).build().unwrap();
    let own = Dispatcher::new(Catalog::new([insert]).unwrap()).unwrap();
    for at_most in [1, 0] {
        let server = Server::builder(own.clone()).list_at_most(at_most).build().unwrap();
        let client = Client::of(serve(server.http()).await);
        let input = match at_most {
            0 => {
                let params = json!({ "name": "describe_tool", "arguments": { "name": "insert" } });
                let described = client.send(&modern(1, "tools/call", params)).await.result();
                described["structuredContent"]["inputSchema"].clone()
            }
            _ => client.send(&modern(1, "tools/list", json!({}))).await.result()["tools"][0]["inputSchema"].clone(),
        };
        assert_eq!(
            input,
            json!({
                "type": "object",
                "properties": { "at": { "enum": ["start", "line"] }, "n": { "type": "integer" } },
                "required": ["at"],
                "additionalProperties": false,
                "description": "One of these forms:\n- {at: \"start\"}\n- {at: \"line\", n}",
            })
        );
    }
}
