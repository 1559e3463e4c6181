//! The five published definitions, out of five functions.

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::tool;
use toolkit_otc::Definition;

use super::*;

/// The sum of the two numbers.
#[derive(Serialize, JsonSchema)]
struct Sum(f64);

/// Adds two numbers together.
#[tool(namespace = "Calculator", name = "Add", version = "1.0.0")]
fn add(
    /// The first number to add.
    a: f64,
    /// The second number to add.
    b: f64,
) -> Sum {
    Sum(a + b)
}

/// Rings a doorbell given a doorbell ID.
#[tool(namespace = "Doorbell", name = "Ring", version = "0.1.0")]
fn ring(
    /// The ID of the doorbell to ring.
    doorbell_id: String,
) {
    drop(doorbell_id);
}

#[derive(Serialize, JsonSchema)]
struct Now {
    /// The current system timestamp.
    #[schemars(extend("format" = "date-time"))]
    timestamp: String,
}

/// Retrieves the current system timestamp.
#[tool(namespace = "System", name = "GetTimestamp", version = "1.0.0")]
fn get_timestamp() -> Now {
    Now { timestamp: "2026-11-21T00:00:00Z".to_owned() }
}

#[derive(Serialize, JsonSchema)]
struct Email {
    id: String,
    subject: String,
    snippet: String,
}

#[derive(Serialize, JsonSchema)]
struct Emails {
    /// List of retrieved emails.
    emails: Vec<Email>,
}

/// Retrieves emails from Gmail using OAuth 2.0 authentication.
#[tool(
    namespace = "Gmail",
    name = "GetEmails",
    version = "1.2.0",
    requires(oauth2(id = "google", scopes = ["https://www.googleapis.com/auth/gmail.readonly"]), user_id)
)]
fn get_emails(
    /// Search query for filtering emails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    query: Option<String>,
) -> Emails {
    drop(query);
    Emails { emails: Vec::new() }
}

#[derive(Serialize, JsonSchema)]
struct Sent {
    /// Status of the SMS sending operation.
    status: String,
}

/// Sends SMS messages using Twilio.
#[tool(namespace = "SMS", name = "Send", version = "0.1.2", requires(secret = "TWILIO_API_KEY"))]
fn send(
    /// Recipient phone number.
    to: String,
    /// Message content to send.
    message: String,
) -> Sent {
    Sent { status: format!("{message} to {to}") }
}

#[test]
fn five_functions_are_the_five_published_definitions() {
    let catalog = toolkit::catalog![add, ring, get_timestamp, get_emails, send].unwrap();
    for tool in &catalog {
        let json = json!(Definition::from_tool(tool, &Default::default()).unwrap());
        let expected = definition(json["id"].as_str().unwrap());
        assert_eq!(json, expected);
    }
    assert_eq!(catalog.len(), 5);
    ran(5);
}
