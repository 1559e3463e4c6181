//! `show` as JSON, and `show` and `list` for prompts and resources.

use serde_json::json;

use super::tools;

#[test]
fn show_as_json_contains_the_schemas() {
    let record = tools(&["show", "forecast", "--json"]).exits(0).json();
    assert_eq!(record["timeoutMs"], 5000);
    assert_eq!(record["requirements"]["secrets"][0]["id"], "ALMANAC_KEY");
    assert_eq!(record["inputSchema"]["properties"]["days"]["maximum"], 14);
    assert!(record["outputSchema"]["properties"]["labels"].is_object());
}

#[test]
fn show_describes_a_prompt() {
    let page = tools(&["show", "math:explain"]).exits(0).out;
    for text in ["math:explain\n  Asks for an explanation of a sum.\n", "\nArguments\n  a  ", "required"] {
        assert!(page.contains(text), "no {text:?} in\n{page}");
    }
    assert!(!page.contains("Result") && !page.contains("call"), "{page}");
    let record = tools(&["show", "explain", "--json"]).exits(0).json();
    assert_eq!((&record["name"], &record["arguments"][0]["name"]), (&json!("math:explain"), &json!("a")));
}

#[test]
fn resources_are_listed_and_shown() {
    let ran = tools(&["list", "--resources"]).exits(0);
    assert_eq!(ran.out, "help://units\ttext/plain\tThe units of all numbers\n");
    let page = tools(&["show", "help://units"]).exits(0).out;
    assert_eq!(
        page,
        "help://units\n  The units of all numbers\n\n  name         units\n  mimeType     text/plain\n  size         31\n"
    );
    let record = tools(&["show", "help://units", "--json"]).exits(0).json();
    assert_eq!((&record["uri"], &record["mimeType"]), (&json!("help://units"), &json!("text/plain")));
    tools(&["show", "help://unit"])
        .exits(2)
        .says("no resource has the URI `help://unit`")
        .says("list --resources` lists all, also templates");
}
