//! Keys that sign tokens, including malformed ones.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair, RsaPublicKeyComponents};
use serde_json::{Value, json};

/// A private key and its id.
pub struct Signer {
    id: String,
    key: Key,
}

enum Key {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// A key for these tests only, since `ring` does not generate RSA keys.
const RSA_KEY: &str = include_str!("rsa_key.base64");

impl Signer {
    pub fn rsa(id: &str) -> Self {
        let text: String = RSA_KEY.split_whitespace().collect();
        let key = RsaKeyPair::from_der(&BASE64.decode(text.as_bytes()).unwrap()).unwrap();
        Self { id: id.to_owned(), key: Key::Rsa(Box::new(key)) }
    }

    pub fn p256(id: &str) -> Self {
        Self { id: id.to_owned(), key: Key::P256(ecdsa(&signature::ECDSA_P256_SHA256_FIXED_SIGNING)) }
    }

    pub fn p384(id: &str) -> Self {
        Self { id: id.to_owned(), key: Key::P384(ecdsa(&signature::ECDSA_P384_SHA384_FIXED_SIGNING)) }
    }

    pub fn ed25519(id: &str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let key = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        Self { id: id.to_owned(), key: Key::Ed25519(key) }
    }

    /// Returns the default algorithm of the key.
    pub fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Rsa(_) => "RS256",
            Key::P256(_) => "ES256",
            Key::P384(_) => "ES384",
            Key::Ed25519(_) => "EdDSA",
        }
    }

    /// Returns the public key.
    pub fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        let mut jwk = match &self.key {
            Key::Rsa(key) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "n": text(&public.n), "e": text(&public.e) })
            }
            Key::P256(key) => point("P-256", key),
            Key::P384(key) => point("P-384", key),
            Key::Ed25519(key) => json!({ "kty": "OKP", "crv": "Ed25519", "x": text(key.public_key().as_ref()) }),
        };
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    /// Returns the bytes of the public key, which an attacker knows.
    pub fn public_bytes(&self) -> Vec<u8> {
        match &self.key {
            Key::Rsa(key) => key.public().as_ref().to_vec(),
            Key::P256(key) | Key::P384(key) => key.public_key().as_ref().to_vec(),
            Key::Ed25519(key) => key.public_key().as_ref().to_vec(),
        }
    }

    /// Returns the header of a valid token.
    pub fn header(&self) -> Value {
        json!({ "alg": self.algorithm(), "typ": "at+jwt", "kid": self.id })
    }

    /// Creates a token with a valid header.
    pub fn token(&self, claims: &Value) -> String {
        self.sign(&self.header(), claims)
    }

    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        self.sign_text(&header.to_string(), &claims.to_string())
    }

    /// Signs any texts. The algorithm is that of the header if the key has it, or the default of the key.
    pub fn sign_text(&self, header: &str, claims: &str) -> String {
        let named = serde_json::from_str::<Value>(header).unwrap_or_default();
        let signed = unsigned(header, claims);
        let signature = self.signature(named["alg"].as_str().unwrap_or_default(), signed.as_bytes());
        format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
    }

    fn signature(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Rsa(key) => {
                let padding: &'static dyn signature::RsaEncoding = match algorithm {
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    "PS512" => &signature::RSA_PSS_SHA512,
                    _ => &signature::RSA_PKCS1_SHA256,
                };
                let mut bytes = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, message, &mut bytes).unwrap();
                bytes
            }
            Key::P256(key) | Key::P384(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Key::Ed25519(key) => key.sign(message).as_ref().to_vec(),
        }
    }
}

/// Returns the first two parts of a token.
pub fn unsigned(header: &str, claims: &str) -> String {
    format!("{}.{}", BASE64URL_NOPAD.encode(header.as_bytes()), BASE64URL_NOPAD.encode(claims.as_bytes()))
}

/// Signs a token with HMAC and SHA-256.
pub fn hs256(secret: &[u8], header: &Value, claims: &Value) -> String {
    let signed = unsigned(&header.to_string(), &claims.to_string());
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
    let tag = ring::hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", BASE64URL_NOPAD.encode(tag.as_ref()))
}

fn ecdsa(algorithm: &'static signature::EcdsaSigningAlgorithm) -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap()
}

fn point(curve: &str, key: &EcdsaKeyPair) -> Value {
    let (x, y) = key.public_key().as_ref()[1..].split_at(key.public_key().as_ref().len() / 2);
    json!({ "kty": "EC", "crv": curve, "x": BASE64URL_NOPAD.encode(x), "y": BASE64URL_NOPAD.encode(y) })
}
