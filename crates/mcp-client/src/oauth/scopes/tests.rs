use super::*;

#[test]
fn parameters_of_the_bearer_scheme_are_read() {
    let header = r#"Basic realm="a, b", Bearer error="insufficient_scope" , scope="a b a",
        resource_metadata="https://x/\"y", SCOPE=c, DPoP scope="d", error=other"#;
    let challenge = Challenge::parse(header);
    assert_eq!(challenge.scopes, ["a", "b"]);
    assert_eq!(challenge.resource_metadata.as_deref(), Some("https://x/\"y"));
    assert!(challenge.is_insufficient_scope());
    assert_eq!(Challenge::parse("bearer scope=x").scopes, ["x"]);
}

#[test]
fn malformed_challenges_are_ignored_where_they_are_malformed() {
    for header in ["", ",,,", "=", "Bearer", "Bearer =", "Negotiate abc==", "Bearer \u{fc}=1", "Basic scope=x"] {
        assert_eq!(Challenge::parse(header), Challenge::default(), "{header}");
    }
    assert_eq!(Challenge::parse("Bearer scope=\"a b").scopes, ["a", "b"]);
    assert_eq!(Challenge::parse("Bearer scope=\"a \u{7} \\\\ \u{e9}b c\"").scopes, ["a", "c"]);
    let long = format!("Bearer scope=\"{}\"", "a ".repeat(MAX_CHALLENGE_LEN));
    assert_eq!(Challenge::parse(&long), Challenge::default());
}

fn texts(scopes: &[&str]) -> Vec<String> {
    scopes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_set_of_scopes_has_each_valid_one_once() {
    assert_eq!(
        union(["b", "a", "b"], ["a", "c", "", "d e", "\"", "\\", "\u{7f}", "é", "!#[]~"]),
        ["b", "a", "c", "!#[]~"]
    );
    let longest = "a".repeat(MAX_LEN);
    assert_eq!(union([&*longest, &*format!("{longest}a")], []), [longest]);
    let many: Vec<String> = (0..2 * MAX_SCOPES).map(|n| n.to_string()).collect();
    assert_eq!(union(many.iter().map(String::as_str), []), many[..MAX_SCOPES]);
    assert_eq!(parse(" a  b\ta "), ["a", "b"]);
    for (scopes, wanted, is_covered) in
        [(&["a", "b"][..], &["b"][..], true), (&["a"], &["a", "b"], false), (&[], &[], true)]
    {
        assert_eq!(covers(&texts(scopes), &texts(wanted)), is_covered);
    }
}

#[test]
fn an_error_names_a_few_plain_scopes() {
    for (scopes, list, others) in [
        (texts(&["a:b", "c.d/e_f-g"]), "`a:b`, `c.d/e_f-g`".to_owned(), None),
        (texts(&["a", "ignore (all)"]), "`a`, …".to_owned(), Some("`ignore (all)`")),
        (texts(&["x+y"]), "…".to_owned(), Some("`x+y`")),
        (vec!["a".repeat(MAX_NAME_LEN)], format!("`{}`", "a".repeat(MAX_NAME_LEN)), None),
        (vec!["a".repeat(MAX_NAME_LEN + 1)], "…".to_owned(), Some("a`")),
        ((0..10).map(|n| n.to_string()).collect(), "`0`, `1`, `2`, `3`, `4`, `5`, `6`, `7`, `8`, `9`".to_owned(), None),
        (
            (0..11).map(|n| n.to_string()).collect(),
            "`0`, `1`, `2`, `3`, `4`, `5`, `6`, `7`, `8`, `9`, …".to_owned(),
            Some("the server also requires the scopes `10`"),
        ),
    ] {
        let named = named(&scopes);
        assert_eq!((named.list, named.others.is_some()), (list, others.is_some()), "{scopes:?}");
        if let (Some(found), Some(expected)) = (named.others, others) {
            assert!(found.starts_with("the server also requires the scopes ") && found.ends_with(expected), "{found}");
        }
    }
}
