//! The messages of errors, of which `tests/ui` shows the usual ones.

use super::errors;

/// Returns the errors of a tool with these arguments of the attribute.
fn of_arguments(arguments: &str) -> Vec<String> {
    errors(&format!("/// Tests. \n #[tool({arguments})] fn f() {{}}"))
}

/// Returns the errors of a tool with these parameters.
fn of_parameters(parameters: &str) -> Vec<String> {
    errors(&format!("/// Tests. \n #[tool] fn f({parameters}) {{}}"))
}

/// Returns the errors of a tool with this example and these parameters.
fn of_example(example: &str, parameters: &str) -> Vec<String> {
    errors(&format!("/// Tests. \n #[tool(examples = [r#\"{example}\"#])] fn f({parameters}) {{}}"))
}

#[test]
fn valid_arguments_have_no_errors() {
    for arguments in [
        "",
        "version = \"1.2.3-rc.1+b\"",
        "version = \"v1.0.0\"",
        "version = env!(\"CARGO_PKG_VERSION\")",
        "title = TITLE, description = concat!(\"a\", B), meta = meta(), examples = [EXAMPLE, call()]",
        "read_only, idempotent = false, destructive = false, open_world = true",
        "read_only = false, destructive",
        "task, timeout = \"500ms\", blocking = false",
        "task = \"optional\", timeout = \"2m\"",
        "task = \"required\", timeout = \"30s\"",
        "aliases = [\"a\", \"a:b\", \"a:b:1.0.0\"], ui = \"ui://a\", meta = {}",
        "max_result = 1000",
        "max_result = 50_000, ui = \"ui://a\", meta = { \"a\": 1 }",
        "icons = [\"https://a\", icon(src = \"b\", theme = \"light\"), icon(src = \"b\", sizes = [\"1x1\"])], category = \"c\"",
        "requires(user_id = false, scopes = []), show_errors = false, enforce_formats, crate = ::tk, deprecated = \"no\"",
    ] {
        assert_eq!(of_arguments(arguments), [""; 0], "{arguments}");
    }
    let tags: Vec<String> = (0..20).map(|n| format!("\"{}{n:02}\"", "t".repeat(62))).collect();
    assert_eq!(of_arguments(&format!("tags = [{}]", tags.join(", "))), [""; 0]);
}

const MAX_RESULT: &str =
    "`max_result` must be the number of characters that a result has at most, from 1000, as in `max_result = 50_000`";

