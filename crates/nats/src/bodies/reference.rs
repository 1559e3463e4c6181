//! References to bodies in an object store.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::subject::{is_bucket, is_token};

/// A reference to a body: the value of the header `Tk-Body`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyReference {
    pub(crate) bucket: String,
    pub(crate) object: String,
    /// The SHA-256 of the body.
    pub(crate) sha256: [u8; 32],
    /// The size in bytes.
    pub(crate) len: usize,
}

impl BodyReference {
    /// Creates the reference to a body that is going to be stored.
    pub(crate) fn new(bucket: &str, object: String, body: &[u8]) -> Self {
        Self { bucket: bucket.to_owned(), object, sha256: Sha256::digest(body).into(), len: body.len() }
    }

    /// Returns true if this is a reference to the body.
    pub(crate) fn fits(&self, body: &[u8]) -> bool {
        body.len() == self.len && Sha256::digest(body)[..] == self.sha256
    }
}

impl fmt::Display for BodyReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bucket, object, sha256, len } = self;
        write!(f, "{bucket}/{object};sha256={};len={len}", HEXLOWER.encode(sha256))
    }
}

impl FromStr for BodyReference {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (place, rest) = text.split_once(";sha256=")?;
            let (sha256, len) = rest.split_once(";len=")?;
            let (bucket, object) = place.split_once('/')?;
            let sha256 = HEXLOWER.decode(sha256.as_bytes()).ok()?.try_into().ok()?;
            let reference =
                Self { bucket: bucket.to_owned(), object: object.to_owned(), sha256, len: len.parse().ok()? };
            (is_bucket(bucket) && is_token(object)).then_some(reference)
        };
        read().ok_or("must be BUCKET/OBJECT;sha256=HEX;len=N")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_back_and_fits_its_body_only() {
        let reference = BodyReference::new("tk-bodies", "0af".to_owned(), b"body");
        assert_eq!(reference.to_string().parse(), Ok(reference.clone()));
        assert!(reference.fits(b"body") && !reference.fits(b"bodY") && !reference.fits(b"body2"));
    }

    #[test]
    fn other_texts_are_no_references() {
        let valid = BodyReference::new("tk-bodies", "0af".to_owned(), b"body").to_string();
        for (part, other) in
            [("tk-bodies", "a.b"), ("0af", ">"), ("len=4", "len=-4"), (";sha256=", ";sha256=00"), ("/", "")]
        {
            assert!(valid.replace(part, other).parse::<BodyReference>().is_err(), "{other}");
        }
    }
}
