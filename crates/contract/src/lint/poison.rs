//! Lint rules for tools that deceive the model, by what they hide and what they demand.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use toolkit::Tool;
use toolkit_schema::excerpt::{effect, hidden};

use super::diagnostic::{LintDiagnostic, Rule, quoted};

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
    let (code, what) = (u32::from(first), effect(first));
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

struct Mark {
    pattern: Regex,
    what: &'static str,
    /// True if a tool may mention the pattern honestly, such as one that detects hidden instructions or prevents a
    /// bypass.
    may_be_denied: bool,
}

/// Finds an order that an honest description never contains.
pub(super) fn orders(text: &str) -> Option<String> {
    static MARKS: LazyLock<Vec<Mark>> = LazyLock::new(marks);
    MARKS.iter().find_map(|mark| {
        let mut found =
            mark.pattern.find_iter(text).filter(|found| !mark.may_be_denied || !is_denied(&text[..found.start()]));
        let found = found.next()?;
        let order =
            found.as_str().trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation() && c != '[');
        Some(format!("has {}: {}", mark.what, quoted(order)))
    })
}

/// Returns true if the current sentence mentions detecting, forbidding or preventing something.
fn is_denied(before: &str) -> bool {
    static DENIED: LazyLock<Regex> = LazyLock::new(|| {
        let words = "prevent|detect|scan|find|strip|remov|block|filter|flag|identif|sanitiz|protect|defend|guard|against|\
                     attempt|refus|reject|report|warn|check";
        let no = "no longer|cannot|can't|not|never";
        pattern(&format!(r"(?i)\b(?:(?:{no})\b|(?:{words})\w*\b)[^.!?\n]{{0,60}}$"))
    });
    let start = before.len().saturating_sub(100);
    DENIED.is_match(&before[before.ceil_char_boundary(start)..])
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns are sound")
}

