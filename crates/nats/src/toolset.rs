//! The tools of one worker, and their digest.

use std::collections::BTreeMap;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use toolkit::Tool;

use crate::subject::namespace_token;

/// The definitions of the tools of one worker, and their digest. Workers with the same digest are interchangeable.
///
/// The definitions of each namespace have a digest of their own. The index lists these digests, and the digest of the toolset
/// is that of its index. A caller can therefore read some namespaces only, and check what it reads.
#[derive(Debug)]
pub(crate) struct Toolset {
    pub(crate) digest: String,
    /// The definitions of each namespace, each as one line of JSON.
    namespaces: BTreeMap<String, Vec<String>>,
}

/// A line of an index: `NAMESPACE NUMBER DIGEST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolEntry {
    /// The token of the namespace in subjects.
    pub(crate) namespace: String,
    pub(crate) n_tools: usize,
    digest: String,
}

/// The index and the definitions of a toolset, in pages.
#[derive(Debug)]
pub(crate) struct Pages {
    index: Vec<Bytes>,
    namespaces: BTreeMap<String, Vec<Bytes>>,
}

/// The length of a digest in bytes.
const DIGEST_LEN: usize = 16;

impl Toolset {
    pub(crate) fn new<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        let mut namespaces: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for tool in tools {
            namespaces.entry(namespace_token(tool.id().namespace())).or_default().push(tool.to_json().to_string());
        }
        namespaces.values_mut().for_each(|lines| lines.sort_unstable());
        Self { digest: digest(index(&namespaces)), namespaces }
    }

    /// Splits the index and the definitions into pages of at most `max_bytes`. Returns the size of a line that does not fit
    /// as an error.
    pub(crate) fn pages(&self, max_bytes: usize) -> Result<Pages, usize> {
        let index: Vec<String> = index(&self.namespaces).collect();
        let mut namespaces = BTreeMap::new();
        for (namespace, lines) in &self.namespaces {
            namespaces.insert(namespace.clone(), paged(lines, max_bytes)?);
        }
        Ok(Pages { index: paged(&index, max_bytes)?, namespaces })
    }
}

impl Pages {
    /// Returns the pages of a namespace, or of the index without one.
    pub(crate) fn of(&self, namespace: Option<&str>) -> &[Bytes] {
        match namespace {
            None => &self.index,
            Some(namespace) => self.namespaces.get(namespace).map_or(&[], |pages| pages),
        }
    }
}

/// Reads the pages of an index.
///
/// # Errors
///
/// Returns an error if the index does not have this digest.
pub(crate) fn read_index(pages: &[Bytes], expected: &str) -> Result<Vec<ToolEntry>, &'static str> {
    let lines = lines(pages)?;
    if digest(&lines) != expected {
        return Err("the index does not have the digest that its worker announces");
    }
    let entry = |line: &String| {
        let mut words = line.split(' ');
        let (namespace, n_tools, digest) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        Some(ToolEntry { namespace: namespace.to_owned(), n_tools, digest: digest.to_owned() })
    };
    lines.iter().map(entry).collect::<Option<_>>().ok_or("a line of the index must be `NAMESPACE NUMBER DIGEST`")
}

impl ToolEntry {
    /// Reads the pages of the definitions.
    ///
    /// # Errors
    ///
    /// Returns an error if the definitions do not have the digest of the index.
    pub(crate) fn read(&self, pages: &[Bytes]) -> Result<Vec<String>, &'static str> {
        let lines = lines(pages)?;
        match digest(&lines) == self.digest && lines.len() == self.n_tools {
            true => Ok(lines),
            false => Err("the definitions do not have the digest that their worker announces"),
        }
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

fn index(namespaces: &BTreeMap<String, Vec<String>>) -> impl Iterator<Item = String> {
    namespaces.iter().map(|(namespace, lines)| format!("{namespace} {} {}", lines.len(), digest(lines)))
}

fn lines(pages: &[Bytes]) -> Result<Vec<String>, &'static str> {
    let mut lines = Vec::new();
    for page in pages {
        let text = std::str::from_utf8(page).map_err(|_| "the definitions are not UTF-8")?;
        lines.extend(text.lines().map(str::to_owned));
    }
    Ok(lines)
}

fn paged(lines: &[String], max_bytes: usize) -> Result<Vec<Bytes>, usize> {
    let (mut pages, mut page) = (Vec::new(), String::new());
    for line in lines {
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
        let tool = |n: u32| match n {
            0..5 => Tool::builder(format!("tool_{n}")),
            _ => Tool::builder(format!("tool_{n}")).namespace("many"),
        };
        let tools: Vec<Tool> = (0..25).map(|n| tool(n).build().unwrap()).collect();
        let toolset = Toolset::new(&tools);
        let len = toolset.namespaces["many"].iter().map(String::len).max().unwrap();
        let pages = toolset.pages(3 * (len + 1)).unwrap();
        let index = read_index(pages.of(None), &toolset.digest).unwrap();
        let listed: Vec<_> = index.iter().map(|entry| (&*entry.namespace, entry.n_tools)).collect();
        assert_eq!(listed, [("_", 5), ("many", 20)]);
        let many = pages.of(Some("many"));
        assert!(many.len() >= 7 && many.iter().all(|page| page.len() <= 3 * (len + 1)));
        assert_eq!(index[1].read(many).unwrap(), toolset.namespaces["many"]);
        assert!(index[1].read(&many[1..]).is_err() && index[0].read(many).is_err());
        assert!(read_index(&["many 20 0\n".into()], &toolset.digest).is_err());
        assert_eq!(toolset.pages(len).unwrap_err(), len);
        assert_eq!(Toolset::new([]).pages(10).unwrap().of(None), [Bytes::new()]);
    }
}
