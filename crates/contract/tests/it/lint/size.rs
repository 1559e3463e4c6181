//! Lint rules for what costs many tokens.

use serde_json::json;
use toolkit::{Base64, catalog, tool};
use toolkit_contract::lint::{Rule, lint};

use super::{argument, found, sound};

#[test]
fn a_long_description_is_reported_with_its_tokens() {
    assert_eq!(found([sound("search").description("Looks for a note. ".repeat(55))]), []);
    let [diagnostic] = &found([sound("search").description("Looks for a note. ".repeat(60))])[..] else { panic!() };
    assert_eq!((diagnostic.rule, &*diagnostic.location), (Rule::LongDescription, "description"));
    assert_eq!(
        diagnostic.message,
        "has 1080 characters, which cost about 270 tokens in each request; keep what a model needs to choose and call the \
         tool"
    );
    let schema = json!({ "type": "array", "items": { "type": "string", "description": "A note. ".repeat(51) } });
    let mut schema = argument(schema);
    schema["properties"]["x"]["description"] = "Notes.".into();
    let [diagnostic] = &found([sound("search").input(schema)])[..] else { panic!() };
    assert_eq!((diagnostic.rule, &*diagnostic.location), (Rule::LongDescription, "inputSchema/properties/x/items"));
}

#[test]
fn a_repeated_definition_is_reported_once_with_its_places() {
    let address = |description: &str| {
        json!({
            "type": "object",
            "description": description,
            "properties": {
                "street": { "type": "string", "description": "Street and number." },
                "city": { "type": "string", "description": "City, in the local language." },
                "position": { "type": "object", "properties": { "latitude": { "type": "number", "description": "In degrees." } } },
            },
        })
    };
    let schema = |properties| json!({ "type": "object", "properties": properties });
    let once = schema(json!({ "from": address("The start."), "to": { "type": "string", "description": "The end." } }));
    assert_eq!(found([sound("search").input(once)]), []);
    // The field is declared once beside a flattened enum, and listed once.
    let variant = |kind| schema(json!({ "kind": { "const": kind }, "from": address("The start.") }));
    let choice = json!({ "type": "object", "oneOf": [variant("fast"), variant("cheap")] });
    assert_eq!(found([sound("search").input(choice)]), []);
    let repeated =
        schema(json!({ "from": address("The start."), "to": address("The end."), "by": address("Between.") }));
    let [diagnostic] = &found([sound("search").input(repeated)])[..] else { panic!() };
    assert_eq!((diagnostic.rule, &*diagnostic.location), (Rule::RepeatedDefinition, "inputSchema/properties/from"));
    let places = "inputSchema/properties/to, inputSchema/properties/by";
    let start = format!("is repeated at {places}, which costs about 1");
    assert!(diagnostic.message.starts_with(&start), "{}", diagnostic.message);
}

#[test]
fn a_sentence_of_many_tools_is_reported_once() {
    let described = |name, text: &str| {
        sound(name).description(format!("{text}. Needs a token with the scope of the user. {text} again."))
    };
    let (one, two) = (described("create", "Creates a note"), described("find", "Finds a note"));
    assert_eq!(found([one, two]), []);
    let tools = [("create", "Creates a note"), ("find", "Finds a note"), ("rename", "Renames a note")];
    let [diagnostic] = &found(tools.map(|(name, text)| described(name, text)))[..] else { panic!() };
    assert_eq!((diagnostic.rule, &*diagnostic.tool), (Rule::RepeatedSentence, "n:create"));
    assert_eq!(
        diagnostic.message,
        "has a sentence that 3 tools repeat, which costs about 20 tokens: `Needs a token with the scope of the user`; write \
         it once, in the instructions of the server"
    );
}

/// Stores a file of the user.
#[tool(destructive)]
fn store_numbers(
    /// What the file contains.
    content: Vec<u8>,
    /// More of it.
    more: Option<Vec<u8>>,
    /// A color of the file.
    color: [u8; 3],
) -> usize {
    content.len() + more.map_or(0, |more| more.len()) + color.len()
}

/// Stores a file of the user.
#[tool(destructive)]
fn store_text(
    /// What the file contains.
    content: Base64,
) -> usize {
    content.len()
}

#[test]
fn bytes_as_a_list_of_numbers_are_reported() {
    let diagnostics = lint(&catalog![store_numbers].unwrap(), &[]);
    let places: Vec<_> = diagnostics.iter().map(|diagnostic| (diagnostic.rule, &*diagnostic.location)).collect();
    let rule = Rule::BytesAsNumbers;
    assert_eq!(places, [(rule, "inputSchema/properties/content"), (rule, "inputSchema/properties/more")]);
    assert!(diagnostics[0].message.contains("take `toolkit::Base64`"), "{}", diagnostics[0].message);
    assert_eq!(lint(&catalog![store_text].unwrap(), &[]), []);
}
