//! Generated code compiles wherever its function does.
//!
//! Each module is a trap that some macro has fallen into; that this file compiles is most of the test.

use serde_json::json;
use toolkit::{Catalog, Dispatcher, handle};

mod shadowed_prelude {
    #![allow(dead_code)]

    use toolkit::tool;

    struct Some;
    struct None;
    struct Ok;
    struct Err;
    struct Option;
    struct Result;
    struct Box;
    struct String;
    struct Vec;
    trait Send {}
    trait Into {}
    trait Clone {}
    trait Future {}
    mod std {}
    mod core {}
    mod serde {}
    mod schemars {}

    /// Adds.
    #[tool(namespace = "shadowed")]
    pub fn sum(
        /// One.
        a: i64,
        #[serde(default)]
        #[schemars(range(min = 1))]
        b: i64,
    ) -> i64 {
        a + b
    }

    /// Adds, later.
    #[tool(namespace = "shadowed")]
    pub async fn later(a: i64) -> ::std::result::Result<i64, toolkit::ToolError> {
        ::std::result::Result::Ok(a)
    }
}

mod without_prelude {
    #![no_implicit_prelude]

    /// Adds.
    #[::toolkit::tool(namespace = "without", title = "Sum", tags = ["a"], read_only, timeout = "5s")]
    pub fn sum(
        /// One.
        a: i64,
        #[serde(default)]
        #[schemars(range(min = 1), title = "B")]
        b: ::std::option::Option<i64>,
        words: ::std::vec::Vec<::std::string::String>,
    ) -> ::std::vec::Vec<i64> {
        ::std::vec![a, b.unwrap_or(0), words.len() as i64]
    }

    pub struct Set;

    #[::toolkit::toolset(namespace = "without")]
    impl Set {
        /// Nothing.
        #[tool]
        pub async fn nothing(&self, _context: &::toolkit::Context) {}
    }
}

#[deny(missing_docs, unused_qualifications, unreachable_pub, non_upper_case_globals, non_camel_case_types)]
#[deny(private_interfaces, unused, clippy::all, clippy::pedantic)]
#[forbid(unsafe_code)]
/// A module with every lint on.
pub mod strict {
    use toolkit::{tool, toolset};

    /// Adds.
    #[tool(namespace = "strict", version = "1.0.0")]
    #[must_use]
    pub fn sum(a: i64, b: i64) -> i64 {
        a + b
    }

    /// A set.
    #[derive(Debug)]
    pub struct Set;

    #[toolset(namespace = "strict")]
    impl Set {
        /// Itself, counted.
        #[tool]
        #[must_use]
        pub fn count(&self, extra: u8) -> u8 {
            extra
        }
    }
}

mod raw_identifiers {
    use toolkit::tool;

    /// Matches.
    #[tool(namespace = "raw")]
    pub fn r#match(r#type: String, r#fn: u8) -> String {
        format!("{type}{fn}", r#type = r#type, r#fn = r#fn)
    }
}

mod from_macro_rules {
    macro_rules! double {
        ($name:ident, $ty:ty, $text:literal, $vis:vis) => {
            #[doc = $text]
            #[::toolkit::tool(namespace = "made", description = $text)]
            $vis fn $name(n: $ty, factor: Option<$ty>) -> Result<$ty, String> {
                Ok(n * factor.unwrap_or(2))
            }
        };
    }

    double!(double_small, u8, "Doubles a small number.", pub);
    double!(double_large, u64, "Doubles a large number.", pub(super));
}

/// The tokens of one function come from two places, each with variables of its own.
mod from_macro_rules_in_parts {
    use toolkit::Context;

    macro_rules! whole {
        ($item:item) => {
            #[toolkit::tool(namespace = "parts")]
            $item
        };
    }

    macro_rules! lent {
        ($name:ident, $state:ty, $tag:literal) => {
            /// Borrows what it is told to.
            #[toolkit::tool(namespace = "parts", tags = [$tag])]
            pub fn $name(n: u8, _state: $state) -> u8 {
                n
            }
        };
    }

