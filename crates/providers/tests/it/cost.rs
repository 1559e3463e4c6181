//! The token costs of tools, and the error of the estimate.

use serde_json::json;
use test_support::{ran, real_tools};
use toolkit::{Catalog, Tool};
use toolkit_providers::cost::{Cost, estimate};
use toolkit_providers::{a2a, anthropic, gemini, openai};

fn exact(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// Returns the relative errors of the estimate: for each tool, and for all of them together.
fn errors(texts: &[String]) -> (Vec<f64>, f64) {
    let counts: Vec<(f64, f64)> = texts.iter().map(|text| (estimate(text) as f64, exact(text) as f64)).collect();
    let (estimated, real) = counts.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    (counts.iter().map(|(estimated, real)| (estimated - real) / real).collect(), (estimated - real) / real)
}

#[test]
fn the_estimate_is_close_to_a_tokenizer_for_real_tools() {
    let tools = real_tools();
    let forms: [(&str, Vec<String>); 3] = [
        ("as MCP lists them", tools.iter().map(|tool| tool.to_mcp_json().to_string()).collect()),
        (
            "as functions of OpenAI",
            tools
                .iter()
                .map(|tool| openai::describe(tool, tool.name(), openai::Options::responses()).json.to_string())
                .collect(),
        ),
        ("descriptions alone", tools.iter().map(|tool| tool.description().to_owned()).collect()),
    ];
    for (form, texts) in forms {
        // For short texts, an error of one token is a large fraction.
        let texts: Vec<String> = texts.into_iter().filter(|text| exact(text) >= 20).collect();
        if texts.is_empty() {
            continue;
        }
        let (errors, of_all) = errors(&texts);
        let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
        let most = errors.iter().map(|error| error.abs()).fold(0.0, f64::max);
        println!(
            "{} tools {form}: off by {:.1} % in the mean, {:.1} % at most, {:+.1} % of all together",
            texts.len(),
            mean * 100.0,
            most * 100.0,
            of_all * 100.0
        );
        assert!(mean < 0.05 && most < 0.25 && of_all.abs() < 0.03, "{form}: {mean} {most} {of_all}");
    }
    ran(tools.len());
}

#[test]
fn the_estimate_grows_with_the_text() {
    let mut text = String::new();
    let mut last = 0;
    for part in ["adds ", "TWO", " integers", " 12345678", " \"}],{\"", " überall", " 漢字", "\n\n", "🦀"] {
        text.push_str(part);
        let count = estimate(&text);
        assert!(count >= last, "{text:?} is {count} and was {last}");
        last = count;
    }
    assert_eq!((estimate(""), estimate("a")), (0, 1));
}

fn tool() -> Tool {
    Tool::builder("add")
        .description("Adds two integers.")
        .input(json!({
            "type": "object",
            "properties": { "a": { "type": "integer", "description": "The first." } },
            "required": ["a"],
        }))
        .output(json!({ "type": "integer" }))
        .build()
        .unwrap()
}

#[test]
fn the_parts_of_every_format_are_counted() {
    let bytes = |text: &str| text.len();
    let forms = [
        ("mcp", tool().to_mcp_json(), true, true),
        ("openai", openai::describe(&tool(), "add", openai::Options::responses()).json, true, false),
        (
            "openai output",
            openai::describe(&tool(), "add", openai::Options::responses().with_output_schemas()).json,
            true,
            true,
        ),
        ("openai-chat", openai::describe(&tool(), "add", openai::Options::chat_completions()).json, true, false),
        ("anthropic", anthropic::describe(&tool(), "add", anthropic::Options::default()).json, true, false),
        ("gemini", gemini::describe(&tool(), "add", gemini::Options::default()).json, true, false),
        ("a2a", a2a::skill(&tool()).json, false, false),
    ];
    for (form, json, has_input, has_output) in forms {
        let cost = Cost::new(&json, &bytes);
        assert_eq!(cost.total, json.to_string().len(), "{form}");
        assert_eq!(cost.description, "\"Adds two integers.\"".len(), "{form}");
        assert_eq!(cost.name, "\"add\"".len(), "{form}");
        let of_arguments = if has_input { "\"The first.\"".len() } else { 0 };
        assert_eq!(cost.input_descriptions, of_arguments, "{form}");
        assert_eq!((cost.input > 0, cost.output > 0), (has_input, has_output), "{form}: {json}");
        assert!(cost.description + cost.input + cost.output < cost.total, "{form}");
    }
}

#[test]
fn the_sum_of_costs_is_the_cost_of_all_tools() {
    let cost = Cost::new(&tool().to_mcp_json(), &exact);
    let both: Cost = [cost, cost].into_iter().sum();
    assert_eq!((both.total, both.input), (2 * cost.total, 2 * cost.input));
    let catalog = Catalog::new([tool()]).unwrap();
    let export = openai::tools(&catalog, toolkit::catalog::Naming::Name, openai::Options::default()).unwrap();
    let listed: Cost = export.json.as_array().unwrap().iter().map(|tool| Cost::new(tool, &exact)).sum();
    assert!(listed.total > 0);
}
