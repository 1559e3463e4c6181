//! The result of an MCP server, kept as its text.
//!
//! Only what the dispatcher needs is read from the text, field by field. A tree is built if code of this program asks for
//! it, so that a result which passes through a program takes the memory of its text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::string::FromUtf8Error;
use std::sync::OnceLock;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolkit_schema::json::TextScan;
use toolkit_schema::plan::Plan;
use toolkit_schema::repair::{repaired, with_numbers};

use super::content::Content;

/// The maximum number of fields of a result, far more than any revision defines.
const MAX_FIELDS: usize = 1_024;

/// The result of an MCP server (`CallToolResult`) as the server sent it.
#[derive(Clone)]
pub(crate) struct McpResult {
    json: String,
    fields: Vec<Field>,
    has_resources: bool,
    /// True if a number is beyond the range of a float, which many parsers reject.
    pub(crate) has_unbounded_numbers: bool,
    tree: OnceLock<Map<String, Value>>,
    content: OnceLock<Vec<Content>>,
    structured: OnceLock<Option<Vec<u8>>>,
}

/// The places of a field in the text.
#[derive(Clone)]
struct Field {
    key: Range<usize>,
    value: Range<usize>,
}

impl McpResult {
    /// Reads a result. Text that parsers reject is repaired; of several fields with the same name, the last is kept.
    ///
    /// # Errors
    ///
    /// Returns a message if the text is not a result.
    pub(crate) fn parse(json: Vec<u8>) -> Result<Self, String> {
        let read = |json: String| match places(&json) {
            Ok(fields) => match TextScan::new(&json) {
                scan if scan.has_unpaired_surrogates => Err((json, "it has an unpaired surrogate".to_owned())),
                scan => Ok((json, fields, scan)),
            },
            Err(error) => Err((json, error.to_string())),
        };
        let as_sent = String::from_utf8(json).map_err(FromUtf8Error::into_bytes);
        let as_sent = as_sent.and_then(|json| read(json).map_err(|(json, _)| json.into_bytes()));
        let (json, fields, scan) = as_sent.or_else(|json| read(with_numbers(&json)).map_err(|(_, reason)| reason))?;
        if scan.is_too_deep {
            return Err("it is nested deeper than 127 levels".to_owned());
        }
        let mut result = Self {
            json,
            fields,
            has_resources: false,
            has_unbounded_numbers: scan.has_unbounded_numbers,
            tree: OnceLock::new(),
            content: OnceLock::new(),
            structured: OnceLock::new(),
        };
        result.has_resources = result.check()?;
        Ok(result)
    }

    /// Checks the fields that each result has. Returns true if a block of content refers to a resource.
    fn check(&self) -> Result<bool, String> {
        let has_result = ["content", "structuredContent"].iter().any(|name| self.get(name).is_some());
        // Some servers return an object without fields as an empty result.
        let is_other = self
            .fields
            .iter()
            .any(|field| !matches!(&*text(&self.json[field.key.clone()]), "_meta" | "isError" | "resultType"));
        if is_other && !has_result && !self.is_error() {
            return Err("it has neither `content` nor `structuredContent`".to_owned());
        }
        let (mut has_resources, mut is_malformed) = (false, false);
        let is_array = self.get("content").is_none_or(|content| {
            each_item(content, &mut |block| {
                let kind = Block::read(block).kind;
                has_resources |= kind.as_deref().is_some_and(|kind| kind.starts_with("resource"));
                is_malformed |= kind.is_none();
            })
            .is_ok()
        });
        match (is_array, is_malformed) {
            (false, _) => Err("`content` must be an array".to_owned()),
            (true, true) => Err("a block of content is not an object with a `type`".to_owned()),
            (true, false) => Ok(has_resources),
        }
    }