    macro_rules! set {
        ($set:ident) => {
            pub struct $set;

            #[toolkit::toolset(namespace = "parts")]
            impl $set {
                /// Counts.
                #[tool]
                pub fn parts(&self) -> u8 {
                    3
                }
            }
        };
    }

    whole! {
        /// Doubles.
        pub fn double(n: u8) -> Result<u8, String> {
            Ok(n * 2)
        }
    }

    whole! {
        /// Doubles, later.
        pub async fn double_later(n: u8, _context: &Context) -> u8 {
            n * 2
        }
    }

    lent!(lent, &Context, "borrowed");
    set!(Set);

    macro_rules! handle_of {
        ($path:ident) => {
            toolkit::handle!($path)
        };
    }

    pub fn id() -> &'static str {
        handle_of!(double).id()
    }
}

mod conditional {
    use toolkit::toolset;

    pub struct Set;

    impl Set {
        const LEAST: u8 = 3;

        fn three() -> u8 {
            3
        }
    }

    #[toolset(namespace = "conditional")]
    impl Set {
        /// Is on this platform, or on another.
        #[cfg(unix)]
        #[tool]
        pub fn here(&self, #[serde(default = "Self::three")] n: u8) -> [u8; Self::LEAST as usize] {
            [n; Self::LEAST as usize]
        }

        /// Is on this platform, or on another.
        #[cfg(not(unix))]
        #[tool]
        pub fn here(&self) -> u8 {
            0
        }

        /// Takes itself in full.
        #[tool]
        #[expect(clippy::too_many_arguments, reason = "an expectation of the author's is met")]
        #[allow(clippy::needless_arbitrary_self_type, reason = "the long form is legal too")]
        pub fn long(self: &Self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8) -> u8 {
            a + b + c + d + e + f + g
        }
    }
}

mod shadowed_values {
    #![allow(non_upper_case_globals, dead_code)]

    const value: u8 = 1;
    const error: u8 = 2;

    #[allow(unused_macros)]
    macro_rules! concat {
        () => {};
    }

    /// Has constants around it that are called like variables.
    #[deny(unused)]
    #[allow(non_snake_case)]
    #[toolkit::tool(namespace = "shadowed", version = env!("CARGO_PKG_VERSION"))]
    pub fn fallible(userId: u8, _state: &(dyn std::any::Any + Send + Sync)) -> Result<u8, String> {
        Ok(userId)
    }
}

mod names_of_ours {
    use toolkit::tool;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Tool {
        pub a: i64,
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Arguments {
        pub a: i64,
    }

    /// Takes types that are called like ours.
    #[tool(namespace = "ours")]
    pub fn input(tool: Tool, arguments: Arguments, host: i64) -> i64 {
        tool.a + arguments.a + host
    }

    /// Called like a variable.
    #[tool(namespace = "ours")]
    pub fn host(input: i64) -> i64 {
        input
    }
}

mod inside_a_function {
    pub fn call() -> i64 {
        /// Adds.
        #[toolkit::tool(namespace = "inside")]
        fn hidden(a: i64) -> i64 {
            a
        }
        hidden(7)
    }
}

mod reexported {
    mod search {
        /// Searches.
        #[toolkit::tool(namespace = "reexported")]
        pub fn search(query: String) -> String {
            query
        }
    }
    pub use search::search;
}

mod private_types_in_public_functions {
    #![allow(private_interfaces)]

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Private {
        a: i64,
    }

    /// Takes a type that only this module sees.
    #[toolkit::tool(namespace = "private")]
    pub fn visible(private: Private) -> i64 {
        private.a
    }
}

mod aliases_of_types {
    use toolkit::{Context, ToolError, tool};

    type Number = u8;
    type Outcome<T> = Result<T, ToolError>;
    type Ctx = Context;
    type Text = Vec<char>;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Query {
        n: u8,
    }

    type Ask = Query;

