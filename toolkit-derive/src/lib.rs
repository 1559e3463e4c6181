//! Implementation detail of the `toolkit` crate, which documents these macros.
//!
//! A function goes through `attribute` (what the author wrote) and `function` (what it means), each of which reports
//! every mistake it finds; then through `expand`, which cannot fail, or `recover`, which keeps the function.

mod attribute;
mod description;
mod expand;
mod function;
mod json_name;
mod list;
#[allow(dead_code, reason = "shared with `toolkit`, which shows more of it")]
mod name;
mod parameter;
mod recover;
mod report;
mod requirements;
mod returned;
mod scan;
#[cfg(test)]
mod snapshots;
#[allow(dead_code, reason = "shared with `toolkit`, which shows more of it")]
mod tags;
mod toolset;
mod value;

use proc_macro::TokenStream;

/// Makes a function a tool.
///
/// ```ignore
/// /// Adds two integers.
/// #[tool(namespace = "math", version = "1.0.0", tags = ["arithmetic"], read_only)]
/// fn add(a: i64, b: i64) -> i64 { a + b }
/// ```
///
/// | argument | meaning |
/// |---|---|
/// | `namespace = "…"`, `name = "…"`, `version = "…"` | the parts of the id; the name is the function's unless given; `env!("CARGO_PKG_VERSION")` is a version too |
/// | `title = "…"`, `description = "…"` | for people, and for models; the description is the doc comment unless given |
/// | `tags = ["…"]`, `category = "…"` | for discovery |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints, each also `= true` or `= false` |
/// | `aliases = ["…"]`, `deprecated = "…"` | former names; what to use instead |
/// | `icons = [icon(src = "…", mime_type = "…", sizes = ["…"], theme = "…")]`, `meta = "{…}"` | for clients |
/// | `examples = ["{…}"]` | argument objects, as JSON |
/// | `requires(oauth2(id = "…", scopes = ["…"]), secret = "…", user_id)` | what the host must hold |
/// | `timeout = "30s"` | how long a call may take; also `ms` and `m` |
/// | `blocking` | runs on a thread that may block |
/// | `crate = ::path` | where `toolkit` is, if it was renamed |
///
/// An owned parameter is an argument, which may carry a doc comment and attributes of serde and schemars. A lone one of
/// a struct type is the argument struct, unless it is marked `#[arg]`. A borrowed parameter is lent by the host.
///
/// A result is anything that serialises and has a schema, `()`, `Content`, `Structured<T>`, `Chunks<T>`, or a `Result`
/// of these.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    function::tool(arguments.into(), item.into()).into()
}

/// Makes the methods of an `impl` block that are marked `#[tool]` tools of one instance, which the dispatcher is given.
///
/// It takes `namespace`, `version`, `tags`, `category`, hints, `timeout` and `crate`, which hold for every method that
/// does not say otherwise.
#[proc_macro_attribute]
pub fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    toolset::toolset(arguments.into(), item.into()).into()
}

/// An explicit catalogue: `catalog![math::add, weather::forecast, Notebook::append]?`.
///
/// Each path names a function where it is defined: a re-export under another name, or of the function alone, leaves
/// its tool behind. A tool that stands twice is refused while compiling. For a renamed `toolkit`, the list starts with
/// `crate = ::path,`.
#[proc_macro]
pub fn catalog(input: TokenStream) -> TokenStream {
    list::catalog(input.into()).into()
}

/// The typed handle of a tool: `handle!(math::add).call(&dispatcher, (1, 2)).await`.
///
/// The path is as for `catalog!`.
#[proc_macro]
pub fn handle(input: TokenStream) -> TokenStream {
    list::handle(input.into()).into()
}
