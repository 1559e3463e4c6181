//! The description of the tool, from which a model learns how to write programs.

use std::fmt::Write as _;

use crate::gateway::Overview;

const CONTRACT: &str = "\
Runs a JavaScript program that calls tools, and returns its value and what it printed. Use it for several calls, for \
loops and filters over results, and whenever the model does not need to read each result.

The program is the body of an async function:
- `await tools.NAMESPACE.NAME({...})` calls a tool and returns its result; `Promise.all` runs calls in parallel.
- A failed call throws a `ToolError` with `message`, `kind` and `violations`.
- `return` only what is needed to answer. `console.log` prints; `show(result)` shows images of a result.
- There are no files, network, timers beyond `sleep(ms)`, and no imports.";

const DISCOVERY: &str = "\
- `await search(\"words\", 5)` finds tools: [{ id, function, summary }].
- `await describe(id, ...)` returns their declarations in TypeScript as text: print them before the first call.
- `await examples(id)` returns examples of arguments.";

/// Returns the description.
pub(super) fn description(overview: &Overview) -> String {
    let mut text = CONTRACT.to_owned();
    match &overview.declarations {
        Some(declarations) => {
            text.push_str("\n\nThe tools:\n\n");
            text.push_str(declarations.trim_end());
        }
        None => {
            text.push('\n');
            text.push_str(DISCOVERY);
            text.push_str("\n\nThe namespaces, with their numbers of tools: ");
            for (nth, namespace) in overview.namespaces.iter().enumerate() {
                let separator = if nth == 0 { "" } else { ", " };
                let name = if namespace.name.is_empty() { "(none)" } else { &namespace.name };
                // Writing to a string cannot fail.
                let _ = write!(text, "{separator}{name} ({})", namespace.tools);
            }
            text.push('.');
        }
    }
    text
}
