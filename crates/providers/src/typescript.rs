//! Declarations of TypeScript, for models that write programs.
//!
//! A program calls `await tools.NAMESPACE.NAME(args)`, or `await tools.NAME(args)` for a tool without a namespace. The
//! result has the type of the output schema, and is `unknown` without one.
//!
//! What a type does not express is a comment, in a short form: `// int 1..100 =30` is an integer from 1 to 100 whose
//! default is 30, and `// 2..5 items unique` a list without duplicates. It is also reported as a [`Loss`].
//!
//! A declaration costs fewer tokens of `o200k_base` than the JSON that MCP lists, with the name, the description and both
//! schemas. For 564 tools of real servers it is 68 % of the JSON, 26 % as [`Detail::Compact`], and 21 % as
//! [`Detail::Signatures`]:
//!
//! ```sh
//! cargo test -p toolkit-providers --test it -- --nocapture declarations_of_real_tools_cost
//! ```
//!
//! | module | part |
//! |---|---|
//! | `function` | a tool as a function |
//! | `convert` | a schema as a type |
//! | `ty`, `notes`, `named` | a type, what it does not express, and the types that are shared |
//! | `js_names` | the names of namespaces and tools |
//! | `print` | the text of types |
//! | `comments`, `literals` | texts and values of tools, which cannot end their comment or literal early |

mod comments;
mod convert;
mod function;
mod js_names;
mod literals;
mod named;
mod notes;
mod print;
mod ty;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::function::Function;
use self::named::NamedTypes;
use self::print::{Within, lifted, print, with_line};
pub use self::ty::Detail;
use super::loss::Loss;
use toolkit::catalog::{Catalog, ExportedName, ExportedNames};
use toolkit::tool::{Tool, ToolId};

/// Declarations of tools, with the names by which programs call them.
///
/// ```
/// use serde_json::json;
/// use toolkit::{Catalog, Tool};
/// use toolkit_providers::typescript::{Detail, declarations};
///
/// let input = json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 1 } } });
/// let tool = Tool::builder("roll-dice").namespace("games").input(input).build()?;
/// let declared = declarations(&Catalog::new([tool])?, Detail::Full);
///
/// let name = declared.names.get(Some("games"), "roll_dice").unwrap();
/// assert_eq!((name.to_string(), name.id().to_string()), ("games.roll_dice".into(), "games:roll-dice".into()));
///
/// let (_, losses) = &declared.losses[0];
/// assert_eq!(losses[0].to_string(), "`name` is written as `roll_dice`");
/// assert_eq!(losses[2].to_string(), "input /properties/n: `minimum` is a comment");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Declarations {
    /// The declarations, with the same bytes in every build. They are valid in a `.d.ts` file.
    pub text: String,
    /// The names of the tools. A tool in a namespace is `tools.NAMESPACE.NAME`, any other `tools.NAME`.
    pub names: ExportedNames,
    /// The losses of each tool, in the order of the tools.
    pub losses: Vec<(ToolId, Vec<Loss>)>,
}

/// Returns the names by which programs call the tools of a catalog: the highest version of each tool.
///
/// A name that is an identifier of JavaScript is kept. In others, `_` replaces each character that is not allowed, and
/// follows a reserved word. If the result is already taken, a number is added, so that no two tools have the same name.
///
/// ```
/// use toolkit::{Catalog, Tool};
/// use toolkit_providers::typescript::names;
///
/// let tools = ["read", "delete", "read-all"].map(|name| Tool::builder(name).namespace("my.files").build());
/// let catalog = Catalog::new(tools.into_iter().collect::<Result<Vec<_>, _>>()?)?;
/// let names: Vec<String> = names(&catalog).iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["my_files.delete_", "my_files.read", "my_files.read_all"]);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn names(catalog: &Catalog) -> ExportedNames {
    js_names::names(catalog.latest().map(Tool::id))
}

/// Declares the highest version of each tool.
///
/// ```
/// use toolkit_providers::typescript::{Detail, declarations};
///
/// /// Adds two integers.
/// #[toolkit::tool(namespace = "math")]
/// fn add(
///     /// First addend.
///     a: i64,
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let text = declarations(&toolkit::catalog![add]?, Detail::Full).text;
/// assert_eq!(text, "\
/// declare namespace tools.math {
/// /** Adds two integers. */
/// function add(args: {
///  a: number // int; First addend.
///  b: number // int
/// }): Promise</* int */ number>
/// }
/// ");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn declarations(catalog: &Catalog, detail: Detail) -> Declarations {
    let names = names(catalog);
    let tools = names.iter().filter_map(|name| Some((name, catalog.with_id(name.id())?)));
    describe(tools, detail)
}

/// Declares some tools under the names that they have in a catalog.
///
/// ```
/// use toolkit::{Catalog, Tool};
/// use toolkit_providers::typescript::{Detail, describe, names};
///
/// let tool = |name| Tool::builder(name).namespace("files").build();
/// let catalog = Catalog::new([tool("read")?, tool("write")?])?;
/// let names = names(&catalog);
/// // By the name in a program, or by the id of the tool.
/// for text in ["files.write", "files:write"] {
///     let name = names.resolve(text)?;
///     let tool = catalog.with_id(name.id()).unwrap();
///     let text = describe([(name, tool)], Detail::Compact).text;
///     assert!(text.contains("write") && !text.contains("read"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn describe<'t>(tools: impl IntoIterator<Item = (&'t ExportedName, &'t Tool)>, detail: Detail) -> Declarations {
    let mut types = NamedTypes::default();
    let mut functions = Functions::new();
    let (mut names, mut losses) = (Vec::new(), Vec::new());
    for (name, tool) in tools {
        let (function, lost) = Function::new(name, tool, detail, &mut types);
        functions.insert((name.namespace(), name.name()), function);
        names.push(name.clone());
        losses.push((tool.id().clone(), lost));
    }
    types.inline(functions.values_mut().flat_map(Function::types_mut));
    let text = text(&functions, &types, detail);
    Declarations { text, names: names.into_iter().collect(), losses }
}

/// Functions by namespace and name. Those without a namespace are first.
type Functions<'n> = BTreeMap<(Option<&'n str>, &'n str), Function>;

/// Writes the blocks of all namespaces. The first one also has the named types, which all others see.
fn text(functions: &Functions<'_>, types: &NamedTypes, detail: Detail) -> String {
    let mut blocks: BTreeMap<Option<&str>, Vec<String>> = BTreeMap::new();
    for (name, node) in types.iter() {
        let ty = format!("type {name} = {}", print(node, Within::Nothing, detail, 0));
        blocks.entry(None).or_default().push(with_line(ty, &lifted(node)));
    }
    for ((namespace, _), function) in functions {
        blocks.entry(*namespace).or_default().push(function.print(detail, types));
    }
    let mut text = String::new();
    for (namespace, lines) in blocks {
        let path = namespace.map_or_else(|| "tools".to_owned(), |namespace| format!("tools.{namespace}"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "declare namespace {path} {{\n{}\n}}", lines.join("\n"));
    }
    text
}
