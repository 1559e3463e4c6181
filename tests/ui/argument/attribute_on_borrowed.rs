use toolkit::tool;

struct Db;

/// Forecast.
#[tool]
fn forecast(#[serde(default)] db: &Db) -> String { let _ = db; String::new() }

fn main() {}
