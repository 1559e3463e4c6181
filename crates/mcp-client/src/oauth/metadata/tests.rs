use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn metadata_is_that_of_a_server_or_of_a_path_above_it() {
    // The resource, the source below the well-known path, and whether they are those of the server.
    for (resource, source, is_valid) in [
        ("https://a.example/x/mcp", "/x/mcp", true),
        ("https://a.example/x/mcp/", "", true),
        ("https://a.example/x", "/x", true),
        ("https://a.example/x", "", false),
        ("https://a.example", "", true),
        ("https://a.example/x/m", "/x/m", false),
        ("https://a.example/x/mcp/y", "/x/mcp/y", false),
        ("https://a.example/x/mcp?q", "/x/mcp", false),
        ("https://a.example/x?q", "/x", false),
        ("https://a.example/x/mcp#f", "/x/mcp", false),
        ("https://b.example/x/mcp", "/x/mcp", false),
        ("http://a.example/x/mcp", "/x/mcp", false),
        ("mcp", "", false),
    ] {
        let metadata =
            ResourceMetadata { resource: resource.to_owned(), authorization_servers: None, scopes_supported: None };
        let source = url(&format!("https://a.example/.well-known/oauth-protected-resource{source}"));
        let checked = metadata.check(&url("https://a.example/x/mcp"), &source);
        assert_eq!(checked.is_ok(), is_valid, "{resource} {source}");
    }
}

#[test]
fn the_well_known_url_has_the_path_of_the_resource() {
    for (resource, path) in [("https://a.example/x/?q#f", "/x"), ("https://a.example", ""), ("https://a.example/", "")]
    {
        let expected = format!("https://a.example/.well-known/oauth-protected-resource{path}");
        assert_eq!(ResourceMetadata::well_known(&url(resource)).as_str(), expected);
    }
}

#[test]
fn only_the_slash_of_a_root_has_no_meaning() {
    for (text, expected) in [
        ("https://a.example/", "https://a.example"),
        ("https://a.example", "https://a.example"),
        ("https://a.example/x/", "https://a.example/x/"),
    ] {
        assert_eq!(without_root_slash(text), expected);
    }
}
