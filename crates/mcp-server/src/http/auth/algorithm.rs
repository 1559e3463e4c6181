//! Signature algorithms (RFC 7518, RFC 8037).

use ring::signature::{self, RsaParameters, VerificationAlgorithm};

toolkit::named! {
    /// A signature algorithm with a public key.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_server::Algorithm;
    ///
    /// assert_eq!(Algorithm::DEFAULT, [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA]);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Algorithm {
        /// RSASSA-PKCS1-v1_5 with SHA-256 and a key of 2048 bits or more.
        RS256 = "RS256",
        /// RSASSA-PKCS1-v1_5 with SHA-384 and a key of 2048 bits or more.
        RS384 = "RS384",
        /// RSASSA-PKCS1-v1_5 with SHA-512 and a key of 2048 bits or more.
        RS512 = "RS512",
        /// RSASSA-PSS with SHA-256 and a key of 2048 bits or more.
        PS256 = "PS256",
        /// RSASSA-PSS with SHA-384 and a key of 2048 bits or more.
        PS384 = "PS384",
        /// RSASSA-PSS with SHA-512 and a key of 2048 bits or more.
        PS512 = "PS512",
        /// ECDSA over P-256 with SHA-256.
        ES256 = "ES256",
        /// ECDSA over P-384 with SHA-384.
        ES384 = "ES384",
        /// EdDSA over Ed25519, which RFC 9864 also calls `Ed25519`.
        EdDSA = "EdDSA",
    }
}

/// The kind of public key that an algorithm needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

/// What verifies the signatures of an algorithm.
pub(super) enum Verifier {
    Rsa(&'static RsaParameters),
    /// With the kind of the key.
    Point(KeyKind, &'static dyn VerificationAlgorithm),
}

impl Algorithm {
    /// The algorithms that a [`Jwt`](crate::Jwt) accepts by default.
    pub const DEFAULT: [Self; 3] = [Self::RS256, Self::ES256, Self::EdDSA];

    /// Returns the algorithm with this name in a header (`alg`).
    pub(super) fn of_header(name: &str) -> Option<Self> {
        Self::from_name(if name == "Ed25519" { "EdDSA" } else { name })
    }

    pub(super) fn key_kind(self) -> KeyKind {
        match self.verifier() {
            Verifier::Rsa(_) => KeyKind::Rsa,
            Verifier::Point(kind, _) => kind,
        }
    }

    pub(super) fn verifier(self) -> Verifier {
        match self {
            Self::RS256 => Verifier::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            Self::RS384 => Verifier::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            Self::RS512 => Verifier::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            Self::PS256 => Verifier::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            Self::PS384 => Verifier::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            Self::PS512 => Verifier::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            Self::ES256 => Verifier::Point(KeyKind::P256, &signature::ECDSA_P256_SHA256_FIXED),
            Self::ES384 => Verifier::Point(KeyKind::P384, &signature::ECDSA_P384_SHA384_FIXED),
            Self::EdDSA => Verifier::Point(KeyKind::Ed25519, &signature::ED25519),
        }
    }
}
