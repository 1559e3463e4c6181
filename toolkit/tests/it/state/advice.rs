//! Errors about state that is missing or provided in another form.

use std::sync::Arc;

use toolkit::catalog::{DiagnosticKind, Diagnostics};
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Dispatcher, catalog, tool};

struct Db;

trait Store: Send + Sync {}
impl Store for Db {}

/// Uses a database.
#[tool(namespace = "advice")]
fn sized(_db: &Db) {}

/// Uses a store.
#[tool(namespace = "advice")]
fn unsized_state(_store: &dyn Store) {}

/// Keeps a database.
#[tool(namespace = "advice")]
fn arc(_db: &Arc<Db>) {}

#[track_caller]
fn message(catalog: Result<Catalog, Diagnostics>, with: impl FnOnce(DispatcherBuilder) -> DispatcherBuilder) -> String {
    let problems = with(Dispatcher::builder(catalog.unwrap())).build().unwrap_err();
    let all: Vec<_> = problems.iter().collect();
    assert_eq!((all.len(), all[0].kind()), (1, DiagnosticKind::MissingState), "{problems}");
    all[0].message().to_owned()
}

#[test]
fn missing_state_is_passed_with_the_method_that_compiles() {
    assert_eq!(
        message(catalog![sized], |builder| builder),
        "missing state of type `it::state::advice::Db`, which tools borrow; provide it with `DispatcherBuilder::state`"
    );
    assert_eq!(
        message(catalog![unsized_state], |builder| builder),
        "missing state of type `dyn it::state::advice::Store`, which tools borrow; provide it with `DispatcherBuilder::shared_state`, \
         as an `Arc<dyn it::state::advice::Store>`"
    );
    let store: Arc<dyn Store> = Arc::new(Db);
    assert!(Dispatcher::builder(catalog![unsized_state].unwrap()).shared_state(store).build().is_ok());
}

#[test]
fn an_arc_that_was_passed_as_a_value_names_shared_state_and_the_place() {
    let line = line!() + 1;
    let message = message(catalog![sized], |builder| builder.state(Arc::new(Db)));
    let place = format!("tests/it/state/advice.rs:{line}");
    assert!(message.contains("the `Arc<it::state::advice::Db>` of "), "{message}");
    assert!(message.contains(&place), "{message}");
    assert!(message.ends_with("with `shared_state(arc)` instead of `state(arc)`"), "{message}");
    assert!(Dispatcher::builder(catalog![sized].unwrap()).shared_state(Arc::new(Db)).build().is_ok());
}

#[test]
fn an_arc_or_box_of_a_trait_object_names_shared_state() {
    let arc: Arc<dyn Store> = Arc::new(Db);
    let text = message(catalog![unsized_state], |builder| builder.state(arc));
    assert!(text.ends_with("with `shared_state(arc)` instead of `state(arc)`"), "{text}");
    let boxed: Box<dyn Store> = Box::new(Db);
    let text = message(catalog![unsized_state], |builder| builder.state(boxed));
    let advice = "with `shared_state(Arc::<dyn it::state::advice::Store>::from(boxed))` instead of `state(boxed)`";
    assert!(text.ends_with(advice), "{text}");
    let boxed: Box<dyn Store> = Box::new(Db);
    let builder = Dispatcher::builder(catalog![unsized_state].unwrap());
    assert!(builder.shared_state(Arc::<dyn Store>::from(boxed)).build().is_ok());
}

#[test]
fn borrowing_an_arc_is_an_error_with_advice() {
    let text = message(catalog![arc], |builder| builder.shared_state(Arc::new(Db)));
    assert!(text.ends_with(" as `&it::state::advice::Db`, without the `Arc`"), "{text}");
    // The `Arc` itself is also state.
    assert!(Dispatcher::builder(catalog![arc].unwrap()).state(Arc::new(Db)).build().is_ok());
}

#[test]
fn a_second_value_of_one_type_is_an_error_that_names_the_type_and_both_places() {
    let line = line!() + 1;
    let twice = Dispatcher::builder(catalog![sized].unwrap()).state(Db).shared_state(Arc::new(Db)).build();
    let problems = twice.unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!((problem.kind(), problem.tools().count()), (DiagnosticKind::DuplicateState, 1));
    let message = problem.message();
    assert!(message.starts_with("two values of state of type `it::state::advice::Db`, at "), "{message}");
    assert_eq!(message.matches(&format!("tests/it/state/advice.rs:{line}")).count(), 2, "{message}");
    assert!(message.ends_with("put each into its own namespace with `DispatcherBuilder::instance`"), "{message}");
}
