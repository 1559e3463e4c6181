//! `cargo toolkit new`: writes a small program or library with a tool, a test, a lock file of its tools, and a CI file, from the
//! texts in `templates` of this package.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::package::{TOOLKIT, cargo, quoted};

/// A kind of package that `new` writes.
struct NewPackage {
    /// The option that selects it.
    name: &'static str,
    about: &'static str,
    /// The source files beside `tools.rs`.
    source: (&'static str, &'static str),
    /// The packages of this release.
    packages: &'static [&'static str],
    /// The other dependencies, as lines of TOML.
    dependencies: &'static str,
    /// The commands for a user to run next.
    commands: &'static str,
}

/// The kinds; the first one is the default.
const KINDS: [NewPackage; 3] = [
    NewPackage {
        name: "mcp",
        about: "A command-line program and MCP server (the default)",
        source: ("src/main.rs", include_str!("../templates/mcp.rs")),
        packages: &[TOOLKIT, "toolkit-cli"],
        dependencies: "clap = { version = \"4\", features = [\"derive\"] }\n",
        commands: "cargo test\n\
                   cargo run -- call money:share --cents 1000 --people 4\n\
                   cargo run -- serve                # MCP over stdio\n\
                   cargo run -- install cursor       # adds it to a client: also claude-desktop, claude-code and vscode\n",
    },
    NewPackage {
        name: "agent",
        about: "A program that sends a question to a model and runs the tools that it calls",
        source: ("src/main.rs", include_str!("../templates/agent.rs")),
        packages: &[TOOLKIT, "toolkit-providers", "toolkit-tower"],
        dependencies: "tokio = { version = \"1\", features = [\"rt-multi-thread\"] }\n\
                       ureq = { version = \"3\", default-features = false, features = [\"rustls\"] }\n",
        commands: "cargo test\n\
                   export ANTHROPIC_API_KEY=… ANTHROPIC_MODEL=…\n\
                   cargo run -- \"Four people pay 10 euros. How much does each of them pay?\"\n",
    },
    NewPackage {
        name: "library",
        about: "A library of tools for other programs",
        source: ("src/lib.rs", include_str!("../templates/library.rs")),
        packages: &[TOOLKIT],
        dependencies: "",
        commands: "cargo test\n\
                   cargo toolkit list\n\
                   cargo toolkit call money:share --cents 1000 --people 4\n",
    },
];

/// The files of every kind.
const FILES: [(&str, &str); 3] = [
    ("src/tools.rs", include_str!("../templates/tools.rs")),
    ("tools.lock.json", include_str!("../templates/tools.lock.json")),
    (".github/workflows/ci.yml", include_str!("../templates/ci.yml")),
];

/// What the CI file says if the dependencies are in a directory of this machine.
const PATHS_IN_CI: &str = concat!(
    "      # Cargo.toml has the paths of toolkit on the machine that wrote this file. Write `git = URL` instead of each `path`,\n",
    "      # or check its repository out here at the same path.\n",
);

/// The profile of dependencies, whose code the author of tools does not debug.
const PROFILE: &str =
    "# Dependencies are built faster without debug information.\n[profile.dev.package.\"*\"]\ndebug = false\n";

pub(crate) fn command() -> Command {
    let kinds = KINDS
        .iter()
        .map(|kind| Arg::new(kind.name).long(kind.name).action(ArgAction::SetTrue).group("kind").help(kind.about));
    Command::new("new")
        .about("Write a small program or library with a tool, a test, a lock file and a CI file")
        .arg(
            Arg::new("path")
                .value_name("NAME")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The directory, whose last part is the name of the package"),
        )
        .args(kinds)
}

