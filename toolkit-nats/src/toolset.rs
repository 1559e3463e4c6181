//! The tools of one worker, and their digest.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use toolkit::Tool;

/// The definitions of the tools of one worker, each as one line of JSON, and their digest. Workers with the same digest are
/// interchangeable.
#[derive(Debug)]
pub(crate) struct Toolset {
    pub(crate) digest: String,
    lines: Vec<String>,
}

/// The length of a digest in bytes.
const DIGEST_LEN: usize = 16;

impl Toolset {
    pub(crate) fn new<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        let mut lines: Vec<String> = tools.into_iter().map(|tool| tool.to_json().to_string()).collect();
        lines.sort_unstable();
        Self { digest: digest(&lines), lines }
    }

    /// Reads received pages.
    ///
    /// # Errors
    ///
    /// Returns an error if the definitions do not have this digest.
    pub(crate) fn read(pages: &[Bytes], expected: &str) -> Result<Self, &'static str> {
        let mut lines = Vec::new();
        for page in pages {
            let text = std::str::from_utf8(page).map_err(|_| "the definitions are not UTF-8")?;
            lines.extend(text.lines().map(str::to_owned));
        }
        let digest = digest(&lines);
        match digest == expected {
            true => Ok(Self { digest, lines }),
            false => Err("the definitions do not have the digest that their worker announces"),
        }
    }

    /// Returns the definitions.
    pub(crate) fn definitions(&self) -> impl ExactSizeIterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// Splits the definitions into pages of at most `max_bytes`. Returns the size of a definition that does not fit as an
    /// error.
    pub(crate) fn pages(&self, max_bytes: usize) -> Result<Vec<Bytes>, usize> {
        let (mut pages, mut page) = (Vec::new(), String::new());
        for line in &self.lines {
            if line.len() + 1 > max_bytes {
                return Err(line.len());
            }
            if page.len() + line.len() + 1 > max_bytes {
                pages.push(std::mem::take(&mut page).into());
            }
            page.push_str(line);
            page.push('\n');
        }
        if !page.is_empty() || pages.is_empty() {
            pages.push(page.into());
        }
        Ok(pages)
    }
}

/// Returns true if a text has the form of a digest.
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 2 * DIGEST_LEN && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the digest of one definition.
pub(crate) fn contract(definition: &str) -> String {
    digest([definition])
}

fn digest(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_ref());
        hash.update(b"\n");
    }
    HEXLOWER.encode(&hash.finalize()[..DIGEST_LEN])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_back_unless_they_were_altered() {
        let tools: Vec<Tool> = (0..20).map(|n| Tool::builder(format!("tool_{n}")).build().unwrap()).collect();
        let toolset = Toolset::new(&tools);
        let len = toolset.lines.iter().map(String::len).max().unwrap();
        let pages = toolset.pages(3 * (len + 1)).unwrap();
        assert!(pages.len() >= 7 && pages.iter().all(|page| page.len() <= 3 * (len + 1)));
        let read = Toolset::read(&pages, &toolset.digest).unwrap();
        assert_eq!(read.lines, toolset.lines);
        assert!(Toolset::read(&pages[1..], &toolset.digest).is_err());
        assert_eq!(toolset.pages(len), Err(len));
        assert_eq!(Toolset::new([]).pages(10).unwrap(), [Bytes::new()]);
    }
}
