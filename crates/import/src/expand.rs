//! Reads the tools of a manifest, and generates the module.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;
use syn::{Error, LitStr};

use crate::arguments::Import;
use crate::generate::{Direction, Paths, generate};
use crate::name::{self, did_you_mean};
use crate::types::{Types, types};

/// Expands `import!`.
pub(crate) fn import(input: TokenStream) -> syn::Result<TokenStream> {
    let import: Import = syn::parse2(input)?;
    let Import { attributes, visibility, module, path, server, krate, .. } = &import;
    let directory = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let shown = path.value();
    let listed =
        read(&Path::new(&directory).join(&shown), &shown, server).map_err(|wrong| Error::new(path.span(), wrong))?;
    let tools = selected(listed, &import)?;

    let names = tools.values().map(|tool| &tool.name);
    let mut plainer = Vec::new();
    let functions = tools
        .iter()
        .map(|(function, tool)| {
            let wrong = |wrong: String| {
                let name = &tool.name;
                let message = format!(
                    "cannot import the tool `{name}` of `{shown}`: {wrong}; exclude it with `except = [{name:?}]`"
                );
                Error::new(path.span(), message)
            };
            tool_items(function, tool, &import, &mut plainer).map_err(wrong)
        })
        .collect::<syn::Result<Vec<TokenStream>>>()?;
    let text = if Path::new(&shown).is_absolute() {
        quote!(::core::include_str!(#path))
    } else {
        // Makes the file a dependency of the build. The binary contains it only if `IMPORT.check` is used.
        quote!(::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #path)))
    };
    let about = format!(" The tools of the server `{server}`, imported from `{shown}`.");
    let about = (!attributes.iter().any(|attribute| attribute.path().is_ident("doc"))).then(|| quote!(#[doc = #about]));
    Ok(quote! {
        #about
        #(#attributes)*
        #[allow(dead_code, clippy::all, rustdoc::all)]
        #visibility mod #module {
            /// The description of this import.
            pub const IMPORT: #krate::import::Import = #krate::__private::import::import(
                #server, #text, &[#(#names),*], &[#(#plainer),*],
            );
            #(#functions)*
        }
    })
}

/// Returns the selected tools by the names of their functions.
fn selected(listed: Vec<Listed>, import: &Import) -> syn::Result<BTreeMap<String, Listed>> {
    for wanted in import.only.iter().flatten().chain(&import.except) {
        let typed = wanted.value();
        if !listed.iter().any(|tool| tool.name == typed) {
            let hint = did_you_mean(&typed, listed.iter().map(|tool| &*tool.name)).unwrap_or_default();
            return Err(Error::new(wanted.span(), format!("`{}` has no tool `{typed}`{hint}", import.path.value())));
        }
    }
    let has = |names: &[LitStr], tool: &Listed| names.iter().any(|name| name.value() == tool.name);
    let is_wanted =
        |tool: &Listed| import.only.as_ref().is_none_or(|only| has(only, tool)) && !has(&import.except, tool);
    let mut selected: BTreeMap<String, Listed> = BTreeMap::new();
    for tool in listed.into_iter().filter(is_wanted) {
        let function = name::function(&tool.name);
        if let Some(earlier) = selected.get(&function).filter(|earlier| earlier.name != tool.name) {
            let (a, b) = (&earlier.name, &tool.name);
            let message = format!(
                "the tools `{a}` and `{b}` have the same function name `{function}`; exclude one with `except = [{b:?}]`"
            );
            return Err(Error::new(import.path.span(), message));
        }
        // A lock lists the versions of a tool in ascending order, and the highest one is called by default.
        selected.insert(function, tool);
    }
    Ok(selected)
}

/// Generates the function of a tool and the module with its types. Adds properties with a simplified type to `plainer`.
fn tool_items(
    function: &str,
    tool: &Listed,
    import: &Import,
    plainer: &mut Vec<String>,
) -> Result<TokenStream, String> {
    let krate = &import.krate;
    let mut about = name::doc_text(&tool.description);
    if about.is_empty() {
        about = format!(" The tool `{}`.", name::visible(&tool.name));
    }
    let mut items = TokenStream::new();
    let (takes, encode) = match types(&tool.input, "Args").map_err(invalid("input"))? {
        Types::Empty => (None, quote!(nothing)),
        Types::Typed(types, fields) => {
            items.extend(generate(
                &types,
                "Args",
                &format!(" The arguments of `{function}`."),
                &Paths::new(krate, Direction::Input),
            ));
            about.push_str(&note("argument", &fields));
            plainer.extend(fields.iter().map(|field| format!("{}.{field}", tool.name)));
            (Some(quote!(Args)), quote!(typed_arguments))
        }
        Types::Any => {
            plainer.push(tool.name.clone());
            about.push_str("\n\n The arguments are any JSON, since no type could be generated for the input schema.");
            items.extend(quote! {
                /// The arguments as JSON, which the dispatcher validates, since no type could be generated for the input schema.
                pub type Args = #krate::Arguments<'static>;
            });
            (Some(quote!(Args)), quote!(any_arguments))
        }
    };
    let output = tool.output.as_ref().map(|schema| types(schema, "Output")).transpose().map_err(invalid("output"))?;
    let decode = match output {
        Some(Types::Typed(types, fields)) => {
            items.extend(generate(
                &types,
                "Output",
                &format!(" The result of `{function}`."),
                &Paths::new(krate, Direction::Output),
            ));
            about.push_str(&note("result", &fields));
            plainer.extend(fields.iter().map(|field| format!("{}.{field}", tool.name)));
            quote!(typed_result)
        }
        untyped => {
            if matches!(untyped, Some(Types::Any)) {
                about.push_str("\n\n The result is any JSON, since no type could be generated for the output schema.");
                // Once for a tool, if both schemas have no type.
                if plainer.last() != Some(&tool.name) {
                    plainer.push(tool.name.clone());
                }
            }
            items.extend(quote! {
                /// The result of the call, since there is no output schema or no type could be generated for it.
                pub type Output = #krate::RunResult;
            });
            quote!(any_result)
        }
    };
    let id = format!("{}:{}", import.server, tool.name);
    let of_tool = format!(" The types of [`{function}()`].");
    let function = name::ident(function);
    let parameter = takes.as_ref().map(|args| quote!(arguments: #function::#args));
    let argument = takes.as_ref().map_or_else(|| quote!(()), |_| quote!(arguments));
    let takes = takes.unwrap_or_else(|| quote!(()));
    Ok(quote! {
        #[doc = #about]
        ///
        /// # Errors
        ///
        /// As for `ImportedTool::call`.
        pub async fn #function(
            dispatcher: &#krate::Dispatcher,
            #parameter
        ) -> ::core::result::Result<#function::Output, #krate::ToolError> {
            #function::TOOL.call(dispatcher, #argument).await
        }

        #[doc = #of_tool]
        pub mod #function {
            /// The tool, for calls with a context.
            pub const TOOL: #krate::import::ImportedTool<#takes, Output> = #krate::__private::import::tool(
                #id,
                #krate::__private::import::#encode,
                #krate::__private::import::#decode,
            );
            #items
        }
    })
}

fn invalid(which: &str) -> impl Fn(String) -> String {
    move |reason| format!("invalid {which} schema: {reason}")
}

/// Returns the documentation of properties whose type is simpler than their schema.
fn note(what: &str, plainer: &[String]) -> String {
    if plainer.is_empty() {
        return String::new();
    }
    let names = plainer.iter().map(|name| format!("`{}`", name::visible(name))).collect::<Vec<_>>().join(", ");
    format!("\n\n The types of these {what}s accept more than the schema: {names}.")
}

/// A tool of a manifest.
struct Listed {
    name: String,
    description: String,
    input: Value,
    output: Option<Value>,
}

/// Reads the tools of `server` in the file at `path`. Error messages contain `shown` as the name of the file.
///
/// The file contains the result of `tools/list`, an array of tools, or a lock with the tools of several servers.
fn read(path: &Path, shown: &str, server: &str) -> Result<Vec<Listed>, String> {
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no file `{shown}`; a path is relative to the directory of Cargo.toml")
        }
        kind => format!("cannot read `{shown}`, relative to the directory of Cargo.toml: {kind}"),
    })?;
    let document: Value = serde_json::from_str(&text).map_err(|error| format!("`{shown}` is not JSON: {error}"))?;
    let tools = match &document {
        Value::Array(tools) => Some(tools),
        document => document.get("tools").and_then(Value::as_array),
    };
    let Some(tools) = tools else {
        let hint = if document.get("result").is_some() {
            "; the file is a JSON-RPC response, so keep only its `result`"
        } else {
            ""
        };
        return Err(format!(
            "`{shown}` has no `tools`; expected the result of `tools/list`, an array of tools, or a lock{hint}"
        ));
    };
    let is_canonical = document.get("lockVersion").is_some() || tools.iter().any(|tool| tool["namespace"].is_string());
    let is_of_server = |tool: &&Value| !is_canonical || tool["namespace"] == server;
    let listed: Vec<Listed> = tools
        .iter()
        .enumerate()
        .filter(|(_, tool)| is_of_server(tool))
        .map(|(idx, tool)| listed(tool).ok_or_else(|| format!("the tool at index {idx} of `{shown}` has no name")))
        .collect::<Result<_, _>>()?;
    if listed.is_empty() && !tools.is_empty() {
        let mut others: Vec<&str> = tools.iter().filter_map(|tool| tool["namespace"].as_str()).collect();
        others.sort_unstable();
        others.dedup();
        others.truncate(8);
        let others = others.join("`, `");
        return Err(format!(
            "`{shown}` has no tools of the server `{server}`; set `server = \"…\"` to one of `{others}`"
        ));
    }
    if listed.is_empty() {
        return Err(format!("`{shown}` has no tools"));
    }
    Ok(listed)
}

fn listed(tool: &Value) -> Option<Listed> {
    let name = tool["name"].as_str()?.to_owned();
    let description = tool["description"].as_str().or(tool["title"].as_str()).unwrap_or_default().to_owned();
    let output = Some(&tool["outputSchema"]).filter(|schema| !schema.is_null()).cloned();
    Some(Listed { name, description, input: tool["inputSchema"].clone(), output })
}
