//! Implementation detail of the `toolkit` crate, which documents this macro.
//!
//! A file goes through `manifest` (what tools it has), then each schema through `simplify` (what a type can say of it)
//! and `types` (the type itself, by `typify`, or something plainer); `tidy` reads what `typify` wrote, `write`
//! writes it as ours, and `expand` puts the module together. Every mistake is an error at the literal it comes from.

mod arguments;
mod branches;
mod doc;
mod expand;
mod manifest;
mod name;
mod pointer;
mod simplify;
mod suggest;
mod tidy;
mod types;
mod words;
mod write;

use proc_macro::TokenStream;

/// A module of typed functions, made while compiling from the tools that another server lists.
///
/// ```ignore
/// toolkit::import!(mod github = "github.json", only = ["create_issue"]);
///
/// let issue = github::create_issue::Args::new("octocat", "hello", "It works").labels(["good news"]);
/// let created = github::create_issue(&dispatcher, issue).await?;
/// ```
///
/// The path begins at the folder of the package's Cargo.toml. The file is the result of `tools/list`, an array of tools,
/// or a lock, of which the tools of one server are taken. Attributes and `pub` in front of `mod` go to the module.
///
/// | option | meaning |
/// |---|---|
/// | `server = "…"` | the namespace of the tools in the catalogue; the module's name unless given |
/// | `only = ["…"]`, `except = ["…"]` | which tools, by the names under which the file has them |
/// | `crate = ::path` | where `toolkit` is, if it was renamed |
///
/// # What is made
///
/// For each tool a function and a module of the same name, which has `TOOL` (see `ImportedTool`), `Args`, `Output` and
/// the types of which they consist; and beside them `IMPORT` (see `Import`), whose `check` says whether a live catalogue
/// still fits. All that is not a letter or digit of ASCII becomes `_` in the name of the function, a capital begins a
/// word, a digit in front gets an `_`, and a keyword ends in one: `match` is `match_`. Two tools of one name are an error.
///
/// `Args::new` takes what is required in the order of the names, each other field has a method (but for `new` and
/// `default`), and all fields are public. What may be absent is an `Option`, and is not sent unless it is set: defaults
/// are the server's. Texts of which one must be chosen are an enum, and so are types. What a type cannot say (ranges,
/// patterns, conditions) the dispatcher checks in the call. A tool that takes nothing has no `Args`, and one without an
/// output schema gives a `RunResult`.
///
/// The types are the work of `typify`. A property that is too much for it becomes a text, a number or any JSON, which
/// the function's documentation says, and as the last resort `Args` is `Arguments`; `Import::plainer` lists both.
#[proc_macro]
pub fn import(input: TokenStream) -> TokenStream {
    expand::import(input.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
