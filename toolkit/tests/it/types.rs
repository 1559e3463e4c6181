//! Types that authors use every day, as arguments: their schemas, and what a model sends.

use serde_json::{Value, json};
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, list_tools};
use toolkit::{Base64, Catalog, Dispatcher, catalog, tool};

macro_rules! rows {
    ($($name:ident: $ty:ty,)*) => {
        $(
            /// Reads a value.
            #[tool(read_only)]
            fn $name(#[arg] value: $ty) -> String {
                format!("{value:?}")
            }
        )*

        fn rows() -> Catalog {
            catalog![$($name),*].unwrap()
        }

        /// The types of the document, with the tools that take them.
        const TYPES: &[(&str, &str)] = &[$((stringify!($ty), stringify!($name))),*];
    };
}

rows! {
    base64: Base64,
    bytes: Vec<u8>,
    path: std::path::PathBuf,
    address: std::net::IpAddr,
    duration: std::time::Duration,
    system_time: std::time::SystemTime,
    decimal: rust_decimal::Decimal,
    uuid: uuid::Uuid,
    url: url::Url,
    chrono_date: chrono::NaiveDate,
    chrono_time: chrono::NaiveTime,
    chrono_local: chrono::NaiveDateTime,
    chrono_utc: chrono::DateTime<chrono::Utc>,
    jiff_date: jiff::civil::Date,
    jiff_time: jiff::civil::Time,
    jiff_local: jiff::civil::DateTime,
    jiff_timestamp: jiff::Timestamp,
    jiff_zoned: jiff::Zoned,
    jiff_duration: jiff::SignedDuration,
    jiff_span: jiff::Span,
}

/// Reads a time.
#[tool(read_only)]
fn time_of(
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    value: time::OffsetDateTime,
) -> String {
    value.to_string()
}

/// The rows of the document: the type, its schema and a value.
fn documented() -> Vec<(String, Value, Value)> {
    let document = include_str!("../../../docs/authoring-types.md");
    let (_, section) = document.split_once("\n## Types of other crates\n").unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| line.starts_with("| `"));
    let rows = rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['|', '`', ' '])).collect();
        let json = |cell: &str| serde_json::from_str(cell).unwrap_or_else(|error| panic!("{error}: {cell}"));
        (cells[0].to_owned(), json(cells[1]), json(cells[2]))
    });
    rows.collect()
}

#[test]
fn each_documented_type_has_its_schema_and_reads_its_value() {
    let time = [catalog![time_of].unwrap().resolve("time_of").unwrap().clone()];
    let catalog = Catalog::new(rows().iter().cloned().chain(time)).unwrap();
    let list = list_tools(&catalog, Revision::default(), Naming::Name).unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    let documented = documented();
    let types: Vec<&str> = documented.iter().map(|(ty, ..)| &**ty).collect();
    let mut expected: Vec<&str> = TYPES.iter().map(|(ty, _)| *ty).collect();
    expected.push("time::OffsetDateTime");
    assert_eq!(types, expected);
    for ((ty, schema, value), name) in
        documented.into_iter().zip(TYPES.iter().map(|(_, name)| *name).chain(["time_of"]))
    {
        let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["inputSchema"]["properties"]["value"], schema, "{ty}");
        let arguments = json!({ "value": value }).to_string();
        let result = dispatcher.call_sync(name, arguments.as_str());
        assert!(result.is_ok(), "{ty}: {value}: {result:?}");
    }
}
