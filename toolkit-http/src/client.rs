//! TLS for clients: which authorities they trust, and why a server was not trusted.

mod authorities;
mod failure;

pub use self::authorities::{Authorities, InvalidCertificate};
pub use self::failure::certificate_failure;
/// The configuration of a client's TLS.
pub use rustls::ClientConfig;
