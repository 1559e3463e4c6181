//! `install` and `uninstall`, in homes that the tests make.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Ran, TOOLS, command};

/// A home directory, with a project in it.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("install-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("project")).expect("a directory can be made");
        Self(path)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is in the home")).expect("a directory can be made");
        fs::write(&path, text).expect("a file can be written");
        path
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("a file can be read")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&TOOLS, args);
        command.current_dir(self.path("project")).env("HOME", &self.0).env("PATH", self.path("bin"));
        for variable in ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().expect("the fixture runs").into()
    }
}

const CLAUDE: &str = ".config/Claude/claude_desktop_config.json";
const CURSOR: &str = ".cursor/mcp.json";

/// Returns the entry of the fixture in a file of `mcpServers`.
fn entry(text: &str) -> Value {
    let config: Value = serde_json::from_str(text).expect("it is JSON");
    config["mcpServers"]["fixture_tools"].clone()
}

#[test]
fn a_new_configuration_starts_the_program_by_its_absolute_path() {
    let home = Home::new("new");
    home.run(&["install", "cursor", "--yes"]).exits(0).says("wrote ");
    let entry = entry(&home.read(CURSOR));
    assert_eq!(entry["command"], fs::canonicalize(&*TOOLS).unwrap().to_str().unwrap());
    assert_eq!(entry["args"], json!(["serve"]));
    // The credentials of the tools, by name.
    assert_eq!(entry["env"]["ALMANAC_KEY"], "${env:ALMANAC_KEY}");
    assert_eq!(fs::metadata(home.path(CURSOR)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_entry_for_development_builds_the_program_and_is_its_own() {
    let home = Home::new("dev");
    let run = |args: &[&str]| -> Ran {
        let mut command = home.command(&[&["install", "cursor", "--dev", "--yes"], args].concat());
        command.env("CARGO_MANIFEST_DIR", "/home/ada/tools").output().expect("the fixture runs").into()
    };
    let mut outside = home.command(&["install", "cursor", "--dev"]);
    let outside: Ran = outside.env_remove("CARGO_MANIFEST_DIR").output().expect("the fixture runs").into();
    outside.exits(2).says("--dev: the package is unknown; run `cargo run -- install CLIENT --dev` in its directory");
    run(&[]).exits(2).says("--dev: `cargo toolkit` is not installed");
    home.write("bin/cargo-toolkit", "");
    run(&[]).exits(2).says("--dev: there is no `cargo` in PATH");
    home.write("bin/cargo", "");

    let own = ["toolkit", "dev", "--manifest-path", "/home/ada/tools/Cargo.toml", "--bin", "fixture_tools"];
    run(&[]).exits(0);
    assert_eq!(entry(&home.read(CURSOR))["args"], json!(own));
    run(&["--", "--read-only"]).exits(0);
    let changed = entry(&home.read(CURSOR));
    assert_eq!(changed["command"], home.path("bin/cargo").to_str().unwrap());
    assert_eq!(changed["args"], json!([&own[..], &["--", "--read-only"]].concat()));
    // The entry belongs to this program, so the other kind of entry replaces it.
    home.run(&["install", "cursor", "--yes"]).exits(0);
    assert_eq!(entry(&home.read(CURSOR))["args"], json!(["serve"]));
    run(&[]).exits(0);
    home.run(&["uninstall", "cursor", "--yes"]).exits(0);
    assert_eq!(entry(&home.read(CURSOR)), Value::Null);
}

#[test]
fn without_a_confirmation_nothing_is_changed() {
    let home = Home::new("preview");
    for args in [&["install", "cursor"][..], &["install", "cursor", "--dry-run"], &["install", "cursor", "--print"]] {
        let ran = home.run(args).exits(0);
        assert!(ran.out.contains("\"fixture_tools\": {"), "{ran:?}");
        assert!(!home.path(".cursor").exists(), "{args:?}");
    }
    home.run(&["install", "cursor"]).says("nothing was changed; --yes makes the change");
}

#[test]
fn everything_outside_the_entry_remains() {
    let home = Home::new("merge");
    let last = "    \"last\": { \"url\": \"https://example.com/mcp\" }";
    let old = format!(
        "// Mine.\n{{\n\t\"theme\": 1e400,\n  \"mcpServers\": {{\n    \"a b\": {{\"command\":'x'}},\n{last} // end\n  }},\n  \
         \"mcpServers2\": [1,\n 2,],\n}}\n\n"
    )
    .replace('\'', "\"");
    for (name, old) in [("lf", old.clone()), ("crlf", old.replace('\n', "\r\n")), ("bom", format!("\u{feff}{old}"))] {
        home.write(CLAUDE, &old);
        home.run(&["install", "claude-desktop", "--yes"]).exits(0);
        let new = home.read(CLAUDE);
        let newline = if name == "crlf" { "\r\n" } else { "\n" };
        let (before, rest) = old.split_once(last).unwrap();
        let (end, after) = rest.split_once(newline).unwrap();
        assert!(
            new.starts_with(&format!("{before}{last},{end}{newline}    \"fixture_tools\": {{{newline}")),
            "{name}: {new}"
        );
        assert!(new.ends_with(&format!("{newline}    }}{newline}{after}")), "{name}: {new}");
        assert_eq!(new.matches('\n').count(), new.matches(newline).count(), "{name}: {new}");
        // The old file is beside it, and what `uninstall` leaves is the old file.
        home.run(&["uninstall", "claude-desktop", "--yes"]).exits(0);
        assert_eq!(home.read(CLAUDE), old, "{name}");
    }
    assert!(home.read(&format!("{CLAUDE}.1.bak")).starts_with("// Mine.\n{"));
}

#[test]
fn the_second_installation_changes_nothing() {
    let home = Home::new("twice");
    for client in ["claude-desktop", "cursor", "vscode"] {
        home.run(&["install", client, "--yes"]).exits(0);
        let ran = home.run(&["install", client, "--yes"]).exits(0).says("is up to date");
        assert_eq!(ran.out, "", "{client}");
    }
    home.run(&["install", "claude-code", "--scope", "project", "--yes"]).exits(0);
    home.run(&["install", "claude-code", "--scope", "project", "--yes"]).exits(0).says("is up to date");
    assert_eq!(
        fs::read_dir(home.path(".cursor")).unwrap().count(),
        1,
        "there is no backup of a file that did not change"
    );
}

#[test]
fn what_the_user_added_to_the_entry_remains() {
    let home = Home::new("entry");
    home.run(&["install", "claude-desktop", "--yes"])
        .exits(0)
        .says("set ALMANAC_KEY, ALMANAC_TOKEN, USER_ID in the file");
    let filled = home
        .read(CLAUDE)
        .replace("\"ALMANAC_KEY\": \"\"", "\"ALMANAC_KEY\": \"s3cr3t-key\", \"OTHER\": \"other-value\"");
    let filled = filled.replace("\"args\"", "\"disabled\": false, \"args\"");
    home.write(CLAUDE, &filled);
    let ran = home.run(&["install", "claude-desktop", "--yes", "--", "--read-only"]).exits(0);
    assert!(!format!("{ran:?}").contains("s3cr3t-key"), "{ran:?}");
    assert!(ran.err.contains("set ALMANAC_TOKEN, USER_ID in the file"), "{ran:?}");
    let entry = entry(&home.read(CLAUDE));
    assert_eq!(entry["args"], json!(["serve", "--read-only"]));
    assert_eq!(entry["disabled"], false);
    assert_eq!(entry["env"]["ALMANAC_KEY"], "s3cr3t-key");
    assert_eq!(entry["env"]["OTHER"], "other-value");
}

#[test]
fn a_preview_shows_no_secret_of_any_server() {
    let home = Home::new("secrets");
    let old = r#"{"mcpServers":{"o":{"command":"npx","args":["--key=s3cr3t-1"],"env":{"K":"s3cr3t-2"}},
        "p":{"url":"https://x/s3cr3t-3","headers":{"Authorization":"Bearer s3cr3t-4"}}}}"#;
    home.write(CURSOR, old);
    let ran = home.run(&["install", "cursor"]).exits(0);
    assert!(ran.out.contains("\"K\":\"…\""), "{ran:?}");
    assert!(!format!("{ran:?}").contains("s3cr3t"), "{ran:?}");
    for client in ["cursor", "claude-code"] {
        let ran = home.run(&["install", client, "--dry-run", "--env", "TOKEN=s3cr3t-5"]).exits(0);
        assert!(ran.out.contains("TOKEN") && !format!("{ran:?}").contains("s3cr3t"), "{ran:?}");
    }
}

#[test]
fn a_file_that_does_not_parse_is_refused_with_the_line() {
    let home = Home::new("malformed");
    let cases = [
        ("{\n  \"mcpServers\": {\n    \"a\": {\n", ":3:10: unterminated object"),
        ("{\n  \"mcpServers\": {} \"b\": 1\n}", ":2:19: expected comma"),
        ("{\n  'mcpServers': {}\n}", ":2:3: single-quoted strings are not allowed"),
        ("[]", ":1:1: a configuration must be an object"),
        ("{\n  \"mcpServers\": []\n}", ":2:17: `mcpServers` must be an object"),
        ("{\n  \"mcpServers\": null\n}", ":2:17: `mcpServers` must be an object"),
        ("{\"mcpServers\": {},\n \"mcpServers\": {}}", ":2:2: `mcpServers` occurs twice in the same object"),
        ("{\"mcpServers\": {\"fixture_tools\": {},\n\"fixture_tools\": {}}}", ":2:1: `fixture_tools` occurs twice"),
        ("{\"mcpServers\": {\"fixture_tools\": 1}}", ":1:34: `fixture_tools` must be an object"),
        (&"[".repeat(100_000), "maximum nesting depth exceeded"),
        ("<<<<<<< HEAD\n{}\n", ":1:1: "),
    ];
    for (text, message) in cases {
        home.write(CURSOR, text);
        home.run(&["install", "cursor", "--yes"]).exits(1).says(message).says(CURSOR);
        assert_eq!(home.read(CURSOR), text);
    }
    home.write(CURSOR, "");
    fs::write(home.path(CURSOR), [0x7b, 0xff, 0x7d]).unwrap();
    home.run(&["install", "cursor", "--yes"]).exits(1).says("not UTF-8 text");
    test_support::ran(12);
}

#[test]
fn an_empty_file_and_one_of_comments_become_configurations() {
    for text in ["", "\n", "// nothing yet\n", "{}", "{\"mcpServers\":{}}"] {
        let home = Home::new("empty");
        home.write(CURSOR, text);
        home.run(&["install", "cursor", "--yes"]).exits(0);
        let written = home.read(CURSOR);
        let json = written.trim_start_matches("// nothing yet\n");
        assert_eq!(entry(json)["args"], json!(["serve"]), "{text:?}: {written}");
        assert_eq!(text.starts_with("//"), written.starts_with("// nothing yet\n"), "{written}");
    }
}

#[test]
fn the_entry_of_another_program_is_changed_only_by_force() {
    let home = Home::new("owner");
    let other = r#"{"mcpServers": {"fixture_tools": {"command": "/usr/bin/other"}}}"#;
    home.write(CURSOR, other);
    for args in [&["install", "cursor", "--yes"][..], &["uninstall", "cursor", "--yes"]] {
        home.run(args).exits(1).says("the server `fixture_tools` belongs to another program");
        assert_eq!(home.read(CURSOR), other);
    }
    home.run(&["install", "cursor", "--yes", "--name", "mine"]).exits(0);
    home.run(&["install", "cursor", "--yes", "--force"]).exits(0);
    assert_eq!(entry(&home.read(CURSOR))["args"], json!(["serve"]));
    // A program that was moved is the same program.
    home.write(CURSOR, &home.read(CURSOR).replace(&*TOOLS, "/old/fixture_tools"));
    home.run(&["install", "cursor", "--yes"]).exits(0);
}

#[test]
fn a_link_is_followed_and_the_permissions_remain() {
    let home = Home::new("link");
    let target = home.write("dotfiles/mcp.json", "{}\n");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(home.path(".cursor")).unwrap();
    symlink("../dotfiles/mcp.json", home.path(CURSOR)).unwrap();
    let ran = home.run(&["install", "cursor", "--yes"]).exits(0);
    let target = fs::canonicalize(target).unwrap();
    assert!(ran.out.contains(&format!("{CURSOR}, a link to {}\n", target.display())), "{ran:?}");
    assert!(fs::symlink_metadata(home.path(CURSOR)).unwrap().is_symlink());
    assert_eq!(entry(&home.read("dotfiles/mcp.json"))["args"], json!(["serve"]));
    let mode = |path: &str| fs::metadata(home.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("dotfiles/mcp.json"), mode("dotfiles/mcp.json.1.bak")), (0o640, 0o640));
    assert_eq!(home.read("dotfiles/mcp.json.1.bak"), "{}\n");
}

