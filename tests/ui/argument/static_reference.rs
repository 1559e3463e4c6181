use toolkit::tool;

struct Db;

/// Forecast.
#[tool]
fn text(city: &'static str, names: Vec<&'static str>) -> usize { city.len() + names.len() }

/// Forecast.
#[tool]
fn state(db: &'static Db, other: Option<&'static Db>) { let _ = (db, other); }

fn main() {}
