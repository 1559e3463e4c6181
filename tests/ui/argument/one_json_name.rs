use toolkit::tool;

/// Copies a file.
#[tool]
fn copy(#[serde(rename = "path")] from: String, #[serde(default, rename = "path")] to: String) { drop((from, to)) }

/// Moves a file.
#[tool]
fn rename(from: String, #[serde(rename(serialize = "target", deserialize = "from"))] to: String) { drop((from, to)) }

/// Links a file.
#[tool]
fn link(#[serde(rename = "to")] from: String, to: String, #[serde(alias = "to")] r#type: String) { drop((from, to, r#type)) }

/// Has one name for each.
#[tool]
fn fine(
    #[serde(rename = "b", alias = "b")] a: String,
    #[serde(rename = "a")] b: String,
    #[serde(skip, rename = "a")] c: String,
    #[serde(default = "String::new", rename = "d")] e: String,
) {
    drop((a, b, c, e))
}

fn main() {}
