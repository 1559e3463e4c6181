use toolkit::tool;

struct Db;

/// Forecast.
#[tool]
fn forecast<'a>(db: &'a Db, days: u8) -> u8 {
    let _ = db;
    days
}

/// Forecast.
#[tool]
fn for_ever(db: &'static Db) -> u8 {
    let _ = db;
    0
}

fn main() {}
