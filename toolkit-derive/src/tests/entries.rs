//! Snapshots of single items in the expansion of a tool. `UPDATE_EXPECT=1 cargo test -p toolkit-derive` updates them.

use expect_test::{ExpectFile, expect_file};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, File, Item, Stmt};

use crate::catalog::{catalog, handle};
use crate::tags::normalize_tags;
use crate::tool::{prompt, show_error, tool, toolset};

/// Returns the items of these names inside the constants of an expansion.
fn items(expansion: TokenStream, names: &[&str]) -> Vec<Item> {
    let file: File = syn::parse2(expansion).expect("an expansion is Rust");
    let mut items = Vec::new();
    let consts = file.items.into_iter().flat_map(|item| match item {
        Item::Impl(imp) => imp.items.into_iter().filter_map(of_impl).collect(),
        Item::Const(item) => vec![*item.expr],
        _ => Vec::new(),
    });
    for block in consts {
        let Expr::Block(block) = block else { continue };
        items.extend(block.block.stmts.into_iter().filter_map(|stmt| match stmt {
            Stmt::Item(item) if name(&item).is_some_and(|name| names.iter().any(|other| name == *other)) => Some(item),
            _ => None,
        }));
    }
    items
}

fn of_impl(item: syn::ImplItem) -> Option<Expr> {
    match item {
        syn::ImplItem::Const(item) => Some(item.expr),
        _ => None,
    }
}

