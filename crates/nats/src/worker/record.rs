//! The value of a claimed call in its bucket.

use async_nats::HeaderMap;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::wire;

/// A claimed call in its bucket: one line of JSON, and the body of the answer.
pub(super) struct Record {
    pub(super) claim: Claimant,
    pub(super) answer: Option<Answer>,
}

/// The claim of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claimant {
    /// The id of the worker.
    pub(super) worker: String,
    /// A random number, by which the worker recognizes its claim.
    pub(super) nonce: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    claim: Claimant,
    /// `None` before there is an answer.
    headers: Option<Vec<(String, String)>>,
}

/// The headers of an answer that are stored.
const STORED: [&str; 4] = [wire::EVENT, wire::ERROR, wire::RAN, wire::BODY];

impl Record {
    pub(super) fn write(&self) -> Bytes {
        let headers = self.answer.as_ref().map(|answer| {
            let header = |name| Some((String::from(name), wire::header(Some(&answer.headers), name)?.to_owned()));
            STORED.into_iter().filter_map(header).collect()
        });
        let mut value = serde_json::to_vec(&Line { claim: self.claim.clone(), headers }).expect("texts are JSON");
        value.push(b'\n');
        value.extend_from_slice(self.answer.as_ref().map_or(&[], |answer| &answer.body));
        value.into()
    }

    /// Reads a value. Returns `None` if another program wrote it.
    pub(super) fn read(value: &Bytes) -> Option<Self> {
        let end = value.iter().position(|byte| *byte == b'\n')?;
        let Line { claim, headers } = serde_json::from_slice(&value[..end]).ok()?;
        let answer = headers.map(|stored| {
            let mut headers = HeaderMap::new();
            for (name, text) in stored {
                let name = STORED.into_iter().find(|known| *known == name);
                if let (Some(name), Ok(text)) = (name, text.parse::<async_nats::HeaderValue>()) {
                    headers.insert(name, text);
                }
            }
            Answer { headers, body: value.slice(end + 1..) }
        });
        Some(Self { claim, answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back() {
        let claim = Claimant { worker: "a".to_owned(), nonce: "b".to_owned() };
        let mut headers = HeaderMap::new();
        headers.insert(wire::EVENT, "error");
        headers.insert(wire::RAN, "yes");
        for answer in [None, Some(Answer::default()), Some(Answer { headers, body: "{\n}".into() })] {
            let read = Record::read(&Record { claim: claim.clone(), answer: answer.clone() }.write()).unwrap();
            assert_eq!((read.claim, read.answer), (claim.clone(), answer));
        }
        assert!(Record::read(&"{}\n".into()).is_none() && Record::read(&"".into()).is_none());
    }
}
