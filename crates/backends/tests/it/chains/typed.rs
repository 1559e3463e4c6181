//! Typed chains.

use toolkit::handle;
use toolkit_backends::chain::Link as _;

use super::tools::Mixed;
use super::*;

#[tokio::test]
async fn an_output_goes_in_as_it_is_or_by_into() {
    let dispatcher = dispatcher();
    let chain = handle!(tools::length).then(handle!(tools::half)).then(handle!(tools::half));
    assert_eq!(chain.call(&dispatcher, "12345678".to_owned()).await.unwrap(), 2.0);
}

#[tokio::test]
async fn a_closure_converts_between_links() {
    let dispatcher = dispatcher();
    let chain = handle!(tools::find)
        .then_map(|place| place.name, handle!(tools::length))
        .then_map(|n| (i64::from(n), 1, None), handle!(tools::mix));
    assert_eq!(chain.call(&dispatcher, "Lima".to_owned()).await.unwrap(), Mixed { sum: 5, terms: vec![4, 1] });
}

#[tokio::test]
async fn chains_are_links_of_chains() {
    let dispatcher = dispatcher();
    let quarter = handle!(tools::half).then(handle!(tools::half));
    let chain = handle!(tools::length).then(quarter).then(quarter);
    assert_eq!(chain.call(&dispatcher, "0123456789abcdef".to_owned()).await.unwrap(), 1.0);
}

#[tokio::test]
async fn the_error_names_the_tool_that_failed_and_nothing_runs_after_it() {
    let dispatcher = dispatcher();
    let chain = handle!(tools::length)
        .then(handle!(tools::half))
        .then_map(|_| unreachable!("half has failed"), handle!(tools::find));
    let error = chain.call(&dispatcher, String::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "text:half: there is nothing to halve");
}

#[tokio::test]
async fn a_typed_chain_is_cancelled_between_its_calls() {
    let (dispatcher, token) = (dispatcher(), CancelToken::new());
    let context = Context::new().with_cancel(token.clone());
    let give_up = move |n: u32| {
        token.cancel();
        f64::from(n)
    };
    let chain = handle!(tools::length).then_map(give_up, handle!(tools::half));
    let error = chain.call_with(&context, &dispatcher, "x".to_owned()).await.unwrap_err();
    assert_eq!((error.kind(), error.tool()), (ErrorKind::Cancelled, Some("text:half")));
}

#[test]
fn the_future_of_a_typed_chain_can_move_between_threads() {
    fn is_send<T: Send>(_: T) {}
    let dispatcher = dispatcher();
    let chain = handle!(tools::length).then(handle!(tools::half));
    is_send(chain.call(&dispatcher, String::new()));
}
