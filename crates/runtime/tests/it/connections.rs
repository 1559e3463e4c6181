//! The connections of a client: the URLs of servers, and the errors of requests.

use std::error::Error;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{CertificateError, Error as TlsError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolkit_runtime::{Authorities, Connections, RequestError, ServerUrl, certificate_failure};

#[test]
fn the_url_of_a_server_has_a_host_and_perhaps_a_path() {
    for (url, at, authority, is_https) in [
        ("https://a.example", "https://a.example/x", "a.example", true),
        ("http://a.example:80/", "http://a.example:80/x", "a.example:80", false),
        ("HTTP://[::1]:80/v1/b//", "http://[::1]:80/v1/b/x", "[::1]:80", false),
    ] {
        let parsed = ServerUrl::parse(url).unwrap();
        assert_eq!((&*parsed.at("/x"), parsed.authority().as_str(), parsed.is_https()), (at, authority, is_https));
        assert_eq!(format!("{parsed}/x"), at);
    }
    for (url, error) in [
        ("", "the syntax is invalid"),
        ("https://", "the syntax is invalid"),
        ("a.example", "it must begin with `https://` or `http://`"),
        ("ftp://a.example", "it must begin with `https://` or `http://`"),
        ("/path", "it must begin with `https://` or `http://`"),
        ("https://user:secret@a.example", "it must not contain a password"),
        ("https://a.example?b", "it must not contain a query"),
    ] {
        assert_eq!(ServerUrl::parse(url).unwrap_err(), error, "{url}");
    }
    assert_eq!(ServerUrl::HAS_PASSWORD, "it must not contain a password");
}

/// Listens on a port, and sends this text to each connection after its request.
async fn respond(text: &'static str) -> ServerUrl {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = ServerUrl::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(text.as_bytes()).await;
        }
    });
    url
}

fn get(url: String) -> Request<Full<Bytes>> {
    Request::get(url).body(Full::new(Bytes::new())).unwrap()
}

#[tokio::test]
async fn a_request_receives_the_response_of_its_server_and_follows_no_redirect() {
    let url = respond("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n").await;
    for connections in [Connections::to(&url), Connections::to_any()] {
        assert_eq!(connections.request(get(url.at("/"))).await.unwrap().status(), 302);
    }
}

#[tokio::test]
async fn errors_of_requests_tell_whether_a_server_may_have_received_them() {
    let lost = respond("").await;
    let error = Connections::to(&lost).request(get(lost.at("/"))).await.unwrap_err();
    assert!(matches!(error, RequestError::Lost(_)) && error.source().is_some());
    assert_eq!(error.to_string(), "the server disconnected before it responded");
    let closed = ServerUrl::parse("http://127.0.0.1:1").unwrap();
    let error = Connections::to(&closed).request(get(closed.at("/"))).await.unwrap_err();
    assert!(matches!(error, RequestError::Unreachable(_)) && error.source().is_some());
    assert_eq!(error.to_string(), "the server cannot be reached");
    let error = RequestError::NoTls(TlsError::General("no provider".to_owned()));
    assert_eq!(error.to_string(), "TLS is not available: unexpected error: no provider");
    let error = Connections::to(&closed).trust("no certificate").unwrap_err();
    assert_eq!(error.to_string(), "the PEM text has no certificate; expected `-----BEGIN CERTIFICATE`");
}

#[test]
fn the_defect_of_a_certificate_is_found_below_other_errors() {
    let io = |error: TlsError| std::io::Error::other(std::io::Error::other(error));
    let expired_at = CertificateError::ExpiredContext {
        time: UnixTime::since_unix_epoch(std::time::Duration::from_secs(2)),
        not_after: UnixTime::since_unix_epoch(std::time::Duration::from_secs(1)),
    };
    let other_name = CertificateError::NotValidForNameContext {
        expected: ServerName::try_from("a.example").unwrap(),
        presented: vec!["b.example".to_owned()],
    };
    for (failure, expected) in [
        (CertificateError::UnknownIssuer, "is not signed by a trusted authority"),
        (CertificateError::BadSignature, "is not signed by a trusted authority"),
        (CertificateError::Expired, "has expired"),
        (expired_at, "has expired"),
        (CertificateError::NotValidYet, "is not valid yet"),
        (CertificateError::NotValidForName, "is for another host name"),
        (other_name, "is for another host name"),
        (CertificateError::Revoked, "was revoked"),
        (CertificateError::BadEncoding, "is not valid"),
    ] {
        let error = TlsError::InvalidCertificate(failure);
        let found = [certificate_failure(&error), certificate_failure(&io(error.clone()))];
        for found in found {
            assert!(found.unwrap().starts_with(&format!("its certificate {expected}")), "{error}: {found:?}");
        }
    }
    assert_eq!(certificate_failure(&io(TlsError::DecryptError)), None);
    assert_eq!(certificate_failure(&std::io::Error::other("other")), None);
}

#[test]
fn malformed_certificates_are_rejected_when_they_are_added() {
    for (pem, error) in [
        ("", "the PEM text has no certificate"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "malformed certificate: "),
        ("-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n", "the PEM text is malformed: "),
    ] {
        let found = Authorities::platform().add_pem(pem).unwrap_err();
        let cause = found.source().map(ToString::to_string);
        assert!(found.to_string().starts_with(error), "{found}");
        assert_eq!(cause.is_some(), !pem.is_empty(), "{found:?}");
        assert!(cause.is_none_or(|cause| found.to_string() == format!("{error}{cause}")), "{found:?}");
    }
}
