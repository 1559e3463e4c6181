//! Checks that the tools of a catalog can run: their state, and the limits and features that they need.

use std::collections::BTreeMap;

use super::function::Run;
use crate::call::permit::Limiter;
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, namespaces_with};
use crate::state::{StateType, States};
use crate::tool::Tool;
use crate::tool::entry::Entry;

/// Checks that these tools can run with these states and this limit.
pub(super) fn check(catalog: &Catalog, states: &States, limiter: &Limiter) -> Result<(), Diagnostics> {
    let mut diagnostics = missing_states(catalog, states);
    if limiter.is_zero() {
        let message = "the concurrency limit is 0, so no call could run; it must be at least 1";
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidSetting, message, []));
    }
    if cfg!(not(feature = "async")) {
        let needs = |tool: &&Tool| {
            let blocks = |entry: &Entry| matches!(Run::from_entry(entry), Run::Blocking(_));
            tool.timeout().is_some() || tool.entry().is_some_and(blocks)
        };
        diagnostics.extend(catalog.iter().filter(needs).map(|tool| {
            let message = "`timeout` and `blocking` need the feature `async` of `toolkit`";
            Diagnostic::new(DiagnosticKind::MissingFeature, message, [tool])
        }));
    }
    Diagnostics::none_or(diagnostics)
}

/// Returns one diagnostic for each missing type, with all tools that borrow it.
fn missing_states(catalog: &Catalog, states: &States) -> Vec<Diagnostic> {
    let mut missing: BTreeMap<&str, (StateType, Vec<&Tool>)> = BTreeMap::new();
    for tool in catalog {
        let own = tool.instance().map(|instance| &instance.states);
        for state in state_types(tool) {
            if !states.has(&state) && !own.is_some_and(|own| own.has(&state)) {
                missing.entry(state.info().name).or_insert_with(|| (state, Vec::new())).1.push(tool);
            }
        }
    }
    let diagnostic = |(name, (state, tools)): (&str, (StateType, Vec<&Tool>))| {
        let advice = advice(catalog, states, state);
        let message = format!("missing state of type `{name}`, which tools borrow; {advice}");
        Diagnostic::new(DiagnosticKind::MissingState, message, tools)
    };
    missing.into_iter().map(diagnostic).collect()
}

fn state_types(tool: &Tool) -> impl Iterator<Item = StateType> {
    tool.entry().into_iter().flat_map(|entry| entry.states).flatten().copied()
}

/// Returns a suggestion for providing the type.
fn advice(catalog: &Catalog, states: &States, wanted: StateType) -> String {
    let wanted = wanted.info();
    let name = wanted.name;
    if let Some(there) = states.location_of(wanted.arc) {
        return format!("pass the `Arc<{name}>` of {there} with `shared_state(arc)` instead of `state(arc)`");
    }
    if let Some(there) = states.location_of(wanted.boxed) {
        return format!(
            "pass the `Box<{name}>` of {there} with `shared_state(Arc::<{name}>::from(boxed))` instead of `state(boxed)`"
        );
    }
    if let Some((inner, inner_name)) = wanted.inner
        && let Some(there) = states.location_of(inner)
    {
        return format!("borrow the `{inner_name}` of {there} as `&{inner_name}`, without the `Arc`");
    }
    let instances = namespaces_with(catalog, wanted.id);
    if !instances.is_empty() {
        return format!(
            "the instances `{}` have one; add one to the instances of these tools, or provide one for all with \
             `DispatcherBuilder::state`",
            instances.join("`, `")
        );
    }
    match wanted.is_unsized {
        true => format!("provide it with `DispatcherBuilder::shared_state`, as an `Arc<{name}>`"),
        false => "provide it with `DispatcherBuilder::state`".to_owned(),
    }
}

/// Returns one diagnostic for each type of which the host provided two values.
pub(super) fn duplicate_states(catalog: &Catalog, states: &States) -> Vec<Diagnostic> {
    let diagnostic = |duplicate: &crate::state::Duplicate| {
        let [first, second] = duplicate.locations;
        let message = format!(
            "two values of state of type `{}`, at {first} and at {second}; tools borrow one value of each type. For \
             several instances of a toolset, put each into its own namespace with `DispatcherBuilder::instance`",
            duplicate.type_name
        );
        let tools = catalog.iter().filter(|tool| state_types(tool).any(|state| state.info().id == duplicate.id));
        Diagnostic::new(DiagnosticKind::DuplicateState, message, tools)
    };
    states.duplicates().iter().map(diagnostic).collect()
}
