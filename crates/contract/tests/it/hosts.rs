//! The limits of the programs that connect to MCP servers.

use std::time::Duration;

use toolkit::Tool;
use toolkit_contract::hosts::{Host, Limited, check, check_instructions};
use toolkit_contract::lint::{Level, Rule};

fn tool(name: &str) -> Tool {
    Tool::builder(name.to_owned()).description("Reads a note.").build().unwrap()
}

fn messages(tools: &[Tool], server: &str, hosts: &[&str]) -> Vec<String> {
    let hosts: Vec<&Host> = hosts.iter().map(|name| Host::named(name).unwrap()).collect();
    check(tools, server, &hosts).iter().map(ToString::to_string).collect()
}

/// The name of a tool with which the name that the host makes has so many characters.
fn name_for(host: &str, server: &str, length: usize) -> String {
    let prefix = match host {
        "claude-code" | "codex" => format!("mcp__{server}__"),
        "cursor" => server.to_owned(),
        "vscode" => format!("mcp_{}_", &server[..server.len().min(13)]),
        "copilot-cli" => format!("{server}-"),
        "gemini-cli" => format!("mcp_{server}_"),
        "zed" => String::new(),
        other => panic!("{other}"),
    };
    "n".repeat(length - prefix.len())
}

#[test]
fn a_name_is_measured_as_each_host_makes_it() {
    for server in ["books", "a-server-with-a-long-name"] {
        for host in ["claude-code", "codex", "cursor", "vscode", "copilot-cli", "gemini-cli", "zed"] {
            let limits = Host::named(host).unwrap().limits;
            let max = limits.iter().find(|limit| matches!(limit.limited, Limited::Name(_))).unwrap().max;
            assert_eq!(messages(&[tool(&name_for(host, server, max))], server, &[host]), [""; 0], "{host}");
            let long = messages(&[tool(&name_for(host, server, max + 1))], server, &[host]);
            assert_eq!(long.len(), 1, "{host}");
            assert!(long[0].contains(&format!("{} characters in ", max + 1)), "{}", long[0]);
        }
    }
}

#[test]
fn one_diagnostic_names_every_host_that_changes_the_tool() {
    let name = "n".repeat(56);
    assert_eq!(
        messages(&[tool(&name)], "books", &["cursor", "codex", "zed"]),
        [format!(
            "{name}: name has, with what the host adds, 61 characters in Cursor, which leaves the tool out above 59, 68 \
             characters in Codex, which replaces the end of the name by a hash above 64; shorten the name, the namespace or \
             the name of the server, `books` [host-name]"
        )]
    );
}

#[test]
fn the_number_of_tools_is_that_of_the_server() {
    let tools: Vec<Tool> = (0..81).map(|n| tool(&format!("tool_{n}"))).collect();
    assert_eq!(messages(&tools[..80], "books", &["cursor", "vscode"]), [""; 0]);
    assert_eq!(
        messages(&tools, "books", &["cursor", "vscode"]),
        [
            "books: tools are 81: Cursor leaves some out above 80; serve fewer, or let the model search them [host-tools]"
        ]
    );
}

#[test]
fn a_timeout_beyond_the_patience_of_a_host_is_found() {
    let patient = |seconds| {
        let tool = Tool::builder("build").description("Builds all.").timeout(Duration::from_secs(seconds));
        messages(&[tool.build().unwrap()], "ci", &["claude-desktop", "codex", "cursor"])
    };
    assert_eq!(patient(60), [""; 0]);
    assert_eq!(
        patient(61),
        [
            "build: timeout is 61 s: Claude Desktop stops waiting above 60 s, Codex stops waiting above 60 s; return a handle \
          early, and add a tool that asks for the result [host-timeout]"
        ]
    );
}

#[test]
fn a_description_that_is_cut_is_found_with_its_deprecation() {
    let described = |length| {
        let text = "d".repeat(length);
        let tool = Tool::builder("read").description(text).deprecated("use it").build().unwrap();
        messages(&[tool], "books", &["claude-code"])
    };
    let notice = "\n\nDeprecated: use it".len();
    assert_eq!(described(2_048 - notice), [""; 0]);
    assert_eq!(
        described(2_049 - notice),
        [
            "read: description has 2049 characters: Claude Code cuts the description above 2048; move parts of it to the \
          arguments, or to a resource [host-description]"
        ]
    );
}

#[test]
fn instructions_that_are_cut_are_found() {
    let found = |length| check_instructions(&"ä".repeat(length), "books", Host::ALL).map(|found| found.to_string());
    assert_eq!(found(2_048), None);
    let message = "books: instructions have 2049 characters: Claude Code cuts them above 2048; move what concerns one tool \
                   to its description [host-instructions]";
    assert_eq!(found(2_049).as_deref(), Some(message));
}

#[test]
fn every_limit_has_a_source_and_a_date_and_warns_only() {
    for host in Host::ALL {
        assert_eq!(Host::named(host.name).map(|found| found.title), Some(host.title));
        assert!(!host.limits.is_empty(), "{}", host.name);
        for limit in host.limits {
            assert!(limit.source.starts_with("https://"), "{limit:?}");
            assert!(limit.date.starts_with("20"), "{limit:?}");
        }
    }
    let rules = [Rule::HostName, Rule::HostDescription, Rule::HostTimeout, Rule::HostTools];
    assert!(rules.iter().all(|rule| rule.level() == Level::Warning));
    assert!(Host::named("Cursor").is_none());
}

#[test]
fn the_document_lists_every_limit() {
    let mut table =
        String::from("| host | what | limit | above it, the host | source | date |\n|---|---|---:|---|---|---|\n");
    for host in Host::ALL {
        for limit in host.limits {
            let what = match limit.limited {
                Limited::Name(template) => format!("name `{template}`, characters"),
                Limited::Tools => "number of tools".to_owned(),
                Limited::Description => "description of a tool, characters".to_owned(),
                Limited::Instructions => "instructions of the server, characters".to_owned(),
                Limited::Result => "result without pictures, characters".to_owned(),
                Limited::Error => "text of an error, characters".to_owned(),
                Limited::Start => "start of the server, seconds".to_owned(),
                Limited::Timeout => "duration of a call, seconds".to_owned(),
                _ => unreachable!("all are listed"),
            };
            let (title, max, effect) = (host.title, limit.max, limit.effect);
            table += &format!("| {title} | {what} | {max} | {effect} | <{}> | {} |\n", limit.source, limit.date);
        }
    }
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hosts.md")).unwrap();
    assert!(document.contains(&table), "docs/hosts.md must have this table:\n{table}");
}
