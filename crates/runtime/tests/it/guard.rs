//! The hosts and origins that a server accepts.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use toolkit_runtime::{HostGuard, Rejection};

fn headers(given: &[(HeaderName, &'static str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        headers.append(name, HeaderValue::from_static(value));
    }
    headers
}

fn check(guard: &HostGuard, given: &[(HeaderName, &'static str)]) -> Result<(), Rejection> {
    guard.check(&Uri::from_static("/"), &headers(given))
}

#[test]
fn a_request_names_one_accepted_host() {
    let guard = HostGuard::local();
    assert!(check(&guard, &[(HOST, "localhost:8000")]).is_ok());
    let rejected: [&[_]; 4] = [
        &[],
        &[(HOST, "evil.example")],
        &[(HOST, "localhost"), (HOST, "localhost")],
        &[(HOST, "localhost.evil.example")],
    ];
    for given in rejected {
        assert!(matches!(check(&guard, given), Err(Rejection::Host)), "{given:?}");
    }
    // The target of a request takes part, as HTTP/2 has no header for the host.
    let target = Uri::from_static("http://evil.example/");
    assert!(matches!(guard.check(&target, &headers(&[(HOST, "localhost")])), Err(Rejection::Host)));
    assert!(guard.check(&Uri::from_static("http://127.0.0.1:8000/"), &HeaderMap::new()).is_ok());
}

#[test]
fn any_host_may_be_accepted_without_accepting_any_origin() {
    let guard = HostGuard::local().with_any_host();
    assert!(check(&guard, &[]).is_ok());
    assert!(check(&guard, &[(HOST, "tools.example")]).is_ok());
    let given = [(HOST, "tools.example"), (ORIGIN, "https://evil.example")];
    assert!(matches!(check(&guard, &given), Err(Rejection::Origin)));
    assert!(check(&HostGuard::unchecked(), &given).is_ok());
}
