use toolkit::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query { city: String }

/// Forecast.
#[tool]
fn forecast(Query { city }: Query) -> String { city }

/// Forecast.
#[tool]
fn ignored(_: i64) -> i64 { 0 }

fn main() {}
