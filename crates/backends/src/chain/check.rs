//! Checks of a chain against the schemas of its tools.

use toolkit::dispatch::Dispatcher;
use toolkit::tool::Tool;
use toolkit_schema::child;
use toolkit_schema::types::Types;

use super::arguments;
use super::definition::Chain;
use super::diagnostic::{ChainDiagnostic, ChainDiagnosticKind, ChainDiagnostics, MAX_DIAGNOSTICS, StepLocation, shown};
use super::plan::{Plan, Previous, Taken};
use super::reach::{Reach, reach};
use super::step::PREVIOUS;

impl Chain {
    /// Checks the chain without running it.
    ///
    /// The constant arguments are validated against the input schemas. An argument from an earlier step must be
    /// declared by the tool, must be possible according to the output schema of that step, and must have a matching
    /// type. A `null` for an optional argument counts as absent. Apart from that, arguments are not coerced, whatever
    /// the setting of the dispatcher.
    ///
    /// # Errors
    ///
    /// Returns every defect (at most 100), each with its step and a JSON Pointer into the JSON of the chain: too many
    /// steps, duplicate ids, invalid references, unknown tools, invalid arguments.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use toolkit::{Catalog, Dispatcher};
    /// use toolkit_backends::chain::{Chain, Step};
    ///
    /// # /// Adds two integers.
    /// # #[toolkit::tool(namespace = "math")]
    /// # fn add(a: i64, b: i64) -> i64 { a + b }
    /// let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    /// let chain = Chain::new()
    ///     .then(Step::new("math:add").named("sum").arg("a", 1).arg("b", "two"))
    ///     .then(Step::new("math:ad").take("a", "some", ""));
    /// assert_eq!(
    ///     chain.check(&dispatcher).unwrap_err().to_string(),
    ///     r#"the chain cannot run:
    /// /0/args/b (`sum`): must be an integer, got "two"
    /// /1/from/a/step (`math:ad`): no earlier step is named `some`; did you mean `sum`?
    /// /1/toolId (`math:ad`): no tool is named `math:ad`; did you mean `math:add`?"#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, dispatcher: &Dispatcher) -> Result<(), ChainDiagnostics> {
        ChainDiagnostics::none_or(check(self, dispatcher).1)
    }
}

/// Returns the plan of a chain, and its defects with these tools.
pub(super) fn check<'c>(chain: &'c Chain, dispatcher: &Dispatcher) -> (Plan<'c>, Vec<ChainDiagnostic>) {
    let (plan, mut diagnostics) = Plan::new(chain);
    let mut tools: Vec<Option<&Tool>> = Vec::new();
    for ((at_step, step), wiring) in StepLocation::all(chain).zip(&plan.wirings) {
        if let Err((pointer, message)) = step.wait() {
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::InvalidWait, pointer, message));
        }
        let tool = match dispatcher.prepared(step.tool()) {
            Ok(prepared) => prepared.tool(),
            Err(error) => {
                diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::UnknownTool, "/toolId", error.message()));
                tools.push(None);
                continue;
            }
        };
        arguments::check(at_step, step, wiring, tool, &mut diagnostics);
        for taken in &wiring.taken {
            if let Some(source) = tools[taken.step] {
                check_taken(at_step, &child("/from", taken.argument), *taken, source, tool, &mut diagnostics);
            }
        }
        if let Previous::Of(idx) = wiring.previous
            && let Some(source) = tools[idx]
        {
            let taken = Taken { argument: PREVIOUS, step: idx, pointer: "" };
            check_taken(at_step, "/usePrevious", taken, source, tool, &mut diagnostics);
        }
        tools.push(Some(tool));
    }
    diagnostics.sort_by_key(ChainDiagnostic::step);
    diagnostics.truncate(MAX_DIAGNOSTICS);
    (plan, diagnostics)
}

/// Compares the type that `source` returns with the type that `tool` accepts.
fn check_taken(
    at_step: StepLocation<'_>,
    at: &str,
    taken: Taken<'_>,
    source: &Tool,
    tool: &Tool,
    diagnostics: &mut Vec<ChainDiagnostic>,
) {
    // A tool without an output schema may return anything.
    let Some(output) = source.output() else { return };
    // A schema derived from a type lists every field of the type; a handwritten schema may omit some.
    let is_complete = source.location().is_some();
    let given = match reach(output.as_value(), taken.pointer, is_complete) {
        Reach::Open => return,
        Reach::Nothing => {
            let message = format!("the result of {} has no value at {}", source.id(), shown(taken.pointer));
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::NothingThere, &format!("{at}/pointer"), message));
            return;
        }
        Reach::Typed(given) => given,
    };
    let Reach::Typed(wanted) = reach(tool.input().as_value(), &child("", taken.argument), false) else { return };
    let may_be_absent = given.meets(Types::NULL) && !is_required(tool, taken.argument);
    if !given.meets(wanted) && !may_be_absent {
        let message = format!("{} returns {given}, but {} must be {wanted}", source.id(), shown(taken.argument));
        diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::TypeMismatch, at, message));
    }
}

fn is_required(tool: &Tool, argument: &str) -> bool {
    let required = tool.input().as_value().get("required").and_then(serde_json::Value::as_array);
    required.is_some_and(|required| required.iter().any(|name| name == argument))
}
