//! TLS for clients: the trusted certificate authorities, and the reasons why a certificate was rejected.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, RootCertStore};
use rustls_platform_verifier::Verifier;

/// The TLS configuration of a client.
pub use rustls::ClientConfig;

/// The certificate authorities that a client trusts: those of the platform, and those that are added.
///
/// The platform's certificate store decides. On Linux, the environment variable `SSL_CERT_FILE` selects another file.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::Authorities;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut authorities = Authorities::platform();
/// assert!(authorities.add_pem("not a certificate").is_err());
/// let config = authorities.tls()?;
/// # drop(config);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    added: Vec<CertificateDer<'static>>,
}

impl Authorities {
    /// Creates a set with the authorities of the platform.
    pub fn platform() -> Self {
        Self::default()
    }

    /// Adds the certificates of a PEM file, given as text.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn add_pem(&mut self, pem: &str) -> Result<(), PemError> {
        let n_before = self.added.len();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|error| PemError::new("the PEM text is malformed", error))?;
            // Rejects a malformed certificate here and not at the first call.
            let added = RootCertStore::empty().add(certificate.clone());
            added.map_err(|error| PemError::new("malformed certificate", error))?;
            self.added.push(certificate);
        }
        match self.added.len() > n_before {
            true => Ok(()),
            false => {
                let message = "the PEM text has no certificate; expected `-----BEGIN CERTIFICATE`".to_owned();
                Err(PemError { message, source: None })
            }
        }
    }

    /// Returns the configuration of a client that trusts these authorities.
    ///
    /// # Errors
    ///
    /// Returns an error if the platform's certificate store cannot be read.
    pub fn tls(&self) -> Result<ClientConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let verifier = Verifier::new_with_extra_roots(self.added.iter().cloned(), provider)?;
        Ok(tls.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
    }

    /// Returns the configuration of a client without trusted authorities, for connections without encryption. It does
    /// not read the platform's certificate store.
    ///
    /// # Errors
    ///
    /// Returns an error if the cryptography provider does not support the default versions of TLS. The provider of this
    /// crate does.
    pub fn no_tls() -> Result<ClientConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
    }
}

/// The error for a text without valid PEM certificates.
#[derive(Debug)]
pub struct PemError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl PemError {
    fn new(what: &str, source: impl Error + Send + Sync + 'static) -> Self {
        Self { message: format!("{what}: {source}"), source: Some(source.into()) }
    }
}

impl fmt::Display for PemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for PemError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Returns the defect of the server's certificate if it caused this connection error.
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
