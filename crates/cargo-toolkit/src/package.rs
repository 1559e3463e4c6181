//! The package with the tools, from `cargo metadata`, and the source of the matching `toolkit-cli`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::ArgMatches;
use serde_json::Value;

/// The name of the package of the library `toolkit`.
pub(crate) const TOOLKIT: &str = "toolkit-core";

/// A library with tools.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The crate name of the library.
    pub(crate) krate: String,
    pub(crate) directory: PathBuf,
    pub(crate) edition: String,
    pub(crate) features: Vec<String>,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    /// The source of `toolkit-cli`, as keys of a dependency.
    pub(crate) toolkit_cli: String,
}

impl Package {
    /// Finds the package that the command line selects.
    ///
    /// # Errors
    ///
    /// Returns an error if no package or several packages match, or if the package has no library or does not depend on
    /// `toolkit-core`.
    pub(crate) fn find(matches: &ArgMatches) -> Result<Self, String> {
        check_manifest(matches)?;
        let wanted = matches.get_one::<String>("package").map(String::as_str);
        if wanted.is_some() {
            // Report a missing package or library before downloading dependencies.
            library_of(choose(&workspace(matches)?, wanted, "library", |_| true)?)?;
        }
        let metadata = with_dependencies(matches)?;
        let package = choose(&metadata, wanted, "library", |package| package.library.is_some())?;
        let library = library_of(package)?;
        let toolkit = toolkit_dependency(&metadata, package)
            .ok_or_else(|| format!("`{}` does not depend on `{TOOLKIT}`", package.name))?;
        let directory = package.manifest_path.parent().map(PathBuf::from);
        Ok(Self {
            name: package.name.clone(),
            version: package.version.clone(),
            krate: library.replace('-', "_"),
            directory: directory.ok_or("the manifest has no parent directory")?,
            edition: package.edition.clone(),
            features: package.features.clone(),
            toolkit_cli: toolkit_cli_source(toolkit)?,
            workspace_root: metadata.workspace_root.clone(),
            target_directory: metadata.target_directory.clone(),
        })
    }
}

/// A package whose sources `dev` watches.
#[derive(Debug)]
pub(crate) struct WatchedPackage {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) manifest_path: PathBuf,
    /// The program with the tools. `None` for a library.
    pub(crate) program: Option<String>,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    /// The directories of the package and of the packages of its workspace that it depends on.
    pub(crate) directories: Vec<PathBuf>,
}

impl WatchedPackage {
    /// Finds the package that the command line selects, and the program `program` in it.
    ///
    /// # Errors
    ///
    /// Returns an error if no package or several packages or programs match, or if the package does not depend on `toolkit`.
    pub(crate) fn find(matches: &ArgMatches, program: Option<&str>) -> Result<Self, String> {
        check_manifest(matches)?;
        let metadata = with_dependencies(matches)?;
        let wanted = matches.get_one::<String>("package").map(String::as_str);
        let package = choose(&metadata, wanted, "program or library", |package| match program {
            Some(program) => package.programs.iter().any(|name| name == program),
            None => package.library.is_some() || !package.programs.is_empty(),
        })?;
        if toolkit_dependency(&metadata, package).is_none() {
            return Err(format!("`{}` does not depend on `{TOOLKIT}`", package.name));
        }
        let linked = reachable(&metadata, package).into_iter();
        let directories = linked.filter(|other| metadata.workspace_members.contains(&other.id));
        Ok(Self {
            name: package.name.clone(),
            version: package.version.clone(),
            manifest_path: package.manifest_path.clone(),
            program: package.program(program)?,
            workspace_root: metadata.workspace_root.clone(),
            target_directory: metadata.target_directory.clone(),
            directories: directories.filter_map(|other| other.manifest_path.parent().map(PathBuf::from)).collect(),
        })
    }
}

/// Checks that there is a manifest, before cargo reports that there is none and names options of its own.
fn check_manifest(matches: &ArgMatches) -> Result<(), String> {
    if let Some(path) = matches.get_one::<PathBuf>("manifest-path") {
        let is_there = path.is_file();
        return is_there.then_some(()).ok_or_else(|| format!("--manifest-path: there is no file {}", path.display()));
    }
    let directory = std::env::current_dir().map_err(|error| format!("cannot read the current directory: {error}"))?;
    match directory.ancestors().any(|directory| directory.join("Cargo.toml").is_file()) {
        true => Ok(()),
        false => Err(format!(
            "there is no Cargo.toml in {} or above it; run the command in a package with tools, which \
             `cargo toolkit new NAME` writes, or name one with --manifest-path",
            directory.display()
        )),
    }
}

