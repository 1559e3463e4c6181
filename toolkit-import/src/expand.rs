//! The module of an import.

use std::collections::BTreeMap;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, LitStr};

use crate::arguments::Import;
use crate::manifest::{Listed, read};
use crate::suggest::did_you_mean;
use crate::types::{Types, types};
use crate::write::{Paths, Way, write};
use crate::{doc, name};

/// Expands `import!`.
pub(crate) fn import(input: TokenStream) -> syn::Result<TokenStream> {
    let import: Import = syn::parse2(input)?;
    let Import { attributes, visibility, module, path, server, krate, .. } = &import;
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let shown = path.value();
    let listed =
        read(&Path::new(&folder).join(&shown), &shown, server).map_err(|wrong| Error::new(path.span(), wrong))?;
    let tools = chosen(listed, &import)?;

    let names = tools.values().map(|tool| &tool.name);
    let mut plainer = Vec::new();
    let functions = tools
        .iter()
        .map(|(function, tool)| {
            let wrong = |wrong: String| {
                let name = &tool.name;
                let message = format!(
                    "`{shown}` has a tool `{name}` that cannot be called: {wrong}; `except = [{name:?}]` leaves it out"
                );
                Error::new(path.span(), message)
            };
            tool_items(function, tool, &import, &mut plainer).map_err(wrong)
        })
        .collect::<syn::Result<Vec<TokenStream>>>()?;
    let text = if Path::new(&shown).is_absolute() {
        quote!(::core::include_str!(#path))
    } else {
        // The compiler notices when the file changes, and the binary holds it only where it is checked against.
        quote!(::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #path)))
    };
    let about = format!(" The tools of the server `{server}`, as `{shown}` lists them.");
    let about = (!attributes.iter().any(|attribute| attribute.path().is_ident("doc"))).then(|| quote!(#[doc = #about]));
    Ok(quote! {
        #about
        #(#attributes)*
        #[allow(dead_code, clippy::all, rustdoc::all)]
        #visibility mod #module {
            /// What was imported.
            pub const IMPORT: #krate::import::Import = #krate::__private::import::import(
                #server, #text, &[#(#names),*], &[#(#plainer),*],
            );
            #(#functions)*
        }
    })
}

/// The tools that are wanted, by their functions.
fn chosen(listed: Vec<Listed>, import: &Import) -> syn::Result<BTreeMap<String, Listed>> {
    for wanted in import.only.iter().flatten().chain(&import.except) {
        let typed = wanted.value();
        if !listed.iter().any(|tool| tool.name == typed) {
            let hint = did_you_mean(&typed, listed.iter().map(|tool| &*tool.name)).unwrap_or_default();
            return Err(Error::new(wanted.span(), format!("`{}` lists no tool `{typed}`{hint}", import.path.value())));
        }
    }
    let has = |names: &[LitStr], tool: &Listed| names.iter().any(|name| name.value() == tool.name);
    let is_wanted =
        |tool: &Listed| import.only.as_ref().is_none_or(|only| has(only, tool)) && !has(&import.except, tool);
    let mut chosen: BTreeMap<String, Listed> = BTreeMap::new();
    for tool in listed.into_iter().filter(is_wanted) {
        let function = name::function(&tool.name);
        if let Some(earlier) = chosen.get(&function).filter(|earlier| earlier.name != tool.name) {
            let (a, b) = (&earlier.name, &tool.name);
            let message =
                format!("the tools `{a}` and `{b}` would both be `{function}`; `except = [{b:?}]` leaves one out");
            return Err(Error::new(import.path.span(), message));
        }
        // Of the versions of one tool, which a lock has in ascending order, the last answers to the name.
        chosen.insert(function, tool);
    }
    Ok(chosen)
}

/// The function of a tool, and the module of its types; what has a plainer type than its schema is told to `plainer`.
fn tool_items(
    function: &str,
    tool: &Listed,
    import: &Import,
    plainer: &mut Vec<String>,
) -> Result<TokenStream, String> {
    let krate = &import.krate;
    let mut about = doc::text(&tool.description);
    if about.is_empty() {
        about = format!(" The tool `{}`.", doc::visible(&tool.name));
    }
    let mut items = TokenStream::new();
    let (takes, encode) = match types(&tool.input, "Args").map_err(unsound("input"))? {
        Types::Nothing => (None, quote!(nothing)),
        Types::Typed(types, fields) => {
            items.extend(write(&types, "Args", &format!(" What `{function}` takes."), &Paths::of(krate, Way::In)));
            about.push_str(&note("argument", &fields));
            plainer.extend(fields.iter().map(|field| format!("{}.{field}", tool.name)));
            (Some(quote!(Args)), quote!(typed_arguments))
        }
        Types::Any => {
            plainer.push(tool.name.clone());
            about.push_str("\n\n The arguments are any JSON: no type could be made of the input schema.");
            items.extend(quote! {
                /// JSON, since no Rust type was made of the input schema: the dispatcher checks it.
                pub type Args = #krate::Arguments<'static>;
            });
            (Some(quote!(Args)), quote!(any_arguments))
        }
    };
    let output = tool.output.as_ref().map(|schema| types(schema, "Output")).transpose().map_err(unsound("output"))?;
    let decode = match output {
        Some(Types::Typed(types, fields)) => {
            items.extend(write(&types, "Output", &format!(" What `{function}` gives."), &Paths::of(krate, Way::Out)));
            about.push_str(&note("result", &fields));
            plainer.extend(fields.iter().map(|field| format!("{}.{field}", tool.name)));
            quote!(typed_result)
        }
        untyped => {
            if matches!(untyped, Some(Types::Any)) {
                about.push_str("\n\n The result is any JSON: no type could be made of the output schema.");
                // Once, whatever has no type.
                if plainer.last() != Some(&tool.name) {
                    plainer.push(tool.name.clone());
                }
            }
            items.extend(quote! {
                /// The result as it is, since no Rust type was made of an output schema.
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
            /// The tool, for a call with a context.
            pub const TOOL: #krate::import::ImportedTool<#takes, Output> = #krate::__private::import::tool(
                #id,
                #krate::__private::import::#encode,
                #krate::__private::import::#decode,
            );
            #items
        }
    })
}

fn unsound(which: &str) -> impl Fn(String) -> String {
    move |wrong| format!("its {which} schema is not sound, {wrong}")
}

/// Tells of properties that have a plainer type than their schema.
fn note(what: &str, plainer: &[String]) -> String {
    if plainer.is_empty() {
        return String::new();
    }
    let names = plainer.iter().map(|name| format!("`{}`", doc::visible(name))).collect::<Vec<_>>().join(", ");
    format!("\n\n Of the {what}s, {names} could not be given the type of the schema, and takes more.")
}
