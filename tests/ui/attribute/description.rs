use toolkit::tool;

const NUMBER: u8 = 1;
const BLANK: &str = " ";

#[tool(description = NUMBER)]
fn add(a: i64) -> i64 {
    a
}

#[tool(description = BLANK)]
fn mul(a: i64) -> i64 {
    a
}

#[tool(description = missing::DESCRIPTION, title = 1)]
fn div(a: i64) -> i64 {
    a
}

#[tool(description = "Subtracts.", version = env!("NOT_SET_ANYWHERE"))]
fn sub(a: i64) -> i64 {
    a
}

fn main() {}
