use toolkit::tool;

#[tool(description = concat!("a", "b"))]
fn add(a: i64) -> i64 {
    a
}

#[tool(description = "Adds.", version = env!("NOT_SET_ANYWHERE"))]
fn sub(a: i64) -> i64 {
    a
}

fn main() {}
