//! The same texts in Python's bm25s, if it is installed.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use crate::corpus::Corpus;

const SCRIPT: &str = include_str!("by_bm25s.py");

/// Prints its row, or how to install it. It builds and queries in a separate process, after the others and not in turns
/// with them.
pub(crate) fn print(corpus: &Corpus) -> Result<(), Box<dyn Error>> {
    let python = std::env::var_os("BM25S_PYTHON").map_or_else(|| "target/bm25s/bin/python".into(), PathBuf::from);
    let folder = std::env::temp_dir();
    let [texts, questions] = ["texts", "questions"].map(|name| folder.join(format!("{name}-{}", std::process::id())));
    std::fs::write(&texts, corpus.texts.join("\n"))?;
    std::fs::write(&questions, corpus.questions.join("\n"))?;
    let printed = Command::new(&python).arg("-c").arg(SCRIPT).args([&texts, &questions]).output();
    std::fs::remove_file(texts)?;
    std::fs::remove_file(questions)?;
    match printed {
        Ok(output) if output.status.success() => print!("{}", String::from_utf8_lossy(&output.stdout)),
        _ => println!(
            "| | Python's bm25s is not there: `python3 -m venv target/bm25s && target/bm25s/bin/pip install bm25s==0.3.16` | | | | | | |"
        ),
    }
    Ok(())
}
