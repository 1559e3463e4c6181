//! Patterns that match in a single pass without backtracking.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// A pattern anchored at both ends: a sequence of ASCII character sets, each with a repetition count.
pub(crate) struct Steps(Box<[PatternStep]>);

struct PatternStep {
    /// A bit for each ASCII character.
    set: u128,
    least: usize,
    most: usize,
}

impl Steps {
    /// Returns `None` if the pattern has another form, or if a greedy step might consume a character that a later one
    /// needs.
    pub(super) fn from_hir(pattern: &Hir) -> Option<Steps> {
        let HirKind::Concat(parts) = pattern.kind() else {
            return None;
        };
        let [start, inner @ .., end] = parts.as_slice() else {
            return None;
        };
        let anchored = *start.kind() == HirKind::Look(Look::Start) && *end.kind() == HirKind::Look(Look::End);
        anchored.then_some(())?;
        let mut steps = Vec::new();
        for part in inner {
            add(part, &mut steps)?;
        }
        let clear = (0..steps.len()).all(|at| takes_only_its_own(&steps[at], &steps[at + 1..]));
        clear.then(|| Steps(steps.into()))
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        for step in &self.0 {
            let fits = |byte: &&u8| byte.is_ascii() && step.set >> **byte & 1 == 1;
            let taken = rest.iter().take(step.most).take_while(fits).count();
            if taken < step.least {
                return false;
            }
            rest = &rest[taken..];
        }
        rest.is_empty()
    }
}

/// Returns true if no character that a step consumes could belong to a following step.
fn takes_only_its_own(step: &PatternStep, following: &[PatternStep]) -> bool {
    if step.least == step.most {
        return true;
    }
    for next in following {
        if step.set & next.set != 0 {
            return false;
        }
        if next.least > 0 {
            return true;
        }
    }
    true
}

fn add(part: &Hir, steps: &mut Vec<PatternStep>) -> Option<()> {
    match part.kind() {
        HirKind::Repetition(repeat) => steps.push(PatternStep {
            set: set(&repeat.sub)?,
            least: repeat.min as usize,
            most: repeat.max.map_or(usize::MAX, |most| most as usize),
        }),
        HirKind::Literal(literal) => {
            for byte in &literal.0 {
                steps.push(once(byte.is_ascii().then(|| 1 << byte)?));
            }
        }
        _ => steps.push(once(set(part)?)),
    }
    Some(())
}

fn once(set: u128) -> PatternStep {
    PatternStep { set, least: 1, most: 1 }
}

/// Returns the characters that match at one position of the pattern, if all are ASCII.
pub(super) fn set(part: &Hir) -> Option<u128> {
    match part.kind() {
        HirKind::Literal(literal) => match *literal.0 {
            [byte] if byte.is_ascii() => Some(1 << byte),
            _ => None,
        },
        HirKind::Class(Class::Unicode(class)) => {
            let mut set = 0;
            for range in class.ranges() {
                range.end().is_ascii().then_some(())?;
                for c in range.start()..=range.end() {
                    set |= 1 << u32::from(c);
                }
            }
            Some(set)
        }
        _ => None,
    }
}