    /// Returns the text of the whole result.
    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    /// Returns the text of the whole result, in which the numbers beyond the range of a float are strings.
    pub(crate) fn readable(&self) -> Cow<'_, str> {
        match self.has_unbounded_numbers {
            true => repaired(self.json.as_bytes()).into(),
            false => (&*self.json).into(),
        }
    }

    /// Returns the names and texts of all fields, in the order of the server. A name has its quotes.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|field| (&self.json[field.key.clone()], &self.json[field.value.clone()]))
    }

    /// Returns the text of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields().find(|(key, _)| text(key) == name).map(|(_, value)| value)
    }

    /// Returns true if the result reports that the tool failed.
    pub(crate) fn is_error(&self) -> bool {
        self.get("isError") == Some("true")
    }

    /// Returns true if there is no block of content.
    pub(crate) fn has_no_content(&self) -> bool {
        self.get("content").is_none_or(|content| content[1..content.len() - 1].trim_ascii().is_empty())
    }

    /// Returns the fields as values.
    pub(crate) fn tree(&self) -> &Map<String, Value> {
        self.tree.get_or_init(|| {
            let readable = self.readable();
            serde_json::from_str(&readable).unwrap_or_default()
        })
    }

    /// Returns the blocks of content.
    pub(crate) fn content(&self) -> &[Content] {
        self.content.get_or_init(|| self.blocks(|_| true))
    }

    /// Returns the blocks that are not text.
    pub(crate) fn blocks_beside_text(&self) -> Vec<Content> {
        self.blocks(|block| block.text().is_none())
    }

    fn blocks(&self, accepts: impl Fn(&Block<'_>) -> bool) -> Vec<Content> {
        let mut blocks = Vec::new();
        self.each_block(&mut |json| {
            if accepts(&Block::read(json)) {
                let readable = match self.has_unbounded_numbers {
                    true => repaired(json.as_bytes()).into(),
                    false => Cow::Borrowed(json),
                };
                blocks.extend(serde_json::from_str::<Content>(&readable));
            }
        });
        blocks
    }

    fn each_block<'s>(&'s self, see: &mut dyn FnMut(&'s str)) {
        // The content was read before.
        let _ = each_item(self.get("content").unwrap_or("[]"), see);
    }

    /// Returns the texts of the content, as JSON.
    fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        self.each_block(&mut |block| texts.extend(Block::read(block).text()));
        texts
    }

    /// Returns the texts of the content, one in a line.
    pub(crate) fn message(&self) -> Option<String> {
        let texts = self.texts();
        (!texts.is_empty()).then(|| texts.into_iter().map(text).collect::<Vec<_>>().join("\n"))
    }

    /// Returns the structured result for a comparison with a schema, with numbers of any size.
    pub(crate) fn exact_structured(&self) -> Option<&[u8]> {
        self.get("structuredContent").map(str::as_bytes).or_else(|| self.structured())
    }

    /// Returns the structured result: `structuredContent` if present. Otherwise it is the only text, parsed as JSON if
    /// possible, or the list of texts. Numbers beyond the range of a float are strings.
    pub(crate) fn structured(&self) -> Option<&[u8]> {
        let structured = self.get("structuredContent");
        if let Some(structured) = structured.filter(|_| !self.has_unbounded_numbers) {
            return Some(structured.as_bytes());
        }
        let computed = self.structured.get_or_init(|| match structured {
            Some(structured) => Some(repaired(structured.as_bytes()).into_bytes()),
            None => self.structured_from_texts(),
        });
        computed.as_deref()
    }

    fn structured_from_texts(&self) -> Option<Vec<u8>> {
        let texts: Vec<&str> = self.texts().into_iter().filter(|text| *text != r#""""#).collect();
        let &[only] = &*texts else {
            return (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")).into_bytes());
        };
        let mut n_blocks = 0;
        self.each_block(&mut |_| n_blocks += 1);
        let parsed = (n_blocks == 1).then(|| text(only).into_owned().into_bytes()).filter(|text| is_json(text));
        Some(parsed.unwrap_or_else(|| only.as_bytes().to_vec()))
    }

    /// Replaces the text of a field that the result has.
    pub(crate) fn with_field(&self, name: &str, value: &str) -> Self {
        let field = self.fields.iter().find(|field| text(&self.json[field.key.clone()]) == name);
        self.with_edits(field.map(|field| (field.value.clone(), value.to_owned())))
    }

    /// Replaces empty lists by empty objects where the protocol has objects, and in `structuredContent` if it `is_object`.
    /// Programs in PHP write `[]` for both.
    pub(crate) fn with_objects(self, is_object: bool) -> Self {
        if !self.json.contains("[]") {
            return self;
        }
        let mut empty = Vec::new();
        empty.extend(self.get("_meta"));
        empty.extend(self.get("structuredContent").filter(|_| is_object));
        self.each_block(&mut |block| {
            let _ = each_field(block, &mut |key, value| {
                empty.extend(matches!(&*text(key), "_meta" | "annotations").then_some(value));
            });
        });
        empty.retain(|value| *value == "[]");
        let mut edits: Vec<_> = empty.into_iter().map(|value| (self.offset(value), "{}".to_owned())).collect();
        edits.sort_unstable();
        match edits.is_empty() {
            true => self,
            false => self.with_edits(edits.into_iter().map(|(start, text)| (start..start + 2, text))),
        }
    }

    /// Appends blocks to the content.
    pub(crate) fn with_blocks(&self, blocks: &[Content]) -> Self {
        let Some(content) = self.get("content").filter(|_| !blocks.is_empty()) else { return self.clone() };
        let mut added = serde_json::to_string(blocks).unwrap_or_default();
        let separator = if self.has_no_content() { "" } else { "," };
        added.replace_range(..1, separator);
        let end = self.offset(content) + content.len();
        self.with_edits([(end - 1..end, added)])
    }

    /// Changes the text of the first block.
    pub(crate) fn with_first_text(&self, part: impl FnOnce(&str) -> &str) -> Option<Self> {
        let mut first = None;
        self.each_block(&mut |block| {
            first.get_or_insert(block);
        });
        let sent = Block::read(first?).text()?;
        let read = text(sent);
        let kept = part(&read);
        let start = self.offset(sent);
        (kept.len() != read.len()).then(|| self.with_edits([(start..start + sent.len(), quoted(kept))]))
    }

    /// Changes the URIs of the resources in the content, and of the user interface in `_meta`. Returns `None` if all stay as
    /// they are.
    pub(crate) fn with_uris(&self, change: &mut dyn FnMut(&str) -> String) -> Option<Self> {
        let mut edits = Vec::new();
        let mut replace = |sent: &str| {
            let uri = text(sent);
            let changed = change(&uri);
            if changed != uri {
                let start = self.offset(sent);
                edits.push((start..start + sent.len(), quoted(&changed)));
            }
        };
        if self.has_resources {
            self.each_block(&mut |block| Block::read(block).uri().into_iter().for_each(&mut replace));
        }
        each_ui_uri(self.get("_meta").unwrap_or_default(), &mut replace);
        edits.sort_by_key(|(range, _)| range.start);
        (!edits.is_empty()).then(|| self.with_edits(edits))
    }

    /// Returns the offset of a part of the text.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr() - self.json.as_ptr().addr()
    }

    /// Replaces parts of the text, in their order.
    fn with_edits(&self, edits: impl IntoIterator<Item = (Range<usize>, String)>) -> Self {
        let (mut json, mut n_done) = (String::with_capacity(self.json.len()), 0);
        for (range, text) in edits {
            json.extend([&self.json[n_done..range.start], &text]);
            n_done = range.end;
        }
        json.push_str(&self.json[n_done..]);
        Self::parse(json.into_bytes()).unwrap_or_else(|_| self.clone())
    }
}

