//! Random arguments that an input schema is likely to accept: small values, boundaries, and what tools forget. [`mutate`]
//! changes arguments in one place, so that they are nearly valid.
//!
//! The caller validates each value. A schema is read on the way, not compiled into a strategy: a recursive schema would
//! have an infinite one.

use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::string::string_regex_parsed;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};
use serde_json::{Map, Number, Value, json};
use toolkit_schema::{Schema, walk};

/// The maximum number of parts of a value. Below the last ones, objects have no optional properties and lists no items.
const MAX_PARTS: usize = 256;

/// The depth from which values are as small as their schemas permit.
const SMALL_BELOW: usize = 5;

/// The depth at which a reference or a choice is given up.
const MAX_DEPTH: usize = 24;

/// The maximum number of characters of a text, and of items that a list has only to reach its limit.
const MAX_LENGTH: usize = 2_000;

/// Texts on which tools fail: none, blank, quotes, paths, characters of several bytes, of no width and of two lines.
const TEXTS: [&str; 24] = [
    "",
    "a",
    " ",
    "0",
    "-1",
    "null",
    "true",
    "é",
    "😀",
    "👩‍👩‍👧",
    "e\u{301}",
    "ß",
    "İ",
    "\0",
    "\n",
    "a\r\nb",
    "\"",
    "'; --",
    "../..",
    "/",
    "%s",
    "$.a",
    "[",
    "\u{202e}a",
];

/// Strings of the formats that types parse (JSON Schema 2020-12, Validation 7.3), beside the example of each schema.
const FORMATTED: [(&str, &[&str]); 6] = [
    ("date", &["2024-02-29", "1970-01-01", "0001-01-01", "9999-12-31"]),
    ("date-time", &["2024-02-29T23:59:59Z", "1970-01-01T00:00:00+14:00"]),
    ("partial-date-time", &["2024-02-29T23:59:59", "1970-01-01T00:00:00"]),
    ("time", &["00:00:00Z", "23:59:59Z"]),
    ("email", &["a@example.com", "a+b@example.co.uk"]),
    ("uri", &["https://example.com/", "https://example.com/a%20b?c=d#e", "urn:a:b"]),
];

/// A source of arguments, which depends on the seed and the id of the tool only.
pub(super) struct Generator<'s> {
    root: &'s Value,
    runner: TestRunner,
    /// The number of parts that the current value may still have.
    n_left: usize,
}

impl<'s> Generator<'s> {
    pub(super) fn new(schema: &'s Value, seed: u64, tool: &str) -> Self {
        // The arguments of a tool stay the same when others are added.
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        for (idx, byte) in tool.bytes().enumerate() {
            let slot = &mut bytes[8 + idx % 24];
            *slot = slot.rotate_left(3) ^ byte;
        }
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
        Self { root: schema, runner, n_left: 0 }
    }

    /// Returns arguments that the schema probably accepts.
    pub(super) fn arguments(&mut self) -> Value {
        self.n_left = MAX_PARTS;
        self.value(self.root, 0)
    }

    /// Returns a value of a strategy.
    pub(super) fn draw<S: Strategy>(&mut self, strategy: S) -> S::Value {
        strategy.new_tree(&mut self.runner).expect("a strategy without filters rejects nothing").current()
    }

