//! The `_meta` of requests, and the revision that it declares.

use serde_json::json;
use serde_json::value::RawValue;
use toolkit::call::LogLevel;
use toolkit::mcp::Revision;
use toolkit_mcp::{
    BATCHES, CLIENT_CAPABILITIES, CLIENT_INFO, Code, LEGACY, LOG_LEVEL, MODERN, Meta, PROTOCOL_VERSION, missing,
    parse_level, supported,
};

use crate::{error, raw, texts};

/// Returns the parameters of a request with this `_meta`.
fn params(meta: &str) -> Box<RawValue> {
    RawValue::from_string(format!("{{\"_meta\": {meta}}}")).expect("the text is JSON")
}

const CAPABILITIES: &str = "\"io.modelcontextprotocol/clientCapabilities\": {}";
const NO_LEVEL: &str = "`io.modelcontextprotocol/logLevel` must be one of `debug`, `info`, `notice`, `warning`, `error`, \
                        `critical`, `alert`, `emergency`";

#[test]
fn the_fields_are_read_as_their_texts() {
    let json = json!({
        "name": "add",
        "requestState": "sealed",
        "inputResponses": {"a": 1},
        "task": {"ttl": 5},
        "_meta": {
            PROTOCOL_VERSION: "2026-07-28",
            CLIENT_INFO: {"name": "c"},
            CLIENT_CAPABILITIES: {},
            LOG_LEVEL: "warning",
            "progressToken": "t",
            "rs.toolkit/chunks": true,
            "traceparent": "00-1",
            "tracestate": "a=1",
            "baggage": 7,
            "other": [],
        },
    })
    .to_string();
    let meta = Meta::parse(Some(raw(&json))).unwrap();
    assert_eq!(meta.version().as_deref(), Some("2026-07-28"));
    assert_eq!(
        texts([meta.client_info, meta.client_capabilities, meta.progress_token()]),
        [Some("{\"name\":\"c\"}"), Some("{}"), Some("\"t\"")]
    );
    assert_eq!(
        texts([meta.input.state, meta.input.responses, meta.task]),
        [Some("\"sealed\""), Some("{\"a\":1}"), Some("{\"ttl\":5}")]
    );
    assert_eq!(meta.log_level().unwrap(), Some(LogLevel::Warning));
    assert!(meta.wants_chunks());
    assert_eq!(meta.trace().map(|text| text.map(String::from)), [Some("00-1".into()), Some("a=1".into()), None]);
}

#[test]
fn absent_fields_are_none() {
    for json in [None, Some("{}"), Some("{\"_meta\": {}}"), Some("{\"_meta\": null, \"task\": null}")] {
        let meta = Meta::parse(json.map(raw)).unwrap();
        assert_eq!(meta.version(), None);
        assert_eq!(texts([meta.client_info, meta.client_capabilities, meta.progress_token()]), [None; 3]);
        assert_eq!(texts([meta.input.state, meta.input.responses, meta.task]), [None; 3]);
        assert_eq!(meta.log_level().unwrap(), None);
        assert!(!meta.wants_chunks());
        assert_eq!(meta.trace(), [None, None, None]);
    }
}

#[test]
fn parameters_and_meta_are_objects_without_duplicate_fields() {
    for (json, message) in [
        ("[]", "`params` must be an object"),
        ("null", "`params` must be an object"),
        ("\"{}\"", "`params` must be an object"),
        ("{\"_meta\": {}, \"_meta\": {}}", "`params` has a duplicate field"),
        ("{\"task\": 1, \"task\": 1}", "`params` has a duplicate field"),
        ("{\"_meta\": []}", "`_meta` must be an object"),
        ("{\"_meta\": \"{}\"}", "`_meta` must be an object"),
        ("{\"_meta\": {\"progressToken\": 1, \"progressToken\": 1}}", "`_meta` has a duplicate field"),
    ] {
        let fault = Meta::parse(Some(raw(json))).unwrap_err();
        assert!(fault.is_bad_request, "{json}");
        assert_eq!(error(&fault), (-32602, message.to_owned(), None), "{json}");
    }
}