fn marks() -> Vec<Mark> {
    // Up to the end of a sentence; the dots of an address do not end it.
    let within = r"(?:[^.\n]|\.\S)";
    let label = "DIRECTIVE|OVERRIDE|JAILBREAK";
    let upper = "(?:[A-Z][A-Z'-]*[ _:-]+)";
    let all = r"(?:(?:all|any|every|the|your|its|these|other|normal|usual|standard|built-in|existing|previous)\s+)*";
    let measures = "(?:checks?|filters?|restrictions?|guidelines?|controls?|polic(?:y|ies)|protocols?|measures?|rules?|limits?|\
                    guards?|constraints?|training|validation|reviews?)";
    let silently = "silently|secretly|quietly|covertly|discreetly|stealthily|surreptitiously|invisibly";
    let ending = "(?:es|s|ed|d|ing)?";
    let marks = [
        (
            format!(
                r"\[\s*/?\s*{upper}{{0,4}}(?:{label}|INSTRUCTION|MANDATE|COMMAND|ORDER|PROTOCOL|CONTRADICTION|PROMPT)S?\b[^\]\n]{{0,60}}\]"
            ),
            "a directive in brackets",
            false,
        ),
        (
            r"(?i)\[\s*(?:[\w'-]+[ _:-]+){1,4}(?:directive|override|mandate)s?\s*[\]:]".to_owned(),
            "a directive in brackets",
            false,
        ),
        (
            format!(
                r"[({{*#]\s*{upper}{{0,4}}(?:{label})S?\b|(?:^|\n|[.!?;]\s)\s*{upper}{{1,4}}(?:{label})S?(?:[ _-]+[A-Z][A-Z'-]*){{0,3}}\s*:|(?:^|\n)\s*JAILBREAK\b"
            ),
            "the heading of a directive",
            false,
        ),
        (
            r"(?:^|\n|[.!?]\s)\s*(?:SYSTEM|ASSISTANT)\s*:\s".to_owned(),
            "a mark that begins a turn of a conversation",
            false,
        ),
        (
            r"(?i)\b(?:hidden|secret|covert|concealed|undisclosed|undocumented|invisible|stealth)\s+(?:\w+\s+)?(?:instruction|directive|prompt|order|agenda|objective|backdoor)s?\b"
                .to_owned(),
            "a hidden instruction",
            true,
        ),
        (
            format!(
                r"(?i)\b(?:bypass|circumvent|evad|evade|ignor|ignore|disregard|defeat|sidestep){ending}\s+{all}(?:(?:safety|ethical|ethics|moderation|alignment|guardrails?|content\s+(?:filter|polic|moderation)\w*|safeguards?)\b|security\s+{measures}\b)"
            ),
            "an order to give up safeguards",
            true,
        ),
        (
            format!(
                r"(?i)\b(?:disabl|disable|deactivat|deactivate|override|overrid|skip|skipp|suppress|turn{ending}\s+off|remove|remov|lift|dropp?|abandon){ending}\s+{all}(?:(?:safety|ethical|moderation|alignment)\s+{measures}|guardrails?|safeguards?)\b"
            ),
            "an order to give up safeguards",
            true,
        ),
        (
            r"(?i)\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|whatever|what)\s+(?:\w+\s+){0,4}(?:above|before|earlier|previously|prior|told)\b"
                .to_owned(),
            "an order to forget other instructions",
            false,
        ),
        (
            format!(
                r"(?i)\b(?:always|{silently}|automatically|must|should|shall|(?:remember|sure|need|have)\s+to|every\s+(?:e-?mail|message)|all\s+(?:e-?mails?|messages?))\b{within}{{0,60}}\b(?:bcc(?:'?d|'?s|ing)?|blind(?:[- ]carbon)?[- ]cop(?:y|ies|ied))\b"
            ),
            "an order to copy messages to others",
            false,
        ),
        (
            format!(
                r"(?i)\b(?:{silently}|without\s+(?:notice|notification|mention(?:ing)?(?:\s+it)?|telling\s+anyone))\b,?\s+(?:\w+\s+){{0,2}}(?:b?cc|forward|copy|copie|copi|send|transmit|transmitt|upload|exfiltrat|exfiltrate|leak|relay|mirror|collect|attach|duplicat|duplicate|report|post|shar|share|harvest|redirect){ending}\b"
            ),
            "an order to send something in secret",
            true,
        ),
        (
            format!(
                r"(?i)\b(?:always|must|(?:every|each)\s+time|in\s+all\s+cases|automatically)\b{within}{{0,60}}\b(?:cc|forward|copy|send|duplicate|mirror|relay|transmit|upload|post|report){ending}\b{within}{{0,80}}?(?:[\w.+-]+@[\w-]+\.\w+|https?://)"
            ),
            "an order to send something to a fixed address",
            false,
        ),
        (
            r"(?i)\bwithout\s+(?:the\s+|any\s+|your\s+)?users?(?:'s|’s)?\s+(?:knowledge|knowing|noticing|awareness|consent|realizing|seeing)\b".to_owned(),
            "an order to keep something from the user",
            true,
        ),
        (
            r"(?i)\b(?:hide|conceal|withhold|keep)\s+(?:this|it|that|these|them|all\s+of\s+this)\s+(?:hidden\s+|secret\s+|private\s+)?from\s+(?:the\s+)?users?\b|\b(?:the\s+)?users?\s+(?:must|should|shall|need|may|can)\s*(?:not|never|n't|n’t)\s+(?:know|be\s+(?:told|informed|aware|notified)|notice|find\s+out|learn|see\s+this)\b"
                .to_owned(),
            "an order to keep something from the user",
            false,
        ),
        (
            r"(?i)\b(?:do\s+not|don't|don’t|never|avoid)\s+(?:ever\s+)?(?:disclos|report|log|acknowledg|discuss|expos|explain|surfac|admit)\w*\s+(?:this|it|that|these|them|anything)\b[^.\n]{0,20}\bto\s+(?:the\s+)?users?\b"
                .to_owned(),
            "an order to keep something from the user",
            false,
        ),
    ];
    let mark = |(text, what, may_be_denied): (String, _, _)| Mark { pattern: pattern(&text), what, may_be_denied };
    marks.into_iter().map(mark).collect()
}