/// Returns the library of the selected package.
fn library_of(package: &PackageMetadata) -> Result<&str, String> {
    package.library.as_deref().ok_or_else(|| {
        format!(
            "`{}` has no library that can be linked; a program with \
             `fn main() -> std::process::ExitCode {{ toolkit_cli::program!().main() }}` has the same commands: \
             `cargo run -- COMMAND`",
            package.name
        )
    })
}

/// Returns the package `wanted`, or that of the manifest, or else the only one that has tools and is `suitable`, which one with a
/// target of that kind is.
fn choose<'m>(
    metadata: &'m Metadata,
    wanted: Option<&str>,
    kind: &str,
    suitable: impl Fn(&PackageMetadata) -> bool,
) -> Result<&'m PackageMetadata, String> {
    let members: Vec<&PackageMetadata> =
        metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id)).collect();
    if let Some(name) = wanted {
        let found = members.into_iter().find(|package| package.name == name);
        return found.ok_or_else(|| format!("the workspace has no package `{name}`"));
    }
    if let Some(root) = &metadata.root {
        let found = members.into_iter().find(|package| package.id == *root);
        return found.ok_or_else(|| "cargo names a package that it does not list".to_owned());
    }
    let has_tools = |package: &'m PackageMetadata| suitable(package) && toolkit_dependency(metadata, package).is_some();
    let candidates: Vec<&PackageMetadata> = members.into_iter().filter(|package| has_tools(package)).collect();
    match candidates[..] {
        [package] => Ok(package),
        [] => Err(format!("no {kind} of the workspace depends on `{TOOLKIT}`")),
        _ => {
            let names = candidates.iter().map(|package| format!("`{}`", package.name));
            let names: Vec<String> = names.collect();
            Err(format!("several packages depend on `{TOOLKIT}`; choose one with `-p`: {}", names.join(", ")))
        }
    }
}

/// Returns a package, its dependencies, theirs, and so on, each once. The direct ones come first.
fn reachable<'m>(metadata: &'m Metadata, package: &'m PackageMetadata) -> Vec<&'m PackageMetadata> {
    let packages: BTreeMap<&str, &PackageMetadata> =
        metadata.packages.iter().map(|package| (&*package.id, package)).collect();
    let (mut found, mut seen, mut next) = (vec![package], BTreeSet::from([&*package.id]), 0);
    while let Some(package) = found.get(next) {
        let dependencies = metadata.dependencies.get(&package.id).into_iter().flatten();
        let unseen = dependencies.filter(|id| seen.insert(id));
        found.extend(unseen.filter_map(|id| packages.get(&**id)));
        next += 1;
    }
    found
}

/// Returns the direct or transitive dependency `toolkit-core` of a package. If several versions are linked, it is the direct one.
fn toolkit_dependency<'m>(metadata: &'m Metadata, package: &'m PackageMetadata) -> Option<&'m PackageMetadata> {
    reachable(metadata, package).into_iter().skip(1).find(|found| found.name == TOOLKIT)
}

/// Returns the source of `toolkit-cli`, which is that of `toolkit-core`: another source would link a second one without
/// the tools.
fn toolkit_cli_source(toolkit: &PackageMetadata) -> Result<String, String> {
    match toolkit.source.as_deref() {
        None => {
            let directory = toolkit.manifest_path.parent().and_then(|directory| directory.parent());
            let directory = directory.map(|directory| directory.join("crates/cli"));
            match directory.filter(|directory| directory.join("Cargo.toml").exists()) {
                Some(directory) => Ok(format!("path = {}", quoted(&directory.to_string_lossy()))),
                None => Err(format!(
                    "there is no `crates/cli` beside the directory of {}; `cargo toolkit` needs the whole repository",
                    toolkit.manifest_path.display()
                )),
            }
        }
        Some(source) => match source.strip_prefix("git+") {
            Some(git) => Ok(git_dependency(git)),
            None => Ok(registry_dependency(source, &toolkit.version)),
        },
    }
}

/// Converts a source such as `https://host/repo?branch=main#0a1b…` to a dependency.
fn git_dependency(source: &str) -> String {
    let (place, _commit) = source.split_once('#').unwrap_or((source, ""));
    let (url, query) = place.split_once('?').unwrap_or((place, ""));
    let reference = query.split_once('=').map(|(key, value)| format!(", {key} = {}", quoted(value)));
    // The lock file of the workspace, which the program uses, contains the commit.
    format!("git = {}{}", quoted(url), reference.unwrap_or_default())
}

/// Returns a dependency on the same version from the same registry. crates.io is the default.
fn registry_dependency(source: &str, version: &str) -> String {
    const PUBLIC: [&str; 2] =
        ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];
    let registry = (!PUBLIC.contains(&source)).then(|| source.strip_prefix("registry+").unwrap_or(source));
    let registry = registry.map(|index| format!(", registry-index = {}", quoted(index)));
    format!("version = {}{}", quoted(&format!("={version}")), registry.unwrap_or_default())
}