    /// Returns a number below `n`, which is not zero.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.draw(0..n)
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        self.n_left = self.n_left.saturating_sub(1);
        let Some(keywords) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
            return self.anything();
        };
        let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        if let Some(value) = keywords.get("const").or_else(|| self.pick(list("enum")?)) {
            return value.clone();
        }
        let examples: Vec<&Value> = list("examples").into_iter().flatten().chain(keywords.get("default")).collect();
        if !examples.is_empty() && self.one_in(4) {
            return self.pick(&examples).map_or(Value::Null, |value| (*value).clone());
        }
        // The parts that apply together: objects are merged, and of other values the last one counts.
        let mut parts = Vec::new();
        if keywords.contains_key("type") || keywords.contains_key("properties") {
            parts.push(self.typed(keywords, depth));
        }
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str)
            && let Some(target) = walk::resolve(self.root, reference)
        {
            parts.push(self.value(target, depth + 1));
        }
        for part in list("allOf").into_iter().flatten() {
            parts.push(self.value(part, depth + 1));
        }
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(list) {
            if let Some(branch) = self.branch(branches, depth) {
                parts.push(self.value(branch, depth + 1));
            }
        }
        if parts.is_empty() {
            parts.push(self.typed(keywords, depth));
        }
        parts.into_iter().reduce(merged).unwrap_or_default()
    }

    /// Chooses a branch of a choice: deep inside one without a reference, so that recursion ends.
    fn branch<'a>(&mut self, branches: &'a [Value], depth: usize) -> Option<&'a Value> {
        let ends = |branch: &&Value| branch.get("$ref").is_none();
        match branches.iter().find(ends).filter(|_| self.is_small(depth)) {
            Some(branch) => Some(branch),
            None => self.pick(branches),
        }
    }

    fn is_small(&self, depth: usize) -> bool {
        depth > SMALL_BELOW || self.n_left == 0
    }

    /// Returns a value of the type that the keywords name or imply.
    fn typed(&mut self, keywords: &Map<String, Value>, depth: usize) -> Value {
        let implied = [
            ("object", ["properties", "additionalProperties", "required"]),
            ("array", ["items", "prefixItems", "minItems"]),
            ("string", ["pattern", "minLength", "maxLength"]),
            ("number", ["minimum", "maximum", "multipleOf"]),
        ];
        let name = match keywords.get("type") {
            Some(Value::Array(names)) => self.pick(names).and_then(Value::as_str),
            Some(name) => name.as_str(),
            None => {
                let has = |names: &[&str; 3]| names.iter().any(|name| keywords.contains_key(*name));
                implied.iter().find(|(_, names)| has(names)).map(|(name, _)| *name)
            }
        };
        match name {
            Some("object") => self.object(keywords, depth),
            Some("array") => self.array(keywords, depth),
            Some("string") => self.string(keywords),
            Some("integer") => self.integer(keywords),
            Some("number") => self.number(keywords),
            Some("boolean") => self.draw(any::<bool>()).into(),
            Some("null") => Value::Null,
            _ => self.anything(),
        }
    }

    fn object(&mut self, keywords: &Map<String, Value>, depth: usize) -> Value {
        let required: Vec<&str> = walk::required(keywords).collect();
        let mut members = Map::new();
        for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let is_required = required.contains(&name.as_str());
            if is_required || (!self.is_small(depth) && self.one_in(2)) {
                members.insert(name.clone(), self.value(schema, depth + 1));
            }
        }
        if self.is_small(depth) {
            return members.into();
        }
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (pattern, schema) in patterns.into_iter().flatten() {
            for _ in 0..self.below(3) {
                if let Some(name) = self.matching(pattern) {
                    members.insert(name, self.value(schema, depth + 1));
                }
            }
        }
        if let Some(others) = keywords.get("additionalProperties").filter(|others| **others != Value::Bool(false)) {
            let names = keywords.get("propertyNames").and_then(Value::as_object).cloned().unwrap_or_default();
            for _ in 0..self.below(3) {
                if let Value::String(name) = self.string(&names) {
                    members.insert(name, self.value(others, depth + 1));
                }
            }
        }
        members.into()
    }

    fn array(&mut self, keywords: &Map<String, Value>, depth: usize) -> Value {
        let prefix = keywords.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (least, most) = limits(keywords, "minItems", "maxItems");
        let others = keywords.get("items").unwrap_or(&Value::Bool(true));
        let most = if *others == Value::Bool(false) { most.min(prefix.len()) } else { most };
        let n_items = match self.is_small(depth) {
            true => least,
            false => self.length(least.max(prefix.len().min(most)), most.min(least.max(16))),
        };
        let mut items: Vec<Value> = Vec::new();
        for idx in 0..n_items {
            let item = self.value(prefix.get(idx).unwrap_or(others), depth + 1);
            if keywords.get("uniqueItems") != Some(&Value::Bool(true)) || !items.contains(&item) {
                items.push(item);
            }
        }
        items.into()
    }

    fn string(&mut self, keywords: &Map<String, Value>) -> Value {
        let keyword = |name: &str| keywords.get(name).and_then(Value::as_str);
        if let Some(pattern) = keyword("pattern") {
            // A pattern that is not supported here may still have an example.
            let text = self.matching(pattern).filter(|text| fits(keywords, text)).map(Value::from);
            return text.or_else(|| example(keywords)).unwrap_or_default();
        }
        if let Some(format) = keyword("format") {
            let known = FORMATTED.iter().find(|(name, _)| *name == format);
            let known = known.and_then(|(_, texts)| self.pick(texts)).map(|text| Value::from(*text));
            let example = example(keywords);
            return if self.one_in(3) { example.or(known) } else { known.or(example) }.unwrap_or_default();
        }
        if keyword("contentEncoding") == Some("base64") {
            return (*self.pick(&["aGVsbG8=", "aGVsbG8", "-_8", "+/8=", "AAAA", ""]).unwrap_or(&"")).into();
        }
        // Long enough to be recognized in the text of an error.
        if keywords.get("writeOnly") == Some(&Value::Bool(true)) {
            let secret: String = (0..16).map(|_| char::from(self.draw(b'a'..=b'z'))).collect();
            if fits(keywords, &secret) {
                return secret.into();
            }
        }
        let text = *self.pick(&TEXTS).unwrap_or(&"");
        if fits(keywords, text) && !self.one_in(3) {
            return text.into();
        }
        let (least, most) = limits(keywords, "minLength", "maxLength");
        let n_chars = self.length(least, most);
        // Long texts consist of one character.
        let text: String = match n_chars {
            0..=16 => (0..n_chars).map(|_| self.draw(any::<char>())).collect(),
            _ => self.draw(select(&["a", "é", "😀", " "][..])).repeat(n_chars),
        };
        text.into()
    }

    /// Returns a text that matches a pattern, if the pattern is supported: one without anchors except around it.
    fn matching(&mut self, pattern: &str) -> Option<String> {
        let inner = pattern.strip_prefix('^').unwrap_or(pattern);
        let inner = inner.strip_suffix('$').filter(|inner| !inner.ends_with('\\')).unwrap_or(inner);
        // The classes of JSON Schema are those of ASCII, but a negated one contains other characters.
        let parse = |is_unicode| ParserBuilder::new().unicode(is_unicode).nest_limit(64).build().parse(inner).ok();
        let pattern = parse(false).or_else(|| parse(true)).filter(|pattern| longest(pattern) <= MAX_LENGTH)?;
        Some(self.draw(string_regex_parsed(&pattern).ok()?))
    }

    /// Returns a length within the limits, preferably the least or the most.
    fn length(&mut self, least: usize, most: usize) -> usize {
        let most = most.max(least);
        match self.below(8) {
            0 | 1 => least,
            2 => (least + 1).min(most),
            3 => most,
            _ => self.draw(least..=most.min(least + 6)),
        }
    }

    fn integer(&mut self, keywords: &Map<String, Value>) -> Value {
        let bound = |name: &str| keywords.get(name).and_then(whole);
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + 1));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - 1));
        // A schema without bounds is that of `i64`.
        let least = least.unwrap_or_else(|| i64::MIN.into());
        let most = most.unwrap_or_else(|| i64::MAX.into()).max(least);
        let step = bound("multipleOf").filter(|step| *step > 0).unwrap_or(1);
        let near = self.draw(-100..=100_i128);
        let number = match self.below(8) {
            0 => least,
            1 => least + 1,
            2 => most,
            3 => most - 1,
            4 => self.draw(-1..=1_i128),
            5 => self.draw(least..=most),
            _ => near,
        };
        let number = number.clamp(least, most);
        let number = number - number.rem_euclid(step);
        integer(if number < least { number + step } else { number })
    }

    fn number(&mut self, keywords: &Map<String, Value>) -> Value {
        if keywords.contains_key("multipleOf") || self.one_in(4) {
            return self.integer(keywords);
        }
        let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum")).unwrap_or(f64::MIN);
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum")).unwrap_or(f64::MAX).max(least);
        let number = match self.below(6) {
            0 => least,
            1 => most,
            2 => self.draw(select(&[0.0, -0.0, 0.1, 1e-9, -0.5, 1e15, 5e-324][..])),
            _ => self.draw(-100.0..100.0),
        };
        Number::from_f64(number.clamp(least, most)).map_or(Value::Null, Value::Number)
    }

    /// Returns a small value of any type.
    pub(super) fn anything(&mut self) -> Value {
        let text = *self.pick(&TEXTS).unwrap_or(&"");
        let values = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(1.5),
            json!([]),
            json!({}),
            json!([1, null]),
            json!({ "a": 1 }),
        ];
        match self.one_in(3) {
            true => text.into(),
            false => self.pick(&values).cloned().unwrap_or_default(),
        }
    }
}

