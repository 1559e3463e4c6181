//! The tools of servers that exist, through every adapter.

use toolkit::adapter::{Described, a2a, anthropic, gemini, openai, restore};
use toolkit_tests::{ran, real_tools};

use super::*;

#[test]
fn every_real_tool_goes_through_every_adapter() {
    // A tool whose schema is not sound has no verdict to keep.
    let tools: Vec<_> = real_tools().into_iter().filter(|tool| tool.input().check().is_ok()).collect();
    let mut n_strict = 0;
    for tool in &tools {
        let strict = openai::describe(tool, "name", openai::Options::responses().strict());
        n_strict += usize::from(strict.json["strict"] == true);
        assert_eq!(strict.json["strict"] == true, strict.not_strict.is_empty(), "{}", tool.id());
        let described: [(Described, &str); 5] = [
            (strict, "/parameters"),
            (openai::describe(tool, "name", openai::Options::chat_completions()), "/function/parameters"),
            (anthropic::describe(tool, "name", anthropic::Options::default().strict()), "/input_schema"),
            (gemini::describe(tool, "name", gemini::Form::JsonSchema), "/parametersJsonSchema"),
            (gemini::describe(tool, "name", gemini::Form::OpenApi), "/none"),
        ];
        for (described, at) in described {
            let Some(schema) = described.json.pointer(at) else {
                continue;
            };
            let accepts = jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{}: {error}", tool.id()));
            assert_eq!(schema["type"], "object");
            // The example that the tool itself would give can be said, unless a loss says otherwise.
            let closes = described.losses.iter().any(|loss| loss.keyword == "additionalProperties");
            let whole = described.losses.iter().all(|loss| loss.effect != Effect::Narrowed) && !closes;
            if let (Some(example), true) = (tool.input().example(), whole) {
                let ways = held_to(schema, &example);
                let said = ways.iter().find(|way| accepts.is_valid(way));
                let said = said.unwrap_or_else(|| panic!("{}: {example} in {schema:#}", tool.id()));
                assert!(tool.validate_input(&restore(tool.input(), said.clone())).is_ok(), "{}: {said}", tool.id());
            }
        }
        let skill = a2a::skill(tool);
        assert_eq!(skill.json["id"], tool.id().to_string());
    }
    if !tools.is_empty() {
        assert!(tools.len() > 500 && n_strict > tools.len() / 2, "{n_strict} of {} can be strict", tools.len());
    }
    ran(tools.len());
}