#[test]
fn an_argument_has_a_message_with_its_remedy() {
    for (arguments, message) in [
        ("version = \"1\"", "`1` is not a semantic version; did you mean `\"1.0.0\"`?"),
        ("version = \"v1.2\"", "`v1.2` is not a semantic version; did you mean `\"1.2.0\"`?"),
        ("version = \"one\"", "`one` is not a semantic version; write `\"major.minor.patch\"`, as in `\"1.0.0\"`"),
        ("timeout = \"5w\"", "`5w` is not a duration; write `\"500ms\"`, `\"30s\"` or `\"2m\"`"),
        ("timeout = \"s\"", "`s` is not a duration; write `\"500ms\"`, `\"30s\"` or `\"2m\"`"),
        ("timeout = \"0ms\"", "`0ms` is not a duration; write `\"500ms\"`, `\"30s\"` or `\"2m\"`"),
        ("timeout", "`timeout` must be a string literal, as in `timeout = \"30s\"`"),
        ("task = 1", "write `task`, or `task = \"required\"` if only clients that support tasks can call the tool"),
        ("task(1)", "write `task`, or `task = \"required\"` if only clients that support tasks can call the tool"),
        ("tags", "`tags` must be a list of string literals, as in `tags = [\"forecast\"]`"),
        ("tags = [{ \"a\" }]", "the items of `tags` must be string literals, as in `\"forecast\"`"),
        ("examples = [(\"{}\")]", "the items of `examples` must be string literals, as in `\"{}\"`"),
        ("examples = EXAMPLES", "`examples` must be a list of string literals, as in `examples = [\"{}\"]`"),
        ("category = other!(\"a\")", "`category` must be a string literal, as in `category = \"weather\"`"),
        ("title = env!(\"NOT_SET_ANYWHERE\")", "the environment variable `NOT_SET_ANYWHERE` is not set"),
        ("crate = <A>::b", "`crate` must be a path, as in `crate = ::my_toolkit`"),
        ("namespace = \"\"", "`namespace` must not be empty"),
        (
            "namespace = \"a b!b#$%&/()\"",
            "`namespace` must not contain ` ` or `!` or `#` or `$` or `%` or `&` or `/` or `(`; use letters, digits, `_`, \
             `-` and `.`",
        ),
        ("tags = [1]", "the items of `tags` must be string literals, as in `\"forecast\"`"),
        ("tags = [\"a b\", \"A  B\"]", "duplicate tag `a-b`"),
        ("aliases = [\"a:\"]", "an alias must not be empty"),
        ("aliases = [\"a:b:c:d\"]", "an alias has more than two colons"),
        ("description = \" \"", "the description is empty; a model reads it to decide whether to call the tool"),
        ("read_only = 1", "`read_only` is a flag; write `read_only` or `read_only = false`"),
        ("read_only(1)", "`read_only` is a flag; write `read_only` or `read_only = false`"),
        ("name = \"a/b\"", "`name` must not contain `/`; use letters, digits, `_`, `-` and `.`"),
        ("ui = \"ui://a<b\"", "`ui` must be a `ui://` URI, as in `ui = \"ui://sales/chart.html\"`"),
        ("ui = \"ui://a b\"", "`ui` must be a `ui://` URI, as in `ui = \"ui://sales/chart.html\"`"),
        ("ui = \"ui://a\\u{1}\"", "`ui` must be a `ui://` URI, as in `ui = \"ui://sales/chart.html\"`"),
        (
            "ui = \"ui://a\", meta = META",
            "write `meta` as a JSON object beside `ui`, or the member `ui` in the constant",
        ),
        (
            "ui = \"ui://a\", meta = { \"ui\": 1 }",
            "`meta` has a member `ui` too; write `ui = …`, or the whole object in `meta`",
        ),
        ("max_result", MAX_RESULT),
        ("max_result = 999", MAX_RESULT),
        ("max_result = -1", MAX_RESULT),
        ("max_result = 5_000_000_000", MAX_RESULT),
        ("max_result = 1000u32", MAX_RESULT),
        ("max_result = \"50k\"", MAX_RESULT),
        (
            "max_result = 1000, meta = META",
            "write `meta` as a JSON object beside `max_result`, or the member `anthropic/maxResultSizeChars` in the constant",
        ),
        (
            "max_result = 1000, meta = { \"anthropic/maxResultSizeChars\": 1 }",
            "`meta` has a member `anthropic/maxResultSizeChars` too; write `max_result = …`, or the whole object in `meta`",
        ),
        ("icons = \"a\"", "`icons` must be a list, as in `icons = [icon(src = \"https://example.com/a.png\")]`"),
        (
            "icons = [image(src = \"a\")]",
            "an icon must be a string literal (its source) or `icon(…)`, as in \
             `icons = [icon(src = \"https://example.com/a.png\")]`",
        ),
        ("icons = [icon()]", "an icon needs a source, as in `icon(src = \"https://example.com/a.png\")`"),
        (
            "icons = [icon(src = \"a\", theme = \"grey\")]",
            "`theme` must be `\"light\"` or `\"dark\"`, the background that the icon is designed for",
        ),
        ("requires = 1", "`requires` takes a list, as in `requires(secret = \"API_KEY\")`"),
        ("requires(oauth2(ids = \"a\", id = \"a\"))", "unknown `oauth2` argument `ids`; did you mean `id`?"),
        ("requires(oauth2(scopes = []))", "`oauth2` needs the id of a provider, as in `oauth2(id = \"google\")`"),
        ("requires(user_id = 1)", "`user_id` is a flag; write `user_id` or `user_id = false`"),
        ("crate = 1", "`crate` must be a path, as in `crate = ::my_toolkit`"),
        ("version = env!(\"NOT_SET_ANYWHERE\")", "the environment variable `NOT_SET_ANYWHERE` is not set"),
        ("read_only, read_only", "duplicate `#[tool]` argument `read_only`"),
        ("read_only, destructive", "`destructive` contradicts `read_only`; remove one of the two"),
        ("\"math\"", "positional arguments are not supported; write `namespace = …`"),
        ("\"Adds two integers\"", "positional arguments are not supported; write `description = …`"),
        ("tags = {\"a\", \"b\"}", "a list is written in brackets, as in `tags = [\"…\", \"…\"]`"),
        (
            "requires(\"KEY\")",
            "expected the name of an argument before this value, as in `requires(secret = \"API_KEY\")`",
        ),
        (
            "aggr",
            "unknown `#[tool]` argument `aggr`; remove it: the fields of a struct that is the only parameter are the \
             arguments",
        ),
        (", read_only", "expected an argument before this comma"),
        ("title =", "expected a value after `title =`"),
        ("title \"a\"", "expected `=`, as in `title = \"a\"`"),
        ("title = \"a\" read_only", "expected `,`"),
        ("tilte = \"a\"", "unknown `#[tool]` argument `tilte`; did you mean `title`?"),
        ("destructive_hint", "unknown `#[tool]` argument `destructive_hint`; write `destructive`"),
        ("read_only_hint", "unknown `#[tool]` argument `read_only_hint`; write `read_only`"),
        ("idempotent_hint", "unknown `#[tool]` argument `idempotent_hint`; write `idempotent`"),
        ("open_world_hint", "unknown `#[tool]` argument `open_world_hint`; write `open_world`"),
        (
            "annotations(a)",
            "unknown `#[tool]` argument `annotations`; write the hints as arguments, as in \
             `read_only` or `destructive = false`",
        ),
        ("parameters = 1", "unknown `#[tool]` argument `parameters`; describe parameters with doc comments on them"),
        (
            "required = [\"a\"]",
            "unknown `#[tool]` argument `required`; an argument is required unless its type is an `Option` or it has \
             `#[arg(default)]`",
        ),
        (
            "output_schema = 1",
            "unknown `#[tool]` argument `output_schema`; schemas are derived from the types of parameters and results; \
             change them with `#[schemars(…)]`",
        ),
    ] {
        assert_eq!(of_arguments(arguments), [message], "{arguments}");
    }
}

#[test]
fn a_misspelled_word_is_suggested_if_a_third_of_it_is_right_plus_one_letter() {
    let suggested = |word: &str| of_arguments(word)[0].contains("did you mean");
    for (near, far) in [("nbxe", "nbxz"), ("names", "namesxy"), ("titlexx", "titlexxx"), ("anlemspace", "xxxxxspace")] {
        assert!(suggested(near), "{near}");
        assert!(!suggested(far), "{far}");
    }
}

#[test]
fn a_name_has_at_most_128_characters() {
    let named = |n: usize| of_arguments(&format!("name = \"{}\"", "n".repeat(n)));
    assert_eq!(named(128), [""; 0]);
    assert_eq!(named(129), ["`name` must have at most 128 characters, got 129"]);
}

