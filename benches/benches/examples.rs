//! Cost of a call of each tool in `examples/`, compared to serde and the same function.
//!
//! Only tools that compute are measured. Tools that read files, run programs, wait, or use a directory of the host are
//! omitted, since they would measure the operating system.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use toolkit::{Catalog, Dispatcher, Tool};
use toolkit_benches::allocations::Counting;
use toolkit_benches::measure::Table;
use toolkit_examples::{dates, json, math, text, units};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Defines one line of the table: the tool, its arguments, its return type, and a call.
macro_rules! tool {
    ($dispatcher:expr, $name:ident($($argument:ident: $type:ident),*), $returned:expr, $sent:literal) => {{
        #[derive(Deserialize)]
        struct Arguments<$($type),*> {
            $($argument: $type,)*
        }
        line(&$dispatcher, stringify!($name), $sent, |Arguments { $($argument),* }| $returned);
    }};
}

fn main() {
    let linked = Catalog::linked().expect("the names differ");
    let computes = |tool: &&Tool| ["math", "units", "text", "dates", "json"].contains(&namespace(tool));
    let catalog = Catalog::new(linked.iter().filter(computes).cloned()).expect("the names differ");
    let d = Dispatcher::new(catalog).expect("no state is needed");

    println!("| tool | floor, ns | toolkit, ns | ratio (p10–p90) |\n|---|---:|---:|---:|");
    tool!(d, add(a: A, b: B), math::add(a, b).unwrap(), r#"{"a":2,"b":3}"#);
    tool!(
        d,
        describe_numbers(numbers: N, percentiles: P),
        math::describe_numbers(numbers, percentiles).unwrap(),
        r#"{"numbers":[3,1,2],"percentiles":[90]}"#
    );
    tool!(
        d,
        convert_units(value: V, from: F, to: T),
        units::convert_units(value, from, to).unwrap(),
        r#"{"value":26.2,"from":"mi","to":"km"}"#
    );
    tool!(d, count_text(text: T), text::count_text(text), r#"{"text":"Hello, world.\nHow are you?"}"#);
    tool!(
        d,
        replace_text(text: T, pattern: P, replacement: R, ignore_case: I, limit: L),
        text::replace_text(text, pattern, replacement, ignore_case, limit).unwrap(),
        r#"{"text":"2024-05-06","pattern":"(\\d+)-(\\d+)","replacement":"$2.$1","ignore_case":false,"limit":3}"#
    );
    tool!(
        d,
        diff_text(old: O, new: N, context: C),
        text::diff_text(old, new, context).value,
        r#"{"old":"a\nb\nc\n","new":"a\nd\nc\n","context":3}"#
    );
    tool!(
        d,
        extract_links(text: T, only: O, limit: L),
        text::extract_links(text, only, limit),
        r#"{"text":"See https://example.org/a or write to ann@example.org.","only":"emails","limit":100}"#
    );
    tool!(
        d,
        slugify(title: T, separator: S, max_length: M),
        text::slugify(title, separator, max_length).unwrap(),
        r#"{"title":"What a tool costs, and why","separator":"-","max_length":80}"#
    );
    tool!(
        d,
        parse_date(text: T, format: F),
        dates::parse_date(text, format).unwrap(),
        r#"{"text":"2024-01-31","format":"%Y-%m-%d"}"#
    );
    tool!(
        d,
        business_days(from: F, to: T, holidays: H, weekend: W),
        dates::business_days(from, to, holidays, weekend).unwrap(),
        r#"{"from":"2024-01-01","to":"2024-01-31","holidays":["2024-01-01"],"weekend":["saturday","sunday"]}"#
    );
    tool!(
        d,
        convert_time_zone(at: A, from: F, to: T),
        dates::convert_time_zone(at, from, to).unwrap(),
        r#"{"at":"2024-07-01T09:00","from":"Europe/Berlin","to":"America/Lima"}"#
    );
    tool!(
        d,
        shift_date(start: S, by: B),
        dates::shift_date(start, by).unwrap(),
        r#"{"start":"2024-01-31","by":{"months":1}}"#
    );
    tool!(
        d,
        date_difference(from: F, to: T, unit: U),
        dates::date_difference(from, to, unit).unwrap(),
        r#"{"from":"2024-01-01","to":"2024-03-01","unit":"months"}"#
    );
    tool!(
        d,
        query_json(document: D, path: P, limit: L),
        json::query_json(document, path, limit).unwrap(),
        r#"{"document":{"items":[{"price":5},{"price":20}]},"path":"$.items[?@.price > 10].price","limit":100}"#
    );
    tool!(
        d,
        validate_json(value: V, schema: S),
        json::validate_json(value, schema).unwrap(),
        r#"{"value":[1,2,3],"schema":{"type":"array","items":{"type":"integer"}}}"#
    );
    tool!(
        d,
        diff_json(old: O, new: N),
        json::diff_json(old, new).value,
        r#"{"old":{"a":1,"b":[1,2]},"new":{"a":2,"b":[1]}}"#
    );
}

fn namespace(tool: &Tool) -> &str {
    tool.id().namespace().unwrap_or_default()
}

fn line<In: for<'de> Deserialize<'de>, Out: Serialize>(
    dispatcher: &Dispatcher,
    name: &str,
    sent: &str,
    function: impl Fn(In) -> Out,
) {
    let tool = dispatcher.prepared(name).expect("it is linked");
    let floor = |sent: &str| serde_json::to_vec(&function(serde_json::from_str(sent).expect("valid"))).expect("JSON");
    let call = |sent: &str| tool.call_sync(sent).expect("it succeeds").into_json();
    assert_eq!(floor(sent), call(sent), "{name}");
    let mut table = Table::new(format!("`{name}`"));
    table.row("floor: serde, function, serde", "nothing", || floor(black_box(sent)));
    table.row("`Prepared::call_sync`", "in and out", || call(black_box(sent)));
    println!("{}", table.measure().pair());
}
