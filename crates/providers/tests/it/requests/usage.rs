//! The tokens of replies, complete and streamed.

use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::Api;

/// Returns the body of a reply of an API, with the counts of its documentation: 100 tokens in the request, of which 60
/// are from a cache where the API counts them, and 50 in the reply, of which 20 are reasoning where it counts them.
fn body(api: &str) -> (Value, (u64, u64)) {
    let chat = json!({ "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
        "prompt_tokens_details": { "cached_tokens": 60 }, "completion_tokens_details": { "reasoning_tokens": 20 } });
    let message = json!({ "role": "assistant", "content": "Hi!" });
    match api {
        "anthropic" => (
            json!({ "content": [], "stop_reason": "end_turn", "usage": { "input_tokens": 30, "output_tokens": 50,
                "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10,
                "output_tokens_details": { "thinking_tokens": 20 } } }),
            (60, 20),
        ),
        "openai" => (
            json!({ "output": [], "status": "completed", "usage": { "input_tokens": 100, "output_tokens": 50,
                "input_tokens_details": { "cached_tokens": 60 }, "output_tokens_details": { "reasoning_tokens": 20 } } }),
            (60, 20),
        ),
        "openai-chat" | "mistral" => {
            (json!({ "choices": [{ "message": message, "finish_reason": "stop" }], "usage": chat }), (60, 20))
        }
        "mistral-conversations" => (json!({ "outputs": [], "usage": chat }), (60, 20)),
        "gemini" => (
            json!({ "candidates": [{ "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 100,
                "candidatesTokenCount": 30, "thoughtsTokenCount": 20, "cachedContentTokenCount": 60 } }),
            (60, 20),
        ),
        "gemini-interactions" => (
            json!({ "steps": [], "status": "completed", "usage": { "total_input_tokens": 100,
                "total_output_tokens": 30, "total_thought_tokens": 20, "total_cached_tokens": 60 } }),
            (60, 20),
        ),
        "bedrock" => (
            json!({ "output": { "message": { "role": "assistant", "content": [] } }, "stopReason": "end_turn",
                "usage": { "inputTokens": 40, "cacheReadInputTokens": 60, "outputTokens": 50 } }),
            (60, 0),
        ),
        "cohere" => (
            json!({ "message": message, "finish_reason": "COMPLETE", "usage": { "cached_tokens": 60.0,
                "tokens": { "input_tokens": 100.0, "output_tokens": 50.0 } } }),
            (60, 0),
        ),
        _ => (json!({ "message": message, "done": true, "prompt_eval_count": 100, "eval_count": 50 }), (0, 0)),
    }
}

#[test]
fn the_tokens_of_every_api_are_counted_alike() {
    for api in Api::all() {
        let (body, (cached, reasoning)) = body(api.id());
        let usage = api.read(&body, &ExportedNames::default()).unwrap().usage().unwrap();
        let found = (usage.input, usage.output, usage.cached, usage.reasoning);
        assert_eq!(found, (100, 50, cached, reasoning), "{api}");
        assert_eq!(usage.total(), 150);
    }
}

#[test]
fn a_reply_without_counts_has_no_usage() {
    for api in Api::all() {
        let (mut body, _) = body(api.id());
        for field in ["usage", "usageMetadata", "prompt_eval_count", "eval_count"] {
            body.as_object_mut().unwrap().shift_remove(field);
        }
        assert_eq!(api.read(&body, &ExportedNames::default()).unwrap().usage(), None, "{api}");
    }
}
