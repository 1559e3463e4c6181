//! Changes of configuration files: shown without the secrets in them, confirmed, and made, for the user of Claude Code by its
//! own command. A file is replaced as a whole.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anstyle::{AnsiColor, Style};
use clap::ArgMatches;
use jsonc_parser::parse_to_serde_value;
use serde_json::{Map, Value};
use toolkit_runtime::{FileAccess, Replacement, read_regular_file};

use super::client::{DEV, Entry, Scope, executable, stem};
use super::document::{self, Document};
use super::places::Os;
use super::{ChangedConfig, failed};
use crate::error::{CommandError, Exit};
use crate::report::is_confirmed;
use crate::stderr::say;
use crate::style::{self, NOTE, printable};

/// A change of one file.
struct Change {
    file: ConfigFile,
    new: String,
}

/// Adds the entry to each configuration of the client, or changes it there.
pub(super) fn install(target: &ChangedConfig, entry: &Entry, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let key = target.client.servers_key();
    if matches.get_flag("print") {
        let document = Document::parse("", key, &target.name).expect("an empty configuration is valid");
        document.set(&target.name, entry);
        style::write_line(document.to_string().trim_end())?;
        return Ok(Exit::Success);
    }
    let files = target.files()?;
    if files.is_empty() {
        return install_with_claude(target, entry, matches);
    }
    let (mut changes, mut empty) = (Vec::new(), BTreeSet::new());
    for path in files {
        let (file, document) = read(target, ConfigFile::read(path).map_err(failed)?)?;
        check_owner(target, &file, &document, entry, matches)?;
        document.set(&target.name, entry);
        empty.extend(document.empty_variables(&target.name, &entry.to_fill_in));
        changes.push(Change { new: document.to_string(), file });
    }
    make(target, changes, matches)?;
    if !empty.is_empty() {
        let names = empty.into_iter().collect::<Vec<_>>().join(", ");
        say(NOTE, &format!("{} reads no environment variables; set {names} in the file", target.client.title()));
    }
    Ok(Exit::Success)
}

/// Removes the entry from each configuration of the client.
pub(super) fn uninstall(target: &ChangedConfig, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let files = target.files()?;
    if files.is_empty() {
        let command = ClaudeCommand::remove(&target.name);
        return run(&command, matches);
    }
    let mut changes = Vec::new();
    for path in files {
        let (file, document) = read(target, ConfigFile::read(path).map_err(failed)?)?;
        // A URL names no program: the entry of `install --http` is known by its name.
        let is_url = || document.text_field(&target.name, "command").is_none() && url(target, &document).is_some();
        if document.has(&target.name) && !matches.get_flag("force") && !is_url() && !is_ours(target, &document)? {
            return Err(other_program(target, &file.path));
        }
        if document.has(&target.name) {
            document.remove(&target.name);
            changes.push(Change { new: document.to_string(), file });
        }
    }
    if changes.is_empty() {
        say(NOTE, &format!("{} has no server `{}`", target.client.title(), target.name));
        return Ok(Exit::Success);
    }
    make(target, changes, matches)?;
    Ok(Exit::Success)
}

/// Parses a configuration.
fn read(target: &ChangedConfig, file: ConfigFile) -> Result<(ConfigFile, Document), CommandError> {
    let document = Document::parse(file.text(), target.client.servers_key(), &target.name).map_err(|error| {
        failed(format!("{}:{}:{}: {}", file.path.display(), error.line, error.column, error.message))
    })?;
    Ok((file, document))
}

/// Rejects the entry of another server.
fn check_owner(
    target: &ChangedConfig,
    file: &ConfigFile,
    document: &Document,
    entry: &Entry,
    matches: &ArgMatches,
) -> Result<(), CommandError> {
    let is_same_url = url(target, document)
        .is_some_and(|url| entry.fields.iter().any(|(field, value)| *field == "url" && *value == *url));
    if !document.has(&target.name) || matches.get_flag("force") || is_same_url || is_ours(target, document)? {
        return Ok(());
    }
    Err(other_program(target, &file.path))
}

/// Returns the URL of the entry, if it has one.
fn url(target: &ChangedConfig, document: &Document) -> Option<String> {
    document.text_field(&target.name, "url")
}