#[test]
fn a_tool_has_at_most_20_tags_of_64_characters() {
    let tags: Vec<String> = (0..21).map(|n| format!("\"t{n}\"")).collect();
    assert_eq!(of_arguments(&format!("tags = [{}]", tags.join(","))), ["a tool has at most 20 tags; remove this one"]);
    let long = |n: usize, rest: &str| of_arguments(&format!("tags = [\"{}{rest}\"]", "t".repeat(n)));
    assert_eq!(long(65, ""), ["the tag is too long; a tag has at most 64 characters"]);
    assert_eq!(long(64, "  "), [""; 0]);
    assert_eq!(long(60, "!!!!!!!!"), [""; 0]);
}

#[test]
fn arg_has_a_message_for_what_other_attributes_do() {
    for (argument, message) in [
        (
            "description = \"a\"",
            "`#[arg]` takes no `description`; describe the argument in a doc comment, `/// …`, above it",
        ),
        ("help", "`#[arg]` takes no `help`; describe the argument in a doc comment, `/// …`, above it"),
        ("name = \"a\"", "`#[arg]` takes no `name`; name the argument with `#[serde(rename = \"…\")]`"),
        ("alias = \"a\"", "`#[arg]` takes no `alias`; write it in `#[serde(…)]`"),
        ("flatten", "`#[arg]` takes no `flatten`; write it in `#[serde(…)]`"),
        ("rest", "`#[arg]` takes no `rest`; for an argument with all other properties, write `#[serde(flatten)]`"),
        ("max = 1", "`#[arg]` takes no `max`; write `#[schemars(range(min = 1, max = 9))]`"),
        ("range(min = 1)", "`#[arg]` takes no `range`; write it in `#[schemars(…)]`"),
        ("schema_with = \"a\"", "`#[arg]` takes no `schema_with`; write it in `#[schemars(…)]`"),
        ("defaults = 1", "unknown `#[arg]` argument `defaults`; did you mean `default`?"),
        ("colour", "unknown `#[arg]` argument `colour`; expected `default`, as in `#[arg(default = 3)]`"),
        ("default(3)", "write the default after `=`, as in `default = 3`"),
        ("default, default = 3", "duplicate `#[arg]` argument `default`"),
    ] {
        assert_eq!(of_parameters(&format!("#[arg({argument})] a: i64")), [message], "{argument}");
    }
    let twice = "the argument already has a default by `#[arg(default)]`; remove one of the two";
    for (attributes, message) in [
        ("#[arg] #[arg]", Some("duplicate `#[arg]`; merge the two")),
        ("#[arg = 3]", Some("`#[arg]` takes a list, as in `#[arg(default = 3)]`")),
        ("#[arg(default)] #[serde(default)]", Some(twice)),
        ("#[arg(default)] #[serde(rename = \"b\", default = \"c\")]", Some(twice)),
        ("#[arg(default)] #[serde(rename(deserialize = \"b\"), default)]", Some(twice)),
        ("#[arg(default)] #[schemars(default)]", None),
        ("#[arg(default)] #[serde(alias = \"default\")]", None),
        ("#[arg] #[serde(default)]", None),
        ("#[arg(default = 3,)] /** A number. */", None),
    ] {
        assert_eq!(of_parameters(&format!("{attributes} a: i64")), Vec::from_iter(message), "{attributes}");
    }
}

