//! Lint rules for tools that deceive the model.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::diagnostic::{LintDiagnostic, Rule, quoted};
use super::orders::orders;
use toolkit::Tool;
use toolkit_schema::invisible::{hidden, kind};

/// Checks every text of a tool that a model may read.
pub(super) fn check(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let mut check_text = |place: &str, text: &str| {
        if let Some(found) = invisible(text) {
            diagnostics.push(LintDiagnostic::new(Rule::InvisibleText, tool, place, found));
        }
        if let Some(found) = instructions(text) {
            diagnostics.push(LintDiagnostic::new(Rule::HiddenInstructions, tool, place, found));
        } else if let Some(found) = suspicious(text) {
            diagnostics.push(LintDiagnostic::new(Rule::SuspiciousText, tool, place, found));
        }
    };
    check_text("name", tool.name());
    check_text("title", tool.display_name());
    check_text("description", tool.description());
    each_text(tool.input().as_value(), "inputSchema", &mut check_text);
    if let Some(output) = tool.output() {
        each_text(output.as_value(), "outputSchema", &mut check_text);
    }
    for (idx, example) in tool.examples().iter().enumerate() {
        each_text(example, &format!("examples/{idx}"), &mut check_text);
    }
}

/// Describes the invisible characters of a text, if there are any.
fn invisible(text: &str) -> Option<String> {
    let mut hidden = hidden(text);
    let (_, first) = hidden.next()?;
    let (code, what) = (u32::from(first), kind(first));
    Some(match 1 + hidden.count() {
        1 => format!("has an invisible character, U+{code:04X} ({what}); remove it"),
        n => format!("has {n} invisible characters, the first U+{code:04X} ({what}); remove them"),
    })
}

fn each_text(value: &Value, at: &str, check_text: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => check_text(at, text),
        Value::Array(list) => {
            for (idx, item) in list.iter().enumerate() {
                each_text(item, &format!("{at}/{idx}"), check_text);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                let at = toolkit_schema::child(at, key);
                check_text(&at, key);
                each_text(value, &at, check_text);
            }
        }
        _ => {}
    }
}

/// A location of credentials. An honest tool may mention one: a cluster tool reads its configuration.
const PLACE: &str = r"(?:(?:~|/home/\w+|\$home)?/?\.(?:ssh|cursor|aws|gnupg|kube)/|\bid_rsa\b)";

/// Finds an order to read a location of credentials, or to send its contents.
///
/// `Reads` describes a tool, and so does `Read` at the start of a text; elsewhere `read` is an order. An order to send
/// secrets is reported anywhere.
fn orders_to_take(text: &str) -> Option<String> {
    static MARKS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        let place = format!(r"(?:{PLACE}|mcp\.json\b)");
        // Up to the end of a sentence; the dots of a path do not end it.
        let within = r"(?:[^.]|\.\S){0,100}?";
        let told = r"\b(?:you|must|should|shall|please|first|then|always|also|next|now|(?:need|have|sure|remember|required) to),?";
        let read = r"(?:read|open|load|cat|get|fetch|access|retrieve|extract)\s+(?:the|your|all|any|every|its|their|his|files?|contents?|[^a-z\s])";
        let send = "(?:pass|send|include|insert|append|attach|paste|put|provide|share|forward|upload|post|submit|copy|exfiltrate)";
        let orders_to_read = format!(r"(?i)(?:[.!?:;>]\s|\n|\d\)|{told})[\s*-]*{read}{within}{place}");
        let orders_to_send = format!(r"(?i)(?:^|[.!?:;,>]\s|\n|\d\)|\band\b|{told})[\s*-]*{send}\b{within}{place}");
        let sends_on = format!(r"(?i){place}{within}\b{send}\s+(?:it|its|them|their|that|this|the)\b");
        [orders_to_read, orders_to_send, sends_on].map(|mark| Regex::new(&mark).expect("the patterns are sound"))
    });
    let found = MARKS.iter().find_map(|mark| mark.find(text))?;
    let order = found.as_str().trim_start_matches(|c: char| !c.is_alphanumeric());
    Some(format!("has an order to read or send credentials: {}", quoted(order)))
}

/// Finds orders to the model that an honest description never contains.
fn instructions(text: &str) -> Option<String> {
    static MARKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let marks = [
            (
                r"(?i)<\s*/?\s*(important|system|instructions?|secret|hidden|admin|assistant|critical|priority|override)\s*/?\s*>",
                "a tag that marks orders to the model",
            ),
            (
                r"(?i)\[\s*/?\s*(system|role|override|inst|important)(\s+\w+)?\s*\]|<\|im_(start|end)\|>|<<\s*sys\s*>>",
                "a mark that begins a turn of a conversation",
            ),
            (
                r"(?i)\b(ignore|disregard|forget|override|bypass)\s+(all\s+|any\s+|the\s+|your\s+|my\s+)*(previous|prior|earlier|above|preceding|other|system|safety|security)\s+(\w+\s+)?(instructions?|prompts?|rules?|messages?|guidelines?|directives?|policy|policies|guards?)",
                "an order to forget other instructions",
            ),
            (
                r"(?i)\b(do not|no need to|don't|never|without)\s+(ever\s+)?(tell(ing)?|inform(ing)?|mention(ing)?|reveal(ing)?|notify(ing)?|show(ing)?|alert(ing)?)\s+(this\s+|it\s+|anything\s+)*(to\s+)?(the\s+)?users?\b",
                "an order to keep something from the user",
            ),
        ];
        marks.into_iter().map(|(pattern, what)| (Regex::new(pattern).expect("the patterns are sound"), what)).collect()
    });
    let found = MARKS.iter().find_map(|(mark, what)| Some((mark.find(text)?, what)));
    match found {
        Some((found, what)) => Some(format!("has {what}: {}", quoted(found.as_str()))),
        None => orders(text).or_else(|| orders_to_take(text)),
    }
}

/// Finds phrases that are rare in honest descriptions and frequent in poisoned ones.
fn suspicious(text: &str) -> Option<String> {
    static MARKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let place = format!("(?i){PLACE}");
        let marks = [
            (
                r"(?i)\b(before|after|instead of|when(ever)?)\s+(using|calling|invoking|you\s+(use|call))\s+(any|all|every|other|the other)\b.{0,20}\btools?\b",
                "refers to other tools",
            ),
            (
                r"(?i)\b(you|the (model|assistant|agent|ai|llm))\s+must\s+(always|never|first|also)\b",
                "gives orders to the model",
            ),
            (
                r"(?i)\bthis (instruction|tool|message) (overrides|supersedes|takes precedence)",
                "claims precedence over other instructions",
            ),
            (r"[A-Za-z0-9+/]{120,}={0,2}", "has a long encoded text"),
            (&*place, "names a location of credentials"),
        ];
        marks.into_iter().map(|(pattern, what)| (Regex::new(pattern).expect("the patterns are sound"), what)).collect()
    });
    let (mark, what) = MARKS.iter().find(|(mark, _)| mark.is_match(text))?;
    Some(format!("{what}: {}", quoted(mark.find(text)?.as_str())))
}