#[test]
fn what_cannot_be_replaced_is_refused() {
    let home = Home::new("refused");
    let path = home.write(CURSOR, "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    home.run(&["install", "cursor", "--yes"]).exits(1).says("the file is read-only");
    fs::remove_file(&path).unwrap();
    symlink("nowhere.json", &path).unwrap();
    home.run(&["install", "cursor", "--yes"]).exits(1).says("the link leads to a file that does not exist");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    home.run(&["install", "cursor", "--yes"]).exits(1).says("not a regular file");
}

#[test]
fn a_failed_installation_leaves_the_file_as_it_was() {
    let home = Home::new("full");
    let old = format!("{{\"padding\": \"{}\"}}", "x".repeat(200_000));
    home.write(CURSOR, &old);
    // The new file is larger than this process may write.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" install cursor --yes", &TOOLS]);
    let ran: Ran = shell.env("HOME", &home.0).current_dir(home.path("project")).output().unwrap().into();
    ran.exits(1).says(CURSOR);
    assert_eq!(home.read(CURSOR), old);
    let left: Vec<_> = fs::read_dir(home.path(".cursor")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["mcp.json"], "no part of the new file remains");
}

#[test]
fn concurrent_installations_lose_no_entry_that_was_reported_as_written() {
    let home = Home::new("concurrent");
    home.write(CURSOR, "{\"mcpServers\": {\"other\": {\"command\": \"npx\"}}}");
    let names: Vec<String> = (0..12).map(|nth| format!("n{nth}")).collect();
    let install = |name: &String| home.command(&["install", "cursor", "--yes", "--name", name]);
    let children: Vec<_> = names.iter().map(|name| install(name).stderr(Stdio::piped()).spawn().unwrap()).collect();
    let ran: Vec<Ran> = children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect();
    let config: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    assert_eq!(config["mcpServers"]["other"]["command"], "npx");
    let mut n_written = 0;
    for (name, ran) in names.iter().zip(ran) {
        if ran.code == Some(0) {
            n_written += 1;
            assert_eq!(config["mcpServers"][name]["args"], json!(["serve"]), "{name}: {ran:?}");
        } else {
            ran.exits(1).says("changed by another program");
        }
    }
    assert!(n_written > 0);
}

#[test]
fn credentials_are_stored_by_name_only() {
    let home = Home::new("credentials");
    let ran = home.run(&["install", "vscode", "--yes"]).exits(0);
    let text = home.read(".config/Code/User/mcp.json");
    let config: Value = serde_json::from_str(&text).unwrap();
    let entry = &config["servers"]["fixture_tools"];
    assert_eq!(entry["type"], "stdio");
    assert_eq!(entry["env"]["ALMANAC_KEY"], "${input:fixture_tools-ALMANAC_KEY}");
    assert_eq!(config["inputs"][0]["id"], "fixture_tools-ALMANAC_KEY");
    assert_eq!(config["inputs"][0]["password"], true);
    assert!(!text.contains("\"k\"") && !ran.out.contains("\"k\""), "the value in the environment is not written");
    home.run(&["install", "cursor", "--yes", "--env", "ALMANAC_KEY=v"])
        .exits(2)
        .says("the value of a credential is not stored in a configuration");
    home.run(&["install", "cursor", "--yes", "--env", "ROOT=/srv", "--env", "LANG"]).exits(0);
    let config: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    let env = &config["mcpServers"]["fixture_tools"]["env"];
    assert_eq!((&env["ROOT"], &env["LANG"]), (&json!("/srv"), &json!("${env:LANG}")));
    // The inputs are removed with the entry.
    home.run(&["uninstall", "vscode", "--yes"]).exits(0);
    let config: Value = serde_json::from_str(&home.read(".config/Code/User/mcp.json")).unwrap();
    assert_eq!(config, json!({ "servers": {}, "inputs": [] }));
}

#[test]
fn a_url_replaces_the_program_and_its_token_is_a_reference() {
    let home = Home::new("http");
    home.run(&["install", "cursor", "--yes"]).exits(0);
    let args = ["install", "cursor", "--yes", "--http", "https://example.com/mcp", "--token-env", "TOOLS_TOKEN"];
    home.run(&args).exits(0);
    let expected =
        json!({ "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer ${env:TOOLS_TOKEN}" } });
    assert_eq!(entry(&home.read(CURSOR)), expected);
    home.run(&args).exits(0).says("is up to date");
    // A URL names no program, and the entry is removed as it was added.
    home.run(&["uninstall", "cursor", "--yes"]).exits(0).says("wrote ");
    assert!(!home.read(CURSOR).contains("example.com"));
    home.run(&["install", "claude-desktop", "--http", "https://example.com/mcp"]).exits(2).says("has only programs");
    for url in ["example.com", "https://user:password@example.com", "https://", "https://e.com/a b", "file:///etc"] {
        home.run(&["install", "cursor", "--http", url]).exits(2);
    }
    home.run(&["install", "cursor", "--name", "a b"]).exits(2).says("must be 1 to 64 letters");
    home.run(&["install", "claude-desktop", "--scope", "project"]).exits(2).says("no configuration for one project");
}