// The text may be long.
impl fmt::Debug for McpResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpResult").field(&self.json).finish()
    }
}

/// Passes the texts of the URIs of a user interface in `_meta`, in all forms that hosts read.
fn each_ui_uri(meta: &str, each: &mut impl FnMut(&str)) {
    let mut each = |value: &str| {
        if value.starts_with('"') {
            each(value);
        }
    };
    let _ = each_field(meta, &mut |key, value| match &*text(key) {
        "ui/resourceUri" | "openai/outputTemplate" => each(value),
        "ui" => {
            let _ = each_field(value, &mut |key, value| {
                if text(key) == "resourceUri" {
                    each(value);
                }
            });
        }
        _ => {}
    });
}

/// The parts of a block of content that the dispatcher reads.
#[derive(Default)]
struct Block<'j> {
    kind: Option<Cow<'j, str>>,
    text: Option<&'j str>,
    uri: Option<&'j str>,
    resource: Option<&'j str>,
}

impl<'j> Block<'j> {
    fn read(json: &'j str) -> Self {
        let mut block = Self::default();
        // Other values than objects have no type.
        let _ = each_field(json, &mut |key, value| match &*text(key) {
            "type" => block.kind = value.starts_with('"').then(|| text(value)),
            "text" => block.text = Some(value),
            "uri" => block.uri = Some(value),
            "resource" => block.resource = Some(value),
            _ => {}
        });
        block
    }

