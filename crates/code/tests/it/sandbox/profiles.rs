//! Profiles.

use serde_json::{Value, json};
use toolkit_code::sandbox::{CommandLine, Process, Sandbox, SandboxError};
use toolkit_code::{Limits, Profile};

use super::{in_the_end, native};

#[test]
fn the_profiles_of_the_earlier_system_are_known() {
    let Some(cases) = test_support::shared_json("cases/runtime.json") else { return };
    let rows = cases["profiles"].as_array().unwrap();
    for row in rows {
        let name = row["profile"].as_str().unwrap();
        assert_eq!(name.parse::<Profile>().is_ok(), row["valid"] == true, "{name}");
        let read: Profile = serde_json::from_value(row["profile"].clone()).unwrap();
        assert_eq!(read.to_string(), name);
    }
    test_support::ran(rows.len());
}

#[test]
fn an_unknown_profile_is_an_error_that_names_the_profiles() {
    let error = "strict".parse::<Profile>().unwrap_err();
    assert_eq!(error.to_string(), "unknown profile \"strict\", expected `dev`, `standard` or `hardened`");
}

#[tokio::test]
async fn hardened_accepts_a_worker_that_is_completely_confined() {
    let sandbox = native().profile(Profile::Hardened);
    let session = in_the_end(sandbox.open(&Limits::default())).await.unwrap();
    assert!(session.enforced().iter().count() >= 8);
}

/// A worker that confirms this.
fn worker(ready: &Value) -> Process {
    let script = format!("read -r hello; echo '{}'; read -r start", json!({ "ready": ready }));
    Process::command("script", CommandLine::new("/bin/sh").args(["-c", &script]))
}

#[tokio::test]
async fn hardened_refuses_a_worker_that_lacks_something() {
    let limits = Limits::default();
    let without_network = json!({
        "version": 1,
        "enforced": ["steps", "memory", "cpu", "processes", "disk", "files", "environment"],
        "missing": ["seccomp: it is not supported"],
    });
    assert!(in_the_end(worker(&without_network).open(&limits)).await.is_ok());
    let hardened = worker(&without_network).profile(Profile::Hardened);
    let error = in_the_end(hardened.open(&limits)).await.err().unwrap();
    let expected = "the profile `hardened` requires what is not enforced: seccomp: it is not supported; network";
    assert!(matches!(&error, SandboxError::Unavailable { reason, .. } if reason == expected), "{error:?}");
}