#[test]
fn attributes_of_serde_and_schemars_are_checked() {
    for attribute in [
        "serde(rename = \"b\", alias = \"c\", default, skip_serializing_if = \"Option::is_none\", borrow)",
        "serde(rename(deserialize = \"b\"), default = \"a::b\", borrow = \"'a\", bound(deserialize = \"T: A\"))",
        "serde(flatten, skip, skip_serializing, skip_deserializing, with = \"a\", bound = \"T: A\")",
        "schemars(title = \"a\", example = &3, extend(\"a\" = 1), inner(length(min = 1)), schema_with = \"a::b\")",
        "schemars(!default, colour)",
        "schemars(range(min = 1, max = 9), regex(pattern = PATTERN), regex(path = \"A\"))",
        "other(colour)",
    ] {
        assert_eq!(of_parameters(&format!("#[{attribute}] a: A")), [""; 0], "{attribute}");
    }
    for (attribute, message) in [
        ("serde", "`#[serde]` takes a list, as in `#[serde(rename = \"…\")]`"),
        ("schemars = 1", "`#[schemars]` takes a list, as in `#[schemars(rename = \"…\")]`"),
        ("serde(flatten = \"a\")", "`flatten` takes no value; write `#[serde(flatten)]`"),
        ("serde(skip(a))", "`skip` takes no value; write `#[serde(skip)]`"),
        ("serde(rename)", "`rename` needs a value, as in `rename = \"…\"`"),
        ("serde(alias = 1)", "`alias` must be a string literal, as in `alias = \"…\"`"),
        ("serde(bound)", "`bound` needs a value, as in `bound = \"…\"`"),
        ("serde(with)", "`with` needs a value, as in `with = \"path::to::function\"`"),
        ("serde(with = a)", "`with` must be a string literal, as in `with = \"path::to::function\"`"),
        ("serde(default = \"a b\")", "`a b` is not a path; `default` names a function or a module"),
        ("serde(length(min = 1))", "`length` is an attribute of schemars; write `#[schemars(length…)]`"),
        ("serde(flaten)", "unknown `serde` attribute `flaten`; did you mean `flatten`?"),
        (
            "serde(colour)",
            "unknown `serde` attribute `colour`; expected one of `alias`, `borrow`, `bound`, `default`, \
             `deserialize_with`, `flatten`, `getter`, `rename`, `serialize_with`, `skip`, `skip_deserializing`, \
             `skip_serializing`, `skip_serializing_if`, `with`",
        ),
        (
            "schemars(deserialize_with = \"a\")",
            "`deserialize_with` is an attribute of serde; write `#[serde(deserialize_with…)]`",
        ),
        ("schemars(lengths(min = 1))", "unknown `schemars` attribute `lengths`; did you mean `length`?"),
        ("schemars(range(mn = 1))", "unknown `range` attribute `mn`; did you mean `min`?"),
        ("schemars(length(most = 1))", "unknown `length` attribute `most`; expected one of `min`, `max`, `equal`"),
        ("schemars(range = 1)", "`range` takes bounds, as in `range(min = 1, max = 9)`"),
        ("schemars(length)", "`length` takes bounds, as in `length(min = 1, max = 9)`"),
        ("schemars(regex = \"a\")", "write the pattern in parentheses, as in `regex(pattern = r\"^[a-z]+$\")`"),
        ("schemars(pattern)", "write the pattern in parentheses, as in `regex(pattern = r\"^[a-z]+$\")`"),
        ("schemars(regex(pattern = \"[\"))", "not a regular expression: `[` is never closed"),
        ("schemars(pattern(\"[z-a]\"))", "not a regular expression: the range in `[…]` runs backward"),
        ("schemars(pattern(\"(\"))", "not a regular expression: `(` is never closed"),
        ("schemars(pattern(\")\"))", "not a regular expression: `)` was never opened"),
        ("schemars(pattern(\"\\\\\"))", "not a regular expression: it ends in `\\`"),
        ("schemars(pattern(\"*\"))", "not a regular expression: the repetition has nothing to repeat"),
        (
            "schemars(pattern(\"a{2,1}\"))",
            "not a regular expression: the repetition `{m,n}` has a minimum above its maximum",
        ),
    ] {
        assert_eq!(of_parameters(&format!("#[{attribute}] a: A")), [message], "{attribute}");
    }
}

#[test]
fn a_keyword_applies_to_types_of_its_kind() {
    let range = "`range` applies to numbers; use `length` for strings and lists";
    let length = "`length` applies to strings and lists; use `range` for numbers";
    let text = "a pattern applies to strings";
    let list = "a pattern applies to strings; for the items of a list, write `inner(…)`";
    // The messages for `range`, `length` and a pattern.
    for (types, messages) in [
        (
            &["u8", "i128", "f64", "Option<usize>", "std::primitive::i16", "<u8 as T>::A"][..],
            [None, Some(length), Some(text)],
        ),
        (&["String", "Option<String>", "std::string::String", "&str", "Option<&str>"], [Some(range), None, None]),
        (&["Vec<u8>", "&[u8]", "Option<Vec<A>>"], [Some(range), None, Some(list)]),
        (&["bool"], [Some("`range` applies to numbers"), Some("`length` applies to strings and lists"), Some(text)]),
        (&["A", "A<u8>", "(u8, u8)", "[u8; 3]", "Option<A>", "<A as T>::A"], [None; 3]),
    ] {
        let keywords = ["range(min = 1)", "length(max = 9)", "regex(pattern = \"a\")", "pattern(\"a\")"];
        let messages = [messages[0], messages[1], messages[2], messages[2]];
        for (keyword, message) in keywords.iter().zip(messages) {
            for ty in types {
                let found = of_parameters(&format!("#[schemars({keyword})] a: {ty}"));
                assert_eq!(found, Vec::from_iter(message), "{keyword} {ty}");
            }
        }
    }
}

