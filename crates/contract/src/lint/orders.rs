//! Orders to a model: to follow a directive, to give up its safeguards, to copy the data that it handles, to keep
//! secrets from the user.
//!
//! The test `orders_of_the_same_kinds_are_found_and_honest_words_are_not` has descriptions of each kind. They guard
//! against regressions and do not measure recall, because they were written after the patterns.

use std::sync::LazyLock;

use regex::Regex;

use super::diagnostic::quoted;

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
