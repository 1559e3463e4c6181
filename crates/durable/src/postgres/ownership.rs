//! The rule that a started run changes its worker only through the queue, which a trigger of the database enforces.
//!
//! The engine takes all queued runs at once and starts one after the other. It writes its id into each run that it starts, and
//! into each run whose entry it records, without a look at the worker to which the run is assigned meanwhile. Without the rule,
//! a worker that is suspended before it has started all of its runs would take those that others have taken over back from
//! them when it wakes up.

use sqlx::postgres::PgConnection;

use crate::error::DurableError;

const EXISTS: &str = "SELECT EXISTS (SELECT FROM pg_trigger \
     WHERE tgname = 'toolkit_keep_worker' AND tgrelid = 'dbos.workflow_status'::regclass)";

/// Creates the trigger. Its function names the columns, since a later version of the engine could not change the type of a
/// column that the trigger itself names.
const CREATE: &str = "
    CREATE OR REPLACE FUNCTION dbos.toolkit_keep_worker() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF OLD.name = 'toolkit.chain' AND OLD.status NOT IN ('ENQUEUED', 'DELAYED') AND OLD.executor_id <> NEW.executor_id THEN
            RAISE EXCEPTION 'the run `%` belongs to the worker `%`', OLD.workflow_uuid, OLD.executor_id;
        END IF;
        RETURN NEW;
    END
    $$;
    CREATE TRIGGER toolkit_keep_worker BEFORE UPDATE ON dbos.workflow_status
        FOR EACH ROW EXECUTE FUNCTION dbos.toolkit_keep_worker();
";

/// Creates the trigger, if it does not exist.
pub(super) async fn enforce(session: &mut PgConnection) -> Result<(), DurableError> {
    let exists: bool = sqlx::query_scalar(EXISTS).fetch_one(&mut *session).await.map_err(DurableError::engine)?;
    if exists {
        return Ok(());
    }
    let created = sqlx::raw_sql(CREATE).execute(session).await;
    created.map(drop).map_err(|error| {
        let message = format!(
            "cannot create the trigger that keeps the worker of a run: {error}; start a worker once as the owner of the table \
             dbos.workflow_status"
        );
        DurableError::database(message, error)
    })
}
