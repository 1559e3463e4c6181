//! Valid and invalid arguments of each tool.

/// The calls of one tool.
pub struct Call {
    pub tool: &'static str,
    pub valid: &'static [&'static str],
    pub invalid: &'static [&'static str],
}

const fn call(tool: &'static str, valid: &'static [&'static str], invalid: &'static [&'static str]) -> Call {
    Call { tool, valid, invalid }
}

/// A prompt, with valid and invalid arguments.
pub const PROMPTS: &[(&str, &str, &str)] = &[(
    "prompts:review",
    r#"{"code": "fn main() {}", "style": "brief", "remarks": "-1"}"#,
    r#"{"code": "fna", "remarks": "0"}"#,
)];

pub const CALLS: &[Call] = &[
    call(
        "arguments:borrowed",
        &[r#"{"text": "a", "numbers": [1]}"#, r#"{"text": "a", "numbers": [], "more": "b", "lists": ["c"]}"#],
        &[r#"{"text": "a"}"#, r#"{"text": "a", "numbers": [], "lists": "c"}"#],
    ),
    call("arguments:defaults", &["{}", r#"{"count": 4, "names": ["a"], "note": "b"}"#], &[r#"{"count": 256}"#]),
    call(
        "arguments:limits",
        &[r#"{"days": 1, "share": 0.5, "code": "äß", "codes": ["ab"], "text": "xa&by", "note": "n"}"#],
        &[
            r#"{"days": 15, "share": 0.5, "code": "ab", "codes": ["ab"], "note": "n"}"#,
            r#"{"days": 1, "share": 0.5, "code": "ab", "codes": ["ab"], "text": "ab", "note": "n"}"#,
            r#"{"days": 1, "share": 0.5, "code": "ab", "codes": ["abc"], "note": "n"}"#,
            r#"{"days": 1, "share": 0.5, "code": "ab", "codes": ["ab"]}"#,
        ],
    ),
    call(
        "arguments:aliases",
        &[
            r#"{"query": "a"}"#,
            r#"{"q": "a", "limit": 1, "type": "b"}"#,
            r#"{"query": "a", "max": 1, "lang": "de"}"#,
            r#"{"q": "a", "top": 1, "language": "de"}"#,
        ],
        &[
            r#"{"limit": 1}"#,
            r#"{"query": "a", "q": "b"}"#,
            r#"{"query": "a", "limit": 1, "max": 2}"#,
            r#"{"query": "a", "top": "x"}"#,
            r#"{"query": "a", "lang": "a", "language": "b"}"#,
        ],
    ),
    call(
        "arguments:non_zero",
        &[r#"{"a": -1, "c": []}"#, r#"{"a": 1, "b": -128, "c": [1, -1], "d": -2, "e": 3, "f": 65535}"#],
        &[
            r#"{"a": 0, "c": []}"#,
            r#"{"a": 1, "b": 0, "c": []}"#,
            r#"{"a": 1, "c": [1, 0]}"#,
            r#"{"a": 1, "c": [], "f": 0}"#,
            r#"{"a": 1, "b": 128, "c": []}"#,
        ],
    ),
    call(
        "arguments:numbers",
        &[
            r#"{"a": -128, "b": 18446744073709551615, "c": 0.5}"#,
            r#"{"a": 1, "b": 2, "c": 3, "d": -4, "e": "ß", "f": true}"#,
        ],
        &[r#"{"a": 128, "b": 1, "c": 1}"#, r#"{"a": 1, "b": -1, "c": 1}"#, r#"{"a": 1, "b": 1, "c": 1, "e": "ab"}"#],
    ),
    call(
        "arguments:collections",
        &[
            r#"{"pair": ["a", 1], "triple": [1, 2, 3], "set": ["a", "b"], "by_name": {"a": 1}}"#,
            r#"{"pair": ["a", 1], "triple": [1, 2, 3], "set": [], "by_name": {}, "by_number": {"7": "a"},
                "by_signed": {"-7": "a"}, "nested": [[1.5, null], []]}"#,
        ],
        &[
            r#"{"pair": ["a"], "triple": [1, 2, 3], "set": [], "by_name": {}}"#,
            r#"{"pair": ["a", 1, 2], "triple": [1, 2, 3], "set": [], "by_name": {}}"#,
            r#"{"pair": ["a", 1], "triple": [1, 2], "set": [], "by_name": {}}"#,
            r#"{"pair": ["a", 1], "triple": [1, 2, 3], "set": ["a", "a"], "by_name": {}}"#,
            r#"{"pair": ["a", 1], "triple": [1, 2, 3], "set": [], "by_name": {}, "by_number": {"x": "a"}}"#,
        ],
    ),
    call(
        "arguments:standard_types",
        &[r#"{"host": "::1", "wait": {"secs": 1, "nanos": 0}}"#],
        &[r#"{"host": "here", "wait": {"secs": 1, "nanos": 0}}"#, r#"{"host": "::1", "wait": 1}"#],
    ),
    call("arguments:newtype", &[r#"{"code": "DE"}"#], &[r#"{"code": "de"}"#]),
    call("arguments:list", &[r#"{"items": [1]}"#], &[r#"{"items": [256]}"#, r#"{"items": [], "more": 1}"#]),
    call(
        "structs:find",
        &[
            r#"{"text": "a"}"#,
            r#"{"q": "a", "max": 1, "in": {"dir": "b", "deep": true, "inner": {"folder": "c", "recursive": true}}}"#,
            r#"{"text": "a", "limit": 1, "scope": {}, "more": [{"dir": "b"}, {"inner": {"deep": false}}]}"#,
        ],
        &[
            r#"{"text": "a", "q": "b"}"#,
            r#"{"text": "a", "limit": 1, "max": 2}"#,
            r#"{"text": "a", "in": {"dir": "b", "folder": "c"}}"#,
            r#"{"text": "a", "more": [{"inner": {"deep": true, "recursive": true}}]}"#,
            r#"{"text": "a", "scope": {"path": "b"}}"#,
        ],
    ),
    call(
        "structs:find_named",
        &[r#"{"query": {"q": "a", "in": {"deep": true}}, "exact": true}"#],
        &[r#"{"q": "a", "exact": true}"#, r#"{"query": {"q": "a", "text": "b"}, "exact": true}"#],
    ),
    call(
        "structs:flattened",
        &[r#"{"name": "a", "number": 1}"#, r#"{"name": "a", "number": 1, "size": 2}"#],
        &[r#"{"name": "a"}"#, r#"{"name": "a", "number": 1, "pages": 2}"#],
    ),
    call(
        "structs:strict",
        &[r#"{"name": "a", "page": {"number": 1}, "words": {"firstWord": "b"}}"#],
        &[r#"{"name": "a", "page": {"number": 1}, "words": {"first_word": "b"}}"#],
    ),
    call("structs:any_name", &["{}", r#"{"ä": 1, "b c": 2}"#], &[r#"{"a": "b"}"#]),
    call(
        "structs:converted",
        &[r#"{"even": 2}"#, r#"{"even": 2, "with": 4}"#],
        &[r#"{"even": 3}"#, r#"{"even": "2"}"#],
    ),
    call(
        "enums:unit",
        &[r#"{"unit": "celsius"}"#, r#"{"unit": "c", "other": "kelvin"}"#],
        &[r#"{"unit": "Celsius"}"#, r#"{"unit": "kelvin", "other": "k"}"#],
    ),
    call(
        "enums:external",
        &[r#"{"shape": {"Circle": {"radius": 1}}, "more": [{"Line": [1, 2]}, {"Text": "a"}]}"#],
        &[r#"{"shape": {"Circle": {}}, "more": []}"#, r#"{"shape": {"Line": [1]}, "more": []}"#],
    ),
    call(
        "enums:only_input",
        &[
            r#"{"op": "equals", "column": "a", "value": "b"}"#,
            r#"{"low": 1, "column": "a", "op": "between", "high": 2}"#,
        ],
        &[r#"{"op": "less", "column": "a"}"#, r#"{"op": "equals", "column": "a", "low": 1}"#, "{}"],
    ),
    call(
        "enums:internal",
        &[r#"{"filter": {"op": "equals", "column": "a", "value": "b"}}"#],
        &[r#"{"filter": {"op": "equals", "column": "a"}}"#, r#"{"filter": {"column": "a", "value": "b"}}"#],
    ),
    call(
        "enums:adjacent",
        &[r#"{"setting": {"kind": "Text", "value": "a"}, "more": {"kind": "Nothing"}}"#],
        &[r#"{"setting": {"kind": "Text", "value": 1}}"#, r#"{"setting": {"kind": "Number"}}"#],
    ),
    call(
        "enums:untagged",
        &[r#"{"item": 1, "others": [{"name": "a"}, ["b"]]}"#],
        &[r#"{"item": "a", "others": []}"#, r#"{"item": {"names": "a"}, "others": []}"#],
    ),
    call(
        "enums:empty",
        &[r#"{"text": "a", "list": []}"#, r#"{"text": "a", "list": [], "never": null}"#],
        &[r#"{"text": "a", "list": ["b"]}"#, r#"{"text": "a", "list": [], "never": "b"}"#],
    ),
    call(
        "enums:two_flattened",
        &[
            r#"{"name": "a", "auth": "token", "token": "b", "host": "c"}"#,
            r#"{"name": "a", "auth": "password", "user": "b", "password": "c", "file": {"path": "d"}}"#,
        ],
        &[
            r#"{"name": "a", "auth": "token", "token": "b"}"#,
            r#"{"name": "a", "host": "c"}"#,
            r#"{"name": "a", "auth": "token", "token": "b", "host": "c", "port": 1}"#,
            r#"{"name": "a", "auth": "token", "user": "b", "host": "c"}"#,
        ],
    ),
    call(
        "enums:two_flattened_inside",
        &[
            r#"{"jobs": [{"name": "a", "auth": "token", "token": "b", "host": "c"}]}"#,
            r#"{"jobs": [], "first": {"name": "a", "auth": "token", "token": "b", "file": {"path": "c"}}}"#,
        ],
        &[
            r#"{"jobs": [{"name": "a", "auth": "token", "token": "b"}]}"#,
            r#"{"jobs": [], "first": {"name": "a", "auth": "token", "token": "b", "host": "c", "port": 1}}"#,
        ],
    ),
    call(
        "patterns:punctuation",
        &[r#"{"marks": "'\"&|<>`"}"#, r#"{"marks": "&&", "text": "it's <b>a & b</b> | \"c\"", "any": "~"}"#],
        &[r#"{"marks": "a"}"#, r#"{"marks": "'", "text": "it's"}"#, r#"{"marks": "'", "any": "a"}"#],
    ),
    call(
        "patterns:letters",
        &[
            r#"{"street": "Straße in Köln"}"#,
            r#"{"street": "Straße in Äöü", "mood": "😀🙏", "name": "中文", "person": "Zoë d'Arc", "greek": "αβ1"}"#,
        ],
        &[
            r#"{"street": "Strasse in Köln"}"#,
            r#"{"street": "Straße in Köln", "mood": "🚀"}"#,
            r#"{"street": "Straße in Köln", "name": "a"}"#,
            r#"{"street": "Straße in Köln", "person": "zoë"}"#,
            r#"{"street": "Straße in Köln", "greek": "αββ"}"#,
        ],
    ),
    call(
        "patterns:groups",
        &[r#"{"query": "SELECT 1"}"#, r#"{"query": "select", "month": "2024-05", "line": "a\nb", "tabbed": "\ta b"}"#],
        &[
            r#"{"query": "selected"}"#,
            r#"{"query": "select", "month": "٢٠٢٤-05"}"#,
            r#"{"query": "select", "line": "a"}"#,
            r#"{"query": "select", "tabbed": "\t\n"}"#,
        ],
    ),
    call(
        "patterns:keys",
        &["{}", r#"{"headers": {"values": {"X-Max": "1", "R&D": "2"}, "tags": ["ä"]}}"#],
        &[r#"{"headers": {"values": {"X_Max": "1"}, "tags": []}}"#, r#"{"headers": {"values": {}, "tags": ["Ä"]}}"#],
    ),
    call("formats:contact", &[r#"{"email": "bob"}"#], &[r#"{"email": 1}"#]),
    call(
        "formats:invite",
        &[
            r#"{"from": "a@example.com"}"#,
            r#"{"from": "o'neil+x&y@example.com", "page": "https://example.com/?a=b&c='d'"}"#,
        ],
        &[r#"{"from": "ada"}"#, r#"{"from": "a@example.com", "page": "example"}"#],
    ),
    call(
        "formats:book",
        &[
            r#"{"day": "2024-02-29"}"#,
            r#"{"day": "2024-05-06", "made": "2024-05-06T12:30:00Z", "at": "12:30:00Z", "length": "PT1H",
                "id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "host": "example.com", "address": "192.0.2.1",
                "email": "a@example.com", "page": "mailto:a@example.com"}"#,
        ],
        &[
            r#"{"day": "2023-02-29"}"#,
            r#"{"day": "2024-05-06", "email": "a@example.org"}"#,
            r#"{"day": "2024-05-06", "address": "192.0.2.256"}"#,
            r#"{"day": "2024-05-06", "page": "a b"}"#,
        ],
    ),
    call("office:write", &[r#"{"to": "a@example.com"}"#], &[r#"{"to": "a"}"#]),
    call(
        "schemas:pay",
        &[
            "{}",
            r#"{"payment": {"amount": 19.99}}"#,
            r#"{"payment": {"amount": 0.3, "card": "visa", "address": "a", "parts": [1, 10, 11], "coupons": ["a", "b"]}}"#,
            r#"{"payment": {"amount": 1, "card": "gift", "address": "a", "code": "b"}}"#,
        ],
        &[
            r#"{"payment": {"amount": 19.999}}"#,
            r#"{"payment": {"amount": 1, "card": "visa"}}"#,
            r#"{"payment": {"amount": 1, "card": "cash", "address": "a"}}"#,
            r#"{"payment": {"amount": 1, "card": "gift", "address": "a"}}"#,
            r#"{"payment": {"amount": 1, "parts": [1]}}"#,
            r#"{"payment": {"amount": 1, "parts": [10, 11, 12]}}"#,
            r#"{"payment": {"amount": 1, "coupons": ["a", "a"]}}"#,
        ],
    ),
    call("results:report", &["{}"], &[r#"{"a": 1}"#]),
    call("results:nothing", &["{}"], &[r#"{"a": 1}"#]),
    call("results:content", &["{}"], &[r#"{"a": 1}"#]),
    call("results:contents", &["{}"], &[r#"{"a": 1}"#]),
    call("results:structured", &[r#"{"text": "a"}"#], &["{}"]),
    call("results:chunks", &[r#"{"text": "a b"}"#], &["{}"]),
    call("metadata:full", &[r#"{"text": "a"}"#], &[r#"{"text": 1}"#]),
    call("metadata:old", &[r#"{"text": "a"}"#], &["{}"]),
    call("state:append", &[r#"{"text": "a"}"#], &["{}"]),
    call("tracker_eu:address", &[r#"{"issue": 1}"#], &[r#"{"issue": -1}"#]),
];
