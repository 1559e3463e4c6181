//! The program that links the library: written, built, found.

use std::fs;
use std::io;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::ArgMatches;
use serde_json::Value;

use crate::command;
use crate::metadata::cargo;
use crate::package::{Package, quoted};
use crate::workspace;

/// Builds the program and says where it is.
///
/// # Errors
///
/// It cannot be written, or cargo cannot build it; cargo says why on stderr.
pub(crate) fn build(package: &Package, matches: &ArgMatches) -> Result<PathBuf, String> {
    let folder = package.target_directory.join("cargo-toolkit").join(&package.name);
    let settings = workspace::settings(&package.workspace_root)?;
    let manifest = manifest(package, matches, &settings);
    let is_new = write(package, &manifest, &folder)
        .map_err(|error| format!("cannot write the program under {}: {error}", folder.display()))?;

    let mut command = cargo();
    command
        .args(["build", "--message-format", "json-render-diagnostics"])
        .arg("--manifest-path")
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&package.target_directory)
        // So that the workspace's `.cargo/config.toml` and toolchain hold.
        .current_dir(&package.workspace_root);
    for option in ["release", "offline"] {
        if matches.get_flag(option) {
            command.arg(format!("--{option}"));
        }
    }
    if is_new {
        // It compiles every dependency, which takes minutes.
        let _ =
            writeln!(anstream::stderr(), "note: building `{}` with its tools; later builds are quick", package.name);
    }
    // cargo prints its progress to a terminal only; elsewhere its lines would mix with those of the tools.
    if !(is_new && io::stderr().is_terminal()) {
        command.arg("--quiet");
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let messages = child.stdout.take().map(BufReader::new);
    let messages = messages.into_iter().flat_map(|messages| messages.lines().map_while(Result::ok));
    let executable = messages.filter_map(|message| executable(&message)).last();
    match child.wait() {
        Ok(status) if status.success() => executable.ok_or_else(|| "cargo built no program".to_owned()),
        Ok(_) => Err(format!("`{}` does not build as a dependency of the program", package.name)),
        Err(error) => Err(format!("cannot wait for cargo: {error}")),
    }
}

/// The program that a message of cargo's is about.
fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

/// Writes what has changed, and says whether anything has.
fn write(package: &Package, manifest: &str, folder: &Path) -> io::Result<bool> {
    fs::create_dir_all(folder.join("src"))?;
    let main = format!(
        "// Links the library, and with it its tools.\nuse {} as _;\n\nfn main() -> std::process::ExitCode {{\n    \
         toolkit_cli::Program::new({:?}, {:?}).main()\n}}\n",
        package.krate, package.name, package.version
    );
    let mut is_new = update(&folder.join("Cargo.toml"), manifest)?;
    is_new |= update(&folder.join("src/main.rs"), &main)?;
    if let Ok(lock) = fs::read_to_string(package.workspace_root.join("Cargo.lock")) {
        // cargo adds to its lock file what the package has not, so a copy of the seed says when to sow anew.
        if update(&folder.join("seed.lock"), &lock)? {
            fs::write(folder.join("Cargo.lock"), &lock)?;
            is_new = true;
        }
    }
    Ok(is_new)
}

/// Writes `text` where something else stands, and leaves the file's time alone where not.
fn update(path: &Path, text: &str) -> io::Result<bool> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(false);
    }
    fs::write(path, text)?;
    Ok(true)
}

fn manifest(package: &Package, matches: &ArgMatches, settings: &str) -> String {
    let mut features: Vec<&String> = matches.get_many("features").unwrap_or_default().collect();
    if matches.get_flag("all-features") {
        features.extend(&package.features);
    }
    let features = list(features.into_iter().map(String::as_str));
    let features_of_cli = list(command::features(matches));
    let default_features = !matches.get_flag("no-default-features");
    let Package { name, edition, toolkit_cli, .. } = package;
    let folder = quoted(&package.folder.to_string_lossy());
    // The name is the binary's too, and must not be that of anything else in the target directory.
    format!(
        "# Written by `cargo toolkit`, and written again when it is run.\n\
         [package]\nname = \"cargo-toolkit-{name}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\npublish = false\n\n\
         [dependencies]\n\
         {name} = {{ path = {folder}, default-features = {default_features}, features = {features} }}\n\
         toolkit-cli = {{ {toolkit_cli}, default-features = false, features = {features_of_cli} }}\n\n\
         # Not part of the workspace around it, but built like it.\n[workspace]\n\n{settings}"
    )
}

/// A TOML array.
fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(quoted).collect();
    format!("[{}]", names.join(", "))
}
