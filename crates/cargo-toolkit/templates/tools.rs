//! The tools.

use toolkit::{ToolError, tool};

/// Divides an amount of money equally among people.
#[tool(namespace = "money", version = "0.1.0", read_only)]
pub fn share(
    /// Amount in cents.
    cents: u64,
    /// Number of people.
    people: u64,
) -> Result<u64, ToolError> {
    // The model reads this text. That of an unexpected error is logged, and hidden from the model.
    cents
        .checked_div(people)
        .ok_or_else(|| ToolError::failed("name at least one person"))
}

#[cfg(test)]
mod tests {
    use toolkit::{Catalog, Dispatcher};

    #[test]
    fn money_is_divided_among_people() {
        let dispatcher = Dispatcher::new(Catalog::linked().unwrap()).unwrap();
        let share = dispatcher
            .call_sync("money:share", r#"{"cents": 1000, "people": 4}"#)
            .unwrap();
        assert_eq!(share.value(), 250);
        let error = dispatcher
            .call_sync("money:share", r#"{"cents": 1000, "people": 0}"#)
            .unwrap_err();
        assert_eq!(error.message(), "name at least one person");
    }

    /// `TOOLKIT_BLESS=1 cargo test` writes the file after a change of the tools.
    #[test]
    fn no_change_breaks_callers_without_a_new_version() {
        toolkit_contract::expect_lock(&Catalog::linked().unwrap(), "tools.lock.json").unwrap();
    }
}
