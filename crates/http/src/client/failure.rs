//! The reasons why a certificate was rejected.

use std::error::Error;
use std::io;

use rustls::CertificateError;

/// Returns the defect of the server's certificate if it caused this connection error.
#[must_use]
pub fn certificate_failure(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    let failure = loop {
        let error = next?;
        // `io::Error::source` skips the inner error and returns the source of that.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match inner.and_then(|inner| inner.downcast_ref()).or_else(|| error.downcast_ref()) {
            Some(rustls::Error::InvalidCertificate(failure)) => break failure,
            _ => next = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source()),
        }
    };
    Some(match failure {
        // An authority of the same name with another key fails with `BadSignature`.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is not signed by a trusted authority; add your own authority with `trust`, or in the file that \
             `SSL_CERT_FILE` names"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host name"
        }
        CertificateError::Revoked => "its certificate was revoked",
        _ => "its certificate is not valid",
    })
}