/// Merges the members of two objects. Of other values, the second one counts.
fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            first.into()
        }
        (_, second) => second,
    }
}

/// Returns the limits of a length that two keywords set, for values of bounded size.
fn limits(keywords: &Map<String, Value>, least: &str, most: &str) -> (usize, usize) {
    let limit = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let least = limit(least).unwrap_or(0).min(MAX_LENGTH);
    (least, limit(most).unwrap_or(MAX_LENGTH).clamp(least, MAX_LENGTH))
}

/// Returns the length of the longest text that is generated for a pattern, in which an unlimited repetition ends after 32.
fn longest(pattern: &Hir) -> usize {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min.saturating_add(32));
            longest(&repetition.sub).saturating_mul(usize::try_from(most).unwrap_or(usize::MAX))
        }
        HirKind::Capture(capture) => longest(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(longest).fold(0, usize::saturating_add),
        HirKind::Alternation(branches) => branches.iter().map(longest).max().unwrap_or_default(),
    }
}

fn fits(keywords: &Map<String, Value>, text: &str) -> bool {
    let (least, most) = limits(keywords, "minLength", "maxLength");
    (least..=most).contains(&text.chars().count())
}

fn example(keywords: &Map<String, Value>) -> Option<Value> {
    Schema::from_value(keywords.clone().into()).ok()?.example()
}

