//! Input schemas in lists of tools, with a plain object at the root.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolkit_schema::{alias, generate, root};

fn listed(schema: &Value) -> Value {
    let mut listed = schema.clone();
    root::list(&mut listed);
    listed
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Ticket {
    /// Opens a ticket.
    Open {
        /// In one line.
        title: String,
        urgent: Option<bool>,
    },
    /// Closes
    /// a ticket.
    Close {
        /// As listed.
        id: u64,
    },
    Reopen {
        /// As listed.
        id: u64,
    },
}

#[test]
fn the_variants_of_an_enum_are_one_object_that_describes_them() {
    assert_eq!(
        listed(&generate::input::<Ticket>()),
        json!({
            "type": "object",
            "properties": {
                "action": { "type": "string", "enum": ["open", "close", "reopen"] },
                "title": { "type": "string", "description": "In one line." },
                "urgent": { "type": ["boolean", "null"] },
                "id": { "type": "integer", "minimum": 0, "description": "As listed." },
            },
            "required": ["action"],
            "additionalProperties": false,
            "description": "One of these forms:\n- {action: \"open\", title, urgent?}: Opens a ticket.\n\
                            - {action: \"close\", id}: Closes a ticket.\n- {action: \"reopen\", id}",
        })
    );
}

#[test]
fn a_property_of_two_flattened_enums_accepts_the_values_of_both() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "from")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum From {
        Row { at: u8 },
        Start,
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "to")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum To {
        Name { at: String },
        End,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Range {
        sheet: String,
        #[serde(flatten)]
        from: From,
        #[serde(flatten)]
        to: To,
    }
    let listed = listed(&generate::input::<Range>());
    let at = listed["properties"]["at"]["anyOf"].as_array().expect("one schema for each enum");
    assert_eq!(at.iter().map(|schema| &schema["type"]).collect::<Vec<_>>(), ["integer", "string"]);
    assert_eq!(listed["required"], json!(["sheet", "from", "to"]), "{listed:#}");
    assert_eq!(listed["additionalProperties"], false);
    let texts = ["{from: \"Row\", at}", "{from: \"Start\"}", "{to: \"Name\", at}", "{to: \"End\"}"];
    let description = listed["description"].as_str().expect("the forms");
    assert!(texts.iter().all(|text| description.contains(text)), "{description}");
}

#[test]
fn the_text_of_the_forms_states_whether_several_may_be_used() {
    let part = |name: &str, is_closed: bool| json!({ "type": "object", "properties": { name: {} }, "required": [name], "additionalProperties": !is_closed });
    for (keyword, are_closed, start) in [
        ("oneOf", [true, true], "One of these forms:"),
        ("oneOf", [false, false], "One of these forms:"),
        ("anyOf", [true, true], "One of these forms:"),
        ("anyOf", [true, false], "At least one of these forms:"),
        ("anyOf", [false, false], "At least one of these forms:"),
    ] {
        let schema = json!({ "type": "object", keyword: [part("a", are_closed[0]), part("b", are_closed[1])] });
        let listed = listed(&schema);
        assert_eq!(listed["description"], format!("{start}\n- {{a}}\n- {{b}}"), "{schema}");
    }
    let kind = |kind: &str| json!({ "type": "object", "properties": { "a": { "type": kind } }, "required": ["a"] });
    let same = listed(&json!({ "type": "object", "anyOf": [kind("string"), kind("integer")] }));
    assert_eq!(same.get("description"), None, "{same}");
}

#[test]
fn a_form_has_its_constants_first_and_other_names_than_identifiers_in_quotes() {
    let schema = json!({ "type": "object", "description": "Moves. ", "oneOf": [
        {
            "type": "object", "description": " By\nname. ",
            "properties": { "a-b": {}, "1st": {}, "_c1": {}, "by": { "const": "name" }, "": {} },
            "required": ["by", "_c1", "other"],
        },
        { "type": "object", "properties": { "by": { "const": 1 } } },
    ] });
    let expected = "Moves.\nOne of these forms:\n\
                    - {by: \"name\", \"a-b\"?, \"1st\"?, _c1, \"\"?, other}: By name.\n- {by?: 1}";
    assert_eq!(listed(&schema)["description"], expected);
}

#[test]
fn a_recursive_choice_stays_where_it_is_not_the_root() {
    let tree = json!({ "oneOf": [
        { "type": "object", "properties": { "leaf": { "type": "integer" } }, "required": ["leaf"], "additionalProperties": false },
        { "$ref": "#/$defs/Pair" },
    ], "$defs": { "Pair": {
        "type": "object",
        "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } },
        "required": ["left"],
        "additionalProperties": false,
    } } });
    let listed = listed(&tree);
    assert_eq!(
        listed["properties"].as_object().expect("properties").keys().collect::<Vec<_>>(),
        ["leaf", "left", "right"]
    );
    assert_eq!((&listed["type"], listed.get("oneOf")), (&json!("object"), None));
    assert_eq!(listed["description"], "One of these forms:\n- {leaf}\n- {left, right?}");
    let validator = jsonschema::validator_for(&listed).expect("its references lead somewhere");
    assert!(validator.is_valid(&json!({ "left": { "left": { "leaf": 1 } } })));
    assert!(!validator.is_valid(&json!({ "left": { "leaf": 1, "left": { "leaf": 2 } } })), "below the root, one form");
}

