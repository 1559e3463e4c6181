//! Generates and builds the program that links the library.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ArgMatches;
use serde_json::Value;
use toml::Table;

use crate::package::{Package, cargo, quoted};

/// Builds the program for a command, and returns the path of its executable.
///
/// # Errors
///
/// Returns an error if the program cannot be written or built; cargo prints compiler errors to stderr.
pub(crate) fn build(package: &Package, matches: &ArgMatches, words: &[OsString]) -> Result<PathBuf, String> {
    let (mut command, is_new) = prepare(package, matches, words)?;
    command.args(["--message-format", "json-render-diagnostics"]);
    if is_new {
        // The first build compiles every dependency, which takes minutes.
        let _ =
            writeln!(anstream::stderr(), "note: building `{}` and its dependencies for the first time", package.name);
    }
    // Without a terminal, the messages of cargo would mix with the output of the tools.
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
    let executable = messages.filter_map(|message| executable(&serde_json::from_str(&message).ok()?)).last();
    match child.wait() {
        Ok(status) if status.success() => executable.ok_or_else(|| "cargo built no program".to_owned()),
        Ok(_) => Err(format!("cannot build the program that links `{}`", package.name)),
        Err(error) => Err(format!("cannot wait for cargo: {error}")),
    }
}

/// Writes the program for a command. Returns the command that builds it, and true if the program has changed.
///
/// # Errors
///
/// Returns an error if the program cannot be written.
pub(crate) fn prepare(package: &Package, matches: &ArgMatches, words: &[OsString]) -> Result<(Command, bool), String> {
    let directory = package.target_directory.join("cargo-toolkit").join(&package.name);
    let settings = settings(&package.workspace_root)?;
    let manifest = manifest(package, matches, &crate::features(words), &settings);
    let is_new = write(package, &manifest, &directory)
        .map_err(|error| format!("cannot write the program under {}: {error}", directory.display()))?;
    let mut command = cargo();
    command
        .arg("build")
        .arg("--manifest-path")
        .arg(directory.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&package.target_directory)
        // The `.cargo/config.toml` and the toolchain of the workspace apply.
        .current_dir(&package.workspace_root);
    for option in ["release", "offline"] {
        if matches.get_flag(option) {
            command.arg(format!("--{option}"));
        }
    }
    Ok((command, is_new))
}

/// Returns the path of the executable in a message of cargo.
pub(crate) fn executable(message: &Value) -> Option<PathBuf> {
    message["executable"].as_str().map(PathBuf::from)
}

/// Writes the changed files of the program. Returns true if a file has changed.
fn write(package: &Package, manifest: &str, directory: &Path) -> io::Result<bool> {
    fs::create_dir_all(directory.join("src"))?;
    let main = format!(
        "// Links the library, and with it its tools.\nuse {} as _;\n\nfn main() -> std::process::ExitCode {{\n    \
         toolkit_cli::Program::new({:?}, {:?}).main()\n}}\n",
        package.krate, package.name, package.version
    );
    let mut is_new = update(&directory.join("Cargo.toml"), manifest)?;
    is_new |= update(&directory.join("src/main.rs"), &main)?;
    if let Ok(lock) = fs::read_to_string(package.workspace_root.join("Cargo.lock")) {
        // cargo adds entries to `Cargo.lock`, so changes of the workspace are detected with a copy of its lock file.
        if update(&directory.join("seed.lock"), &lock)? {
            fs::write(directory.join("Cargo.lock"), &lock)?;
            is_new = true;
        }
    }
    Ok(is_new)
}

/// Writes `text` if the file has another content. An unchanged file keeps its modification time.
fn update(path: &Path, text: &str) -> io::Result<bool> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(false);
    }
    fs::write(path, text)?;
    Ok(true)
}

fn manifest(package: &Package, matches: &ArgMatches, features_of_cli: &[&str], settings: &str) -> String {
    let mut features: Vec<&String> = matches.get_many("features").unwrap_or_default().collect();
    if matches.get_flag("all-features") {
        features.extend(&package.features);
    }
    let features = list(features.into_iter().map(String::as_str));
    let features_of_cli = list(features_of_cli.iter().copied());
    let default_features = !matches.get_flag("no-default-features");
    let Package { name, edition, toolkit_cli, .. } = package;
    let directory = quoted(&package.directory.to_string_lossy());
    // The package name is also the name of the binary, which must be unique in the target directory.
    format!(
        "# Generated by `cargo toolkit`; changes are overwritten.\n\
         [package]\nname = \"cargo-toolkit-{name}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\npublish = false\n\n\
         [dependencies]\n\
         {name} = {{ path = {directory}, default-features = {default_features}, features = {features} }}\n\
         toolkit-cli = {{ {toolkit_cli}, default-features = false, features = {features_of_cli} }}\n\n\
         # Separate from the surrounding workspace, but with the same settings.\n[workspace]\n\n{settings}"
    )
}

/// Returns a TOML array.
fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(quoted).collect();
    format!("[{}]", names.join(", "))
}

/// Returns the `[patch]` and `[profile]` sections of the workspace in `root`, as TOML. They affect the linked packages and
/// how they are built.
///
/// # Errors
///
/// Returns an error if the manifest cannot be read or is not TOML, although cargo has read it before.
fn settings(root: &Path) -> Result<String, String> {
    let path = root.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let manifest: Table = text.parse().map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut settings: Table =
        manifest.into_iter().filter(|(name, _)| matches!(name.as_str(), "patch" | "profile")).collect();
    if let Some(toml::Value::Table(sources)) = settings.get_mut("patch") {
        for package in sources.iter_mut().filter_map(|(_, source)| source.as_table_mut()).flatten() {
            anchor(package.1, root);
        }
    }
    toml::to_string(&settings).map_err(|error| format!("cannot write the settings of {}: {error}", path.display()))
}

/// Makes a path absolute, which is relative to the directory of the manifest.
fn anchor(package: &mut toml::Value, root: &Path) {
    if let Some(toml::Value::String(path)) = package.get_mut("path") {
        *path = root.join(&*path).to_string_lossy().into_owned();
    }
}