/// Returns true if the entry starts a program with the file name of this one, which may have been moved, or builds it.
fn is_ours(target: &ChangedConfig, document: &Document) -> Result<bool, CommandError> {
    let own = executable()?;
    let file_name = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
    let arguments = document.texts(&target.name, "args");
    if arguments.starts_with(&DEV.map(str::to_owned)) {
        let name = stem()?;
        return Ok(arguments.windows(2).any(|words| words[0] == "--bin" && words[1] == name));
    }
    let command = document.text_field(&target.name, "command");
    Ok(command.is_some_and(|command| file_name(&command) == file_name(&own)))
}

fn other_program(target: &ChangedConfig, path: &Path) -> CommandError {
    failed(format!(
        "{}: the server `{}` belongs to another program; --name sets another name, and --force changes the entry",
        path.display(),
        target.name
    ))
}

/// Shows the changes, and makes them if the user agrees.
fn make(target: &ChangedConfig, changes: Vec<Change>, matches: &ArgMatches) -> Result<(), CommandError> {
    let (changes, same): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|change| change.new != change.file.text());
    for Change { file, .. } in &same {
        say(NOTE, &format!("{} is up to date", file.path.display()));
    }
    let mut out = anstream::stdout();
    for Change { file, new } in &changes {
        file.check_writable().map_err(failed)?;
        writeln!(out, "{}{}{}", style::BOLD, printable(&file.heading()), style::BOLD.clear())?;
        write_difference(&mut out, file.text(), new)?;
    }
    if changes.is_empty() || !may_change(matches)? {
        return Ok(());
    }
    for Change { file, new } in &changes {
        let backup = file.replace(new, target.scope == Scope::User).map_err(failed)?;
        let kept = backup.map(|backup| format!("; the old file is {}", backup.display())).unwrap_or_default();
        say(NOTE, &format!("wrote {}{kept}", file.path.display()));
    }
    say(NOTE, &format!("{} reads its configuration when it starts", target.client.title()));
    Ok(())
}

/// Adds a server of the user to Claude Code, by its own command.
fn install_with_claude(target: &ChangedConfig, entry: &Entry, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let path =
        claude_code_file(target.places.variable, target.places.home(Os::CURRENT)).map_err(CommandError::usage)?;
    let (file, document) = read(target, ConfigFile::read(path).map_err(failed)?)?;
    if document.has(&target.name) {
        check_owner(target, &file, &document, entry, matches)?;
        document.set(&target.name, entry);
        if document.to_string() == file.text() {
            say(NOTE, &format!("{} is up to date", file.path.display()));
            return Ok(Exit::Success);
        }
        // Its values would be visible in the list of processes.
        let message = format!(
            "Claude Code already has another entry `{}`; remove it first: {}",
            target.name,
            ClaudeCommand::remove(&target.name).line()
        );
        return Err(failed(message));
    }
    run(&ClaudeCommand::add(&target.name, entry), matches)
}

/// Shows a command, and runs it if the user agrees.
fn run(command: &ClaudeCommand, matches: &ArgMatches) -> Result<Exit, CommandError> {
    writeln!(anstream::stdout(), "{}", printable(&command.line()))?;
    if may_change(matches)? {
        command.run().map_err(failed)?;
    }
    Ok(Exit::Success)
}

/// Returns true if the change shall be made.
fn may_change(matches: &ArgMatches) -> io::Result<bool> {
    let kept = "nothing was changed; --yes makes the change";
    Ok(!matches.get_flag("dry-run") && is_confirmed(matches, "Make this change?", kept)?)
}

/// The program of Claude Code.
const PROGRAM: &str = "claude";

/// A command of Claude Code.
struct ClaudeCommand(Vec<String>);

impl ClaudeCommand {
    /// Creates the command that adds a server for the user. The entry contains no secret.
    fn add(server: &str, entry: &Entry) -> Self {
        let fields = entry.fields.iter().map(|(field, value)| ((*field).to_owned(), value.clone()));
        let json = Value::Object(fields.collect::<Map<_, _>>()).to_string();
        Self(["mcp", "add-json", "--scope", "user", server, &json].map(str::to_owned).to_vec())
    }

    /// Creates the command that removes a server of the user.
    fn remove(server: &str) -> Self {
        Self(["mcp", "remove", "--scope", "user", server].map(str::to_owned).to_vec())
    }

    /// Returns the command for a shell, without secrets.
    fn line(&self) -> String {
        let word = |word: &String| style::shell_word(&masked(word, &secrets(word, &SECRET_FIELDS)));
        let words: Vec<String> = self.0.iter().map(word).collect();
        format!("{PROGRAM} {}", words.join(" "))
    }

