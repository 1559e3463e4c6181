//! Calls with generated arguments: each kind of planted defect is found in its simplest form, and nothing else.

mod defects;
mod sound;

use serde_json::Value;
use toolkit::{Catalog, Dispatcher};
use toolkit_contract::calls;
use toolkit_contract::calls::{CallReport, Calls, Defect};

fn on(catalog: Catalog) -> Calls {
    calls(&Dispatcher::new(catalog).unwrap())
}

/// Returns the defects, with their arguments.
fn found(report: &CallReport) -> Vec<(Defect, Value)> {
    report.diagnostics().iter().map(|found| (found.defect, found.arguments.clone())).collect()
}
