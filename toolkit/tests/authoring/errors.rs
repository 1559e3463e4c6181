//! Which errors of a tool a model reads.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, bail};
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Content, Dispatcher, ShowError, ToolError, catalog, handle, tool, toolset};
use tracing_subscriber::layer::SubscriberExt;

const MASKED: &str = "the tool failed with an internal error";

#[derive(Debug, thiserror::Error, ShowError)]
#[error("no city is called {city}")]
struct NoSuchCity {
    city: String,
    #[source]
    cause: io::Error,
}

fn lookup() -> Result<(), NoSuchCity> {
    Err(NoSuchCity { city: "Atlantis".to_owned(), cause: io::Error::other("db at 10.0.0.7") })
}

#[derive(Debug, thiserror::Error)]
#[error("db at 10.0.0.7 is gone")]
struct DbError;

/// An error of the author, which shows nothing itself.
#[derive(Debug, thiserror::Error)]
#[error("no forecast by db at 10.0.0.7")]
struct NoForecast(#[from] NoSuchCity);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error with everything that an error for a model has.
fn busy() -> ToolError {
    ToolError::failed("own").with_content([Content::text("busy")]).retryable(Duration::from_secs(5))
}

/// Displays itself, and is no `std::error::Error`.
struct Plain;

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("plain")
    }
}

/// Declares tools without arguments that fail.
macro_rules! failing {
    ($($(#[$attr:meta])* $name:ident -> $returned:ty { $($body:tt)* })*) => {
        $(
            /// Fails.
            $(#[$attr])*
            fn $name() -> $returned {
                $($body)*
            }
        )*

        fn all() -> Catalog {
            catalog![$($name),*].expect("each of them is a tool")
        }
    };
}

failing! {
    #[tool] marked_type -> Result<u8, NoSuchCity> { lookup().map(|()| 1) }
    #[tool] marked_type_by_question_mark -> Result<u8, ToolError> { lookup()?; Ok(1) }
    #[tool] masked_type -> Result<u8, DbError> { Err(DbError) }
    #[tool(show_errors)] shown_function -> Result<u8, DbError> { Err(DbError) }
    #[tool(show_errors = false)] unshown_function -> Result<u8, DbError> { Err(DbError) }
    #[tool] shown_error -> Result<u8, ToolError> { Err(ToolError::shown(DbError)) }
    #[tool] displayed -> Result<u8, ToolError> { Err(Plain).map_err(|error| ToolError::failed(error.to_string())) }
    #[tool] anyhow_masked -> anyhow::Result<u8> { Err(anyhow::Error::new(DbError).context("no forecast")) }
    #[tool(show_errors)] anyhow_shown -> anyhow::Result<u8> { Err(anyhow::Error::new(DbError).context("no forecast")) }
    #[tool] anyhow_by_question_mark -> anyhow::Result<bool> { Ok("db at 10.0.0.7".parse::<bool>()?) }
    #[tool] anyhow_text -> anyhow::Result<u8> { bail!("db at 10.0.0.7") }
    #[tool] anyhow_marked -> anyhow::Result<u8> { lookup()?; Ok(1) }
    #[tool] anyhow_marked_in_contexts -> anyhow::Result<u8> { lookup().context("shard 7").context("db at 10.0.0.7")?; Ok(1) }
    #[tool] anyhow_marked_as_a_source -> anyhow::Result<u8> { lookup().map_err(NoForecast)?; Ok(1) }
    #[tool(show_errors)] anyhow_marked_and_shown -> anyhow::Result<u8> { lookup().context("no forecast")?; Ok(1) }
    #[tool] anyhow_marked_in_an_io_error -> anyhow::Result<u8> { Ok(lookup().map(|()| 1).map_err(std::io::Error::other)?) }
    #[tool] anyhow_own_text -> anyhow::Result<u8> { bail!(busy()) }
    #[tool] anyhow_own_text_in_a_context -> anyhow::Result<u8> { Err(busy()).context("db at 10.0.0.7") }
    #[tool(show_errors)] anyhow_explicit_stays_masked -> anyhow::Result<u8> {
        Err(ToolError::internal(DbError)).context("db at 10.0.0.7")
    }
    #[tool] anyhow_file -> anyhow::Result<String> { Ok(std::fs::read_to_string("/nonexistent/secret")?) }
    #[tool] boxed_by_question_mark -> Result<bool, BoxError> { Ok("db at 10.0.0.7".parse::<bool>()?) }
    #[tool] boxed_marked -> Result<u8, BoxError> { lookup()?; Ok(1) }
    #[tool] boxed_own_text -> Result<u8, BoxError> { Err(busy().into()) }
    #[tool] boxed_then_by_question_mark -> Result<u8, ToolError> { lookup().map_err(BoxError::from)?; Ok(1) }
    #[tool] source_of_a_masked_type -> Result<u8, NoForecast> { Ok(lookup().map(|()| 1)?) }
    #[tool] anyhow_shown_once -> Result<u8, ToolError> {
        Err(ToolError::shown(anyhow::Error::new(DbError).context("no forecast")))
    }
    #[tool(show_errors)] question_mark_shown -> Result<u8, ToolError> { Ok("x".parse::<u8>()?) }
    #[tool] question_mark_masked -> Result<u8, ToolError> { Ok("x".parse::<u8>()?) }
    #[tool(show_errors)] boxed -> Result<u8, Box<dyn std::error::Error + Send + Sync>> { Err("db is gone".into()) }
    #[tool(show_errors)] explicit_stays_masked -> Result<u8, ToolError> { Err(ToolError::internal(DbError)) }
    #[tool(show_errors)] panic_stays_masked -> Result<u8, DbError> { panic!("db at 10.0.0.7") }
    #[tool(show_errors)] own_text_stays -> Result<u8, ToolError> { Err(ToolError::failed("own")) }
    #[tool] file -> io::Result<String> { std::fs::read_to_string("/nonexistent/secret/path") }
    #[tool] file_by_question_mark -> Result<String, ToolError> { Ok(std::fs::read_to_string("/nonexistent/secret")?) }
    #[tool] file_in_a_box -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        Ok(std::fs::read_to_string("/nonexistent/secret")?)
    }
    #[tool] folder -> io::Result<String> { std::fs::read_to_string("/") }
    #[tool] io_with_a_text -> io::Result<u8> { Err(io::Error::new(io::ErrorKind::AlreadyExists, "password=hunter2")) }
    #[tool] io_of_another_kind -> io::Result<u8> { Err(io::Error::new(io::ErrorKind::BrokenPipe, "password=hunter2")) }
    #[tool(show_errors)] io_shown -> io::Result<u8> { Err(io::Error::new(io::ErrorKind::NotFound, "no note has id 7")) }
}