    /// Runs the command, whose output goes to stderr.
    ///
    /// # Errors
    ///
    /// Returns an error if Claude Code is not installed or fails.
    fn run(&self) -> Result<(), String> {
        let output = Command::new(PROGRAM).args(&self.0).output();
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                format!("`{PROGRAM}` is not installed here; where it is, run: {}", self.line())
            }
            _ => format!("cannot run `{PROGRAM}`: {error}"),
        })?;
        let mut err = anstream::stderr();
        for text in [output.stdout, output.stderr] {
            // Errors while writing to stderr cannot be reported.
            let _ = write!(err, "{}", printable(&String::from_utf8_lossy(&text)));
        }
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("`{PROGRAM}` failed with {}", output.status)),
        }
    }
}

/// Returns the file in which Claude Code stores the servers of the user.
fn claude_code_file(
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    home: Result<PathBuf, String>,
) -> Result<PathBuf, String> {
    match variable("CLAUDE_CONFIG_DIR") {
        Some(directory) => Ok(directory.join(".claude.json")),
        None => Ok(home?.join(".claude.json")),
    }
}

/// The number of unchanged lines around a change.
const CONTEXT: usize = 2;

/// Writes the changed lines. One entry was changed, so they are next to each other.
fn write_difference(out: &mut impl Write, old: &str, new: &str) -> io::Result<()> {
    let mut secrets = secrets(old, &["env", "headers", "args", "url"]);
    // The arguments of the new entry are what the user reviews.
    secrets.extend(self::secrets(new, &SECRET_FIELDS));
    let (old, new) = (old.split_inclusive('\n').collect::<Vec<_>>(), new.split_inclusive('\n').collect::<Vec<_>>());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let n_after = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let first = start.saturating_sub(CONTEXT);
    let range = |lines: &[&str]| first..(lines.len() - n_after + CONTEXT).min(lines.len());
    let header = |lines: &[&str]| match range(lines) {
        range if range.is_empty() => format!("{},0", range.start),
        range => format!("{},{}", range.start + 1, range.len()),
    };
    writeln!(out, "@@ -{} +{} @@", header(&old), header(&new))?;
    let mut write = |sign: char, style: Style, lines: &[&str]| {
        lines.iter().try_for_each(|line| {
            let line = masked(line.trim_end_matches(['\r', '\n']), &secrets);
            writeln!(out, "{style}{sign}{}{style:#}", printable(&line))
        })
    };
    let (old_end, new_end) = (old.len() - n_after, new.len() - n_after);
    write(' ', Style::new(), &old[first..start])?;
    write('-', AnsiColor::Red.on_default(), &old[start..old_end])?;
    write('+', AnsiColor::Green.on_default(), &new[start..new_end])?;
    write(' ', Style::new(), &old[old_end..range(&old).end])
}

/// The fields of a server whose texts are secrets in a new entry too.
const SECRET_FIELDS: [&str; 2] = ["env", "headers"];

/// Returns the texts in these fields of all servers of a configuration, in quotes.
fn secrets(text: &str, fields: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Ok(root) = parse_to_serde_value::<Value>(text, &document::parse_options()) {
        collect_secrets(&root, fields, false, &mut found);
    }
    found
}

fn collect_secrets(value: &Value, secret: &[&str], is_secret: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if is_secret && !text.is_empty() && !text.starts_with("${") => {
            found.push(Value::String(text.clone()).to_string());
        }
        Value::Array(items) => items.iter().for_each(|item| collect_secrets(item, secret, is_secret, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_secret = is_secret || secret.contains(&&**name);
                collect_secrets(value, secret, is_secret, found);
            }
        }
        _ => {}
    }
}

fn masked(line: &str, secrets: &[String]) -> String {
    secrets.iter().fold(line.to_owned(), |line, secret| line.replace(&**secret, "\"…\""))
}

/// The size above which a file is not a configuration.
const MAX_BYTES: u64 = 16 << 20;
/// The number of backups of one file.
const MAX_BACKUPS: usize = 1_000;

/// A configuration file, as it was read.
struct ConfigFile {
    /// The path, for readers.
    path: PathBuf,
    /// The file itself, which differs from the path if that is a link.
    target: PathBuf,
    /// The text and the metadata; `None` if the file does not exist.
    present: Option<(String, Metadata)>,
}

