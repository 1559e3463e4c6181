//! The authorities that a client trusts.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// The authorities that a client trusts: those of the platform, and those that are added.
///
/// The platform's store decides, on Linux the file that `SSL_CERT_FILE` names, where it is set.
///
/// ```
/// use toolkit_http::Authorities;
///
/// let tls = Authorities::platform().tls()?;
/// assert!(Authorities::platform().add_pem("no certificate").is_err());
/// # drop(tls);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    added: Vec<CertificateDer<'static>>,
}

impl Authorities {
    /// Returns those of the platform.
    #[must_use]
    pub fn platform() -> Self {
        Self::default()
    }

    /// Adds the certificates of a text in PEM.
    ///
    /// # Errors
    ///
    /// The text has no certificate, or something else where one should be.
    pub fn add_pem(&mut self, pem: &str) -> Result<(), InvalidCertificate> {
        let n_before = self.added.len();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate =
                certificate.map_err(|error| InvalidCertificate(format!("a certificate is no PEM: {error}")))?;
            // Whether it is one is found out here, and not by the first call.
            let added = RootCertStore::empty().add(certificate.clone());
            added.map_err(|error| InvalidCertificate(format!("a certificate is none: {error}")))?;
            self.added.push(certificate);
        }
        match self.added.len() > n_before {
            true => Ok(()),
            false => Err(InvalidCertificate(
                "there is no certificate to trust; one begins with `-----BEGIN CERTIFICATE`".to_owned(),
            )),
        }
    }

    /// Returns the configuration of a client that trusts these authorities.
    ///
    /// # Errors
    ///
    /// The platform's store cannot be read.
    pub fn tls(&self) -> Result<ClientConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
        let verifier = Verifier::new_with_extra_roots(self.added.iter().cloned(), provider)?;
        Ok(tls.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
    }

    /// Returns the configuration of a client that trusts nobody, for connections without encryption: the platform's store
    /// need not be there.
    ///
    /// # Errors
    ///
    /// None that this build can have: its cryptography supports the default versions of TLS.
    pub fn no_tls() -> Result<ClientConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
    }
}

/// A text without a certificate in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCertificate(String);

impl fmt::Display for InvalidCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidCertificate {}
