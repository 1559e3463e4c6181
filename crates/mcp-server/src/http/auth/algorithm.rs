//! Signature algorithms (RFC 7518, RFC 8037).

use ring::signature::{self, RsaParameters, VerificationAlgorithm};

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
    RS256,
    /// RSASSA-PKCS1-v1_5 with SHA-384 and a key of 2048 bits or more.
    RS384,
    /// RSASSA-PKCS1-v1_5 with SHA-512 and a key of 2048 bits or more.
    RS512,
    /// RSASSA-PSS with SHA-256 and a key of 2048 bits or more.
    PS256,
    /// RSASSA-PSS with SHA-384 and a key of 2048 bits or more.
    PS384,
    /// RSASSA-PSS with SHA-512 and a key of 2048 bits or more.
    PS512,
    /// ECDSA over P-256 with SHA-256.
    ES256,
    /// ECDSA over P-384 with SHA-384.
    ES384,
    /// EdDSA over Ed25519, which RFC 9864 also calls `Ed25519`.
    EdDSA,
}

/// The kind of public key that an algorithm needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Algorithm {
    /// The algorithms that a [`Jwt`](crate::Jwt) accepts by default.
    pub const DEFAULT: [Self; 3] = [Self::RS256, Self::ES256, Self::EdDSA];

    /// Returns the algorithm with this name in a header (`alg`).
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::RS256,
            "RS384" => Self::RS384,
            "RS512" => Self::RS512,
            "PS256" => Self::PS256,
            "PS384" => Self::PS384,
            "PS512" => Self::PS512,
            "ES256" => Self::ES256,
            "ES384" => Self::ES384,
            "EdDSA" | "Ed25519" => Self::EdDSA,
            _ => return None,
        })
    }

    pub(super) fn key_kind(self) -> KeyKind {
        match self {
            Self::RS256 | Self::RS384 | Self::RS512 | Self::PS256 | Self::PS384 | Self::PS512 => KeyKind::Rsa,
            Self::ES256 => KeyKind::P256,
            Self::ES384 => KeyKind::P384,
            Self::EdDSA => KeyKind::Ed25519,
        }
    }

    /// Returns the parameters of an RSA algorithm.
    pub(super) fn rsa(self) -> Option<&'static RsaParameters> {
        Some(match self {
            Self::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Self::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Self::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
            Self::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
            Self::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
            Self::ES256 | Self::ES384 | Self::EdDSA => return None,
        })
    }

    /// Returns the algorithm of a key on a curve.
    pub(super) fn curve(self) -> Option<&'static dyn VerificationAlgorithm> {
        match self {
            Self::ES256 => Some(&signature::ECDSA_P256_SHA256_FIXED),
            Self::ES384 => Some(&signature::ECDSA_P384_SHA384_FIXED),
            Self::EdDSA => Some(&signature::ED25519),
            _ => None,
        }
    }
}
