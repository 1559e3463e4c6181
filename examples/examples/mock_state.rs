//! A tool that uses state behind a trait, and tests that inject a mock.

use std::sync::Arc;

use toolkit::{Dispatcher, ToolError, catalog, tool};

trait Inventory: Send + Sync {
    fn count(&self, item: &str) -> Option<u32>;
}

/// Returns the number of items in stock.
#[tool(namespace = "stock", version = "1.0.0", read_only)]
fn count(item: String, inventory: &dyn Inventory) -> Result<u32, ToolError> {
    inventory.count(&item).ok_or_else(|| ToolError::failed(format!("no item is named {item}")))
}

/// Creates the dispatcher of the program, or of a test.
fn dispatcher(inventory: Arc<dyn Inventory>) -> Result<Dispatcher, toolkit::catalog::Diagnostics> {
    Dispatcher::builder(catalog![count]?).shared_state(inventory).build()
}

struct Empty;

impl Inventory for Empty {
    fn count(&self, _: &str) -> Option<u32> {
        None
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let error = dispatcher(Arc::new(Empty))?.call_sync("stock:count", r#"{"item": "pen"}"#).unwrap_err();
    println!("{error}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TwoPens;

    impl Inventory for TwoPens {
        fn count(&self, item: &str) -> Option<u32> {
            (item == "pen").then_some(2)
        }
    }

    #[test]
    fn the_function_can_be_called_as_it_is() {
        assert_eq!(count("pen".to_owned(), &TwoPens).unwrap(), 2);
    }

    #[test]
    fn the_tool_reads_the_injected_state() {
        let dispatcher = dispatcher(Arc::new(TwoPens)).unwrap();
        assert_eq!(dispatcher.call_sync("stock:count", r#"{"item": "pen"}"#).unwrap().value(), 2);
        let error = dispatcher.call_sync("stock:count", r#"{"item": "car"}"#).unwrap_err();
        assert_eq!(error.message(), "no item is named car");
    }

    #[test]
    fn missing_state_is_reported_before_any_call() {
        assert!(Dispatcher::new(catalog![count].unwrap()).is_err());
    }
}
