use toolkit::tool;

/// Uses wrong types.
#[tool]
fn types(
    #[arg(default = "3")] number: u8,
    #[arg(default = 3)] text: String,
    #[arg(default = Some("x"))] list: Vec<String>,
) {
    drop((number, text, list))
}

/// Uses wrong words.
#[tool]
fn words(
    #[arg(defualt = 3)] a: u8,
    #[arg(description = "The second number.")] b: u8,
    #[arg(rename = "see")] c: u8,
    #[arg(min = 1)] d: u8,
    #[arg(default(3))] e: u8,
    #[arg = 3] f: u8,
    #[arg(default = 1, default = 2)] g: u8,
    #[arg(default = 1)] #[serde(default)] h: u8,
    #[arg] #[arg(default = 1)] i: u8,
) {
    drop((a, b, c, d, e, f, g, h, i))
}

/// Uses a type without a default.
#[tool]
fn no_default(#[arg(default)] at: std::net::IpAddr) {
    drop(at)
}

fn main() {}
