//! Responses, by what they contain.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use toolkit_runtime::{Body, empty_response, events_response, json_response, text_response};

async fn content(response: Response<Body>) -> Bytes {
    response.into_body().collect().await.unwrap().to_bytes()
}

#[tokio::test]
async fn each_kind_of_response_has_its_status_its_type_and_its_content() {
    let parts = || stream::iter(["data: 1\n", "\n"]).map(Bytes::from);
    for (response, status, kind, expected) in [
        (json_response(StatusCode::CREATED, "{}"), 201, Some("application/json"), "{}"),
        (text_response(StatusCode::NOT_FOUND, "no\n"), 404, Some("text/plain; charset=utf-8"), "no\n"),
        (empty_response(StatusCode::ACCEPTED), 202, None, ""),
        (events_response(parts()), 200, Some("text/event-stream"), "data: 1\n\n"),
    ] {
        assert_eq!(response.status(), status);
        let found = response.headers().get("content-type").map(|kind| kind.to_str().unwrap());
        assert_eq!(found, kind);
        assert_eq!(content(response).await, expected);
    }
    let events = events_response(parts());
    assert_eq!(events.headers()["cache-control"], "no-cache");
    assert_eq!(events.headers()["x-accel-buffering"], "no");
}

#[test]
fn a_complete_body_announces_its_length_and_a_stream_does_not() {
    assert_eq!((Body::from("abc").size_hint().exact(), Body::from("abc").is_end_stream()), (Some(3), false));
    assert_eq!((Body::from("").size_hint().exact(), Body::from("").is_end_stream()), (Some(0), true));
    let stream = Body::from_stream(stream::empty());
    assert_eq!((stream.size_hint().exact(), stream.is_end_stream()), (None, false));
}
