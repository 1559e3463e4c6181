use toolkit::tool;

/// Adds.
#[tool(namespace "math", version = , tags = [1] timeout = "soon", , title)]
fn add(#[serde(defualt, rename = where)] a: i64, b: &String) -> i64 { a + b.len() as i64 }

#[tool(description = , requires(secret = , oauth2(scopes "a")))]
fn sub(a: i64) -> i64 { a }

fn main() {
    let _ = add(1, &String::new());
}
