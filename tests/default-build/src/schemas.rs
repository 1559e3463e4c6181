//! Formats, and keywords that an author adds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{tool, toolset};

/// Has a format that is a hint, unless its catalog enforces formats.
#[tool(namespace = "formats")]
pub fn contact(#[schemars(email)] email: String) -> String {
    email
}

/// Enforces the formats of two arguments.
#[tool(namespace = "formats")]
fn invite(
    #[schemars(email, transform = toolkit::schema::enforce_formats)] from: String,
    #[schemars(url, transform = toolkit::schema::enforce_formats)] page: Option<String>,
) -> String {
    format!("{from} {page:?}")
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Booking {
    #[schemars(extend("format" = "date"))]
    day: String,
    #[schemars(extend("format" = "date-time"))]
    made: Option<String>,
    #[schemars(extend("format" = "time"))]
    at: Option<String>,
    #[schemars(extend("format" = "duration"))]
    length: Option<String>,
    #[schemars(extend("format" = "uuid"))]
    id: Option<String>,
    #[schemars(extend("format" = "hostname"))]
    host: Option<String>,
    #[schemars(extend("format" = "ipv4"))]
    address: Option<String>,
    #[schemars(email, extend("pattern" = "com$"))]
    email: Option<String>,
    #[schemars(url)]
    page: Option<String>,
}

/// Enforces every format.
#[tool(namespace = "formats", enforce_formats)]
fn book(booking: Booking) -> Booking {
    booking
}

/// Tools that enforce formats.
#[toolset(namespace = "office", enforce_formats)]
mod office {
    use toolkit::tool;

    /// Writes a letter.
    #[tool]
    fn write(#[schemars(email)] to: String) -> String {
        to
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[schemars(extend("dependentRequired" = { "card": ["address"] }))]
#[schemars(extend("if" = { "properties": { "card": { "const": "gift" } }, "required": ["card"] }))]
#[schemars(extend("then" = { "required": ["code"] }))]
struct Payment {
    #[schemars(extend("not" = { "enum": ["cash", "check"] }))]
    card: Option<String>,
    address: Option<String>,
    code: Option<String>,
    #[schemars(extend("multipleOf" = 0.01))]
    amount: f64,
    #[schemars(extend("contains" = { "minimum": 10 }, "minContains" = 1, "maxContains" = 2))]
    parts: Option<Vec<i64>>,
    #[schemars(extend("uniqueItems" = true))]
    coupons: Option<Vec<String>>,
}

/// Pays, with added keywords.
#[tool(namespace = "schemas")]
fn pay(payment: Option<Payment>) -> Option<Payment> {
    payment
}
