//! Clients: the certificate authorities that they trust, and the connections to a server.

#[cfg(feature = "connections")]
mod connections;
mod tls;

#[cfg(feature = "connections")]
#[doc(hidden)]
pub use self::connections::*;
pub use self::tls::PemError;
#[doc(hidden)]
pub use self::tls::{Authorities, ClientConfig, certificate_failure};
