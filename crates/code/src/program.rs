//! Programs of a model: the text and its language.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A program in a language that an [`Engine`](crate::engine::Engine) runs.
///
/// # Examples
///
/// ```
/// use toolkit_code::{Language, Program};
///
/// let program = Program::javascript("return 1 + 1");
/// assert_eq!(program.language, Language::JavaScript);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Program {
    /// The language.
    pub language: Language,
    /// The text, as the model wrote it.
    pub code: String,
    /// The time of the start as the program sees it, in milliseconds since 1970. Time passes for it only with the
    /// answers to its calls, so that it can be repeated.
    pub started_at: u64,
    /// The seed of the random numbers that the program reads.
    pub seed: u64,
    /// The functions by which it calls tools: for each path such as `math.add` the id of the tool.
    pub functions: BTreeMap<String, String>,
}

/// The language of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Language {
    /// JavaScript (ECMAScript 2023) without modules, files and network.
    #[default]
    JavaScript,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JavaScript => "javascript",
        })
    }
}

impl Program {
    /// Creates a program in JavaScript. It is the body of an asynchronous function: it may `await` and `return`.
    #[must_use]
    pub fn javascript(code: impl Into<String>) -> Self {
        Self { language: Language::JavaScript, code: code.into(), started_at: 0, seed: 0, functions: BTreeMap::new() }
    }
}
