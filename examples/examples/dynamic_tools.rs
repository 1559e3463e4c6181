//! Tools that are added while the program runs: a backend of handlers beside the functions of the program.

use serde_json::{Value, json};
use toolkit::{Catalog, Context, Dispatcher, Tool};
use toolkit_backends::{Backends, LocalBackend};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Repeat {
    text: String,
    times: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plugins = LocalBackend::new("plugins");

    // A handler of JSON, with a schema that is written by hand.
    let shout = Tool::builder("shout").description("Converts a text to upper case.").input(json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }));
    plugins.add(shout.build()?, |arguments: Value, _: Context| async move {
        Ok(json!(arguments["text"].as_str().unwrap_or_default().to_uppercase()))
    });

    // A handler of Rust types, from which both schemas are derived.
    let repeat = Tool::builder("repeat").description("Repeats a text.");
    plugins.add_typed(repeat, async |args: Repeat, _: Context| Ok(args.text.repeat(args.times)))?;

    let backends = Backends::new();
    backends.register(plugins)?;
    let collected = backends.collect(Catalog::linked()?).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    assert_eq!(dispatcher.call("plugins:shout", json!({"text": "hello"})).await?.value(), "HELLO");
    assert_eq!(dispatcher.call("plugins:repeat", json!({"text": "ab", "times": 2})).await?.value(), "abab");
    Ok(())
}
