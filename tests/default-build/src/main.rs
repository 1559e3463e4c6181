//! Every kind of declaration that `docs/authoring.md` names, in a program with default features: each tool accepts its
//! valid arguments and rejects the invalid ones, and what this build cannot validate is an error of `build`.

mod arguments;
mod calls;
mod enums;
mod patterns;
mod prompts;
mod results;
mod schemas;
mod structs;
mod unsupported;

use std::collections::BTreeSet;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::{self, Thread};

use toolkit::call::{Credentials, ErrorKind};
use toolkit::catalog::Naming;
use toolkit::{Catalog, Context, Dispatcher, ToolId, catalog};

use crate::calls::{CALLS, Call, PROMPTS};
use crate::results::{Notes, Tracker};

fn main() -> ExitCode {
    let mut failed = Vec::new();
    match Catalog::linked().map_err(|error| error.to_string()).and_then(|linked| run(linked, &mut failed)) {
        Ok(n_tools) => println!("{n_tools} tools, {} failures", failed.len()),
        Err(error) => failed.push(error),
    }
    failed.extend(unsupported::failures());
    failed.iter().for_each(|failure| eprintln!("{failure}"));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Calls every tool, and returns their number.
fn run(linked: Catalog, failed: &mut Vec<String>) -> Result<usize, String> {
    let is_supported = |id: &ToolId| id.namespace() != Some(unsupported::NAMESPACE);
    let tools = linked.iter().filter(|tool| is_supported(tool.id())).cloned();
    let prompts = linked.prompts().filter(|prompt| is_supported(prompt.id())).cloned();
    let tools = Catalog::new(tools).and_then(|tools| tools.with_prompts(prompts)).map_err(|error| error.to_string())?;
    let dispatcher = Dispatcher::builder(tools).state(Notes::default()).instance("tracker_eu", Tracker("eu")).build();
    let dispatcher = dispatcher.map_err(|error| error.to_string())?;
    dispatcher.catalog().check(Naming::default()).unwrap_or_else(|error| failed.push(error.to_string()));
    let context = Context::new().with_credentials(Credentials::new().with_user_id("ada"));

    let listed: BTreeSet<String> = dispatcher.catalog().iter().map(|tool| name(tool.id())).collect();
    let called: BTreeSet<String> = CALLS.iter().map(|call| call.tool.to_owned()).collect();
    failed.extend(listed.difference(&called).map(|tool| format!("`{tool}` has no call")));
    failed.extend(called.difference(&listed).map(|tool| format!("`{tool}` is not listed")));
    for Call { tool, valid, invalid } in CALLS {
        for arguments in *valid {
            if let Err(error) = wait(dispatcher.call_with(&context, tool, *arguments)) {
                failed.push(format!("`{tool}` rejects {arguments}: {error}"));
            }
        }
        for arguments in *invalid {
            match wait(dispatcher.call_with(&context, tool, *arguments)) {
                Ok(result) => failed.push(format!("`{tool}` accepts {arguments}: {}", result.value())),
                Err(error) if error.kind() == ErrorKind::InvalidArguments && !error.violations().is_empty() => {}
                Err(error) => failed.push(format!("`{tool}` fails with {arguments}: {error:?}")),
            }
        }
        // Schemas and reading are two descriptions of one type.
        if let (Ok(resolved), Some(sample)) = (dispatcher.catalog().resolve(tool), valid.first())
            && let Some(output) = resolved.output()
            && let Err(error) = output.check()
        {
            failed.push(format!("the output schema of `{tool}`, called with {sample}: {error}"));
        }
    }
    for (prompt, valid, invalid) in PROMPTS {
        if let Err(error) = wait(dispatcher.prompt(prompt, *valid)) {
            failed.push(format!("the prompt `{prompt}` rejects {valid}: {error}"));
        }
        if wait(dispatcher.prompt(prompt, *invalid)).is_ok() {
            failed.push(format!("the prompt `{prompt}` accepts {invalid}"));
        }
    }
    let enforced = catalog![schemas::contact].map_err(|error| error.to_string())?.enforcing_formats();
    let enforced = Dispatcher::new(enforced).map_err(|error| error.to_string())?;
    if let Err(error) = enforced.call_sync("contact", r#"{"email": "ada.l+x'y@example.com"}"#) {
        failed.push(format!("a catalog that enforces formats: {error}"));
    }
    if enforced.call_sync("contact", r#"{"email": "ada"}"#).is_ok() {
        failed.push("a catalog that enforces formats accepts `ada`".to_owned());
    }
    Ok(listed.len())
}

/// Returns the id of a tool without its version.
fn name(id: &ToolId) -> String {
    id.namespace().map_or_else(|| id.name().to_owned(), |namespace| format!("{namespace}:{}", id.name()))
}

/// Polls a future on this thread until it is ready, as any executor does.
fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}
