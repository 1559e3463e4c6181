//! The hosts and origins that a server accepts.

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use toolkit_runtime::{HostGuard, Rejection, bearer, is_token};

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

#[test]
fn each_guard_accepts_its_hosts_with_any_port() {
    let named = HostGuard::local().with_host("tools.example").with_host("other.example:8443");
    assert!(named.names_hosts() && !HostGuard::addresses().names_hosts());
    // The host, and which of the guards accept it: local, with names, addresses.
    let cases = [
        ("localhost", [true, true, true]),
        ("LocalHost:1", [true, true, true]),
        ("127.0.0.1:80", [true, true, true]),
        ("[::1]:80", [true, true, true]),
        ("192.0.2.1", [false, false, true]),
        ("192.0.2.1:80", [false, false, true]),
        ("[2001:db8::1]", [false, false, true]),
        ("[2001:db8::1]:80", [false, false, true]),
        ("[192.0.2.1]", [false, false, false]),
        ("[2001:db8::1", [false, false, false]),
        ("2001:db8::1", [false, false, false]),
        ("tools.example", [false, true, false]),
        ("Tools.Example:80", [false, true, false]),
        ("other.example:8443", [false, true, false]),
        ("other.example:8444", [false, false, false]),
        ("other.example", [false, false, false]),
        ("tools.example.evil", [false, false, false]),
        ("tools.example:x", [false, false, false]),
        ("me@tools.example", [false, false, false]),
        ("tools.example/path", [false, false, false]),
        ("localhost?", [false, false, false]),
        ("localhost#", [false, false, false]),
        (":80", [false, false, false]),
        ("", [false, false, false]),
    ];
    for (host, expected) in cases {
        let accepts = |guard: &HostGuard| check(guard, &[(HOST, host)]).is_ok();
        assert_eq!(
            [HostGuard::local(), named.clone(), HostGuard::addresses()].each_ref().map(accepts),
            expected,
            "{host}"
        );
    }
}

#[test]
fn each_guard_accepts_pages_of_its_origins() {
    let local = HostGuard::local().with_origin("https://app.example").with_host("tools.example");
    let addresses = HostGuard::addresses().with_origin("https://app.example");
    // The origin, and whether it may read the responses of the two guards.
    let cases = [
        ("https://app.example", [true, true]),
        ("HTTPS://App.Example", [true, true]),
        ("https://app.example:8443", [false, false]),
        ("http://localhost:3000", [true, false]),
        ("https://127.0.0.1", [true, false]),
        ("http://[::1]:80", [true, false]),
        ("ftp://localhost", [false, false]),
        ("localhost", [false, false]),
        ("null", [false, false]),
        ("https://tools.example", [false, false]),
    ];
    for (origin, expected) in cases {
        assert_eq!([&local, &addresses].map(|guard| guard.accepts_origin(origin)), expected, "{origin}");
        let is_accepted = check(&local, &[(HOST, "localhost"), (ORIGIN, origin)]).is_ok();
        assert_eq!(is_accepted, expected[0], "{origin}");
    }
    let twice = [(HOST, "localhost"), (ORIGIN, "http://localhost"), (ORIGIN, "http://localhost")];
    assert!(matches!(check(&local, &twice), Err(Rejection::Origin)));
}

#[test]
fn own_pages_have_the_host_of_their_request() {
    for guard in [HostGuard::addresses(), HostGuard::local().with_any_host().with_own_pages()] {
        for (host, origin, expected) in [
            ("192.0.2.1:80", "http://192.0.2.1:80", true),
            ("192.0.2.1:80", "https://192.0.2.1:80", true),
            ("192.0.2.1:80", "http://192.0.2.1", false),
            ("192.0.2.1:80", "http://192.0.2.2:80", false),
            ("192.0.2.1:80", "192.0.2.1:80", false),
        ] {
            assert_eq!(check(&guard, &[(HOST, host), (ORIGIN, origin)]).is_ok(), expected, "{host} {origin}");
        }
        // The target of a request comes before its header.
        let given = headers(&[(HOST, "192.0.2.1"), (ORIGIN, "http://192.0.2.2")]);
        assert!(guard.check(&Uri::from_static("http://192.0.2.2/"), &given).is_ok());
        assert!(guard.check(&Uri::from_static("http://192.0.2.1/"), &given).is_err());
    }
}

#[test]
fn tokens_are_equal_in_each_byte() {
    for (sent, expected, is_equal) in [
        ("ab", "ab", true),
        ("", "", false),
        ("ab", "", false),
        ("", "ab", false),
        ("ab", "abc", false),
        ("abc", "ab", false),
        ("ab", "cb", false),
        ("ab", "ac", false),
        ("dc", "cd", false),
    ] {
        assert_eq!(is_token(sent, expected), is_equal, "{sent:?} {expected:?}");
    }
}

#[test]
fn a_bearer_token_is_the_only_credential_of_its_request() {
    let cases: [(&[&'static str], Option<&str>); 6] = [
        (&["Bearer abc"], Some("abc")),
        (&["bearer  abc "], Some("abc")),
        (&["Basic abc"], None),
        (&["Bearer"], None),
        (&["Bearer a", "Bearer a"], None),
        (&[], None),
    ];
    for (values, expected) in cases {
        let given: Vec<_> = values.iter().map(|value| (AUTHORIZATION, *value)).collect();
        assert_eq!(bearer(&headers(&given)), expected, "{values:?}");
    }
}
