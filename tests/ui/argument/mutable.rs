use toolkit::tool;

struct Db;

/// Forecast.
#[tool]
fn forecast(db: &mut Db) -> String { let _ = db; String::new() }

fn main() {}
