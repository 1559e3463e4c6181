use super::{Challenge, TokenError};

#[test]
fn a_challenge_has_the_parameters_that_are_known() {
    let scopes = ["a:b".to_owned(), "c".to_owned()];
    for (challenge, expected) in [
        (Challenge::default(), "Bearer"),
        (Challenge { error: Some("invalid_token"), ..Challenge::default() }, r#"Bearer error="invalid_token""#),
        (Challenge { scopes: &scopes, ..Challenge::default() }, r#"Bearer scope="a:b c""#),
        (
            Challenge {
                error: Some("insufficient_scope"),
                scopes: &scopes,
                metadata_url: Some("https://a.example/m"),
                description: Some("it has `a` \"b\" \\ é"),
            },
            "Bearer error=\"insufficient_scope\", scope=\"a:b c\", resource_metadata=\"https://a.example/m\", \
             error_description=\"it has `a` ?b? ? ?\"",
        ),
    ] {
        assert_eq!(challenge.header(), expected);
    }
}

#[test]
fn scopes_that_could_add_parameters_are_left_out() {
    let scopes = ["", "!", "#", "[", "]", "~", " ", "\"", "\\", "a b", "a\"b", "\u{7f}", "é"].map(str::to_owned);
    assert_eq!(Challenge { scopes: &scopes, ..Challenge::default() }.header(), r#"Bearer scope="! # [ ] ~""#);
}

#[test]
fn each_error_of_a_token_has_its_status() {
    for (error, status, header) in [
        (TokenError::Invalid, 401, ("www-authenticate", "Bearer")),
        (TokenError::InsufficientScope, 403, ("www-authenticate", "Bearer")),
        (TokenError::Unavailable, 503, ("retry-after", "5")),
    ] {
        let response = Challenge::default().reject(error).into_response();
        assert_eq!(
            (response.status().as_u16(), response.headers()[header.0].as_bytes()),
            (status, header.1.as_bytes())
        );
        assert_eq!(response.headers().contains_key("www-authenticate"), header.0 == "www-authenticate");
    }
    let described = Challenge { description: Some("why"), ..Challenge::default() };
    assert_eq!(described.reject(TokenError::InsufficientScope).message, "why");
}
