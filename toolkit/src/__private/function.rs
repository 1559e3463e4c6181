//! Constructors of entries and metadata that keep generated code small.

use std::any::TypeId;
use std::borrow::Cow;

use serde_json::Value;

use crate::catalog::{Catalog, Diagnostics};
use crate::dispatch::TypedCall;
use crate::dispatch::encode::Encode;
use crate::dispatch::function::{AsyncFunction, Function, Run, SyncFunction, run_async, run_sync, run_waiting};
use crate::handle::Linked;
use crate::tool::entry::{Code, Entry};
use crate::tool::{Authorization, Icon, Literal, Location, Metadata, Requirements, Secret, Text};
use toolkit_schema::plan::discard;

/// Creates the catalog of an explicit list.
///
/// # Errors
///
/// Returns the errors of [`Catalog::linked`].
pub fn catalog_of(entries: &[&'static Entry]) -> Result<Catalog, Diagnostics> {
    Catalog::from_entries(entries)
}

/// Creates the entry of a synchronous function, with every optional field empty.
pub const fn sync_entry<F: SyncFunction>(
    id: &'static str,
    name: &'static str,
    location: Location,
    input: fn() -> Value,
) -> Entry {
    let waits = <F::Encoding as Encode<F::Output>>::WAITS;
    let code = if waits { const { &Run::Async(run_waiting::<F>) } } else { const { &Run::Sync(run_sync::<F>) } };
    entry::<F>(id, name, location, input, code)
}

/// Creates the entry of a synchronous function that blocks its thread.
pub const fn blocking_entry<F: SyncFunction>(
    id: &'static str,
    name: &'static str,
    location: Location,
    input: fn() -> Value,
) -> Entry {
    entry::<F>(id, name, location, input, const { &Run::Blocking(run_sync::<F>) })
}

/// Creates the entry of an asynchronous function.
pub const fn async_entry<F: AsyncFunction>(
    id: &'static str,
    name: &'static str,
    location: Location,
    input: fn() -> Value,
) -> Entry {
    entry::<F>(id, name, location, input, const { &Run::Async(run_async::<F>) })
}

const fn entry<F: Function>(
    id: &'static str,
    name: &'static str,
    location: Location,
    input: fn() -> Value,
    code: &'static Run,
) -> Entry {
    Entry {
        id,
        namespace: None,
        name,
        version: None,
        aliases: &[],
        timeout: None,
        requires: false,
        show_errors: false,
        enforce_formats: false,
        metadata: Metadata::default,
        location,
        input,
        sole: None,
        read: discard::<F::Arguments>,
        output: F::Encoding::schema,
        types: [TypeId::of::<fn(F::Arguments)>(), TypeId::of::<fn(F::Encoding) -> F::Output>()],
        prompt: None,
        returns_unit: <F::Encoding as Encode<F::Output>>::RETURNS_UNIT,
        states: &[],
        code: Code::new(code),
    }
}

/// Creates the hidden item beside a synchronous function.
pub const fn sync_linked<F: SyncFunction>(entry: &'static Entry) -> Linked<F::Input, F::Returned> {
    Linked::new(entry, TypedCall::Sync(F::call))
}

/// Creates the hidden item beside an asynchronous function.
pub const fn async_linked<F: AsyncFunction>(entry: &'static Entry) -> Linked<F::Input, F::Returned> {
    Linked::new(entry, TypedCall::Async(|input, host| Box::pin(F::call(input, host))))
}

/// Fails to compile if the list contains a tool twice.
#[track_caller]
pub const fn not_in(entry: &Entry, earlier: &[&Entry]) {
    let mut idx = 0;
    while idx < earlier.len() {
        let is_same_kind = entry.prompt.is_some() == earlier[idx].prompt.is_some();
        assert!(!is_same_kind || !equal(entry.id, earlier[idx].id), "an earlier tool in this catalog has the same id");
        idx += 1;
    }
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut idx = 0;
    while idx < a.len() {
        if a[idx] != b[idx] {
            return false;
        }
        idx += 1;
    }
    true
}

/// Creates a text from a string literal.
#[must_use]
pub const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// Creates texts from string literals.
#[must_use]
pub fn texts(texts: &[&'static str]) -> Vec<Text> {
    texts.iter().map(|text| Cow::Borrowed(*text)).collect()
}

/// Creates a JSON literal from its source text.
#[must_use]
pub const fn literal(json: &'static str) -> Literal {
    Literal::Text(json)
}

/// Creates the requirements of a tool.
pub const fn requirements(
    authorization: Vec<Authorization>,
    secrets: Vec<Secret>,
    scopes: Vec<Text>,
    user_id: bool,
) -> Requirements {
    Requirements { authorization, secrets, scopes, user_id }
}

/// Creates an icon.
#[must_use]
pub fn icon(
    src: &'static str,
    mime_type: Option<&'static str>,
    sizes: &[&'static str],
    theme: Option<&'static str>,
) -> Icon {
    Icon { mime_type: mime_type.map(text), sizes: texts(sizes), theme: theme.map(text), ..Icon::new(text(src)) }
}

/// Adds aliases of arguments to an input schema.
#[must_use]
pub fn with_aliases(schema: Value, aliases: &[(&str, &[&str])]) -> Value {
    toolkit_schema::alias::with_aliases(schema, aliases)
}
