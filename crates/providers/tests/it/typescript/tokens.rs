//! The number of tokens of declarations, in comparison with the JSON of the same tools.

use serde_json::json;
use test_support::{ran, real_catalog};
use toolkit::Tool;
use toolkit_providers::typescript::{Detail, declarations};

fn tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// Returns what a model needs of a tool to call it, as MCP lists it.
fn listed(tool: &Tool) -> String {
    let mut listed = json!({ "name": tool.name(), "description": tool.description() });
    listed["inputSchema"] = tool.input().as_value().clone();
    if let Some(output) = tool.output() {
        listed["outputSchema"] = output.as_value().clone();
    }
    listed.to_string()
}

#[test]
fn declarations_of_real_tools_cost_fewer_tokens_than_their_json() {
    let catalog = real_catalog();
    if catalog.is_empty() {
        return;
    }
    let json: usize = catalog.iter().map(|tool| tokens(&listed(tool))).sum();
    for (detail, most) in [(Detail::Full, 0.72), (Detail::Compact, 0.30), (Detail::Signatures, 0.22)] {
        let n_tokens = tokens(&declarations(&catalog, detail).text);
        let ratio = n_tokens as f64 / json as f64;
        println!("{detail:?}: {n_tokens} tokens, {ratio:.3} of {json}");
        assert!(ratio < most, "{detail:?}: {ratio}");
    }
    ran(catalog.len());
}
