//! Why a server was not trusted.

use std::error::Error;
use std::io;

use rustls::CertificateError;

/// Returns what is wrong with the certificate of a server, if a connection failed because of that.
#[must_use]
pub fn certificate_failure(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    let failure = loop {
        let error = next?;
        // The error inside of an `io::Error` is not its source.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match inner.and_then(|inner| inner.downcast_ref()).or_else(|| error.downcast_ref()) {
            Some(rustls::Error::InvalidCertificate(failure)) => break failure,
            _ => next = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source()),
        }
    };
    Some(match failure {
        // Another authority of the same name has another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "nobody who is trusted has signed its certificate; an authority of one's own is given with `trust`, or in the \
             file that `SSL_CERT_FILE` names"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is that of another name"
        }
        CertificateError::Revoked => "its certificate was revoked",
        _ => "its certificate is not valid",
    })
}
