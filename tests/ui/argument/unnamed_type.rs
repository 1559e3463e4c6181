use toolkit::tool;

trait Store {}

/// Forecast.
#[tool]
fn list(values: Vec<impl Clone>) -> usize {
    values.len()
}

/// Forecast.
#[tool]
fn state(store: &impl Store) -> usize {
    let _ = store;
    0
}

fn main() {}
