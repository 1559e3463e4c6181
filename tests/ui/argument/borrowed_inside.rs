use std::borrow::Cow;
use toolkit::tool;

struct Db;

/// Forecast.
#[tool]
fn optional(city: Option<&str>) -> usize {
    city.map_or(0, str::len)
}

/// Forecast.
#[tool]
fn perhaps(city: Cow<'_, str>, db: Option<&Db>) -> usize {
    let _ = db;
    city.len()
}

fn main() {}
