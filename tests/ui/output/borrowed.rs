use toolkit::tool;

struct Db(String);

/// Forecast.
#[tool]
fn forecast(db: &Db) -> &str { &db.0 }

fn main() {}
