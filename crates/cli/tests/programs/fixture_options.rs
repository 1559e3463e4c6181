//! A program with options of its own. Its tool returns their values.

use std::path::PathBuf;
use std::process::ExitCode;

use toolkit::{Catalog, tool};

#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// The file with the notes
    #[arg(long, value_name = "FILE", required_unless_present = "in_memory")]
    db: Option<PathBuf>,
    /// Keep the notes in memory
    #[arg(long, conflicts_with = "db")]
    in_memory: bool,
    /// Change nothing
    #[arg(long, short = 'f')]
    frozen: bool,
    /// Notes of a page
    #[arg(long, default_value_t = 20)]
    page_size: u32,
    /// How notes are ordered
    #[arg(long, value_parser = ["age", "title"], default_value = "age")]
    order: String,
    /// The labels of new notes
    #[arg(long = "label")]
    labels: Vec<String>,
    /// The key of the backup
    #[arg(long, env = "BACKUP_KEY", hide_env_values = true)]
    backup_key: Option<String>,
}

/// Options whose names no command may take.
#[derive(clap::Args)]
struct Clash {
    #[arg(long)]
    json: bool,
    #[arg(short = 'y', long)]
    yes: bool,
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let program = toolkit_cli::program!().description("Keeps notes").authors("Ada Lovelace <ada@example.com>");
    if std::env::var_os("FIXTURE_CLASH").is_some() {
        return program.options(|_: Clash, program| Ok(program)).main();
    }
    if std::env::var_os("FIXTURE_EMPTY").is_some() {
        return program.catalog(|_| Ok(Catalog::new([])?)).main();
    }
    program.options(|options: Options, program| Ok(program.dispatcher(|calls| Ok(calls.state(options))))).main()
}

/// Returns the options, and the argument `db`, which has the name of one.
#[tool(namespace = "notes", read_only)]
fn options(options: &Options, db: Option<String>) -> String {
    format!("{options:?} {db:?}")
}
