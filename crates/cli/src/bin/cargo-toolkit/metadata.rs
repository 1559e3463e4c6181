//! The relevant output of `cargo metadata`.

use std::ffi::OsStr;
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
    /// `None` if the dependencies were not read.
    pub(crate) resolve: Option<Resolve>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PackageMetadata {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// `None` for a path dependency.
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

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Resolve {
    /// The package of the manifest, or `None` for a virtual workspace.
    pub(crate) root: Option<String>,
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    /// The ids of its dependencies.
    pub(crate) dependencies: Vec<String>,
}

/// Returns a command for the cargo that runs this program, or the one in `PATH`.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Reads the packages of the workspace without their dependencies, so nothing is downloaded.
///
/// # Errors
///
/// Returns an error if cargo cannot be run or there is no workspace; cargo prints the reason to stderr.
pub(crate) fn workspace(matches: &ArgMatches) -> Result<Metadata, String> {
    read(matches, &["--no-deps"])
}

/// Reads the packages of the workspace and all of their dependencies, which cargo downloads if necessary.
///
/// # Errors
///
/// As for [`workspace`].
pub(crate) fn with_dependencies(matches: &ArgMatches) -> Result<Metadata, String> {
    // `toolkit` may be an optional dependency.
    let mut options = vec!["--all-features".to_owned()];
    // Without the filter, cargo needs the dependencies of all platforms, which may be missing offline.
    options.extend(host().map(|host| format!("--filter-platform={host}")));
    read(matches, &options)
}

fn read(matches: &ArgMatches, options: &[impl AsRef<OsStr>]) -> Result<Metadata, String> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1"]).args(options);
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
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cannot read the output of `cargo metadata`: {error}"))
}

/// Returns the host platform of rustc.
fn host() -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(host.to_owned())
}