/// Writes the package, and returns what to run next.
///
/// # Errors
///
/// Returns an error if the name is not that of a new package, if the directory exists, or if a file cannot be written.
pub(crate) fn run(matches: &ArgMatches) -> Result<String, String> {
    let path = matches.get_one::<PathBuf>("path").ok_or("a name is required")?;
    let kind = KINDS.iter().find(|kind| matches.get_flag(kind.name)).unwrap_or(&KINDS[0]);
    if path.symlink_metadata().is_ok() {
        return Err(format!("{} already exists; write the name of a new directory", path.display()));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let other =
        format!("write another name, such as `cargo toolkit new {}`", path.with_file_name("my-tools").display());
    if kind.packages.iter().chain(&["toolkit", "toolkit-contract"]).any(|used| *used == name) {
        return Err(format!("the new package depends on another `{name}`; {other}"));
    }
    let mut new = cargo();
    new.args(["new", "--quiet", "--edition", "2024"]).args((kind.name == "library").then_some("--lib")).arg(path);
    let output = new.stdin(Stdio::null()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        // The other lines are about options of `cargo new`.
        let reason = printed.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("`cargo new` failed");
        let remedy = if reason.contains("package name") { format!("; {other}") } else { String::new() };
        return Err(format!("cannot create {}: {reason}{remedy}", path.display()));
    }
    // Warnings, such as that of a name that is not in the style of Rust.
    let _ = anstream::stderr().write_all(printed.as_bytes());
    write(kind, path, &name).map_err(|error| format!("cannot write the files in {}: {error}", path.display()))?;
    let indented: String = kind.commands.lines().map(|line| format!("  {line}\n")).collect();
    Ok(format!("created `{name}`\n\n  cd {}\n{indented}", path.display()))
}

fn write(kind: &NewPackage, path: &Path, name: &str) -> io::Result<()> {
    let krate = name.replace('-', "_");
    let repository = repository();
    let checkout = if repository.is_some() { PATHS_IN_CI } else { "" };
    for (file, text) in FILES.iter().chain([&kind.source]) {
        let file = path.join(file);
        fs::create_dir_all(file.parent().unwrap_or(path))?;
        fs::write(file, text.replace("{{krate}}", &krate).replace("{{checkout}}", checkout))?;
    }
    let readme = format!("# {name}\n\n```sh\n{}```\n", kind.commands);
    fs::write(path.join("README.md"), readme)?;

    let dependency = |package: &str| match &repository {
        Some(root) => {
            let folder = match package.strip_prefix("toolkit-") {
                Some(name) if package != TOOLKIT => root.join("crates").join(name),
                _ => root.join("toolkit"),
            };
            format!("{package} = {{ path = {} }}\n", quoted(&folder.to_string_lossy()))
        }
        None => format!("{package} = {}\n", quoted(env!("CARGO_PKG_VERSION"))),
    };
    let packages: String = kind.packages.iter().map(|package| dependency(package)).collect();
    let manifest = path.join("Cargo.toml");
    let written = fs::read_to_string(&manifest)?;
    // In a workspace with lints, their table follows.
    let (start, rest) = written.split_once(DEPENDENCIES).unwrap_or((&written, ""));
    let tests = dependency("toolkit-contract");
    let profile = if is_member(path) { "" } else { PROFILE };
    let dependencies = format!("{DEPENDENCIES}{}{packages}\n[dev-dependencies]\n{tests}", kind.dependencies);
    fs::write(manifest, [start, &dependencies, rest, "\n", profile].concat().trim_end().to_owned() + "\n")
}

/// The line of the manifest after which dependencies stand.
const DEPENDENCIES: &str = "[dependencies]\n";

/// Returns true if the package belongs to a workspace around it, whose manifest has the profiles.
fn is_member(path: &Path) -> bool {
    let mut locate = cargo();
    locate.args(["locate-project", "--workspace", "--message-format", "plain"]).current_dir(path).stdin(Stdio::null());
    let root = locate.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let is_own =
        |root: String| Path::new(&root).parent().and_then(|root| root.canonicalize().ok()) == path.canonicalize().ok();
    root.is_some_and(|root| !root.is_empty() && !is_own(root))
}

/// Returns the repository of this release if this program was built in it, and `None` if it was built from a registry.
fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().ok()?;
    root.join("toolkit/Cargo.toml").is_file().then_some(root)
}
