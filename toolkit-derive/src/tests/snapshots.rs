//! Snapshots of expansions. `UPDATE_EXPECT=1 cargo test -p toolkit-derive` updates them.

use expect_test::{ExpectFile, expect_file};
use proc_macro2::TokenStream;
use quote::quote;

use crate::tool::{tool, toolset};

#[track_caller]
fn check(expansion: TokenStream, expect: ExpectFile) {
    let file = syn::parse2(expansion).expect("an expansion is Rust");
    expect.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn parameters() {
    let arguments = quote!(namespace = "math", version = "1.0.0", tags = ["arithmetic"], read_only);
    let function = quote! {
        /// Adds two integers.
        pub fn add(
            /// First addend.
            a: i64,
            #[serde(default)] b: i64,
        ) -> i64 {
            a + b
        }
    };
    check(tool(arguments, function), expect_file!["../../snapshots/parameters.rs"]);
}

#[test]
fn sole_argument() {
    let function = quote! {
        /// Forecast for a city.
        fn forecast(query: Query) -> Result<Forecast, WeatherError> {
            todo(query)
        }
    };
    check(tool(quote!(), function), expect_file!["../../snapshots/sole_argument.rs"]);
}

#[test]
fn injected_state_of_an_async_function() {
    let function = quote! {
        /// Forecast for a city.
        async fn forecast(#[arg] city: String, ctx: &Context, db: &Db) -> Forecast {
            db.forecast(city, ctx).await
        }
    };
    check(tool(quote!(timeout = "30s", crate = ::tk), function), expect_file!["../../snapshots/injected_state.rs"]);
}

#[test]
fn methods() {
    let block = quote! {
        impl Notebook {
            /// Counts.
            #[tool(blocking)]
            fn count(&self) -> Self {
                self.0
            }

            fn other(&self) {}
        }
    };
    check(toolset(quote!(namespace = "notes"), block), expect_file!["../../snapshots/methods.rs"]);
}

#[test]
fn mistakes() {
    let function = quote! {
        fn add(#[arg] a: i64) -> i64 {
            a
        }
    };
    check(tool(quote!(namspace = "math"), function), expect_file!["../../snapshots/mistakes.rs"]);
}
