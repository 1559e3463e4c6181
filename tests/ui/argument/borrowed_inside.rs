use std::borrow::Cow;
use toolkit::tool;

struct Db;

/// Forecast.
#[tool]
fn several(cities: Vec<&str>) -> usize {
    cities.len()
}

/// Forecast.
#[tool]
fn perhaps(city: Cow<'_, str>, db: Option<&Db>) -> usize {
    let _ = db;
    city.len()
}

fn main() {}