    /// Returns the text of a block of text, as JSON.
    fn text(&self) -> Option<&'j str> {
        self.text.filter(|text| self.kind.as_deref() == Some("text") && text.starts_with('"'))
    }

    /// Returns the URI of a resource or of a link to one, as JSON.
    fn uri(&self) -> Option<&'j str> {
        let uri = match self.kind.as_deref() {
            Some("resource_link") => self.uri,
            Some("resource") => {
                let mut uri = None;
                let _ = each_field(self.resource?, &mut |key, value| {
                    if text(key) == "uri" {
                        uri = Some(value);
                    }
                });
                uri
            }
            _ => None,
        };
        uri.filter(|uri| uri.starts_with('"'))
    }
}

/// Returns the places of the fields of an object. Of several with the same name, it has the last.
fn places(json: &str) -> serde_json::Result<Vec<Field>> {
    let offset = |part: &str| part.as_ptr().addr() - json.as_ptr().addr();
    let (mut fields, mut n_left) = (Vec::<Field>::new(), MAX_FIELDS);
    each_field(json, &mut |key, value| {
        n_left = n_left.saturating_sub(1);
        if n_left > 0 {
            let name = text(key);
            fields.retain(|field| text(&json[field.key.clone()]) != name);
            let (key_at, value_at) = (offset(key), offset(value));
            fields.push(Field { key: key_at..key_at + key.len(), value: value_at..value_at + value.len() });
        }
    })?;
    match n_left {
        0 => Err(serde_json::Error::custom(format_args!("it has more than {MAX_FIELDS} fields"))),
        _ => Ok(fields),
    }
}

/// Passes the texts of the key and the value of each field of an object.
pub(crate) fn each_field<'j>(json: &'j str, see: &mut dyn FnMut(&'j str, &'j str)) -> serde_json::Result<()> {
    struct Fields<'s, 'j>(&'s mut dyn FnMut(&'j str, &'j str));

    impl<'j> Visitor<'j> for Fields<'_, 'j> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'j>>(self, mut entries: A) -> Result<(), A::Error> {
            while let Some((key, value)) = entries.next_entry::<&RawValue, &RawValue>()? {
                (self.0)(key.get(), value.get());
            }
            Ok(())
        }
    }

    impl<'j> DeserializeSeed<'j> for Fields<'_, 'j> {
        type Value = ();

        fn deserialize<D: Deserializer<'j>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_map(self)
        }
    }

    let mut deserializer = serde_json::Deserializer::from_str(json);
    Fields(see).deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Passes the text of each item of an array.
pub(crate) fn each_item<'j>(json: &'j str, see: &mut dyn FnMut(&'j str)) -> serde_json::Result<()> {
    struct Items<'s, 'j>(&'s mut dyn FnMut(&'j str));

    impl<'j> Visitor<'j> for Items<'_, 'j> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'j>>(self, mut items: A) -> Result<(), A::Error> {
            while let Some(item) = items.next_element::<&RawValue>()? {
                (self.0)(item.get());
            }
            Ok(())
        }
    }

    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.deserialize_seq(Items(see))
}

/// Returns the text that a JSON string denotes.
pub(crate) fn text(json: &str) -> Cow<'_, str> {
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    match inner.contains('\\') {
        true => serde_json::from_str::<String>(json).unwrap_or_default().into(),
        false => inner.into(),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns true if a text is JSON without duplicate keys, which takes no memory in most cases.
fn is_json(json: &[u8]) -> bool {
    let is_plain = Plan::anything().decode::<IgnoredAny>(json).is_ok() && !has_surrogates(json);
    is_plain || toolkit_schema::json::parse(json).is_ok()
}

/// Returns true if a JSON text contains escaped surrogates, which may be unpaired. A plan skips them where the schema accepts
/// any text.
pub(crate) fn has_surrogates(json: &[u8]) -> bool {
    json.windows(3).any(|escape| matches!(escape, [b'\\', b'u', b'd' | b'D']))
}
