use toolkit::tool;

/// Echoes.
#[tool]
fn echo<T: Clone>(value: T) -> String { drop(value); String::new() }

/// Echoes.
#[tool]
fn any(value: impl Clone) -> String { drop(value); String::new() }

fn main() {}
