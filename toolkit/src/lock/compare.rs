//! Two catalogues, tool by tool.

use std::collections::BTreeSet;

use super::change::{Change, Comparison, Part, Verdict};
use super::schemas::{Difference, Direction, differences};
use super::version::missing;
use crate::tool::{Authorization, Requirements, Tool, ToolId};

pub(super) fn compare(old: &[Tool], new: &[Tool]) -> Comparison {
    let mut changes = Vec::new();
    let mut seen: BTreeSet<&ToolId> = BTreeSet::new();
    for tool in old {
        match successor(tool, new) {
            Some(now) => {
                seen.insert(now.id());
                compare_tools(tool, now, &mut changes);
            }
            None => changes.push(Change {
                tool: tool.id().to_string(),
                verdict: Verdict::Breaking,
                part: Part::Record,
                pointer: String::new(),
                what: "is gone".to_owned(),
                example: None,
                needs: Some("of the catalogue, or an alias".to_owned()),
            }),
        }
    }
    for tool in new.iter().filter(|tool| !seen.contains(tool.id())) {
        changes.push(Change {
            tool: tool.id().to_string(),
            verdict: Verdict::Additive,
            part: Part::Record,
            pointer: String::new(),
            what: "is new".to_owned(),
            example: None,
            needs: None,
        });
    }
    Comparison { changes }
}

/// What answers now to the id that a tool had: the tool itself, the next version of it, or one that took its name.
fn successor<'n>(tool: &Tool, new: &'n [Tool]) -> Option<&'n Tool> {
    let exact = new.iter().find(|now| now.id() == tool.id());
    let unversioned = tool.id().unversioned();
    let highest = || {
        let versions = new.iter().filter(|now| now.id().unversioned() == unversioned);
        versions.max_by(|a, b| a.id().semver().cmp(&b.id().semver()))
    };
    let names = [tool.id().to_string(), unversioned.to_string()];
    let renamed = || new.iter().find(|now| now.aliases().iter().any(|alias| names.iter().any(|name| name == alias)));
    exact.or_else(highest).or_else(renamed)
}

fn compare_tools(old: &Tool, new: &Tool, changes: &mut Vec<Change>) {
    let (was, is) = (old.id().semver(), new.id().semver());
    let mut tell = |part: Part, difference: Difference| {
        let Difference { verdict, pointer, what, example } = difference;
        let needs = missing(was.as_ref(), is.as_ref(), verdict);
        changes.push(Change { tool: old.id().to_string(), verdict, part, pointer, what, example, needs });
    };
    for (verdict, field, what) in of_records(old, new) {
        let (pointer, what) = (format!("`{field}`"), what.to_owned());
        tell(Part::Record, Difference { verdict, pointer, what, example: None });
    }
    for difference in differences(old.input().as_value(), new.input().as_value(), Direction::Taken) {
        tell(Part::Input, difference);
    }
    match (old.output(), new.output()) {
        (Some(was), Some(is)) => {
            for difference in differences(was.as_value(), is.as_value(), Direction::Given) {
                tell(Part::Output, difference);
            }
        }
        (was, is) if was.is_some() != is.is_some() => {
            let (verdict, what) = match was.is_some() {
                true => (Verdict::Breaking, "is no longer promised"),
                false => (Verdict::Additive, "is promised now"),
            };
            tell(Part::Output, Difference { verdict, pointer: String::new(), what: what.to_owned(), example: None });
        }
        _ => {}
    }
}

/// What a tool says of itself, as far as callers rely on it.
fn of_records(old: &Tool, new: &Tool) -> Vec<(Verdict, &'static str, &'static str)> {
    let mut changes = Vec::new();
    let (was, is) = (old.annotations(), new.annotations());
    // A hint that a host may have trusted, for calling without a question.
    for (field, was, is, trusted) in [
        ("readOnlyHint", was.read_only, is.read_only, true),
        ("destructiveHint", was.destructive, is.destructive, false),
        ("idempotentHint", was.idempotent, is.idempotent, true),
        ("openWorldHint", was.open_world, is.open_world, false),
    ] {
        if was == Some(trusted) && is != Some(trusted) {
            changes.push((Verdict::Breaking, field, "no longer says what hosts may have trusted"));
        } else if was != is {
            changes.push((Verdict::Additive, field, "says something else"));
        }
    }
    if requires_more(old.requirements(), new.requirements()) {
        changes.push((Verdict::Breaking, "requirements", "ask for more"));
    } else if old.requirements() != new.requirements() {
        changes.push((Verdict::Additive, "requirements", "ask for less"));
    }
    if old.aliases().iter().any(|alias| !new.aliases().contains(alias)) {
        changes.push((Verdict::Breaking, "aliases", "lack a former name"));
    } else if old.aliases() != new.aliases() {
        changes.push((Verdict::Additive, "aliases", "have one more"));
    }
    if old.deprecated().is_none() && new.deprecated().is_some() {
        changes.push((Verdict::Additive, "deprecated", "announces the end"));
    }
    for (field, differs) in [
        ("description", old.description() != new.description()),
        ("title", old.title() != new.title()),
        ("tags", old.tags() != new.tags()),
        ("timeoutMs", old.timeout() != new.timeout()),
    ] {
        if differs {
            changes.push((Verdict::Cosmetic, field, "has changed"));
        }
    }
    changes
}

/// Whether a caller who held all that was required may lack something now.
fn requires_more(old: &Requirements, new: &Requirements) -> bool {
    let held_token = |wanted: &Authorization| {
        old.authorization.iter().any(|held| {
            let has = |scope| held.oauth2.scopes.contains(scope);
            held.id == wanted.id && wanted.oauth2.scopes.iter().all(has)
        })
    };
    !new.authorization.iter().all(held_token)
        || !new.secrets.iter().all(|secret| old.secrets.contains(secret))
        || (new.user_id && !old.user_id)
}
