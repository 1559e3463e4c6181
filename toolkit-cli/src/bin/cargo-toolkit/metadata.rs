//! What `cargo metadata` says, as far as it matters here.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::ArgMatches;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<PackageMetadata>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PackageMetadata {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// `None` for a package on a path.
    pub(crate) source: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) edition: String,
    pub(crate) targets: Vec<Target>,
    pub(crate) features: std::collections::BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    /// The package of the manifest that was asked about; a virtual workspace has none.
    pub(crate) root: Option<String>,
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    /// The ids of what it depends on.
    pub(crate) dependencies: Vec<String>,
}

/// The cargo that runs us, or the one in the path.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Asks cargo about the workspace.
///
/// # Errors
///
/// cargo cannot be run, or there is no workspace; it says why on stderr.
pub(crate) fn read(matches: &ArgMatches) -> Result<Metadata, String> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1"]);
    // Optional dependencies may bring `toolkit` in.
    command.arg("--all-features");
    // Without it, cargo wants the sources of every platform's dependencies, which an offline machine does not have.
    if let Some(host) = host() {
        command.args(["--filter-platform", &host]);
    }
    if let Some(path) = matches.get_one::<PathBuf>("manifest-path") {
        command.arg("--manifest-path").arg(path);
    }
    if matches.get_flag("offline") {
        command.arg("--offline");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err("`cargo metadata` failed".to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cannot read what `cargo metadata` says: {error}"))
}

/// The platform that programs are built for here.
fn host() -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(host.to_owned())
}
