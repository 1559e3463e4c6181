//! Code generation for a checked function, which cannot fail.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, ItemFn, LitStr, Path, Type, parse_quote};

use crate::attribute::{RecordKind, Task};
use crate::function::{Function, at, const_text, here, krate};
use crate::input::FunctionInput;
use crate::parameter::{self, Parameter};

/// Returns the function and the hidden item beside it.
pub(crate) fn free(func: &ItemFn, function: &Function) -> TokenStream {
    let tool = tool(function);
    quote! {
        // Arguments of a tool are owned parameters.
        #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
        #func
        #tool
    }
}

/// Returns the hidden item beside a function:
///
/// ```ignore
/// pub const add_is_not_a_tool_add_tool_attribute_…: Linked<(i64, i64), i64> = {
///     #[derive(Deserialize, JsonSchema)]
///     struct __Arguments { a: i64, b: i64 }
///
///     struct __Tool;
///     impl Function for __Tool { /* its types */ }
///     impl SyncFunction for __Tool { /* the call */ }
///
///     static __ENTRY: Entry = Entry { /* the attribute */ ..sync_entry::<__Tool>("math:add:1.0.0", …) };
///     inventory::submit! { &__ENTRY }
///     sync_linked::<__Tool>(&__ENTRY)
/// };
/// ```
pub(crate) fn tool(function: &Function) -> TokenStream {
    let outside = krate(&function.attribute);
    let krate: Path = parse_quote!(__toolkit);
    let hidden = hidden_name(&function.ident);
    let (vis, cfgs) = (&function.vis, &function.cfgs);
    let input = FunctionInput::new(function, &krate, &outside);
    let input_type = &input.ty;
    let returned = function.output.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty));
    let (checks, types) = (checks(function, &krate), types(function, &input, &returned, &krate));
    let (call, entry) = (call(function, &returned, &krate), entry(function, &input, &krate));
    let arguments = &input.declaration;
    let linked = if function.asyncness.is_some() { quote!(async_linked) } else { quote!(sync_linked) };
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(
            dead_code,
            deprecated,
            unused_imports,
            private_interfaces,
            non_camel_case_types,
            non_upper_case_globals,
            non_snake_case,
            unused_parens,
            unused_qualifications,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
        #vis const #hidden: #outside::Linked<#input_type, #returned> = {
            use #outside as __toolkit;
            use #krate::names::*;

            #arguments
            #checks

            struct __Tool;
            #types
            #call
            #entry

            #krate::inventory::submit! { &__ENTRY }
            #krate::#linked::<__Tool>(&__ENTRY)
        };
    }
}

/// Returns the name of the hidden item, such as `add_is_not_a_tool_add_tool_attribute_…`.
///
/// rustc prints the name in "cannot find value `…` in module `…`", if the function is not a tool. rustc also suggests
/// names that differ in less than a third of their letters, which would be the hidden item of another tool. The suffix, a
/// hash of the name, is long enough to prevent that.
pub(crate) fn hidden_name(ident: &Ident) -> Ident {
    let name = ident.unraw().to_string();
    let hash = letters(&name, name.len() + 22);
    format_ident!("{name}_is_not_a_tool_add_tool_attribute_{hash}", span = ident.span())
}

/// Returns `n` letters that depend on every byte of `text` (FNV-1a, then SplitMix64).
fn letters(text: &str, n: usize) -> String {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    std::iter::repeat_with(next).take(n).map(|bits| char::from(b'a' + (bits % 26) as u8)).collect()
}

