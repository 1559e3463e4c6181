//! The limits of programs that connect to MCP servers, as data with their sources: names with the prefix that a host adds, the
//! number of tools, the lengths of texts, and how long a host waits for a call.
//!
//! ```
//! use toolkit::{catalog, tool};
//! use toolkit_contract::hosts::{self, Host};
//!
//! /// Returns the sum of all invoices of a customer in a quarter.
//! #[tool(namespace = "accounting", read_only)]
//! fn sum_of_all_invoices_of_a_customer_in_a_quarter(customer: String) -> f64 {
//!     customer.len() as f64
//! }
//!
//! let catalog = catalog![sum_of_all_invoices_of_a_customer_in_a_quarter]?;
//! let found = hosts::check(&catalog, "books", &[Host::named("cursor").unwrap()]);
//! assert_eq!(
//!     found[0].to_string(),
//!     "accounting:sum_of_all_invoices_of_a_customer_in_a_quarter: name has, with what the host adds, 62 characters in \
//!      Cursor, which leaves the tool out above 59; shorten the name, the namespace or the name of the server, `books` \
//!      [host-name]"
//! );
//! # Ok::<(), toolkit::catalog::Diagnostics>(())
//! ```

mod limits;

use toolkit::Tool;
use toolkit::catalog::Naming;

use self::limits::listed_name;
pub use self::limits::{Host, HostLimit, Limited};
use crate::lint::{LintDiagnostic, Rule};

/// Checks the tools of a server by the limits of hosts.
///
/// `server` is the name of the server in the configuration of its user. The diagnostics are warnings, one for each tool and rule,
/// which names all hosts; those of the whole server have its name instead of the id of a tool. They are sorted by tool, then by
/// rule.
#[must_use]
pub fn check<'t>(tools: impl IntoIterator<Item = &'t Tool>, server: &str, hosts: &[&Host]) -> Vec<LintDiagnostic> {
    let tools: Vec<&Tool> = tools.into_iter().collect();
    let mut found: Vec<LintDiagnostic> = tools
        .iter()
        .flat_map(|tool| [name(tool, server, hosts), description(tool, hosts), timeout(tool, hosts)])
        .flatten()
        .collect();
    found.sort_by(|a, b| (&a.tool, a.rule).cmp(&(&b.tool, b.rule)));
    if let Some(exceeded) = exceeded(hosts, Limited::Tools, tools.len()) {
        let message = format!("are {}: {exceeded}; serve fewer, or let the model search them", tools.len());
        found.push(LintDiagnostic::of_server(Rule::HostTools, server, "tools", message));
    }
    found
}

/// Checks the instructions of a server by the limits of hosts.
#[must_use]
pub fn check_instructions(instructions: &str, server: &str, hosts: &[&Host]) -> Option<LintDiagnostic> {
    let length = instructions.chars().count();
    let exceeded = exceeded(hosts, Limited::Instructions, length)?;
    let message = format!("have {length} characters: {exceeded}; move what concerns one tool to its description");
    Some(LintDiagnostic::of_server(Rule::HostInstructions, server, "instructions", message))
}

fn name(tool: &Tool, server: &str, hosts: &[&Host]) -> Option<LintDiagnostic> {
    let name = Naming::NamespaceName.wire_name(tool.id());
    let mut exceeded = Vec::new();
    for (host, limit) in hosts.iter().flat_map(|host| host.limits.iter().map(move |limit| (host, limit))) {
        if let Limited::Name(template) = limit.limited {
            let length = listed_name(template, server, &name).chars().count();
            if length > limit.max {
                exceeded
                    .push(format!("{length} characters in {}, which {} above {}", host.title, limit.effect, limit.max));
            }
        }
    }
    (!exceeded.is_empty()).then(|| {
        let message = format!(
            "has, with what the host adds, {}; shorten the name, the namespace or the name of the server, `{server}`",
            exceeded.join(", ")
        );
        LintDiagnostic::new(Rule::HostName, tool, "name", message)
    })
}

fn description(tool: &Tool, hosts: &[&Host]) -> Option<LintDiagnostic> {
    let length = tool.full_description().chars().count();
    let exceeded = exceeded(hosts, Limited::Description, length)?;
    let message = format!("has {length} characters: {exceeded}; move parts of it to the arguments, or to a resource");
    Some(LintDiagnostic::new(Rule::HostDescription, tool, "description", message))
}

fn timeout(tool: &Tool, hosts: &[&Host]) -> Option<LintDiagnostic> {
    let seconds = tool.timeout()?.as_secs_f64().ceil() as usize;
    let exceeded = exceeded(hosts, Limited::Timeout, seconds)?;
    let message = format!("is {seconds} s: {exceeded}; return a handle early, and add a tool that asks for the result");
    Some(LintDiagnostic::new(Rule::HostTimeout, tool, "timeout", message))
}

/// Returns what the hosts do whose limit is exceeded, such as `Cursor leaves some out above 80`.
fn exceeded(hosts: &[&Host], limited: Limited, n: usize) -> Option<String> {
    let unit = if limited == Limited::Timeout { " s" } else { "" };
    let mut exceeded = Vec::new();
    for host in hosts {
        for limit in host.limits.iter().filter(|limit| limit.limited == limited && n > limit.max) {
            exceeded.push(format!("{} {} above {}{unit}", host.title, limit.effect, limit.max));
        }
    }
    (!exceeded.is_empty()).then(|| exceeded.join(", "))
}