fn name(item: &Item) -> Option<String> {
    match item {
        Item::Static(item) => Some(item.ident.to_string()),
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Fn(item) => Some(item.sig.ident.to_string()),
        Item::Impl(item) => item.trait_.as_ref()?.0.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

#[track_caller]
fn check(expansion: TokenStream, names: &[&str], expect: ExpectFile) {
    let items = items(expansion, names);
    let text = prettyplease::unparse(&syn::parse_quote!(#(#items)*));
    expect.assert_eq(&text.replace("__toolkit::", ""));
}

#[test]
fn the_entry_has_the_arguments_of_the_attribute() {
    let arguments = quote! {
        namespace = "shop", name = "list", version = "v1.2.0", title = TITLE, description = concat!("Lists ", "orders."),
        category = "orders", tags = ["Order Items", "b"], read_only = false, destructive, idempotent = true,
        open_world = false, aliases = ["shop:orders", "orders"], deprecated = "use `orders`",
        icons = ["https://example.com/a.png", icon(src = "b", mime_type = "image/png", sizes = ["48x48"], theme = "dark")],
        meta = {"a": ["b\"c d\n", -1, true, null]}, ui = "ui://sales/chart.html", examples = [{"a": 1}, EXAMPLE],
        requires(oauth2(id = "google", scopes = ["calendar"]), secret = "KEY", scopes = ["files"], user_id),
        timeout = "2m", task = "required", blocking, show_errors, enforce_formats
    };
    check(
        tool(arguments, quote! { fn orders(#[arg] a: i64) {} }),
        &["__ENTRY"],
        expect_file!["../../snapshots/all_arguments.rs"],
    );
}

#[test]
fn the_entry_has_no_arguments_that_are_false_or_absent() {
    let arguments =
        quote!(show_errors = false, enforce_formats = false, blocking = false, requires(user_id = false), task);
    let function = quote! {
        /// Deletes.
        #[deprecated(since = "1.0.0", note = "use `remove`")]
        async fn r#delete() {}
    };
    check(tool(arguments, function), &["__ENTRY"], expect_file!["../../snapshots/no_arguments.rs"]);
}

#[test]
fn one_requirement_is_enough() {
    let requires = |requirement: TokenStream| {
        let entry = items(tool(quote!(description = "F.", requires(#requirement)), quote! { fn f() {} }), &["__ENTRY"]);
        let text = quote!(#(#entry)*).to_string();
        [text.contains("requires : true"), text.contains("__metadata . requirements =")]
    };
    for one in [quote!(oauth2(id = "a")), quote!(secret = "K"), quote!(scopes = ["s"]), quote!(user_id)] {
        assert_eq!(requires(one.clone()), [true, true], "{one}");
    }
    assert_eq!(requires(quote!(scopes = [], user_id = false)), [false, false]);
}

#[test]
fn a_deprecated_function_needs_no_note() {
    let function = quote! {
        /// Deletes.
        #[deprecated]
        #[other(note = "no")]
        fn delete() {}
    };
    check(
        tool(quote!(version = "1.0.0", ui = "ui://a", meta = r#" {} "#), function),
        &["__ENTRY"],
        expect_file!["../../snapshots/deprecated.rs"],
    );
}

#[test]
fn a_prompt_is_read_only_and_names_its_arguments() {
    let function = quote! {
        /// Translates a text.
        fn translate(#[serde(rename = "into", alias = "to")] language: String, #[serde(flatten)] rest: Rest, text: &str) {}
    };
    check(
        prompt(quote!(namespace = "text", tags = ["a"]), function),
        &["__ENTRY", "SyncFunction"],
        expect_file!["../../snapshots/prompt.rs"],
    );
}

#[test]
fn the_fields_have_names_attributes_and_defaults() {
    let function = quote! {
        fn forecast(
            /// The city.
            /// # Hidden?
            #[serde(rename = "place", alias = "town", alias = "village")]
            #[schemars(length(min = 1))]
            city: &str,
            #[arg(default)] r#type: Kind,
            #[doc = include_str!("days.md")]
            #[arg(default = 3)] days: Option<u8>,
            #[arg(default = "x")] #[serde(with = "w")] unit: Unit,
            db: &Db,
            names: Option<&[String]>,
        ) -> Result<(), E> {}
    };
    let names =
        ["__Arguments", "__default_type", "__default_days", "__default_unit", "Function", "SyncFunction", "__ENTRY"];
    check(tool(quote!(description = "F."), function), &names, expect_file!["../../snapshots/fields.rs"]);
}

#[test]
fn a_named_sole_argument_is_a_field() {
    for function in [
        quote! { fn f(#[arg] a: A) {} },
        quote! { fn f(#[serde(default)] a: A) {} },
        quote! { fn f(#[serde(flatten, default)] a: A) {} },
        quote! { fn f(#[serde(flatten)] #[serde(default)] a: A) {} },
        quote! { fn f(#[serde(flatten)] #[arg] a: A) {} },
        quote! { fn f(#[schemars(flatten)] a: A) {} },
    ] {
        let items = items(tool(quote!(description = "F."), function.clone()), &["__Arguments", "__SOLE"]);
        assert!(matches!(&items[..], [Item::Struct(_)]), "{function}");
    }
    for function in [quote! { fn f(a: A) {} }, quote! { fn f(#[doc = "A."] a: A) {} }, quote! { fn f(a: &str) {} }] {
        let items = items(tool(quote!(description = "F."), function.clone()), &["__Arguments", "__SOLE"]);
        assert!(matches!(&items[..], [Item::Static(_)]), "{function}");
    }
}

#[test]
fn a_sole_argument_with_an_attribute_is_not_the_argument_struct() {
    let is_asserted = |parameters: &str| {
        let function = format!("fn f({parameters}) {{}}").parse().expect("a function is tokens");
        tool(quote!(description = "F."), function).to_string().contains("NamedArgument")
    };
    for parameters in ["#[serde(default)] a: A", "#[schemars(title = \"a\")] a: A", "/** A. */ #[serde(default)] a: A"]
    {
        assert!(is_asserted(parameters), "{parameters}");
    }
    for parameters in [
        "a: A",
        "/** A. */ a: A",
        "#[arg] a: A",
        "#[arg] #[serde(default)] a: A",
        "#[serde(flatten)] a: A",
        "#[serde(with = \"w\")] a: A",
        "#[serde(default)] a: A, b: B",
    ] {
        assert!(!is_asserted(parameters), "{parameters}");
    }
}

#[test]
fn a_field_with_a_conversion_has_the_type_of_the_argument() {
    let field = |attribute: &str| {
        let function = format!("fn f(#[{attribute}] a: A, b: B) {{}}").parse().expect("a function is tokens");
        let items = items(tool(quote!(description = "F."), function), &["__Arguments"]);
        quote!(#(#items)*).to_string().contains("a : A")
    };
    for attribute in [
        "serde(with = \"w\")",
        "serde(deserialize_with = \"w\")",
        "schemars(schema_with = \"w\")",
        "serde(default, skip)",
        "serde(skip_deserializing)",
    ] {
        assert!(field(attribute), "{attribute}");
    }
    for attribute in ["serde(default)", "serde(skip_serializing)", "serde(rename = \"with\")", "arg"] {
        assert!(!field(attribute), "{attribute}");
    }
}

#[test]
fn a_named_sole_argument_is_not_a_tuple() {
    let function = quote! { fn f(#[arg] a: A, state: &B) {} };
    let names = ["__Arguments", "Function", "SyncFunction"];
    check(tool(quote!(description = "F."), function), &names, expect_file!["../../snapshots/named.rs"]);
}

#[test]
fn a_flattened_sole_argument_is_the_whole_input() {
    let function = quote! {
        fn f(
            /// Any.
            #[serde(flatten)]
            a: HashMap<u8, A>,
        ) {}
    };
    check(
        tool(quote!(description = "F."), function),
        &["__Arguments", "__SOLE", "__ENTRY", "Function"],
        expect_file!["../../snapshots/flattened.rs"],
    );
}

#[test]
fn a_generic_toolset_has_the_tools_of_each_type() {
    let block = quote! {
        #[concrete(Notes<Memory>)]
        #[other]
        #[concrete(Notes<Disk<u8>>, namespace = "archive", read_only, tags = ["b"], version = "2.0.0")]
        impl<S: Store + Send> Notes<S>
        where
            S: Clone,
        {
            /// Appends.
            #[tool(title = Self::TITLE, tags = ["c"], destructive)]
            fn append(
                &self,
                item: S::Item,
                #[serde(with = "Self::format")] to: Option<Self>,
                #[arg(default = S::LAST)] at: S,
            ) -> Vec<S> {}
            #[prompt(description = "Asks.")]
            async fn ask(name: String) -> String {}
        }
    };
    let names = ["__Arguments", "__default_at", "SyncFunction", "AsyncFunction", "__ENTRY"];
    check(
        toolset(quote!(namespace = "notes", tags = ["a", "c"], version = "1.0.0", timeout = "3s"), block),
        &names,
        expect_file!["../../snapshots/generic.rs"],
    );
}

#[test]
fn associated_types_are_qualified_by_the_only_bound() {
    let block = quote! {
        #[concrete(Pair<u8, Vec<u8>, C>)]
        impl<S: 'static, T: A + B, U> Pair<S, T, U>
        where
            S: Store + Sync,
            T: Send,
            Vec<U>: Other,
        {
            #[tool(description = "F.")]
            fn f(
                &self,
                a: S::Item,
                b: T::Item,
                c: <T as A>::Item,
                d: U::Item,
                e: a::S,
                #[schemars(extend("x" = [S::LAST, "S::x", "a::S::x"]), with = "S::x")] f: [S; 3],
            ) -> Result<S, T::Error> {
            }
        }
    };
    check(toolset(quote!(), block), &["__Arguments", "Function"], expect_file!["../../snapshots/bounds.rs"]);
}

#[test]
fn lists_of_tools_name_hidden_items() {
    for (expansion, expect) in [
        (catalog(quote!(a, b::c, crate::Notes<Memory>::d)), expect_file!["../../snapshots/catalog.rs"]),
        (handle(quote!(crate = ::tk, a::b)), expect_file!["../../snapshots/handle.rs"]),
    ] {
        expect.assert_eq(&prettyplease::unparse(&syn::parse_quote!(fn f() { #expansion; })));
    }
}

#[test]
fn the_derive_registers_the_type() {
    let expansion = show_error(quote! {
        #[show_error(crate = ::tk)]
        struct Full;
    });
    expect_file!["../../snapshots/show_error.rs"].assert_eq(&prettyplease::unparse(&syn::parse_quote!(#expansion)));
}

#[test]
fn an_item_with_errors_keeps_what_is_not_of_this_crate() {
    let function = quote! {
        /// Tests.
        #[other]
        fn f(
            /// A.
            #[arg]
            #[serde(default)]
            #[schemars(title = "a")]
            #[other]
            a: A,
        ) {
            fn g(#[arg] a: A) {}
        }
    };
    let block = quote! {
        #[other]
        impl A {
            /// Tests.
            #[tool]
            #[other]
            fn f(#[other] #[arg] &self, #[arg] a: A) {}
            #[prompt]
            fn g() {}
        }
    };
    let unit = quote! {
        #[other]
        struct A;
    };
    let expansions = [tool(quote!(colour), function), toolset(quote!(colour), block), toolset(quote!(), unit)];
    let text = prettyplease::unparse(&syn::parse_quote!(#(#expansions)*));
    expect_file!["../../snapshots/without_tool.rs"].assert_eq(&text);
}

#[test]
fn fragments_of_macro_rules_are_read_without_their_groups() {
    let group = |tokens: TokenStream| TokenTree::from(Group::new(Delimiter::None, tokens));
    let (text, list, item) = (group(quote!("F.")), group(quote!(["a", "b"])), group(quote!("c")));
    let (string, number) = (group(quote!(&str)), group(quote!((u8))));
    let arguments = quote!(description = #text, tags = #list, aliases = [#item], title = #text, timeout = "3s");
    let function = quote! { fn f(#[schemars(length(min = 1))] a: #string, #[schemars(range(min = 1))] b: #number) {} };
    check(tool(arguments, function), &["__Arguments", "__ENTRY"], expect_file!["../../snapshots/fragments.rs"]);
}

#[test]
fn tags_are_normalized_and_limited() {
    assert_eq!(
        normalize_tags(["  Machine Learning ", "AI", "machine-learning", "!!", "c_1.0"]),
        ["machine-learning", "ai", "c_1.0"]
    );
    let many: Vec<String> = (0..30).map(|n| format!("t{n}")).collect();
    assert_eq!(normalize_tags(&many), many[..20]);
}

#[test]
fn hints_are_inherited_unless_they_contradict() {
    let hints = |outer: TokenStream, inner: TokenStream| {
        let block = quote! {
            impl A {
                /// Tests.
                #[tool(#inner)]
                fn f(&self) {}
            }
        };
        let entry = items(toolset(outer, block), &["__ENTRY"]);
        let text = quote!(#(#entry)*).to_string();
        ["read_only", "destructive", "idempotent", "open_world"].map(|hint| {
            let set = |value: bool| text.contains(&format!("{hint} = __toolkit :: Option :: Some ({value})"));
            if set(true) { Some(true) } else { set(false).then_some(false) }
        })
    };
    let (yes, no) = (Some(true), Some(false));
    for (outer, inner, expected) in [
        (quote!(read_only), quote!(), [yes, None, None, None]),
        (quote!(destructive, idempotent, open_world = false), quote!(), [None, yes, yes, no]),
        (quote!(read_only), quote!(destructive), [None, yes, None, None]),
        (quote!(read_only), quote!(destructive = false), [yes, no, None, None]),
        (quote!(destructive), quote!(read_only), [yes, None, None, None]),
        (quote!(destructive), quote!(read_only = false), [no, yes, None, None]),
        (quote!(idempotent, open_world), quote!(idempotent = false, open_world = false), [None, None, no, no]),
    ] {
        assert_eq!(hints(outer.clone(), inner.clone()), expected, "{outer} {inner}");
    }
}

#[test]
fn the_module_passes_its_arguments_to_all_tools() {
    let module = quote! {
        mod files {
            /// Reads.
            #[toolkit::tool(tags = ["b"])]
            fn read() {}
            #[prompt]
            fn ask() {}
            #[toolset(namespace = "c")]
            impl A {
                #[tool]
                fn f() {}
            }
            mod inner {
                #[tool]
                fn f() {}
                #[tool = 3]
                fn g() {}
            }
            #[other] #[toolset]
            mod own {
                #[tool]
                fn f() {}
            }
            fn plain() {}
        }
    };
    let expansion = toolset(quote!(namespace = "files", tags = ["a"]), module);
    let file: File = syn::parse2(expansion).expect("an expansion is Rust");
    expect_file!["../../snapshots/module.rs"].assert_eq(&prettyplease::unparse(&file));
    let function = quote! { fn f() {} };
    let arguments =
        quote!(__module(namespace = "files", tags = ["a", "b"], crate = ::tk), tags = ["b"], description = "F.");
    check(tool(arguments, function), &["__ENTRY"], expect_file!["../../snapshots/module_arguments.rs"]);
}

#[test]
fn a_description_is_what_rustdoc_shows() {
    let described = |function: TokenStream| {
        let entry = items(tool(quote!(), function), &["__ENTRY"]);
        let text = quote!(#(#entry)*).to_string();
        let start = text.find("__metadata . description =").expect("a tool has a description");
        let text = &text[start..start + text[start..].find(';').expect("a statement ends")];
        text.replace("__metadata . description = __toolkit :: Option :: Some (__toolkit :: text ", "")
            .replace(" :: ", "::")
            .trim()
            .to_owned()
    };
    for (lines, expected) in [
        (&[" Adds."][..], "Adds."),
        (&[" Adds.", "", "  two", "no space "], "Adds.\n\n two\nno space"),
        (&["", " Adds.", ""], "Adds."),
        (&[" * a list"], "* a list"),
        (&[" ```", " a(\"##\")", " ```"], "```\na(\"##\")\n```"),
        (
            &[" ```", " # hidden", " #", " ## shown", " #[shown]", " ```", " # shown"],
            "```\n# shown\n#[shown]\n```\n# shown",
        ),
        (&[" ```text", " # shown", " ```"], "```text\n# shown\n```"),
        (&[" ```rust,no_run", " # hidden", " ~~~", " # hidden", " ```"], "```rust,no_run\n~~~\n```"),
        (&[" ~~~ignore-x edition2021", " # hidden", " ~~~"], "~~~ignore-x edition2021\n~~~"),
        (&["\n * Adds.\n *\n * Two.\n "], "Adds.\n\nTwo."),
        (&["Adds\n* a list\nend"], "Adds\n* a list\nend"),
    ] {
        let text = described(quote!(#(#[doc = #lines])* fn f() {}));
        assert_eq!(text, format!("({}))", expected.to_token_stream()), "{lines:?}");
    }
    let included = described(quote! { #[doc = " Adds."] #[doc = include_str!("a.md")] fn f() {} });
    assert_eq!(
        included,
        "(:: toolkit::__private::concat ! (\"Adds.\" , \"\\n\" , include_str ! (\"a.md\") , \"\\n\")))"
    );
}

#[test]
fn constants_are_checked_unless_they_may_be_blank() {
    let entry = |arguments: TokenStream| {
        let entry = items(tool(arguments, quote! { fn f() {} }), &["__ENTRY"]);
        quote!(#(#entry)*).to_string().matches("assert !").count()
    };
    assert_eq!(entry(quote!(description = TEXT)), 1);
    assert_eq!(entry(quote!(description = "F.", title = TEXT, meta = TEXT)), 0);
}