/// Returns the whole number that a bound is.
fn whole(bound: &Value) -> Option<i128> {
    let float = |float: f64| (float.fract() == 0.0 && float.abs() < 1e18).then_some(float as i128);
    bound.as_i64().map(i128::from).or_else(|| bound.as_u64().map(i128::from)).or_else(|| bound.as_f64().and_then(float))
}

/// Writes a number of 65 bits, the range of all integers in JSON.
fn integer(number: i128) -> Value {
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => number.into(),
        (_, Ok(number)) => number.into(),
        _ => Value::Null,
    }
}

/// Changes one part of the arguments.
pub(super) fn mutate(arguments: &mut Value, generator: &mut Generator<'_>) {
    let nth = generator.below(walk::size(arguments).max(1));
    let mut n_before = 0;
    if let Some(part) = nth_part(arguments, nth, &mut n_before) {
        change(part, generator);
    }
}

/// Returns a part of a value by its position, each part before those inside it.
fn nth_part<'v>(value: &'v mut Value, nth: usize, n_before: &mut usize) -> Option<&'v mut Value> {
    if *n_before == nth {
        return Some(value);
    }
    *n_before += 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth_part(item, nth, n_before)),
        Value::Object(members) => members.values_mut().find_map(|member| nth_part(member, nth, n_before)),
        _ => None,
    }
}

fn change(part: &mut Value, generator: &mut Generator<'_>) {
    match part {
        // The arguments themselves stay an object more often than not.
        Value::Object(members) if !generator.one_in(4) => match generator.below(members.len() + 1) {
            0 => drop(members.insert("unknown".to_owned(), generator.anything())),
            nth => {
                if let Some(name) = members.keys().nth(nth - 1).cloned() {
                    members.shift_remove(&name);
                }
            }
        },
        Value::Array(items) if !generator.one_in(3) => match items.pop() {
            Some(last) if generator.one_in(2) => items.extend([last.clone(), last]),
            Some(_) => {}
            None => items.push(generator.anything()),
        },
        // No integer beyond 64 bits: a schema without bounds is that of a type with 64 bits.
        Value::Number(number) if !generator.one_in(3) => {
            let by = generator.draw(-1..=1_i64);
            let sum = number.as_i64().and_then(|number| number.checked_add(by));
            *part = match sum {
                Some(sum) if by != 0 => sum.into(),
                Some(sum) if sum.unsigned_abs() < 1 << 52 => json!(sum as f64 + 0.5),
                _ => json!(number.to_string()),
            };
        }
        Value::String(text) if !generator.one_in(3) => match generator.below(3) {
            0 => text.clear(),
            1 => text.push('😀'),
            _ => *text = text.to_uppercase(),
        },
        _ => *part = generator.anything(),
    }
}
