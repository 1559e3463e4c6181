//! Skills and agent cards of Agent2Agent, read and written again.

use test_support::{ran, real_tools};

use super::*;

fn agent() -> a2a::Agent {
    a2a::Agent::new("Clerk").description("Keeps notes.").version("1.0.0").url("https://example.com/a2a")
}

/// An agent card with every field of the protocol.
fn foreign() -> Value {
    json!({
        "name": "Route Planner",
        "description": "Plans routes.",
        "version": "1.2.0",
        "supportedInterfaces": [
            { "url": "https://example.com/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0", "tenant": "t" },
            { "url": "https://example.com/json", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
        ],
        "provider": { "organization": "Example", "url": "https://example.com" },
        "documentationUrl": "https://example.com/docs",
        "iconUrl": "https://example.com/icon.png",
        "capabilities": {
            "streaming": false, "pushNotifications": true, "extendedAgentCard": true,
            "extensions": [{ "uri": "https://example.com/ext", "required": false, "params": { "a": 1 } }],
        },
        "securitySchemes": { "google": { "openIdConnectSecurityScheme": { "openIdConnectUrl": "https://example.com" } } },
        "securityRequirements": [{ "schemes": { "google": { "list": ["openid"] } } }],
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [
            {
                "id": "map-generator",
                "name": "Personalised map",
                "description": "Draws a map of a route.",
                "tags": ["maps", "drawing"],
                "examples": ["Draw my commute", "{\"from\":\"home\"}"],
                "inputModes": ["application/json"],
                "outputModes": ["image/png", "image/svg+xml"],
                "securityRequirements": [{ "schemes": { "google": { "list": ["maps"] } } }],
            },
            { "id": "routes:optimise:2.0.0", "name": "optimise", "description": "Finds the best route.", "tags": [] },
        ],
        "signatures": [{ "protected": "e30", "signature": "c2ln" }],
    })
}

#[test]
fn a_foreign_card_survives_a_round_trip() {
    let card = a2a::read_card(&foreign()).unwrap();
    assert_eq!((&*card.agent.name, &*card.agent.url), ("Route Planner", "https://example.com/grpc"));
    let tools: Vec<Tool> = card.skills.into_iter().map(Result::unwrap).collect();
    assert_eq!((tools[0].title(), tools[0].tags()), (Some("Personalised map"), &["maps".into(), "drawing".into()][..]));
    assert_eq!(tools[0].examples(), [] as [Value; 0], "a text is no argument");
    assert_eq!((tools[1].id().version(), tools[1].title()), (Some("2.0.0"), None));
    let catalog = Catalog::new(tools).unwrap();
    catalog.check(Naming::Name).unwrap();
    assert_eq!(a2a::card(&card.agent, &catalog).json, foreign());
}

#[test]
fn unsupported_fields_of_a_skill_are_losses_and_the_others_survive() {
    let tool = Tool::from_json(serde_json::from_str::<Value>(include_str!("rich.json")).unwrap()).unwrap();
    let catalog = Catalog::new([tool.clone()]).unwrap();
    let export = a2a::card(&agent(), &catalog);
    let card = a2a::read_card(&export.json).unwrap();
    assert_eq!(card.agent, agent());
    let back = card.skills[0].as_ref().unwrap();
    let (was, is) = (tool.to_json(), back.to_json());
    let lost: Vec<&str> = export.losses[0].1.iter().map(|loss| &*loss.keyword).collect();
    for (field, value) in was.as_object().unwrap() {
        // The deprecation is in the description.
        let is_told = field == "deprecated" && is["description"].as_str().unwrap().ends_with("Deprecated: use find");
        let kept = is.get(field) == Some(value) || field == "description";
        assert!(kept || is_told || lost.contains(&&**field), "{field}: {is}");
    }
    assert_eq!((back.id(), back.title(), back.examples()), (tool.id(), tool.title(), tool.examples()));
    assert_eq!(a2a::skill(back).json, export.json["skills"][0]);
}

#[test]
fn every_real_tool_survives_a_round_trip_as_a_skill() {
    let tools = real_tools();
    for tool in &tools {
        let skill = a2a::skill(tool).json;
        // A title that is not an id is kept, but is not the id of the skill.
        let Ok(back) = a2a::read(&skill) else {
            assert!(tool.id().to_string().parse::<toolkit::tool::ToolId>().is_err(), "{skill}");
            continue;
        };
        assert_eq!(a2a::skill(&back).json, skill);
    }
    ran(tools.len());
}

#[test]
fn errors_of_invalid_cards_contain_the_reason() {
    let without = |field: &str| {
        let mut card = foreign();
        card.as_object_mut().unwrap().shift_remove(field);
        a2a::read_card(&card).unwrap_err().to_string()
    };
    assert_eq!(without("name"), "invalid agent card: missing field `name`");
    assert_eq!(without("skills"), "invalid agent card: `skills` must be an array");
    assert!(without("supportedInterfaces").ends_with("which version 1.0 requires"));
    let mut card = foreign();
    card["version"] = json!(1);
    assert_eq!(a2a::read_card(&card).unwrap_err().to_string(), "invalid agent card: `version` must be a string");
    assert!(a2a::read_card(&json!([])).is_err());
    // An invalid skill does not affect the others.
    card = foreign();
    card["skills"][0]["id"] = json!("a::b");
    let skills = a2a::read_card(&card).unwrap().skills;
    assert_eq!(skills[0].as_ref().unwrap_err().to_string(), "not a tool: not a tool id: name must not be empty");
    assert!(skills[1].is_ok());
}

#[test]
fn skills_with_equal_names_are_distinct() {
    let tool = |namespace: &'static str| Tool::builder("find").namespace(namespace).build().unwrap();
    let export = a2a::skills(&Catalog::new([tool("a"), tool("b")]).unwrap());
    assert_eq!((&export.json[0]["id"], &export.json[1]["id"]), (&json!("a:find"), &json!("b:find")));
}