#[test]
fn a_model_reads_what_the_author_chose_and_no_more() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    let check = |name: &str, expect: &str| {
        let error = dispatcher.call_sync(name, "{}").unwrap_err();
        assert_eq!(error.message(), expect, "{name}");
        let kind = match expect {
            MASKED if name == "panic_stays_masked" => ErrorKind::Panicked,
            MASKED => ErrorKind::Internal,
            _ => ErrorKind::Failed,
        };
        assert_eq!(error.kind(), kind, "{name}");
    };
    check("marked_type", "no city is called Atlantis");
    check("marked_type_by_question_mark", "no city is called Atlantis");
    check("masked_type", MASKED);
    check("shown_function", "db at 10.0.0.7 is gone");
    check("unshown_function", MASKED);
    check("shown_error", "db at 10.0.0.7 is gone");
    check("displayed", "plain");
    check("anyhow_masked", MASKED);
    check("anyhow_shown", "no forecast");
    check("anyhow_by_question_mark", MASKED);
    check("anyhow_text", MASKED);
    check("anyhow_marked", "no city is called Atlantis");
    check("anyhow_marked_in_contexts", "no city is called Atlantis");
    check("anyhow_marked_as_a_source", "no city is called Atlantis");
    check("anyhow_marked_and_shown", "no forecast");
    check("anyhow_marked_in_an_io_error", "no city is called Atlantis");
    check("anyhow_own_text", "own");
    check("anyhow_own_text_in_a_context", "own");
    check("anyhow_explicit_stays_masked", MASKED);
    check("anyhow_file", "input/output error: not found");
    check("boxed_by_question_mark", MASKED);
    check("boxed_marked", "no city is called Atlantis");
    check("boxed_own_text", "own");
    check("boxed_then_by_question_mark", "no city is called Atlantis");
    check("source_of_a_masked_type", "no city is called Atlantis");
    check("anyhow_shown_once", "no forecast");
    check("question_mark_shown", "invalid digit found in string");
    check("question_mark_masked", MASKED);
    check("boxed", "db is gone");
    check("explicit_stays_masked", MASKED);
    check("panic_stays_masked", MASKED);
    check("own_text_stays", "own");
    check("file", "input/output error: not found");
    check("file_by_question_mark", "input/output error: not found");
    check("file_in_a_box", "input/output error: not found");
    check("folder", "input/output error: is a directory");
    check("io_with_a_text", "input/output error: already exists");
    check("io_of_another_kind", MASKED);
    check("io_shown", "no note has id 7");
}