#[test]
fn an_alias_is_not_listed_and_its_name_is_required_again() {
    let person = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "email": { "type": ["string", "null"] } },
        "required": ["name"],
        "additionalProperties": false,
    });
    let names: [(&str, &[&str]); 2] = [("name", &["surname", "family_name"]), ("email", &["mail"])];
    let branch = |name: &str, person: &Value| json!({ "type": "object", "properties": { name: person }, "required": [name], "additionalProperties": false });
    let invites = |person: &Value, is_former: bool| {
        let mut former = branch("User", person);
        former["description"] = "Alias of `Person`.".into();
        let mut branches = vec![branch("Person", person), branch("Group", &json!({ "type": "string" }))];
        branches.extend(is_former.then_some(former));
        json!({ "type": "array", "items": { "oneOf": branches } })
    };
    let invite = |invites: Value| json!({ "type": "object", "properties": { "invites": invites }, "required": ["invites"], "additionalProperties": false });
    let with_aliases = invite(invites(&alias::with_aliases(person.clone(), &names), true));
    let accepts = jsonschema::validator_for(&with_aliases).expect("a schema");
    assert!(accepts.is_valid(&json!({ "invites": [{ "User": { "family_name": "Lovelace" } }] })));
    assert_eq!(listed(&with_aliases), invite(invites(&person, false)));
}

#[test]
fn a_property_that_is_only_described_as_an_alias_is_listed() {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "file": { "type": "string", "description": "Alias of `path`." } },
    });
    assert_eq!(listed(&schema), schema);
    let excluded =
        alias::with_aliases(json!({ "type": "object", "properties": { "path": {} } }), &[("path", &["file"])]);
    assert_eq!(listed(&excluded)["properties"], json!({ "path": {} }));
}

#[test]
fn conditions_and_constants_leave_the_root() {
    let schema = json!({
        "type": "object",
        "properties": { "kind": { "enum": ["file", "url"] } },
        "if": { "properties": { "kind": { "const": "url" } } },
        "then": { "properties": { "url": { "type": "string" } }, "required": ["url"] },
        "not": { "required": ["password"] },
        "enum": [{ "kind": "file" }],
        "unevaluatedProperties": false,
    });
    let listed = listed(&schema);
    assert_eq!(listed["properties"], json!({ "kind": { "enum": ["file", "url"] }, "url": { "type": "string" } }));
    let mut keywords: Vec<_> = listed.as_object().expect("an object").keys().map(String::as_str).collect();
    keywords.sort_unstable();
    assert_eq!(keywords, ["description", "properties", "type"]);
    assert!(
        listed["description"].as_str().is_some_and(|text| text.ends_with("One of {\"kind\":\"file\"}.")),
        "{listed:#}"
    );
}

#[test]
fn a_schema_without_arguments_lists_no_properties_and_one_of_other_values_stays() {
    assert_eq!(listed(&json!({ "type": "object" })), json!({ "type": "object", "properties": {} }));
    let nullable = json!({ "anyOf": [{ "type": "object" }, { "type": "null" }] });
    assert_eq!(listed(&nullable), nullable);
}

#[test]
fn each_of_many_recursive_variants_is_listed() {
    let (names, n) = (|n: usize| format!("p{n}"), 100);
    let variant = |n: usize| {
        let itself = json!({ "$ref": format!("#/$defs/{}", names(n)) });
        json!({ "type": "object", "properties": { (names(n)): itself } })
    };
    let schema = json!({
        "type": "object",
        "anyOf": (0..n).map(|n| json!({ "$ref": format!("#/$defs/{}", names(n)) })).collect::<Value>(),
        "$defs": (0..n).map(|n| (names(n), variant(n))).collect::<serde_json::Map<_, _>>(),
    });
    let properties = listed(&schema)["properties"].take();
    let mut missing = (0..n).filter(|n| properties.get(names(*n)).is_none());
    assert_eq!(missing.next(), None, "{properties}");
    // A reference that refers to itself ends.
    let endless =
        json!({ "type": "object", "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "$ref": "#/$defs/a" } } });
    assert_eq!(listed(&endless)["type"], "object");
}

#[test]
fn the_width_of_a_type_is_in_the_contract_and_not_in_the_list() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Widths {
        wide: Vec<i32>,
        unsigned: Option<u32>,
        float: f32,
        narrow: u16,
        #[schemars(range(max = 9))]
        limited: i32,
    }
    let contract = generate::input::<Widths>();
    let maximum = |schema: &Value, place: &str| schema.pointer(place).and_then(|place| place.get("maximum").cloned());
    assert_eq!(maximum(&contract, "/properties/wide/items"), Some(json!(i32::MAX)));
    assert_eq!(maximum(&contract, "/properties/float"), Some(json!(f64::from(f32::MAX))));
    assert_eq!(
        listed(&contract)["properties"],
        json!({
            "wide": { "type": "array", "items": { "type": "integer" } },
            "unsigned": { "type": ["integer", "null"], "minimum": 0 },
            "float": { "type": "number" },
            "narrow": { "type": "integer", "minimum": 0, "maximum": 65535 },
            "limited": { "type": "integer", "maximum": 9 },
        })
    );
}
