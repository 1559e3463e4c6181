//! TLS for clients: the trusted certificate authorities, and the reasons why a certificate was rejected.

mod authorities;
mod failure;

pub use self::authorities::{Authorities, PemError};
pub use self::failure::certificate_failure;
/// The TLS configuration of a client.
pub use rustls::ClientConfig;