#[test]
fn projects_have_configurations_of_their_own() {
    let home = Home::new("projects");
    for (client, path) in [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json"), ("vscode", ".vscode/mcp.json")]
    {
        home.run(&["install", client, "--scope", "project", "--yes"]).exits(0);
        let mode = fs::metadata(home.path("project").join(path)).unwrap().permissions().mode();
        assert_ne!(mode & 0o044, 0, "{path} is shared like other files of the project");
    }
    assert!(home.read("project/.mcp.json").contains("\"ALMANAC_KEY\": \"${ALMANAC_KEY:-}\""));
}

#[test]
fn claude_code_changes_the_configuration_of_the_user_itself() {
    let home = Home::new("claude");
    home.run(&["install", "claude-code", "--yes"])
        .exits(1)
        .says("`claude` is not installed here; where it is, run: claude mcp add-json");
    // A program in its place, which stores what it received.
    let claude =
        home.write("bin/claude", "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done > \"$HOME/received\"\n");
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = home.run(&["install", "claude-code"]).exits(0);
    assert!(ran.out.starts_with("claude mcp add-json --scope user fixture_tools '{"), "{ran:?}");
    assert!(!home.path("received").exists());
    home.run(&["install", "claude-code", "--yes"]).exits(0);
    let received = home.read("received");
    let words: Vec<&str> = received.lines().collect();
    assert_eq!(words[..5], ["mcp", "add-json", "--scope", "user", "fixture_tools"]);
    let entry: Value = serde_json::from_str(words[5]).unwrap();
    assert_eq!(entry["env"]["ALMANAC_KEY"], "${ALMANAC_KEY:-}");
    home.write(".claude.json", &json!({ "mcpServers": { "fixture_tools": entry }, "history": [] }).to_string());
    home.run(&["install", "claude-code", "--yes"]).exits(0).says("is up to date");
    home.run(&["install", "claude-code", "--yes", "--", "--read-only"])
        .exits(1)
        .says("remove it first: claude mcp remove");
}

#[test]
fn install_warns_of_what_its_client_leaves_out() {
    let home = Home::new("limits");
    let name = "a-server-whose-name-takes-most-of-the-room-that-cursor-has";
    let ran = home.run(&["install", "cursor", "--yes", "--name", name]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let warnings: Vec<&str> = ran.err.lines().filter(|line| line.ends_with("[host-name]")).collect();
    assert!(!warnings.is_empty(), "{ran:?}");
    for warning in warnings {
        assert!(warning.contains("in Cursor, which leaves the tool out above 59;"), "{warning}");
        assert!(!warning.contains("Claude"), "{warning}");
    }
    let ran = home.run(&["install", "claude-desktop", "--yes", "--name", name]);
    assert!(!ran.err.contains("[host-name]"), "{ran:?}");
}
