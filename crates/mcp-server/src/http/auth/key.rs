//! One public key (RFC 7517, RFC 7518, RFC 8037).

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::{Map, Value};
use toolkit::schema::json;

use super::algorithm::{Algorithm, KeyKind, Verifier};

/// The maximum number of keys of a set. It bounds the work for a token without a key id.
const MAX_KEYS: usize = 64;

/// A public key that verifies signatures.
#[derive(Clone)]
pub(super) struct PublicKey {
    id: Option<Arc<str>>,
    /// The only algorithm of the key, if it declares one.
    algorithm: Option<Algorithm>,
    public: Public,
}

#[derive(Clone)]
enum Public {
    Rsa(Arc<RsaPublicKeyComponents<Vec<u8>>>),
    /// A point on a curve, in the encoding of `ring`.
    Point(KeyKind, Arc<[u8]>),
}

/// Reads a key set.
///
/// # Errors
///
/// Returns a message if the text is not a key set, or no key can be used.
pub(super) fn read_keys(text: &[u8]) -> Result<Arc<[PublicKey]>, String> {
    let set = json::parse(text)?;
    let listed =
        set.get("keys").and_then(Value::as_array).ok_or("a key set must be an object with a list of `keys`")?;
    if listed.len() > MAX_KEYS {
        return Err(format!("the set has {} keys, more than the limit of {MAX_KEYS}", listed.len()));
    }
    let (mut keys, mut ignored) = (Vec::new(), "the list is empty");
    for key in listed {
        match key.as_object().ok_or("it is not an object").and_then(PublicKey::read) {
            Ok(key) => keys.push(key),
            Err(reason) => ignored = reason,
        }
    }
    match keys.is_empty() {
        true => Err(format!("no key can be used: {ignored}")),
        false => Ok(keys.into()),
    }
}

impl PublicKey {
    /// Reads a key.
    ///
    /// # Errors
    ///
    /// Returns the reason why the key cannot be used.
    fn read(key: &Map<String, Value>) -> Result<Self, &'static str> {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        let bytes = |name: &str| {
            let text = text(name).ok_or("a parameter is missing")?;
            BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| "a parameter is not encoded as Base64url")
        };
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return Err("it is not for signatures (`use`)");
        }
        let operations = key.get("key_ops").and_then(Value::as_array);
        if operations.is_some_and(|operations| !operations.iter().any(|operation| operation == "verify")) {
            return Err("it does not verify signatures (`key_ops`)");
        }
        if key.contains_key("d") {
            return Err("it is private (`d`); publish the public part only");
        }
        let point = |kind: KeyKind, names: &[&str], prefix: &[u8], n_bytes: usize| {
            let mut point = prefix.to_vec();
            for name in names {
                let coordinate = bytes(name)?;
                if coordinate.len() != n_bytes {
                    return Err("a coordinate has the wrong length");
                }
                point.extend(coordinate);
            }
            Ok(Public::Point(kind, point.into()))
        };
        /// The prefix of an uncompressed point (SEC 1, 2.3.3).
        const UNCOMPRESSED: &[u8] = &[4];
        let public = match (text("kty"), text("crv")) {
            (Some("RSA"), _) => Public::Rsa(Arc::new(RsaPublicKeyComponents { n: bytes("n")?, e: bytes("e")? })),
            (Some("EC"), Some("P-256")) => point(KeyKind::P256, &["x", "y"], UNCOMPRESSED, 32)?,
            (Some("EC"), Some("P-384")) => point(KeyKind::P384, &["x", "y"], UNCOMPRESSED, 48)?,
            (Some("OKP"), Some("Ed25519")) => point(KeyKind::Ed25519, &["x"], &[], 32)?,
            _ => return Err("the key type (`kty`) is not supported"),
        };
        let algorithm = match key.get("alg") {
            Some(name) => Some(name.as_str().and_then(Algorithm::of_header).ok_or("its algorithm is not supported")?),
            None => None,
        };
        let key = Self { id: text("kid").map(Into::into), algorithm, public };
        match key.algorithm.is_none_or(|algorithm| algorithm.key_kind() == key.kind()) {
            true => Ok(key),
            false => Err("its algorithm (`alg`) is for another type of key"),
        }
    }

    fn kind(&self) -> KeyKind {
        match &self.public {
            Public::Rsa(_) => KeyKind::Rsa,
            Public::Point(kind, _) => *kind,
        }
    }

    /// Returns true if a token with this key id and algorithm may be signed with the key.
    pub(super) fn may_sign(&self, id: Option<&str>, algorithm: Algorithm) -> bool {
        id.is_none_or(|id| self.id.as_deref() == Some(id))
            && self.algorithm.is_none_or(|own| own == algorithm)
            && self.kind() == algorithm.key_kind()
    }

    /// Verifies a signature. The type of the key must be that of the algorithm.
    pub(super) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        match (&self.public, algorithm.verifier()) {
            (Public::Rsa(key), Verifier::Rsa(parameters)) => key.verify(parameters, message, signature).is_ok(),
            (Public::Point(kind, point), Verifier::Point(wanted, curve)) => {
                *kind == wanted && UnparsedPublicKey::new(curve, point).verify(message, signature).is_ok()
            }
            _ => false,
        }
    }
}
