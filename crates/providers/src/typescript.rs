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
//! | `convert` | a schema as a type |
//! | `ty`, `notes`, `named` | a type, what it does not express, and the types that are shared |
//! | `print` | the text, with names and comments that cannot end early |

mod convert;
mod named;
mod notes;
mod print;
mod ty;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::convert::{Converted, convert};
use self::named::NamedTypes;
use self::print::{Within, documentation, first_sentence, lifted, one_line, print, with_block, with_line};
pub use self::ty::Detail;
use self::ty::{Node, Type};
use super::loss::Loss;
use crate::loss::{Effect, Side, loss, provider_description, unsupported_fields};
use toolkit::catalog::{Catalog, ExportedName, ExportedNames};
use toolkit::tool::{Tool, ToolId};
use toolkit_schema::types::Types;

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
    named::names(catalog.latest().map(Tool::id))
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

// A tool as a function.

/// The declaration of a tool.
struct Function {
    name: String,
    /// The text of the comment.
    documentation: String,
    arguments: Node,
    result: Node,
}

impl Function {
    /// Converts a tool. Its named types are added to `types`.
    fn new(name: &ExportedName, tool: &Tool, detail: Detail, types: &mut NamedTypes) -> (Self, Vec<Loss>) {
        let input = convert(tool.input().as_value(), Types::OBJECT, Side::Input, detail);
        let output = tool.output().map(|schema| convert(schema.as_value(), Types::ALL, Side::Output, detail));
        let mut losses = record_losses(name, tool, detail);
        let mut add = |converted: Converted| {
            let Converted { mut node, definitions, losses: lost } = converted;
            losses.extend(lost);
            types.add(definitions, &mut node);
            node
        };
        let arguments = add(input);
        let result = output.map_or(Type::Unknown.into(), add);
        let documentation = match detail {
            Detail::Full => provider_description(tool).unwrap_or_default(),
            Detail::Compact => summary(tool),
            Detail::Signatures => String::new(),
        };
        (Self { name: name.name().to_owned(), documentation, arguments, result }, losses)
    }

    fn types_mut(&mut self) -> [&mut Node; 2] {
        [&mut self.arguments, &mut self.result]
    }

    fn print(&self, detail: Detail, types: &NamedTypes) -> String {
        let commented = |node: &Node| with_block(&lifted(node), print(node, Within::Nothing, detail, 0));
        let arguments = match &self.arguments.ty {
            ty if has_no_properties(ty) => String::new(),
            ty => {
                let optional = if accepts_empty(ty, types) { "?" } else { "" };
                format!("args{optional}: {}", commented(&self.arguments))
            }
        };
        let signature = format!("function {}({arguments}): Promise<{}>", self.name, commented(&self.result));
        match detail {
            _ if self.documentation.trim().is_empty() => signature,
            Detail::Full => format!("{}\n{signature}", documentation(&self.documentation)),
            Detail::Compact | Detail::Signatures => format!("{signature} // {}", self.documentation),
        }
    }
}

/// Returns the first sentence of the description, and the deprecation notice.
fn summary(tool: &Tool) -> String {
    let description = if tool.description().trim().is_empty() { tool.title() } else { Some(tool.description()) };
    let sentence = first_sentence(description.unwrap_or_default());
    match tool.deprecated() {
        Some(instead) => one_line(&format!("{sentence} Deprecated: {instead}")),
        None => sentence,
    }
}

/// Returns the losses of the record.
fn record_losses(name: &ExportedName, tool: &Tool, detail: Detail) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut lose = |field: &str, reason: String| {
        losses.push(Loss::new(Side::Record, format!("/{field}"), field, Effect::MetadataOnly, reason));
    };
    if name.name() != tool.name() {
        lose("name", format!("is written as `{}`", name.name()));
    }
    if name.namespace() != tool.id().namespace() {
        lose("namespace", format!("is written as `{}`", name.namespace().unwrap_or_default()));
    }
    match detail {
        Detail::Full => {}
        Detail::Compact => lose("description", "is reduced to its first sentence".to_owned()),
        Detail::Signatures => lose("description", "is not expressed".to_owned()),
    }
    if detail == Detail::Signatures && tool.deprecated().is_some() {
        losses.push(loss(Side::Record, "deprecated"));
    }
    losses.extend(unsupported_fields(tool, &["namespace", "outputSchema"]));
    losses
}

/// Returns true for the type of an object that declares no properties.
fn has_no_properties(ty: &Type) -> bool {
    match ty {
        Type::Object { properties, rest } => {
            properties.is_empty() && rest.as_ref().is_none_or(|rest| rest.ty == Type::Never)
        }
        _ => false,
    }
}

/// Returns true if a type accepts an object without properties.
fn accepts_empty(ty: &Type, types: &NamedTypes) -> bool {
    match ty {
        Type::Object { properties, .. } => properties.iter().all(|property| property.is_optional),
        Type::Union(members) => members.iter().any(|member| accepts_empty(&member.ty, types)),
        Type::Intersection(members) => members.iter().all(|member| accepts_empty(&member.ty, types)),
        Type::Name(name) => types.get(name).is_some_and(|node| accepts_empty(&node.ty, types)),
        _ => false,
    }
}
