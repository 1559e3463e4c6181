//! Filters and their rules, without a server.

use toolkit::Tool;
use toolkit_mcp_server::{DirectoryResources, Filter, Hint, HttpError, Rule};

/// The tools of the tables: with each annotation, and without any.
fn tools() -> Vec<Tool> {
    let tool = |name: &'static str| Tool::builder(name).namespace("n");
    vec![
        tool("plain").build().unwrap(),
        tool("reads").read_only(true).build().unwrap(),
        tool("writes").read_only(false).destructive(true).build().unwrap(),
        tool("appends").destructive(false).build().unwrap(),
        tool("sets").idempotent(true).tags(["x"]).build().unwrap(),
        tool("closed").open_world(false).version("2.0.0").build().unwrap(),
        Tool::builder("plain").namespace("other").build().unwrap(),
    ]
}

fn admitted(filter: &Filter) -> String {
    let tools = tools();
    let ids = tools.iter().filter(|tool| filter.admits(tool)).map(|tool| tool.id().unversioned().to_string());
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_rule_matches_tools_by_each_property() {
    for (rule, expected) in [
        ("namespace=n", "n:plain n:reads n:writes n:appends n:sets n:closed"),
        ("namespace=none", ""),
        ("tag=x", "n:sets"),
        ("tag=y", ""),
        ("hint=read-only", "n:reads"),
        ("hint=destructive", "n:plain n:writes n:sets n:closed other:plain"),
        ("hint=idempotent", "n:sets"),
        ("hint=open-world", "n:plain n:reads n:writes n:appends n:sets other:plain"),
        ("plain", "n:plain other:plain"),
        ("n:plain", "n:plain"),
        ("n_plain", "n:plain"),
        ("n:closed:2.0.0", "n:closed"),
        ("n:closed:1.0.0", ""),
        ("n:closed", "n:closed"),
        ("n:*s", "n:reads n:writes n:appends n:sets"),
        ("*:plain", "n:plain other:plain"),
        ("n:closed:2.*", "n:closed"),
        ("o*:*", "other:plain"),
        ("namespace=o*", "other:plain"),
        ("tag=*", "n:sets"),
        ("n:plain*x", ""),
    ] {
        let parsed: Rule = rule.parse().unwrap();
        assert_eq!(parsed.to_string(), rule);
        assert_eq!(admitted(&Filter::all().allow(parsed.clone())), expected, "{rule}");
        let others = tools().into_iter().map(|tool| tool.id().unversioned().to_string());
        let denied: Vec<String> = others.filter(|id| !expected.split(' ').any(|other| other == id)).collect();
        assert_eq!(admitted(&Filter::all().deny(parsed)), denied.join(" "), "not {rule}");
    }
    assert_eq!(admitted(&Filter::all().read_only()), "n:reads");
    let both = Filter::all().allow("n:reads".parse().unwrap()).allow("n:sets".parse().unwrap());
    assert_eq!(admitted(&both), "n:reads n:sets");
    assert_eq!(admitted(&both.clone().read_only()), "n:reads");
    assert_eq!(admitted(&both.deny("tag=x".parse().unwrap())), "n:reads");
}

#[test]
fn rules_that_match_nothing_are_found_unless_they_are_for_hints() {
    let filter = Filter::all().allow("namespace=m".parse().unwrap()).allow("n:plain".parse().unwrap());
    let filter = filter.deny(Rule::Hint(Hint::ReadOnly)).deny("tag=y".parse().unwrap());
    let tools = &tools()[..1];
    let unmatched: Vec<String> = filter.unmatched(tools).map(ToString::to_string).collect();
    assert_eq!(unmatched, ["namespace=m", "tag=y"]);
}

#[test]
fn an_invalid_rule_has_a_reason() {
    for (rule, error) in [
        ("tag=", "the value of `tag=` is empty"),
        ("color=red", "unknown rule; expected `namespace=…`, `tag=…`, `hint=…` or the id of a tool"),
        ("get_*", "a pattern needs a namespace: `*:get_*` for those of all servers"),
        ("hint=safe", "unknown hint; expected `read-only`, `destructive`, `idempotent` or `open-world`"),
    ] {
        assert_eq!(rule.parse::<Rule>().unwrap_err().to_string(), error, "{rule}");
    }
}

#[tokio::test]
async fn files_have_the_media_type_of_their_extension_and_a_maximum_size() {
    use toolkit::Context;
    use toolkit::call::ErrorKind;
    use toolkit::resource::Resources;

    let directory = std::env::temp_dir().join(format!("toolkit-files-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for (name, kind) in [
        ("a.txt", Some("text/plain")),
        ("a.log", Some("text/plain")),
        ("a.MD", Some("text/markdown")),
        ("a.csv", Some("text/csv")),
        ("a.htm", Some("text/html")),
        ("a.html", Some("text/html")),
        ("a.css", Some("text/css")),
        ("a.js", Some("text/javascript")),
        ("a.mjs", Some("text/javascript")),
        ("a.json", Some("application/json")),
        ("a.xml", Some("application/xml")),
        ("a.pdf", Some("application/pdf")),
        ("a.png", Some("image/png")),
        ("a.jpg", Some("image/jpeg")),
        ("a.jpeg", Some("image/jpeg")),
        ("a.gif", Some("image/gif")),
        ("a.webp", Some("image/webp")),
        ("a.svg", Some("image/svg+xml")),
        ("a.mp3", Some("audio/mpeg")),
        ("a.wav", Some("audio/wav")),
        ("a.other", None),
        ("none", None),
    ] {
        std::fs::write(directory.join(name), "four").unwrap();
        let resources = DirectoryResources::new("docs", &directory).unwrap().max_bytes(4);
        let uri = format!("docs:///{name}");
        let read = resources.read(&uri, &Context::new()).await.unwrap().unwrap();
        assert_eq!((read[0].mime_type.as_deref(), read[0].as_text()), (kind, Some("four")), "{name}");
        let error = resources.max_bytes(3).read(&uri, &Context::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResultTooLarge);
        assert_eq!(error.to_string(), "the file has more than 3 bytes, the limit for a resource");
    }
    assert!(DirectoryResources::new("1", &directory).is_err());
    assert!(DirectoryResources::new("docs", directory.join("a.txt")).is_err());
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_server_that_others_can_reach_is_an_error_that_names_the_addresses() {
    use std::error::Error;

    let addresses = vec!["192.0.2.1:80".parse().unwrap(), "[2001:db8::1]:80".parse().unwrap()];
    let io = HttpError::Io(std::io::Error::other("the cause"));
    assert!(io.source().is_some() && HttpError::ShortToken.source().is_none());
    for (error, text) in [
        (io, "the cause"),
        (
            HttpError::Unprotected(addresses),
            "other machines can reach 192.0.2.1:80, [2001:db8::1]:80; require a token, or allow unauthenticated clients",
        ),
        (HttpError::ShortToken, "other machines can reach the address; use a token of at least 16 random characters"),
    ] {
        assert_eq!(error.to_string(), text);
    }
}