/// Returns assertions about types, each at the tokens that an error of rustc should point to. In one constant, rustc would
/// report only one of them.
fn checks(function: &Function, krate: &Path) -> TokenStream {
    let is_sole = function.arguments().count() == 1;
    let arguments = function.arguments().map(|argument| argument.checks(is_sole, krate));
    let states = function.injected().map(|ty| {
        let krate = at(krate, ty.span());
        quote_spanned!(here(ty.span())=> const _: () = <#ty as #krate::State>::OK;)
    });
    let krate = at(krate, function.output_span());
    if function.attribute.kind == RecordKind::Prompt {
        let result = quote_spanned! {here(function.output_span())=>
            const _: () = <<__Result as #krate::Refused<__Output>>::Both as #krate::PromptResult>::OK;
        };
        return quote!(#(#arguments)* #(#states)* #result);
    }
    let result = quote_spanned! {here(function.output_span())=>
        const _: ((), (), ()) = (
            <<__Result as #krate::Refused<__Output>>::Both as #krate::ToolResult>::OK,
            <<__Result as #krate::Refused<__Output>>::NotConverted as #krate::SerializeResult>::OK,
            <<__Result as #krate::Refused<__Output>>::NotDescribed as #krate::DescribeResult>::OK,
        );
    };
    let blocking = function.attribute.blocking.as_ref().map(|_| {
        quote_spanned! {here(function.output_span())=>
            const _: () = <<#krate::Pick<{ #krate::Shape::<__Output>::KIND == #krate::CHUNKS }>
                as #krate::OrStandIn<__Output>>::Type as #krate::BlockingResult>::OK;
        }
    });
    quote!(#(#arguments)* #(#states)* #result #blocking)
}

/// Returns the types of the function, and the conversion of its error to a `ToolError`.
fn types(function: &Function, input: &FunctionInput, returned: &TokenStream, krate: &Path) -> TokenStream {
    let FunctionInput { ty, arguments, taken, .. } = input;
    let convert = convert(function.error_span(), krate);
    let (case, shape) = match function.attribute.kind {
        RecordKind::Tool => {
            let case = quote!(#krate::result_case(
                #krate::Shape::<__Output>::KIND,
                #krate::Data::<__Output>::IS_WRITTEN,
                #krate::Data::<__Output>::IS_DESCRIBED,
            ));
            (case, quote!(#krate::Shape::<__Output>::KIND))
        }
        RecordKind::Prompt => {
            (quote!(#krate::prompt_case(#krate::Data::<__Output>::IS_PROMPT)), quote!(#krate::PROMPT))
        }
    };
    quote! {
        type __Output = <__Tool as #krate::Function>::Output;
        type __Result = #krate::Case<{ #case }>;

        impl #krate::Function for __Tool {
            type Input = #ty;
            type Arguments = #arguments;
            type Returned = #returned;
            type Output = <#krate::Pick<{ #krate::Returned::<#returned>::FALLIBLE }> as #krate::Succeeds<#returned>>::Output;
            type Encoding = #krate::Returns<{ __Result::encoding(#shape) }>;

            fn input(__arguments: #arguments) -> #ty {
                #taken
            }

            fn finish(__returned: #returned) -> #krate::Result<Self::Output, #krate::ToolError> {
                #convert
            }
        }
    }
}

/// Returns the call of the function with its arguments and injected state.
fn call(function: &Function, returned: &TokenStream, krate: &Path) -> TokenStream {
    let ident = &function.ident;
    let n_arguments = function.arguments().count();
    let is_sole = n_arguments == 1;
    let mut n_taken = 0;
    let parameters = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Argument(argument) => {
            let idx = syn::Index::from(n_taken);
            n_taken += 1;
            let value = if is_sole { quote!(__input) } else { quote!(__input.#idx) };
            match &argument.borrows {
                Some(ty) => quote!(<#ty as #krate::BorrowedArgument>::borrow(&#value)),
                None => value,
            }
        }
        Parameter::State(ty) => inject(ty, krate),
    });
    let callee = match &function.owner {
        Some(ty) => {
            let instance = function.takes_self.then(|| inject(ty, krate)).into_iter();
            let parameters = instance.chain(parameters);
            quote!(<#ty>::#ident(#(#parameters),*))
        }
        None => quote!(#ident(#(#parameters),*)),
    };
    match &function.asyncness {
        Some(token) => {
            // rustc reports a future that is not `Send` here, so these tokens are located at `async`.
            let krate = at(krate, token.span());
            quote_spanned! {here(token.span())=>
                impl #krate::AsyncFunction for __Tool {
                    fn call<'a>(
                        __input: Self::Input,
                        __host: #krate::Host<'a>,
                    ) -> impl #krate::Future<Output = #krate::Result<#returned, #krate::ToolError>> + #krate::Send + 'a {
                        async move { #krate::Ok(#callee.await) }
                    }
                }
            }
        }
        None => quote! {
            impl #krate::SyncFunction for __Tool {
                fn call(__input: Self::Input, __host: #krate::Host<'_>) -> #krate::Result<#returned, #krate::ToolError> {
                    #krate::Ok(#callee)
                }
            }
        },
    }
}

fn inject(ty: &Type, krate: &Path) -> TokenStream {
    let krate = at(krate, ty.span());
    quote_spanned!(here(ty.span())=> #krate::Borrowed::<#ty>::from_host(__host)?)
}

/// Returns the expression that converts `__returned` to a `Result<_, ToolError>`.
pub(crate) fn convert(span: Span, krate: &Path) -> TokenStream {
    let krate = at(krate, span);
    quote_spanned! {here(span)=>
        match #krate::Returned(__returned).split() {
            #krate::Ok(__value) => #krate::Ok(__value),
            #krate::Err(__error) => #krate::Err((&&&&#krate::ErrorOf::new(&__error)).convert_by().convert(__error)),
        }
    }
}

/// Returns the record: the values of the attribute over the defaults.
fn entry(function: &Function, input: &FunctionInput, krate: &Path) -> TokenStream {
    let mut fields = vec![metadata(function, krate)];
    let mut field = |name: &str, value: Option<TokenStream>| {
        let name = Ident::new(name, Span::call_site());
        fields.extend(value.map(|value| quote!(#name: #value)));
    };
    let attribute = &function.attribute;
    field("namespace", attribute.namespace.as_ref().map(|namespace| quote!(#krate::Option::Some(#namespace))));
    field("version", attribute.version.as_ref().map(|version| quote!(#krate::Option::Some(#version))));
    let aliases = &attribute.aliases;
    let requires = !attribute.requirements.is_empty();
    field("requires", requires.then(|| quote!(true)));
    field("show_errors", (attribute.show_errors == Some(true)).then(|| quote!(true)));
    field("enforce_formats", (attribute.enforce_formats == Some(true)).then(|| quote!(true)));
    field("aliases", (!aliases.is_empty()).then(|| quote!(&[#(#aliases),*])));
    field(
        "timeout",
        attribute.timeout.map(|limit| {
            let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            quote!(#krate::Option::Some(#krate::Duration::from_millis(#millis)))
        }),
    );
    let states: Vec<TokenStream> =
        function.injected().map(|ty| quote_spanned!(here(ty.span())=> #krate::Borrowed::<#ty>::STATE)).collect();
    field("states", (!states.is_empty()).then(|| quote!(&[#(#states),*])));
    let names = function.arguments().filter_map(|argument| parameter::json_names(argument)?.into_iter().next());
    let is_prompt = attribute.kind == RecordKind::Prompt;
    field("prompt", is_prompt.then(|| quote!(#krate::Option::Some(&[#(#names),*]))));
    field("sole", input.is_sole.then(|| quote!(#krate::Option::Some(&__SOLE))));

    let (id, name, schema) = (id(function), function.name(), &input.schema);
    let kind = match (&function.asyncness, attribute.blocking.is_some()) {
        (Some(_), _) => quote!(async_entry),
        (None, true) => quote!(blocking_entry),
        (None, false) => quote!(sync_entry),
    };
    // `file!`, `line!` and `column!` return the position of the tokens that call them.
    let name_at = at(krate, function.ident.span());
    let location = quote_spanned! {function.ident.span()=>
        #name_at::location(#name_at::file!(), #name_at::line!(), #name_at::column!())
    };
    quote! {
        static __ENTRY: #krate::Entry = #krate::Entry {
            #(#fields,)*
            ..#krate::#kind::<__Tool>(#id, #name, #location, #schema)
        };
    }
}

/// Returns the metadata: the values of the attribute and the doc comment over the defaults.
fn metadata(function: &Function, krate: &Path) -> TokenStream {
    let attribute = &function.attribute;
    let some = |value: TokenStream| quote!(#krate::Option::Some(#value));
    let text = |text: &LitStr| some(quote!(#krate::text(#text)));
    let literal = |json: &Expr| {
        let text = const_text(json, true, krate);
        quote!(#krate::literal(#text))
    };
    let description = &function.description;
    let description = some(quote!(#krate::text(#description)));
    let mut fields = vec![quote!(__metadata.description = #description)];
    let mut field = |name: &str, value: Option<TokenStream>| {
        let name = Ident::new(name, Span::call_site());
        fields.extend(value.map(|value| quote!(__metadata.#name = #value)));
    };
    let title = attribute.title.as_ref().map(|title| const_text(title, true, krate));
    field("title", title.map(|title| some(quote!(#krate::text(#title)))));
    field("category", attribute.category.as_ref().map(text));
    field("deprecated", attribute.deprecated.as_ref().or(function.deprecated.as_ref()).map(text));
    field("meta", attribute.meta.as_ref().map(|json| some(literal(json))));
    let tags = &attribute.tags;
    field("tags", (!tags.is_empty()).then(|| quote!(#krate::texts(&[#(#tags),*]))));
    let examples = attribute.examples.iter().map(literal);
    field("examples", (!attribute.examples.is_empty()).then(|| quote!(#krate::vec![#(#examples),*])));
    let icons = attribute.icons.iter().map(|icon| icon.expand(krate));
    field("icons", (!attribute.icons.is_empty()).then(|| quote!(#krate::vec![#(#icons),*])));
    let requirements = &attribute.requirements;
    field("requirements", (!requirements.is_empty()).then(|| requirements.expand(krate)));
    let hints = [
        ("read_only", attribute.read_only),
        ("destructive", attribute.destructive),
        ("idempotent", attribute.idempotent),
        ("open_world", attribute.open_world),
    ];
    let hints = match attribute.kind {
        RecordKind::Tool => hints,
        // A prompt only creates messages, and passes a filter of read-only tools.
        RecordKind::Prompt => hints.map(|(name, _)| (name, (name == "read_only").then_some(true))),
    };
    let hints = hints.into_iter().filter_map(|(name, hint)| {
        let name = Ident::new(name, Span::call_site());
        hint.map(|hint| quote!(__metadata.annotations.#name = #krate::Option::Some(#hint)))
    });
    fields.extend(hints);
    let task = attribute.task.map(|task| match task {
        Task::Optional => quote!(#krate::TaskSupport::Optional),
        Task::Required => quote!(#krate::TaskSupport::Required),
    });
    fields.extend(task.map(|task| quote!(__metadata.execution.task_support = #krate::Option::Some(#task))));
    quote! {
        metadata: || {
            let mut __metadata = #krate::Metadata::NONE;
            #(#fields;)*
            __metadata
        }
    }
}

/// Returns the id of the tool, without the parts that it does not have.
fn id(function: &Function) -> String {
    let name = function.name();
    match (&function.attribute.namespace, &function.attribute.version) {
        (Some(namespace), Some(version)) => format!("{}:{name}:{version}", namespace.value()),
        (Some(namespace), None) => format!("{}:{name}", namespace.value()),
        (None, _) => name,
    }
}
