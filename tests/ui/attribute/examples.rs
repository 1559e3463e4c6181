use toolkit::tool;

/// Forecast.
#[tool(examples = [r#"{"city": "Lima", "days": 3}"#, r#"{"city": "Lima", "days": "3"}"#, r#"{"town": "Lima"}"#, "{'a': 1}", "[]"])]
fn forecast(city: String, #[serde(default, rename = "days")] n: u8) { drop((city, n)); }

/// Has no argument.
#[tool(examples = [r#"{"cty": "Lima"}"#])]
fn nothing() {}

fn main() {}
