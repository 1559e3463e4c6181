use toolkit::tool;

/// Forecast.
#[tool(examples = [r#"{"city": "Lima", "days": 3}"#, r#"{"city": "Lima", "days": "3"}"#, r#"{"town": "Lima"}"#, "{'a': 1}", "[]"])]
fn forecast(city: String, #[serde(default, rename = "days")] n: u8) { drop((city, n)); }

/// Has no argument.
#[tool(examples = [r#"{"cty": "Lima"}"#])]
fn nothing() {}

/// Has objects as examples.
#[tool(examples = [{"city": "Lima", "n": 3}, {"city": "Lima", "n": "3"}, {"city": Lima}], meta = {"a": [1, -2.5, null], "b": "\u{e9}\n"})]
fn objects(city: String, n: u8) { drop((city, n)); }

fn main() {}
