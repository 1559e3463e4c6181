//! Tools grouped by namespace, for OpenAI.

use super::*;

fn tool(id: &str) -> Tool {
    let mut parts = id.rsplit(':');
    let builder = Tool::builder(parts.next().unwrap().to_owned()).description(format!("Is {id}."));
    let builder = builder.input(json!({
        "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"],
        "additionalProperties": false,
    }));
    match parts.next() {
        Some(namespace) => builder.namespace(namespace.to_owned()),
        None => builder,
    }
    .build()
    .unwrap()
}

fn catalog(ids: &[&str]) -> Catalog {
    Catalog::new(ids.iter().map(|id| tool(id))).unwrap()
}

fn namespaced(catalog: &Catalog) -> Value {
    openai::tools(catalog, Naming::Name, openai::Options::responses().namespaced().strict().deferred()).unwrap().json
}

#[test]
fn tools_are_grouped_by_namespace() {
    // Two of them have the same name in different namespaces.
    let json = namespaced(&catalog(&["greet", "my.crm:find", "my.crm:add_note", "notes:find"]));
    let function = |name: &str, id: &str| {
        json!({
            "type": "function",
            "name": name,
            "description": format!("Is {id}."),
            "strict": true,
            "defer_loading": true,
            "parameters": {
                "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"],
                "additionalProperties": false,
            },
        })
    };
    assert_eq!(
        json,
        json!([
            function("greet", "greet"),
            {
                "type": "namespace",
                "name": "my_crm",
                "description": "Has `add_note`, `find`.",
                "tools": [function("add_note", "my.crm:add_note"), function("find", "my.crm:find")],
            },
            {
                "type": "namespace",
                "name": "notes",
                "description": "Has `find`.",
                "tools": [function("find", "notes:find")],
            },
            { "type": "tool_search" },
        ])
    );
}

#[test]
fn a_call_finds_its_tool() {
    let catalog = catalog(&["find", "my.crm:find", "notes:find"]);
    for (namespace, id) in [(None, "find"), (Some("my_crm"), "my.crm:find"), (Some("notes"), "notes:find")] {
        assert_eq!(openai::find(&catalog, namespace, "find").unwrap().id().to_string(), id);
    }
    assert!(openai::find(&catalog, Some("crm"), "find").is_none() && openai::find(&catalog, None, "add").is_none());
}

#[test]
fn namespaces_are_read_as_they_were_written() {
    let json = namespaced(&catalog(&["greet", "crm:find", "crm:add_note", "notes:find"]));
    let tools: Vec<Tool> = openai::read_all(&json).into_iter().map(Result::unwrap).collect();
    let ids: Vec<String> = tools.iter().map(|tool| tool.id().to_string()).collect();
    assert_eq!(ids, ["greet", "crm:add_note", "crm:find", "notes:find"]);
    let again = openai::tools(&Catalog::new(tools).unwrap(), Naming::Name, openai::Options::responses().namespaced());
    assert_eq!(again.unwrap().json, json);
}

#[test]
fn an_unreadable_tool_does_not_affect_others() {
    let good = json!({ "type": "function", "name": "find", "parameters": null });
    let read = openai::read_all(&json!([
        good,
        { "type": "web_search" },
        { "type": "namespace", "name": "a b", "tools": [good] },
        { "type": "namespace", "name": "crm", "tools": [good, { "type": "function" }] },
        { "type": "namespace", "name": "crm" },
        { "type": "namespace", "tools": [] },
        1,
    ]));
    let said: Vec<String> = read
        .iter()
        .map(|read| match read {
            Ok(tool) => tool.id().to_string(),
            Err(error) => error.to_string(),
        })
        .collect();
    assert_eq!(
        said,
        [
            "find",
            "not a tool: it has the type `web_search`, but only functions can be read",
            "not a tool: namespace must not contain ` `; use letters, digits, `_`, `-` and `.`",
            "crm:find",
            "not a tool:\n/name is required",
            "not a tool: the namespace `crm` has no array of `tools`",
            "not a tool: a namespace has a `name`",
            "not a tool: a function is an object",
        ]
    );
    assert!(openai::read_all(&json!({}))[0].is_err());
}

#[test]
fn namespaces_with_the_same_wire_name_are_an_error() {
    let names = |ids: &[&str]| {
        let options = openai::Options::responses().namespaced();
        openai::tools(&catalog(ids), Naming::Name, options).unwrap_err().to_string()
    };
    assert!(names(&["a.b:x", "a_b:y"]).starts_with("two namespaces would both be called `a_b`; rename one"));
    assert!(names(&["a:x.y", "a:x_y"]).contains("would share the name `x_y`"));
    let long = format!("{}:x", "n".repeat(65));
    assert!(names(&[&long]).contains("more than the 64 characters"));
}

#[test]
fn chat_completions_has_no_namespaces() {
    let options = openai::Options::chat_completions();
    let catalog = catalog(&["crm:find"]);
    let json = |options| openai::tools(&catalog, Naming::Name, options).unwrap().json;
    assert_eq!(json(options.namespaced().deferred()), json(options));
}