#[test]
fn an_example_has_the_arguments_of_one_call() {
    let parameters = "a: i64, #[serde(rename = \"bee\", alias = \"be\")] b: Option<String>, c: Vec<u8>, d: bool, e: A";
    for example in [
        "{}",
        r#" {"a": 1, "bee": "x", "c": [], "d": true, "e": {}} "#,
        r#"{"a": 1.5, "be": null, "c": [1, [2]], "d": null, "e": "any"}"#,
    ] {
        assert_eq!(of_example(example, parameters), [""; 0], "{example}");
    }
    for (example, message) in [
        ("[]", "an example must be a JSON object with the arguments of one call"),
        ("\"{}\"", "an example must be a JSON object with the arguments of one call"),
        (r#"{"a": "1"}"#, "the example has a string for `a`, which must be a number"),
        (r#"{"a": true}"#, "the example has a boolean for `a`, which must be a number"),
        (r#"{"bee": 1}"#, "the example has an integer for `bee`, which must be a string"),
        (r#"{"be": -1.5e3}"#, "the example has a number for `be`, which must be a string"),
        (r#"{"c": {}}"#, "the example has an object for `c`, which must be an array"),
        (r#"{"d": []}"#, "the example has an array for `d`, which must be a boolean"),
        (r#"{"b": 1}"#, "the example has `b`, which is not an argument; did you mean `a`?"),
        (r#"{"beee": 1}"#, "the example has `beee`, which is not an argument; did you mean `bee`?"),
        (r#"{"other": 1}"#, "the example has `other`, which is not an argument"),
    ] {
        assert_eq!(of_example(example, parameters), [message], "{example}");
    }
}

#[test]
fn an_example_of_a_type_that_the_macro_does_not_see_is_not_checked() {
    for parameters in [
        "a: A",
        "#[serde(flatten)] a: A, b: i64",
        "#[serde(skip)] a: A, b: i64",
        "#[serde(with = \"w\")] b: i64, other: A",
        "#[serde(deserialize_with = \"w\")] b: i64, other: A",
        "#[schemars(schema_with = \"w\")] b: i64, other: A",
    ] {
        assert_eq!(of_example(r#"{"b": "x", "other": 1}"#, parameters), [""; 0], "{parameters}");
    }
    for parameters in ["#[arg] a: A", "#[serde(default)] a: A", "a: i64", "a: A, c: A"] {
        let message = "the example has `other`, which is not an argument";
        assert_eq!(of_example(r#"{"other": 1}"#, parameters), [message], "{parameters}");
    }
}

#[test]
fn an_example_is_json() {
    for (example, message) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("{a: 1}", "key must be a string at line 1 column 2"),
        ("{\"a\": [1}", "expected `,` or `]` at line 1 column 9"),
        ("{\"a\": 01}", "invalid number at line 1 column 8"),
        ("{} {}", "trailing characters at line 1 column 4"),
    ] {
        assert_eq!(of_example(example, "#[arg] a: A"), [format!("not JSON: {message}")], "{example}");
    }
    assert_eq!(of_example("{\"a\": 1, \"a\": 2}", "#[arg] a: A"), ["duplicate key `a` in the example"]);
    for number in ["0", "-0", "10", "1.5", "0.5", "1e3", "1E+3", "-1.25e-3"] {
        assert_eq!(of_example(&format!("{{\"a\": {number}}}"), "a: i64"), [""; 0], "{number}");
    }
    let nested =
        |depth: usize| of_example(&format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth)), "#[arg] a: A");
    assert_eq!(nested(126), [""; 0]);
    assert_eq!(nested(127), ["not JSON: recursion limit exceeded at line 1 column 133"]);
    let siblings = format!("{{\"a\": [{}]}}", ["[]"; 200].join(","));
    assert_eq!(of_example(&siblings, "#[arg] a: A"), [""; 0]);
    let duplicate = r#"{"a": {"b c": 1, "b c": 2}, "\u0062 \"\\\/\b\f\n\r\t": 1}"#;
    let message = "the example has `b \"\\/\u{8}\u{c}\n\r\t`, which is not an argument";
    assert_eq!(of_example(duplicate, "#[arg] a: A"), [message]);
}

#[test]
fn names_in_json_are_unique() {
    let taken = |name: &str| vec![format!("the argument `a` already has the JSON name `{name}`; rename this argument")];
    for (parameters, errors) in [
        ("a: A, #[serde(rename = \"a\")] b: A", taken("a")),
        ("a: A, #[serde(alias = \"a\")] b: A", taken("a")),
        ("#[serde(rename(serialize = \"c\", deserialize = \"b\"))] a: A, b: A", taken("b")),
        ("#[serde(rename(serialize = \"b\"))] a: A, b: A", vec![]),
        ("#[serde(default = \"b\", alias = \"c\")] a: A, c: A", taken("c")),
        ("#[serde(bound(deserialize = \"b\"), alias = \"c\")] a: A, c: A", taken("c")),
        ("#[serde(alias = \"a\")] a: A, b: A", vec![]),
        ("#[serde(flatten)] a: A, #[serde(rename = \"a\")] b: A", vec![]),
        ("#[serde(skip)] a: A, #[serde(rename = \"a\")] b: A", vec![]),
        (
            "r#a: A, #[serde(rename = \"a\")] b: A",
            taken("a").iter().map(|text| text.replace("`a` already", "`r#a` already")).collect(),
        ),
        ("#[schemars(rename = \"b\")] a: A, b: A", vec![]),
    ] {
        assert_eq!(of_parameters(parameters), errors, "{parameters}");
    }
}

#[test]
fn arguments_are_owned_and_state_is_borrowed() {
    let owned = |ty: &str| format!("tool arguments are decoded from JSON, so they must be owned; use `{ty}`");
    let lifetime = "an argument is borrowed for one call and not for `'static`; remove the lifetime".to_owned();
    let of_state = "injected state is borrowed for one call and not for `'static`; remove the lifetime".to_owned();
    let mutable = "a tool cannot borrow mutably, since calls run concurrently; borrow `&T` and put a lock inside";
    let state = |ty: &str| {
        format!(
            "injected state cannot be optional; write `&{ty}` for state, or `Option<{ty}>` for an optional argument"
        )
    };
    let named = "name the type of the argument; its schema is derived from it".to_owned();
    let generic = "`impl Trait` makes the function generic; a tool has one schema, so name a concrete type".to_owned();
    for (parameters, message) in [
        ("a: &String", owned("String")),
        ("a: &Vec<u8>", owned("Vec<u8>")),
        ("a: &[&str]", owned("Vec<String>")),
        ("a: Vec<&str>", owned("Vec<String>")),
        ("a: Option<&String>", owned("Option<String>")),
        ("a: HashMap<&str, &[u8]>", owned("HashMap<String, Vec<u8>>")),
        ("a: Cow<'_, str>", owned("String")),
        ("a: std::borrow::Cow<'static, [&str]>", owned("Vec<String>")),
        ("a: Option<&'static str>", owned("Option<String>")),
        ("a: A<'_>", owned("").replace("use ``", "use a type without references")),
        ("a: &'static str", lifetime.clone()),
        ("a: &'static [u8]", lifetime),
        ("a: &'static A", of_state),
        ("a: &mut A", mutable.to_owned()),
        ("a: &mut str", mutable.to_owned()),
        ("a: Option<&A>", state("A")),
        ("a: Option<&a::B<u8, [u8]>>", state("a::B<u8, [u8]>")),
        ("a: &impl A", "injected state is looked up by its type; name the type, or borrow a `dyn Trait`".to_owned()),
        ("a: impl A", generic),
        ("a: Vec<_>", named.clone()),
        ("a: !", named),
        (
            "ref a: A",
            "name this argument and destructure it in the body; its name is the JSON property the model sends"
                .to_owned(),
        ),
        (
            "a @ _: A",
            "name this argument and destructure it in the body; its name is the JSON property the model sends"
                .to_owned(),
        ),
        (
            "#[cfg(a)] a: A",
            "`#[cfg]` is not supported on an argument; write one function for each configuration".to_owned(),
        ),
        (
            "#[cfg_attr(a, serde)] a: A",
            "`#[cfg_attr]` is not supported on an argument; write one function for each configuration".to_owned(),
        ),
        (
            "#[arg] a: &A",
            "`#[arg]` has no effect on injected state; remove it, or pass the parameter by value".to_owned(),
        ),
        (
            "#[schemars(title = \"a\")] a: &A",
            "`#[schemars]` has no effect on injected state; remove it, or pass the parameter by value".to_owned(),
        ),
    ] {
        assert_eq!(of_parameters(parameters), [message], "{parameters}");
    }
    for parameters in [
        "a: &str, b: &[u8], c: Option<&str>, d: Option<&[u8]>, e: &(str)",
        "a: &A, b: &dyn A, c: &A<'_>, d: &<A as B>::Vec<u8>",
        "mut a: String",
        "/** A. */ a: &A",
    ] {
        assert_eq!(of_parameters(parameters), [""; 0], "{parameters}");
    }
}

#[test]
fn a_function_has_one_name_and_one_schema() {
    let generic = "`f` cannot be generic; a tool has one name and one schema, so write one function per concrete type";
    let lifetime = "`f` cannot have lifetime parameters; injected state is borrowed for one call, so write `&T`";
    let owned = "a tool must return an owned value; clone what it borrows";
    let on_type = |advice: &str| format!("`#[tool]` applies to functions; {advice}");
    for (program, message) in [
        ("#[tool] fn f<T>() {}", generic.to_owned()),
        ("#[tool] fn f<const N: usize>() {}", generic.to_owned()),
        ("#[tool] fn f<'a, T>() {}", generic.to_owned()),
        ("#[tool] fn f<'a>() {}", lifetime.to_owned()),
        ("#[tool] unsafe fn f() {}", "a tool cannot be `unsafe`; a model cannot uphold safety requirements".to_owned()),
        (
            "#[tool(blocking)] async fn f() {}",
            "`blocking` applies to synchronous functions; remove either `blocking` or `async`".to_owned(),
        ),
        (
            "#[tool] fn größe() {}",
            "the name of a tool must not contain `ö` or `ß`; use letters, digits, `_`, `-` and `.`; set a valid name with \
             `name = \"…\"`"
                .to_owned(),
        ),
        ("#[tool] #[tool] fn f() {}", "duplicate `#[tool]`; a function is one tool or one prompt".to_owned()),
        ("#[tool] #[prompt] fn f() {}", "duplicate `#[prompt]`; a function is one tool or one prompt".to_owned()),
        ("#[tool] fn f() -> &str { }", owned.to_owned()),
        ("#[tool] fn f() -> Result<A<'_>, E> { }", owned.to_owned()),
        ("#[tool] fn f() -> ! { }", "a tool must return a value; `!` has none".to_owned()),
        (
            "#[tool] fn f() -> Vec<_> { }",
            "a tool must return a named type, since its schema is derived from the type".to_owned(),
        ),
        ("#[tool] enum A {}", on_type("put it on a function that takes this enum as its argument")),
        ("#[tool] impl A {}", on_type("put `#[toolset]` on an `impl` block")),
        ("#[tool] const A: u8 = 3;", on_type("wrap this item in a function")),
        ("#[tool] static A: u8 = 3;", on_type("wrap this item in a function")),
        (
            "#[toolset] struct A;",
            "`#[toolset]` applies to `impl` blocks and modules; put `#[tool]` on a free function".to_owned(),
        ),
        (
            "#[toolset] mod a;",
            "`#[toolset]` needs an inline module, as in `mod files { … }`; for a module in another file, put the arguments \
             on each `#[tool]`"
                .to_owned(),
        ),
    ] {
        assert_eq!(errors(&format!("/// Tests.\n{program}")), [message], "{program}");
    }
    for program in [
        "#[tool(name = \"size\")] fn größe() {}",
        "#[tool] fn r#type() {}",
        "#[tool] fn f() -> &'static str { \"a\" }",
        "#[tool] fn f() -> Result<Cow<'static, str>, E> { }",
        "#[tool] async fn f() {}",
    ] {
        assert_eq!(errors(&format!("/// Tests.\n{program}")), [""; 0], "{program}");
    }
}

#[test]
fn a_description_is_the_doc_comment_or_the_argument() {
    let missing =
        "missing description; add a doc comment to this function (a model reads it to decide whether to call the tool)";
    for (program, message) in [
        ("#[tool] fn f() {}", Some(missing)),
        ("///\n#[tool] fn f() {}", Some(missing)),
        ("/// # Examples are not hidden.\n#[tool] fn f() {}", None),
        ("#[doc = include_str!(\"a.md\")] #[tool] fn f() {}", None),
        ("#[tool(description = \"Tests.\")] fn f() {}", None),
        (
            "#[tool(description = 3)] fn f() {}",
            Some("`description` must be a string literal, as in `description = \"Forecast for a city.\"`"),
        ),
    ] {
        assert_eq!(errors(program), Vec::from_iter(message), "{program}");
    }
}

#[test]
fn a_toolset_is_checked_once() {
    let concrete =
        "a generic toolset needs one `#[concrete]` attribute for each type, as in `#[concrete(A<Memory,Memory>)]`";
    let form = "write the type as the `impl` block does, `A<S>`, with a type for each parameter";
    let same = "the tools of this type have the same ids as those of a type above; give it another namespace, as in \
                `namespace = \"archive\"`";
    let receiver =
        "a tool must take `&self`, since concurrent calls share one instance; put a lock inside to change it";
    let none = "this `impl` block has no tools; mark at least one method with `#[tool]`";
    let tool = "/** Tests. */ #[tool] fn f(&self) {}";
    for (program, messages) in [
        ("impl A { TOOL }", &[][..]),
        ("impl A { /** Tests. */ #[tool] fn f(self: &Self) {} }", &[]),
        ("impl A { /** Tests. */ #[toolkit::tool()] fn f() -> Self {} fn other(&mut self) {} const A: u8 = 3; }", &[]),
        ("impl A { fn f() {} }", &[none]),
        ("impl A { /** Tests. */ #[tool] fn f(&mut self) {} }", &[receiver]),
        ("impl A { /** Tests. */ #[tool] fn f(self) {} }", &[receiver]),
        ("impl A { /** Tests. */ #[tool] fn f(self: Arc<Self>) {} }", &[receiver]),
        ("impl A { /** Tests. */ #[tool] fn f(self: &mut Self) {} }", &[receiver]),
        ("impl A { /** Tests. */ #[tool = 3] fn f() {} }", &["`#[tool]` takes a list, as in `#[tool(name = \"…\")]`"]),
        (
            "impl A { /** Tests. */ #[prompt = 3] fn f() {} }",
            &["`#[prompt]` takes a list, as in `#[prompt(name = \"…\")]`"],
        ),
        (
            "impl A { /** Tests. */ #[tool] #[prompt] fn f() {} }",
            &["duplicate `#[prompt]`; a function is one tool or one prompt"],
        ),
        (
            "impl T for A { TOOL }",
            &[
                "`#[toolset]` does not apply to trait impls; call the trait method from a method of an inherent `impl` block",
            ],
        ),
        (
            "#[concrete(A)] impl A { TOOL }",
            &["`#[concrete]` applies to generic toolsets only, and this `impl` block is not generic"],
        ),
        (
            "impl<'a> A<'a> { TOOL }",
            &["a toolset can be generic over types only; write one `impl` block for each value or lifetime"],
        ),
        ("impl<S, T> A<S, T> { TOOL }", &[concrete]),
        ("#[concrete] impl<S> A<S> { TOOL }", &["`#[concrete]` takes a type, as in `#[concrete(Notes<Memory>)]`"]),
        ("#[concrete(B<M>)] impl<S> A<S> { TOOL }", &[form]),
        ("#[concrete(A)] impl<S> A<S> { TOOL }", &[form]),
        ("#[concrete(A<M, N>)] impl<S> A<S> { TOOL }", &[form]),
        ("#[concrete(A<'static>)] impl<S> A<S> { TOOL }", &[form]),
        ("#[concrete(A<M>)] #[concrete(A<N>)] impl<S> A<S> { TOOL }", &[same]),
        ("#[concrete(A<M>)] #[concrete(A<N>, namespace = \"n\")] impl<S> A<S> { TOOL }", &[]),
        (
            "#[concrete(A<M>, colour)] impl<S> A<S> { TOOL }",
            &["unknown `#[toolset]` argument `colour`; expected one of `namespace`, `version`, `category`, `tags`, \
                 `read_only`, \
             `destructive`, `idempotent`, `open_world`, `timeout`, `show_errors`, `enforce_formats`, `crate`"],
        ),
        (
            "#[concrete(A<M>)] #[concrete(A<N>, namespace = \"n\")] impl<S> A<S> { #[tool] fn f(&self) {} }",
            &[
                "missing description; add a doc comment to this function (a model reads it to decide whether to call the tool)",
            ],
        ),
    ] {
        let program = format!("#[toolset] {}", program.replace("TOOL", tool));
        assert_eq!(errors(&program), messages, "{program}");
    }
}

#[test]
fn a_module_has_tools_or_toolsets() {
    let none = "this module has no tools; mark at least one function with `#[tool]`";
    let tool = "/** Tests. */ #[tool] fn f() {}";
    for (program, errors_of_it) in [
        ("mod a { TOOL }", &[][..]),
        ("mod a { mod b { TOOL } struct C; }", &[]),
        ("mod a { #[toolset] mod b { TOOL } }", &[]),
        ("mod a { #[toolset] impl A { TOOL } }", &[]),
        ("mod a { /** Tests. */ #[prompt] fn f() -> String {} }", &[]),
        ("mod a {}", &[none]),
        ("mod a { fn f() {} mod b {} mod c; struct D; impl D {} }", &[none]),
        ("mod a { #[toolset] mod b {} }", &[none]),
    ] {
        let program = format!("#[toolset(tags = [\"a\"])] {}", program.replace("TOOL", tool));
        assert_eq!(errors(&program), errors_of_it, "{program}");
    }
}

#[test]
fn lists_of_tools_are_paths() {
    let generic = "a tool cannot have generic arguments; only the type of a method can";
    let one = "expected the path of one function, as in `handle!(math::add)`";
    for (call, messages) in [
        ("catalog![]", &[][..]),
        ("catalog![a::b, Notes<Memory>::append,]", &[]),
        ("catalog![crate = ::tk, a]", &[]),
        ("catalog![crate::a]", &[]),
        ("catalog![a::<B>]", &[generic]),
        ("catalog![3]", &["expected identifier"]),
        ("handle!(a::b)", &[]),
        ("handle!(crate = ::tk, a)", &[]),
        ("handle!()", &[one]),
        ("handle!(a, b)", &[one]),
        ("handle!(a<B>)", &[generic]),
    ] {
        assert_eq!(errors(&format!("fn f() {{ {call}; }}")), messages, "{call}");
    }
}

#[test]
fn show_error_takes_the_crate() {
    for (program, messages) in [
        ("enum A { B }", &[][..]),
        ("#[show_error(crate = ::tk)] struct A;", &[]),
        ("#[show_error(crate = 3)] struct A;", &["`crate` must be a path, as in `crate = ::my_toolkit`"]),
        ("#[show_error(colour)] struct A;", &["unknown `show_error` argument `colour`; expected one of `crate`"]),
        ("#[show_error] struct A;", &[]),
        ("#[other(colour)] struct A;", &[]),
        (
            "struct A<T>(T);",
            &["a type with generic parameters cannot derive `ShowError`, because each type is registered; implement \
             `From<A<…>> for ToolError` to choose what a model reads"],
        ),
    ] {
        assert_eq!(errors(&format!("#[derive(ShowError)] {program}")), messages, "{program}");
    }
}

#[test]
fn attributes_of_other_macros_on_a_parameter_have_a_remedy() {
    let described = "write the description of an argument as a doc comment on it, as in `/// The path of the file.`";
    for attribute in ["#[description(\"A.\")]", "#[desc = \"A.\"]", "#[param(\"A.\")]"] {
        assert_eq!(of_parameters(&format!("{attribute} a: A")), [described], "{attribute}");
    }
    let aggregated = "remove it: the fields of a struct that is the only parameter are the arguments, and other parameters \
                      are arguments by themselves";
    assert_eq!(of_parameters("#[tool(aggr)] a: A"), [aggregated]);
    assert_eq!(of_parameters("#[tool(param)] a: A"), [aggregated]);
}

#[test]
fn a_method_of_a_trait_is_not_a_tool() {
    assert_eq!(
        errors("#[tool] fn read(&self, a: String) -> String;"),
        ["`#[tool]` applies to functions; this is a method of a trait: put it on a method in an `impl` block with \
          `#[toolset]`, or on a free function"]
    );
}

#[test]
fn bounds_and_defaults_that_contradict_each_other_are_errors_where_they_are_literals() {
    for (parameters, message) in [
        (
            "#[arg(default = 20)] #[schemars(range(max = 10))] a: u8",
            "the default contradicts the `range` of this argument: at most 10",
        ),
        (
            "#[arg(default = -3)] #[schemars(range(min = -2.5))] a: i8",
            "the default contradicts the `range` of this argument: at least -2.5",
        ),
        (
            "#[arg(default = \"abc\".to_owned())] #[schemars(length(min = 1, max = 2))] a: String",
            "the default contradicts the `length` of this argument: at most 2 characters",
        ),
        (
            "#[schemars(range(min = 5, max = 1))] a: u8",
            "no value is in this `range`: the maximum 1 is below the minimum 5",
        ),
    ] {
        assert_eq!(of_parameters(parameters), [message], "{parameters}");
    }
    for parameters in [
        "#[arg(default = 10)] #[schemars(range(min = 1, max = 10))] a: u8",
        "#[arg(default = TEN)] #[schemars(range(max = 5))] a: u8",
        "#[arg(default)] #[schemars(length(min = 1))] a: String",
    ] {
        assert_eq!(of_parameters(parameters), [""; 0], "{parameters}");
    }
}

#[test]
fn what_other_libraries_have_is_answered_with_what_a_tool_has() {
    for (parameters, message) in [
        ("Parameters(a): Parameters<Add>", "a tool takes its arguments without an extractor; write `arguments: Add`"),
        ("Json(a): axum::Json<Add>", "a tool takes its arguments without an extractor; write `arguments: Add`"),
        ("State(db): State<Db>", "a tool borrows state without an extractor; write `state: &Db`"),
        (
            "Add(a): Add",
            "name this argument and destructure it in the body; its name is the JSON property the model sends",
        ),
        (
            "#[arg(default_value = \"x\")] a: String",
            "`#[arg]` takes no `default_value`; write `default = …`, with a value of the type of the argument",
        ),
        (
            "#[arg(long)] a: String",
            "`#[arg]` takes no `long`: it is an argument of a model, and not of a command line; remove it",
        ),
        (
            "#[serde(default = 3)] a: u8",
            "`default` names a function, as in `default = \"path::to::function\"`; for a value, write `#[arg(default = …)]`",
        ),
        (
            "#[validate(range(min = 1))] a: u8",
            "`#[tool]` knows no `validate`; write the rules in `#[schemars(…)]`, as in `#[schemars(range(min = 1))]`",
        ),
    ] {
        assert_eq!(of_parameters(parameters), [message], "{parameters}");
    }
    let misspelled = errors("#[tool(descriptipn = \"Tests.\")] fn f() {}");
    assert_eq!(misspelled, ["unknown `#[tool]` argument `descriptipn`; did you mean `description`?"]);
}
