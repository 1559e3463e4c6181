//! Options of several commands and of disabled features, and the name of the program.

use std::fmt;
use std::fs::File;
use std::path::Path;
#[cfg(any(feature = "durable", feature = "proxy"))]
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use toolkit::catalog::Naming;
use toolkit::internals::parse_duration;
use toolkit_runtime::read_bounded;

/// Returns the name of the program as the user typed it.
pub(crate) fn program_name() -> String {
    if let Ok(name) = std::env::var("TOOLKIT_PROGRAM") {
        return name;
    }
    let path = std::env::args_os().next().unwrap_or_default();
    let stem = Path::new(&path).file_stem().unwrap_or_default();
    match stem.to_string_lossy() {
        name if name.is_empty() => "tools".to_owned(),
        name => name.into_owned(),
    }
}

/// Creates the switch `--json`.
pub(crate) fn json_switch(help: &'static str) -> Arg {
    switch("json").help(help)
}

/// Creates an option with a value.
pub(crate) fn option(name: &'static str, value_name: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value_name)
}

/// Creates an option without a value.
pub(crate) fn switch(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

/// Creates the option `--naming`.
pub(crate) fn naming_option() -> Arg {
    Arg::new("naming")
        .long("naming")
        .value_parser(["name", "namespace-name"])
        .default_value("namespace-name")
        .hide_default_value(true)
        .hide_possible_values(true)
        .help("`namespace-name` (default) lists `math_add`, and `name` lists `add`")
}

/// Returns the value of `--naming`.
pub(crate) fn naming(matches: &ArgMatches) -> Naming {
    match matches.get_one::<String>("naming").map(String::as_str) {
        Some("name") => Naming::Name,
        _ => Naming::NamespaceName,
    }
}

/// The maximum size of a manifest or a lock.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// Reads a file of at most `max` bytes of text, or stdin for `-`. An error contains the path.
pub(crate) fn read_text(path: &Path, max: u64) -> Result<String, String> {
    let read = match path.to_str() {
        Some("-") => read_bounded(std::io::stdin().lock(), max),
        _ => File::open(path).and_then(|file| read_bounded(file, max)),
    };
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    String::from_utf8(read.map_err(|error| failed(&error))?).map_err(|error| failed(&error))
}

/// Parses a duration: a number and a unit, or a number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = || text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = parse_duration(text).or_else(seconds);
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a number above zero and a unit, such as 30s, 500ms or 2m".to_owned())
}

/// Returns the options of the place of durable chains. `is_switch` is true if a command has another meaning without
/// `--durable`; otherwise, its place is then the default.
#[cfg(any(feature = "chain", feature = "serve"))]
pub(crate) fn durable_options(help: &'static str, is_switch: bool) -> [Arg; 2] {
    let place = option("durable", "FILE | URL").num_args(0..=1).help(format!(
        "{help}: runs.db, or postgres://USER@HOST/DATABASE [default: a file in the directory for the state of this program]"
    ));
    let application = option("application", "NAME").help("Name that workers and callers share [default: the program]");
    let application = if is_switch { application.requires("durable") } else { application };
    [place, application].map(|arg| unless(cfg!(feature = "durable"), "durable", arg))
}

/// Returns the directory for the state of a program, such as its logins.
#[cfg(any(feature = "durable", feature = "proxy"))]
pub(crate) fn state_directory(program: &str) -> Option<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = if cfg!(windows) {
        named("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        std::env::home_dir().map(|home| home.join("Library/Application Support"))
    } else {
        let default = || std::env::home_dir().map(|home| home.join(".local/state"));
        named("XDG_STATE_HOME").filter(|path| path.is_absolute()).or_else(default)
    };
    let name = program.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c), "_");
    state.filter(|path| path.is_absolute()).map(|path| path.join(name))
}

/// Returns the option if its feature is enabled, and otherwise a hidden option of the same name that rejects every value.
pub(crate) fn unless(is_on: bool, feature: &'static str, arg: Arg) -> Arg {
    if is_on {
        return arg;
    }
    let name = arg.get_id().to_string();
    let absent = Arg::new(name.clone()).long(name).hide(true).num_args(0..=1).default_missing_value("");
    absent.value_parser(move |_: &str| Err::<String, _>(MissingFeature(feature)))
}

/// Returns a hidden command that accepts any arguments.
pub(crate) fn disabled_command(name: &'static str) -> Command {
    let words = Arg::new("words").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
    Command::new(name).hide(true).disable_help_flag(true).arg(words)
}

/// The error of a command or an option of a disabled feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingFeature(pub(crate) &'static str);

impl fmt::Display for MissingFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(feature) = self;
        write!(
            f,
            "this program was built without the feature `{feature}` of `toolkit-cli`; \
             enable it in Cargo.toml: `toolkit-cli = {{ ..., features = [\"{feature}\"] }}`"
        )
    }
}

impl std::error::Error for MissingFeature {}
