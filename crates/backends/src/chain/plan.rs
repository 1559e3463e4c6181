//! Resolution of the references between the steps of a chain.

use std::collections::HashMap;

use toolkit_schema::child;
use toolkit_schema::suggest::suggest;

use super::definition::{Chain, Order};
use super::diagnostic::{ChainDiagnostic, ChainDiagnosticKind, MAX_DIAGNOSTICS, StepLocation, shown};
use super::memory::size_of_tree;
use super::step::{PREVIOUS, Step};

/// The maximum number of steps of a chain.
pub const MAX_STEPS: usize = 256;

/// The inputs of each step.
pub(super) struct Plan<'c> {
    pub(super) wirings: Vec<Wiring<'c>>,
}

/// The inputs that one step takes from others. They come from earlier steps only, so they cannot be circular.
#[derive(Default)]
pub(super) struct Wiring<'c> {
    /// The memory of the constant arguments.
    pub(super) constant_bytes: usize,
    pub(super) taken: Vec<Taken<'c>>,
    pub(super) previous: Previous,
    /// The steps that must have succeeded before; may contain duplicates.
    pub(super) needs: Vec<usize>,
}

/// An argument from an earlier step.
#[derive(Clone, Copy)]
pub(super) struct Taken<'c> {
    pub(super) argument: &'c str,
    pub(super) step: usize,
    pub(super) pointer: &'c str,
}

/// The source of the argument [`PREVIOUS`].
#[derive(Clone, Copy, Default)]
pub(super) enum Previous {
    #[default]
    Unused,
    /// The argument is `null`, in the first step.
    Null,
    Of(usize),
}

impl<'c> Plan<'c> {
    /// Resolves the references of a chain. Returns the plan without invalid references, and a diagnostic for each of
    /// them.
    pub(super) fn new(chain: &'c Chain) -> (Self, Vec<ChainDiagnostic>) {
        let mut diagnostics = Vec::new();
        if chain.steps().len() > MAX_STEPS {
            let message = format!("the chain has {} steps; the maximum is {MAX_STEPS}", chain.steps().len());
            diagnostics.push(ChainDiagnostic::new(ChainDiagnosticKind::TooManySteps, message));
            return (Self { wirings: Vec::new() }, diagnostics);
        }
        let mut earlier = Earlier { ids: HashMap::new(), chain };
        let mut wirings = Vec::new();
        for (at_step, step) in StepLocation::all(chain) {
            let wiring = wire(at_step, step, &earlier, chain.order, &mut diagnostics);
            wirings.push(wiring);
            earlier.add(at_step, step, &mut diagnostics);
        }
        (Self { wirings }, diagnostics)
    }
}

/// The steps processed so far, by their ids.
struct Earlier<'c> {
    ids: HashMap<&'c str, usize>,
    chain: &'c Chain,
}

impl<'c> Earlier<'c> {
    fn add(&mut self, at_step: StepLocation<'c>, step: &'c Step, diagnostics: &mut Vec<ChainDiagnostic>) {
        let Some(id) = step.id() else { return };
        if let Some(first) = self.ids.get(id) {
            let message = format!("duplicate id: step {first} has the id {} too", shown(id));
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::DuplicateId, "/id", message));
        } else {
            self.ids.insert(id, at_step.idx);
        }
    }

    fn find(&self, id: &str) -> Result<usize, String> {
        if let Some(&idx) = self.ids.get(id) {
            return Ok(idx);
        }
        if self.chain.steps().iter().any(|step| step.id() == Some(id)) {
            return Err(format!("the step {} does not come before this one", shown(id)));
        }
        match suggest(id, self.ids.keys().copied()) {
            Some(near) => Err(format!("no earlier step is named {}; did you mean {}?", shown(id), shown(near))),
            None => Err(format!("no earlier step is named {}", shown(id))),
        }
    }
}

fn wire<'c>(
    at_step: StepLocation<'c>,
    step: &'c Step,
    earlier: &Earlier<'c>,
    order: Order,
    diagnostics: &mut Vec<ChainDiagnostic>,
) -> Wiring<'c> {
    let mut wiring = Wiring { constant_bytes: size_of_tree(step.constants()), ..Wiring::default() };
    for (argument, reference) in step.references() {
        if diagnostics.len() >= MAX_DIAGNOSTICS {
            return wiring;
        }
        let at = child("/from", argument);
        if step.constants().contains_key(argument) {
            let message = format!("the argument {} is also in `args`; keep one of the two", shown(argument));
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::ArgumentTwice, &at, message));
        }
        if argument == PREVIOUS && step.uses_previous() {
            let message = format!("`usePrevious` also passes the argument `{PREVIOUS}`; keep one of the two");
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::ArgumentTwice, &at, message));
        }
        let is_pointer = is_pointer(&reference.pointer);
        if !is_pointer {
            let message = format!(
                "{} is not a JSON Pointer; write `/key`, with `~1` for `/` and `~0` for `~` in a key",
                shown(&reference.pointer)
            );
            diagnostics.push(at_step.diagnostic(
                ChainDiagnosticKind::InvalidPointer,
                &format!("{at}/pointer"),
                message,
            ));
        }
        match earlier.find(&reference.step) {
            Ok(idx) if is_pointer => wiring.taken.push(Taken { argument, step: idx, pointer: &reference.pointer }),
            Ok(_) => {}
            Err(message) => {
                diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::UnknownStep, &format!("{at}/step"), message));
            }
        }
    }
    if step.uses_previous() {
        wiring.previous = at_step.idx.checked_sub(1).map_or(Previous::Null, Previous::Of);
    }
    for (nth, id) in step.predecessors().iter().enumerate() {
        if diagnostics.len() >= MAX_DIAGNOSTICS {
            return wiring;
        }
        match earlier.find(id) {
            Ok(idx) => wiring.needs.push(idx),
            Err(message) => {
                diagnostics.push(at_step.diagnostic(
                    ChainDiagnosticKind::UnknownStep,
                    &format!("/after/{nth}"),
                    message,
                ));
            }
        }
    }
    match order {
        Order::Sequential => {
            if !step.predecessors().is_empty() {
                let message = "the steps run one after another already; `after` requires `\"parallel\": true`";
                diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::MisplacedAfter, "/after", message));
            }
            wiring.needs = at_step.idx.checked_sub(1).into_iter().collect();
        }
        Order::Parallel => {
            wiring.needs.extend(wiring.taken.iter().map(|taken| taken.step));
            if let Previous::Of(idx) = wiring.previous {
                wiring.needs.push(idx);
            }
        }
    }
    wiring
}

/// Returns true if `text` is a JSON Pointer (RFC 6901, section 3).
fn is_pointer(text: &str) -> bool {
    let escapes = text.split('~').skip(1);
    (text.is_empty() || text.starts_with('/')) && escapes.into_iter().all(|rest| rest.starts_with(['0', '1']))
}
