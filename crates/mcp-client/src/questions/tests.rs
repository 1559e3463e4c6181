use serde_json::{Value, json};

use super::*;

fn question(server: &str, params: &Value) -> Result<Question, String> {
    question_of("notes", &AddressPolicy::new(Url::parse(server).unwrap(), false), params)
}

#[test]
fn a_form_of_a_server_asks_for_no_secret() {
    let form = |fields: Value| {
        let params = json!({ "message": "Hi", "requestedSchema": { "type": "object", "properties": fields } });
        question("https://notes.example/mcp", &params).map(|question| question.message().to_owned())
    };
    assert_eq!(form(json!({ "city": { "type": "string" } })), Ok("notes: Hi".to_owned()));
    for fields in [
        json!({ "password": { "type": "string" } }),
        json!({ "city": { "type": "string", "title": "Your API key" } }),
        json!({ "city": { "type": "string", "writeOnly": true } }),
        json!({ "city": { "type": "string", "format": "password" } }),
    ] {
        let reason = form(fields.clone()).unwrap_err();
        assert!(reason.contains("it is a secret, which the client and its model could read"), "{fields}: {reason}");
    }
}

#[test]
fn a_user_opens_no_url_that_a_login_would_not_open() {
    let url = |server: &str, url: &str| {
        question(server, &json!({ "mode": "url", "message": "Hi", "url": url }))
            .map(|question| question.url().unwrap().to_owned())
    };
    let (public, local) = ("https://notes.example/mcp", "http://localhost");
    let longest = format!("https://a.example/{}", "x".repeat(MAX_URL - 18));
    for (server, accepted) in [
        (public, "https://a.example/?b=c"),
        (public, &*longest),
        (local, "http://localhost:7/x"),
        (local, "https://a.example/"),
    ] {
        assert_eq!(url(server, accepted).as_deref(), Ok(accepted));
    }
    for (server, refused, reason) in [
        (public, "http://169.254.169.254/", "must begin with `https://`"),
        (local, "http://169.254.169.254/", "must begin with `https://`"),
        (local, "https://169.254.169.254/", "is not a public address"),
        (public, "https://10.0.0.1/", "is not a public address"),
        (public, "http://localhost:7/x", "must begin with `https://`"),
        (public, "https://user@a.example/", "must have a host, and no user"),
        (public, "javascript:alert(1)", "must have a host, and no user"),
        (public, "x", "its URL is malformed"),
        (public, &format!("{longest}x"), "its URL has more than 8192 bytes"),
    ] {
        let error = url(server, refused).unwrap_err();
        assert!(error.contains(reason), "{refused:.100}: {error}");
    }
}
