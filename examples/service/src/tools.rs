//! The tools of the service. They run on threads where they may block, and read the user that the login has found.

use std::error::Error;
use std::time::Duration;

use toolkit::{Context, Dispatcher, ToolError, catalog, tool};

use crate::database::{Database, Note, User};

pub fn dispatcher(database: Database) -> Result<Dispatcher, Box<dyn Error>> {
    Ok(Dispatcher::builder(catalog![add, list, clear, export]?).state(database).build()?)
}

fn user(ctx: &Context) -> Result<&User, ToolError> {
    ctx.get().ok_or_else(|| ToolError::internal("the route of MCP is not behind the login"))
}

/// Adds a note.
#[tool(namespace = "notes")]
fn add(
    /// The text of the note.
    #[schemars(length(min = 1, max = 1000))]
    text: String,
    ctx: &Context,
    database: &Database,
) -> Result<Note, ToolError> {
    database.add_note(user(ctx)?.id, &text).map_err(ToolError::internal)
}

/// Lists the notes of the user.
#[tool(namespace = "notes", read_only)]
fn list(ctx: &Context, database: &Database) -> Result<Vec<Note>, ToolError> {
    database.notes(user(ctx)?.id).map_err(ToolError::internal)
}

/// Deletes all notes of the user, and returns their number.
#[tool(namespace = "notes", destructive, requires(scopes = ["notes:delete"]))]
fn clear(ctx: &Context, database: &Database) -> Result<usize, ToolError> {
    database.clear(user(ctx)?.id).map_err(ToolError::internal)
}

/// Writes all notes of the user as one text, which takes a second.
#[tool(namespace = "notes", read_only)]
async fn export(ctx: &Context, database: &Database) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let notes = database.notes(user(ctx)?.id).map_err(ToolError::internal)?;
    Ok(notes.into_iter().map(|note| note.text).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notes_of_a_user_are_those_of_no_other() -> Result<(), Box<dyn Error>> {
        let database = Database::open(":memory:")?;
        let [ada, bob] = [database.add_user("ada", "key-of-ada")?, database.add_user("bob", "key-of-bob")?];
        let dispatcher = dispatcher(database)?;
        // A context with what the login inserts.
        let [ada, bob] = [ada, bob].map(|user| Context::new().with(user));
        dispatcher.call_sync_with(&ada, "notes:add", r#"{"text": "Buy milk"}"#)?;
        assert_eq!(dispatcher.call_sync_with(&bob, "notes:list", "{}")?.value().as_array().map(Vec::len), Some(0));
        assert_eq!(dispatcher.call_sync_with(&ada, "notes:list", "{}")?.value()[0]["text"], "Buy milk");
        Ok(())
    }

    #[test]
    fn a_call_without_a_login_is_a_fault_of_the_program() -> Result<(), Box<dyn Error>> {
        let error = dispatcher(Database::open(":memory:")?)?.call_sync("notes:list", "{}").unwrap_err();
        assert_eq!(error.kind(), toolkit::call::ErrorKind::Internal);
        Ok(())
    }
}
