//! `serve` and `export` of the command line.

use std::process::{Command, Output};

use test_support::program;
use toolkit_otc::OtcBackend;

use super::provider::Provider;
use super::*;

fn serve(args: &[&str]) -> Output {
    Command::new(program("fixture_otc")).arg("serve").args(args).env("NO_COLOR", "1").output().unwrap()
}

#[test]
fn an_unprotected_command_line_is_rejected() {
    for (args, said) in [
        (&["--allow-unauthenticated"][..], "--otc"),
        (&["--otc", "0", "--read-only"], "cannot be used with"),
        (&["--otc", "nowhere"], "expected a host and a port"),
        (&["--otc", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0: set SERVE_TOKEN"),
        (&["--otc", "0", "--token-env", "NOT_SET"], "the environment variable `NOT_SET` is not set"),
        (&["--otc", "0", "--token-env", "A", "--jwt-secret-env", "B"], "cannot be used with"),
    ] {
        let ran = serve(args);
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}

#[test]
fn a_short_token_is_rejected_where_other_machines_reach_the_server() {
    for (variable, args) in [("SERVE_TOKEN", &[][..]), ("TOKEN_OF_TEST", &["--token-env", "TOKEN_OF_TEST"])] {
        let mut command = Command::new(program("fixture_otc"));
        let ran = command.args(["serve", "--otc", "0.0.0.0:0"]).args(args).env(variable, "short").output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{err}");
        assert!(
            err.contains("use a token of at least 16 random characters, such as that of `openssl rand -hex 16`"),
            "{err}"
        );
    }
}

#[tokio::test]
async fn unpublished_tools_are_reported() {
    let provider = Provider::start("told");
    let line = "warning: omitted: its output schema has a `$ref`";
    assert!(
        provider.warnings.starts_with(line) && provider.warnings.contains("Wood:grow:1.0.0"),
        "{}",
        provider.warnings
    );
    let dispatcher = dispatcher_on(OtcBackend::new("remote", &provider.url).unwrap()).await;
    assert!(dispatcher.catalog().get("Wood:grow").is_none() && dispatcher.catalog().get("Math:add").is_some());
}

#[test]
fn the_export_equals_the_published_list() {
    let export = |args: &[&str]| {
        let mut command = Command::new(program("fixture_otc"));
        let ran = command.args(["export", "--format", "otc"]).args(args).env("NO_COLOR", "1").output().unwrap();
        assert!(ran.status.success());
        assert!(String::from_utf8_lossy(&ran.stderr).starts_with("warning: omitted: its output schema has a `$ref`"));
        serde_json::from_slice::<Value>(&ran.stdout).unwrap()
    };
    let listed = export(&[]);
    assert_eq!(listed["$schema"], "urn:oxp:1.0");
    let ids: Vec<&str> = listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["id"].as_str()).collect();
    assert!(ids.contains(&"Math.add@1.0.0") && ids.contains(&"fixture_otc.shout@0.0.0"), "{ids:?}");
    assert!(export(&["--toolkit", "Mine"]).to_string().contains("\"Mine.shout@0.0.0\""));
}

#[test]
fn an_address_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = serve(&["--otc", &address]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains(&format!("cannot listen at {address}: ")));
}