    /// A lone number, by another name, is one argument; a `Result` by another name is one.
    #[tool(namespace = "alias")]
    pub fn number(n: Number, _ctx: &Ctx) -> Outcome<Number> {
        if n > 9 { Err(ToolError::failed("too large")) } else { Ok(n) }
    }

    /// A struct by another name is the argument struct.
    #[tool(namespace = "alias")]
    pub fn query(ask: Ask) -> Outcome<Text> {
        Ok(vec!['a'; usize::from(ask.n)])
    }
}

fn dispatcher() -> Dispatcher {
    Dispatcher::builder(Catalog::linked().unwrap())
        .state(without_prelude::Set)
        .state(strict::Set)
        .state(from_macro_rules_in_parts::Set)
        .state(conditional::Set)
        .shared_state::<dyn std::any::Any + Send + Sync>(std::sync::Arc::new(0_u8))
        .build()
        .unwrap()
}

#[test]
fn the_functions_stay_what_they_were() {
    assert_eq!(shadowed_prelude::sum(1, 2), 3);
    assert_eq!(without_prelude::sum(1, None, vec![]), [1, 0, 0]);
    assert_eq!(strict::sum(1, 2), 3);
    assert_eq!(strict::Set.count(2), 2);
    assert_eq!(raw_identifiers::r#match("a".to_owned(), 1), "a1");
    assert_eq!(from_macro_rules::double_small(4, None), Ok(8));
    assert_eq!(from_macro_rules::double_large(4, Some(3)), Ok(12));
    assert_eq!(inside_a_function::call(), 7);
    assert_eq!(reexported::search("a".to_owned()), "a");
    assert_eq!(from_macro_rules_in_parts::id(), "parts:double");
}

#[test]
fn every_tool_is_called_under_its_own_name() {
    let dispatcher = dispatcher();
    let check = |id: &str, arguments: &str, expect: serde_json::Value| {
        let outcome = dispatcher.call_sync(id, arguments).unwrap();
        assert_eq!(outcome.value(), expect, "{id}");
    };
    check("shadowed:sum", r#"{"a": 1, "b": 2}"#, json!(3));
    check("without:sum", r#"{"a": 1, "words": ["x"]}"#, json!([1, 0, 1]));
    check("strict:sum", r#"{"a": 1, "b": 2}"#, json!(3));
    check("strict:count", r#"{"extra": 2}"#, json!(2));
    check("raw:match", r#"{"type": "a", "fn": 1}"#, json!("a1"));
    check("made:double_small", r#"{"n": 4}"#, json!(8));
    check("parts:double", r#"{"n": 4}"#, json!(8));
    check("parts:lent", r#"{"n": 4}"#, json!(4));
    check("parts:parts", "{}", json!(3));
    check("conditional:here", "{}", json!([3, 3, 3]));
    check("shadowed:fallible", r#"{"userId": 4}"#, json!(4));
    check("ours:input", r#"{"tool": {"a": 1}, "arguments": {"a": 2}, "host": 3}"#, json!(6));
    check("ours:host", r#"{"input": 3}"#, json!(3));
    check("inside:hidden", r#"{"a": 3}"#, json!(3));
    check("reexported:search", r#"{"query": "q"}"#, json!("q"));
    check("private:visible", r#"{"a": 3}"#, json!(3));
    check("alias:number", r#"{"n": 3}"#, json!(3));
    check("alias:query", r#"{"n": 2}"#, json!(["a", "a"]));
    assert_eq!(dispatcher.call_sync("alias:number", r#"{"n": 10}"#).unwrap_err().message(), "too large");
}

#[tokio::test]
async fn handles_follow_raw_names_and_methods() {
    let dispatcher = dispatcher();
    let matched = handle!(raw_identifiers::r#match).call(&dispatcher, ("a".to_owned(), 1)).await;
    assert_eq!(matched.unwrap(), "a1");
    assert_eq!(handle!(strict::Set::count).call(&dispatcher, 2).await.unwrap(), 2);
}
