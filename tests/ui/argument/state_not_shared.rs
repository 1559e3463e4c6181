use toolkit::tool;

struct Db(std::cell::Cell<u8>);

/// Forecast.
#[tool]
fn forecast(db: &Db) -> u8 { db.0.get() }

fn main() {}