/// Returns a TOML string. The escapes of JSON are valid in TOML.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The relevant output of `cargo metadata`.
#[derive(Debug)]
struct Metadata {
    packages: Vec<PackageMetadata>,
    workspace_members: Vec<String>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
    /// The package of the manifest. `None` for a virtual workspace, or if the dependencies were not read.
    root: Option<String>,
    /// The ids of the dependencies of each package, by its id.
    dependencies: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
struct PackageMetadata {
    id: String,
    name: String,
    version: String,
    /// `None` for a path dependency.
    source: Option<String>,
    manifest_path: PathBuf,
    edition: String,
    /// The name of the library, if other crates can link it.
    library: Option<String>,
    programs: Vec<String>,
    /// The program that `cargo run` runs, if the package names one.
    default_program: Option<String>,
    features: Vec<String>,
}

impl Metadata {
    /// Reads the output of `cargo metadata`. Returns `None` if it has another form.
    fn from_json(output: &Value) -> Option<Self> {
        let resolve = &output["resolve"];
        let nodes = resolve["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let dependencies = nodes.iter().map(|node| Some((text(&node["id"])?, texts(&node["dependencies"])?)));
        Some(Self {
            packages: output["packages"].as_array()?.iter().map(PackageMetadata::from_json).collect::<Option<_>>()?,
            workspace_members: texts(&output["workspace_members"])?,
            workspace_root: text(&output["workspace_root"])?.into(),
            target_directory: text(&output["target_directory"])?.into(),
            root: text(&resolve["root"]),
            dependencies: dependencies.collect::<Option<_>>()?,
        })
    }
}

impl PackageMetadata {
    fn from_json(package: &Value) -> Option<Self> {
        let is_kind = |target: &Value, accepted: &[&str]| {
            let kinds = target["kind"].as_array().into_iter().flatten();
            kinds.into_iter().any(|kind| accepted.iter().any(|accepted| kind == accepted))
        };
        let targets = package["targets"].as_array()?;
        let library = targets.iter().find(|target| is_kind(target, &["lib", "rlib", "dylib"]));
        let programs = targets.iter().filter(|target| is_kind(target, &["bin"]));
        Some(Self {
            id: text(&package["id"])?,
            name: text(&package["name"])?,
            version: text(&package["version"])?,
            source: text(&package["source"]),
            manifest_path: text(&package["manifest_path"])?.into(),
            edition: text(&package["edition"])?,
            library: library.and_then(|target| text(&target["name"])),
            programs: programs.map(|target| text(&target["name"])).collect::<Option<_>>()?,
            default_program: text(&package["default_run"]),
            features: package["features"].as_object()?.keys().cloned().collect(),
        })
    }

    /// Returns the program of that name, or the only one or the default. `None` for a library.
    fn program(&self, wanted: Option<&str>) -> Result<Option<String>, String> {
        let names = || self.programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match (wanted.or(self.default_program.as_deref()), &self.programs[..]) {
            (Some(name), programs) if programs.iter().any(|program| program == name) => Ok(Some(name.to_owned())),
            (Some(name), []) => Err(format!("`{}` has no program `{name}`; it has none", self.name)),
            (Some(name), _) => Err(format!("`{}` has no program `{name}`; its programs are {}", self.name, names())),
            (None, []) => Ok(None),
            (None, [program]) => Ok(Some(program.clone())),
            (None, _) => Err(format!("`{}` has several programs; choose one with --bin: {}", self.name, names())),
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
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
fn workspace(matches: &ArgMatches) -> Result<Metadata, String> {
    metadata(matches, &["--no-deps"])
}

/// Reads the packages of the workspace and all of their dependencies, which cargo downloads if necessary.
///
/// # Errors
///
/// As for [`workspace`].
fn with_dependencies(matches: &ArgMatches) -> Result<Metadata, String> {
    // `toolkit-core` may be an optional dependency.
    let mut options = vec!["--all-features".to_owned()];
    // Without the filter, cargo needs the dependencies of all platforms, which may be missing offline.
    options.extend(host().map(|host| format!("--filter-platform={host}")));
    metadata(matches, &options)
}

fn metadata(matches: &ArgMatches, options: &[impl AsRef<OsStr>]) -> Result<Metadata, String> {
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
    let output: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cannot read the output of `cargo metadata`: {error}"))?;
    Metadata::from_json(&output).ok_or_else(|| "the output of `cargo metadata` has an unknown form".to_owned())
}

/// Returns the host platform of rustc.
fn host() -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(host.to_owned())
}