#[test]
fn the_host_keeps_the_source_of_what_a_model_reads() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    let sources = |name: &str| {
        let error = dispatcher.call_sync(name, "{}").unwrap_err();
        let first = std::error::Error::source(&error);
        std::iter::successors(first, |error| error.source()).map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(sources("marked_type"), ["no city is called Atlantis", "db at 10.0.0.7"]);
    assert_eq!(sources("anyhow_shown"), ["no forecast", "db at 10.0.0.7 is gone"]);
    assert_eq!(sources("io_with_a_text"), ["password=hunter2"]);
    let whole = ["db at 10.0.0.7", "shard 7", "no city is called Atlantis", "db at 10.0.0.7"];
    assert_eq!(sources("anyhow_marked_in_contexts"), whole);
}

#[test]
fn an_error_for_the_model_is_whole_inside_of_an_anyhow_error() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    for name in ["anyhow_own_text", "anyhow_own_text_in_a_context", "boxed_own_text"] {
        let error = dispatcher.call_sync(name, "{}").unwrap_err();
        assert_eq!(error.content(), [Content::text("busy")], "{name}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(5)), "{name}");
    }
}

/// Collects the fields `cause` of events.
#[derive(Clone, Default)]
struct Causes(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Causes {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        event.record(&mut self.clone());
    }
}

impl tracing::field::Visit for Causes {
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        if field.name() == "cause" {
            self.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &tracing::field::Field, _: &dyn fmt::Debug) {}
}

#[test]
fn the_log_has_a_masked_error_with_its_sources() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    let causes = Causes::default();
    // Other tests reach the same event first, from threads without a subscriber, which would disable it for all threads.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(causes.clone()), || {
        for name in ["anyhow_masked", "masked_type", "anyhow_marked"] {
            dispatcher.call_sync(name, "{}").unwrap_err();
        }
    });
    assert_eq!(*causes.0.lock().unwrap(), ["no forecast: db at 10.0.0.7 is gone", "db at 10.0.0.7 is gone"]);
}

struct Desk;

#[toolset(show_errors)]
impl Desk {
    /// Fails.
    #[tool]
    fn opens() -> Result<u8, DbError> {
        Err(DbError)
    }

    /// Fails.
    #[tool(show_errors = false)]
    async fn closes() -> Result<u8, DbError> {
        Err(DbError)
    }
}

#[tokio::test]
async fn a_toolset_and_a_handle_show_errors_alike() {
    let dispatcher = Dispatcher::new(catalog![Desk::opens, Desk::closes].unwrap()).unwrap();
    let shown = [
        dispatcher.call("opens", "{}").await.unwrap_err(),
        handle!(Desk::opens).call(&dispatcher, ()).await.unwrap_err(),
    ];
    assert_eq!(shown.map(|error| error.message().to_owned()), ["db at 10.0.0.7 is gone"; 2]);
    let masked = [
        dispatcher.call("closes", "{}").await.unwrap_err(),
        handle!(Desk::closes).call(&dispatcher, ()).await.unwrap_err(),
    ];
    assert_eq!(masked.map(|error| error.message().to_owned()), [MASKED; 2]);
}