impl ConfigFile {
    /// Reads a file, which may be absent.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is a link to nothing, not a file, or not text.
    fn read(path: PathBuf) -> Result<Self, String> {
        let error = |reason: &dyn std::fmt::Display| format!("{}: {reason}", path.display());
        let is_link = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.is_symlink(),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { target: path.clone(), path, present: None });
            }
            Err(other) => return Err(error(&other)),
        };
        let target = match fs::canonicalize(&path) {
            Ok(target) if is_link => target,
            Ok(_) => path.clone(),
            Err(missing) if is_link && missing.kind() == io::ErrorKind::NotFound => {
                return Err(error(&"the link leads to a file that does not exist"));
            }
            Err(other) => return Err(error(&other)),
        };
        let metadata = fs::metadata(&target).map_err(|other| error(&other))?;
        let bytes = read_regular_file(&target, MAX_BYTES).map_err(|other| error(&other))?;
        let text = String::from_utf8(bytes).map_err(|_| error(&"not UTF-8 text"))?;
        Ok(Self { path, target, present: Some((text, metadata)) })
    }

    /// Returns the path, with the file to which it leads if it is a link.
    fn heading(&self) -> String {
        match self.target == self.path {
            true => self.path.display().to_string(),
            false => format!("{}, a link to {}", self.path.display(), self.target.display()),
        }
    }

    /// Returns the text, which is empty for an absent file.
    fn text(&self) -> &str {
        self.present.as_ref().map_or("", |(text, _)| text)
    }

    /// Returns an error if the file may not be replaced.
    fn check_writable(&self) -> Result<(), String> {
        match &self.present {
            Some((_, metadata)) if metadata.permissions().readonly() => {
                Err(format!("{}: the file is read-only", self.path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the file, after a backup, and returns the path of the backup. Readers see the old text or the new one.
    ///
    /// # Errors
    ///
    /// Returns an error if the file has changed since it was read, or cannot be replaced.
    fn replace(&self, text: &str, is_private: bool) -> Result<Option<PathBuf>, String> {
        self.check_writable()?;
        let error = |reason: &dyn std::fmt::Display| format!("{}: {reason}", self.path.display());
        let directory = self.target.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|other| error(&other))?;
        let access = match &self.present {
            Some((_, metadata)) => FileAccess::Like(metadata),
            None if is_private => FileAccess::Owner,
            None => FileAccess::Default,
        };
        let replacement = Replacement::create(&self.target, access).map_err(|other| error(&other))?;
        replacement.file().write_all(text.as_bytes()).map_err(|other| error(&other))?;
        // Other runs of this command wait here, and then find a file that has changed.
        #[cfg(unix)]
        let locked = fs::File::open(directory).map_err(|other| error(&other))?;
        #[cfg(unix)]
        locked.lock().map_err(|other| error(&other))?;
        let backup = match &self.present {
            Some(_) => Some(self.back_up()?),
            None => None,
        };
        // As late as possible, since another program may write it at any time.
        if !self.is_unchanged() {
            return Err(error(&"the file was changed by another program; run the command again"));
        }
        let committed = match self.present {
            Some(_) => replacement.commit(),
            None => replacement.commit_new(),
        };
        committed.map_err(|other| error(&other))?;
        Ok(backup)
    }

    /// Copies the file beside itself, with its permissions.
    fn back_up(&self) -> Result<PathBuf, String> {
        let error = |reason: &dyn std::fmt::Display| format!("{}: cannot make a backup: {reason}", self.path.display());
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let backups = (1..=MAX_BACKUPS).map(|nth| self.target.with_file_name(format!("{name}.{nth}.bak")));
        for backup in backups {
            // A copy with the same text need not be repeated.
            if fs::read(&backup).is_ok_and(|kept| kept == self.text().as_bytes()) {
                return Ok(backup);
            }
            if fs::symlink_metadata(&backup).is_err() {
                fs::copy(&self.target, &backup).map_err(|other| error(&other))?;
                return Ok(backup);
            }
        }
        Err(error(&format!("there are {MAX_BACKUPS} of them")))
    }

    fn is_unchanged(&self) -> bool {
        match &self.present {
            Some((text, _)) => fs::read(&self.target).is_ok_and(|now| now == text.as_bytes()),
            None => fs::symlink_metadata(&self.target).is_err(),
        }
    }
}
