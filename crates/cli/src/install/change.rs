//! Changes of configuration files: shown, confirmed, and made.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use clap::ArgMatches;

use super::claude_code::{self, ClaudeCommand};
use super::client::Scope;
use super::document::Document;
use super::entry::Entry;
use super::file::ConfigFile;
use super::launch::executable;
use super::location::Os;
use super::options::{Target, failed, usage};
use super::preview;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::style::{self, printable};

/// A change of one file.
struct Change {
    file: ConfigFile,
    new: String,
}

/// Adds the entry to each configuration of the client, or changes it there.
pub(super) fn install(target: &Target, entry: &Entry, matches: &ArgMatches) -> Result<Exit, CommandError> {
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
        note(&format!("{} reads no environment variables; set {names} in the file", target.client.title()));
    }
    Ok(Exit::Success)
}

/// Removes the entry from each configuration of the client.
pub(super) fn uninstall(target: &Target, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let files = target.files()?;
    if files.is_empty() {
        let command = ClaudeCommand::remove(&target.name);
        return run(&command, matches);
    }
    let mut changes = Vec::new();
    for path in files {
        let (file, document) = read(target, ConfigFile::read(path).map_err(failed)?)?;
        if document.has(&target.name) && !matches.get_flag("force") && !is_ours(target, &document)? {
            return Err(other_program(target, &file.path));
        }
        if document.has(&target.name) {
            document.remove(&target.name);
            changes.push(Change { new: document.to_string(), file });
        }
    }
    if changes.is_empty() {
        note(&format!("{} has no server `{}`", target.client.title(), target.name));
        return Ok(Exit::Success);
    }
    make(target, changes, matches)?;
    Ok(Exit::Success)
}

/// Parses a configuration.
fn read(target: &Target, file: ConfigFile) -> Result<(ConfigFile, Document), CommandError> {
    let document = Document::parse(file.text(), target.client.servers_key(), &target.name).map_err(|error| {
        failed(format!("{}:{}:{}: {}", file.path.display(), error.line, error.column, error.message))
    })?;
    Ok((file, document))
}

/// Rejects the entry of another server.
fn check_owner(
    target: &Target,
    file: &ConfigFile,
    document: &Document,
    entry: &Entry,
    matches: &ArgMatches,
) -> Result<(), CommandError> {
    let url = document.text_field(&target.name, "url");
    let is_same_url =
        url.is_some_and(|url| entry.fields.iter().any(|(field, value)| *field == "url" && *value == *url));
    if !document.has(&target.name) || matches.get_flag("force") || is_same_url || is_ours(target, document)? {
        return Ok(());
    }
    Err(other_program(target, &file.path))
}

/// Returns true if the entry starts a program with the file name of this one, which may have been moved.
fn is_ours(target: &Target, document: &Document) -> Result<bool, CommandError> {
    let own = executable()?;
    let file_name = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
    let command = document.text_field(&target.name, "command");
    Ok(command.is_some_and(|command| file_name(&command) == file_name(&own)))
}

fn other_program(target: &Target, path: &Path) -> CommandError {
    failed(format!(
        "{}: the server `{}` belongs to another program; --name sets another name, and --force changes the entry",
        path.display(),
        target.name
    ))
}

/// Shows the changes, and makes them if the user agrees.
fn make(target: &Target, changes: Vec<Change>, matches: &ArgMatches) -> Result<(), CommandError> {
    let (changes, same): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|change| change.new != change.file.text());
    for Change { file, .. } in &same {
        note(&format!("{} is up to date", file.path.display()));
    }
    let mut out = anstream::stdout();
    for Change { file, new } in &changes {
        file.check_writable().map_err(failed)?;
        writeln!(out, "{}{}{}", style::BOLD, printable(&file.path.display().to_string()), style::BOLD.clear())?;
        preview::write(&mut out, file.text(), new)?;
    }
    if changes.is_empty() || !is_confirmed(matches)? {
        return Ok(());
    }
    for Change { file, new } in &changes {
        let backup = file.replace(new, target.scope == Scope::User).map_err(failed)?;
        let kept = backup.map(|backup| format!("; the old file is {}", backup.display())).unwrap_or_default();
        note(&format!("wrote {}{kept}", file.path.display()));
    }
    note(&format!("{} reads its configuration when it starts", target.client.title()));
    Ok(())
}

/// Adds a server of the user to Claude Code, by its own command.
fn install_with_claude(target: &Target, entry: &Entry, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let path = claude_code::file(target.places.variable, target.places.home(Os::CURRENT)).map_err(usage)?;
    let (file, document) = read(target, ConfigFile::read(path).map_err(failed)?)?;
    if document.has(&target.name) {
        check_owner(target, &file, &document, entry, matches)?;
        document.set(&target.name, entry);
        if document.to_string() == file.text() {
            note(&format!("{} is up to date", file.path.display()));
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
    if is_confirmed(matches)? {
        command.run().map_err(failed)?;
    }
    Ok(Exit::Success)
}

/// Returns true if the change shall be made.
fn is_confirmed(matches: &ArgMatches) -> io::Result<bool> {
    if matches.get_flag("yes") {
        return Ok(true);
    }
    if matches.get_flag("dry-run") {
        return Ok(false);
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        note("nothing was changed; --yes makes the change");
        return Ok(false);
    }
    write!(anstream::stderr(), "Make this change? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn note(message: &str) {
    // Errors while writing to stderr cannot be reported.
    let _ = writeln!(anstream::stderr(), "{} {}", style::NOTE, printable(message));
}