#[test]
fn a_value_of_another_kind_counts_as_absent() {
    let read = |json: &str| {
        let params = params(json);
        let meta = Meta::parse(Some(&params)).unwrap();
        let token = meta.progress_token().map(|token| token.get().to_owned());
        (token, meta.wants_chunks(), meta.version().map(String::from))
    };
    for (token, is_token) in [("1", true), ("\"a\"", true), ("1.5", false), ("{}", false), ("true", false)] {
        let read = read(&format!("{{\"progressToken\": {token}}}"));
        assert_eq!(read, (is_token.then(|| token.to_owned()), false, None), "{token}");
    }
    for (chunks, wanted) in [("true", true), ("false", false), ("\"true\"", false), ("1", false)] {
        assert_eq!(read(&format!("{{\"rs.toolkit/chunks\": {chunks}}}")), (None, wanted, None), "{chunks}");
    }
    assert_eq!(read("{\"io.modelcontextprotocol/protocolVersion\": 7}"), (None, false, None));
}

#[test]
fn an_unknown_level_is_an_error_that_names_the_levels() {
    for level in LogLevel::ALL {
        assert_eq!(parse_level(LOG_LEVEL, &format!("\"{level}\"")).unwrap(), level);
    }
    for level in ["\"loud\"", "7", "error", "\"Error\""] {
        let fault = parse_level(LOG_LEVEL, level).unwrap_err();
        assert!(!fault.is_bad_request);
        assert_eq!(error(&fault), (-32602, NO_LEVEL.to_owned(), None), "{level}");
    }
    let params = params("{\"io.modelcontextprotocol/logLevel\": \"loud\"}");
    let fault = Meta::parse(Some(&params)).unwrap().log_level().unwrap_err();
    assert_eq!(error(&fault).1, NO_LEVEL);
}

/// Returns the revision of a request with this `_meta` and this header, or its error.
fn revision(meta: &str, header: Option<&str>) -> Result<Revision, (i64, String, Option<serde_json::Value>)> {
    let params = params(meta);
    let revision = Meta::parse(Some(&params)).unwrap().revision(header);
    revision.map_err(|fault| {
        assert!(fault.is_bad_request);
        error(&fault)
    })
}

#[test]
fn the_revision_is_declared_in_meta_or_in_the_header() {
    assert_eq!(revision("{}", None), Ok(Revision::V2025_11_25));
    assert_eq!(revision(&format!("{{{CAPABILITIES}}}"), None), Ok(Revision::V2025_11_25));
    for legacy in LEGACY {
        assert_eq!(revision("{}", Some(legacy)), Ok(Revision::V2025_11_25), "{legacy}");
        let declared = format!("{{\"{PROTOCOL_VERSION}\": \"{legacy}\"}}");
        assert_eq!(revision(&declared, Some(MODERN)), Ok(Revision::V2025_11_25), "{legacy}");
    }
    let modern = format!("{{\"{PROTOCOL_VERSION}\": \"{MODERN}\", {CAPABILITIES}}}");
    assert_eq!(revision(&modern, None), Ok(Revision::V2026_07_28));
    assert_eq!(revision(&modern, Some(BATCHES)), Ok(Revision::V2026_07_28));
}

#[test]
fn revision_2026_07_28_requires_two_fields() {
    let message =
        |field: &str| format!("`params._meta` must have `io.modelcontextprotocol/{field}`, which 2026-07-28 requires");
    assert_eq!(revision("{}", Some(MODERN)), Err((-32602, message("protocolVersion"), None)));
    for capabilities in ["1", "[]", "null"] {
        let meta = format!("{{\"{PROTOCOL_VERSION}\": \"{MODERN}\", \"{CLIENT_CAPABILITIES}\": {capabilities}}}");
        assert_eq!(revision(&meta, None), Err((-32602, message("clientCapabilities"), None)), "{capabilities}");
    }
    assert_eq!(error(&missing("clientInfo")), (Code::InvalidParams as i64, message("clientInfo"), None));
}

#[test]
fn another_revision_is_an_error_with_the_supported_ones() {
    assert_eq!(supported(), ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    let unsupported = |requested: &str| {
        let data = json!({ "supported": supported(), "requested": requested });
        Err((-32022, "the protocol version is not supported".to_owned(), Some(data)))
    };
    assert_eq!(revision("{}", Some("2020-01-01")), unsupported("2020-01-01"));
    let declared = |version: &str| format!("{{\"{PROTOCOL_VERSION}\": \"{version}\", {CAPABILITIES}}}");
    assert_eq!(revision(&declared("2027-01-01"), None), unsupported("2027-01-01"));
    assert_eq!(revision(&declared(&"9".repeat(65)), None), unsupported(&"9".repeat(64)));
}
