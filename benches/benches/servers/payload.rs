//! The calls that clients make: a small one that all servers answer, and a larger one of the servers in Rust.

use crate::tools;

/// A tool, the arguments of its calls, and a part of each correct response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    pub(crate) tool: &'static str,
    pub(crate) arguments: &'static str,
    pub(crate) expected: &'static str,
}

pub(crate) const ADD: Payload =
    Payload { tool: "add", arguments: r#"{"a":1,"b":2}"#, expected: r#""structuredContent":{"sum":3}"# };

pub(crate) const SEARCH: Payload = Payload {
    tool: "search",
    arguments: match str::from_utf8(tools::SEARCH) {
        Ok(arguments) => arguments,
        Err(_) => panic!("JSON is UTF-8"),
    },
    // Some servers sort the keys. In the text, the quotation marks are escaped.
    expected: r#""total":20"#,
};
