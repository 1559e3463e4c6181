//! Tools in a saved index, which are read at their first use.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use toolkit::tool::Tool;

use crate::bytes::{Bytes, Damage, put_number, put_text};
use crate::summary::Summary;

/// The summaries and the JSON of the tools of a saved index.
pub(crate) struct SavedTools {
    pub(crate) summaries: Vec<u8>,
    pub(crate) tools: Vec<u8>,
}

/// The position of a tool in a saved index.
pub(crate) struct FileTool {
    pub(crate) file: Arc<SavedTools>,
    /// The start of the summary, which was read before.
    pub(crate) summary: usize,
    pub(crate) json: Range<usize>,
    /// The tool, once it was read.
    pub(crate) tool: OnceLock<Box<Tool>>,
}

impl FileTool {
    fn bytes(&self) -> Bytes<'_> {
        Bytes::new(self.file.summaries.get(self.summary..).unwrap_or_default())
    }

    pub(super) fn id(&self) -> &str {
        self.bytes().text().unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> &str {
        let mut bytes = self.bytes();
        // After the id, the name and the short description.
        let found = (0..3).try_for_each(|_| bytes.text().map(drop)).and_then(|()| take_option(&mut bytes));
        found.ok().flatten().unwrap_or_default()
    }

    pub(super) fn summary(&self) -> Summary {
        take_summary(&mut self.bytes()).expect("it was read before")
    }

    pub(super) fn json(&self) -> &[u8] {
        self.file.tools.get(self.json.clone()).unwrap_or_default()
    }

    pub(super) fn tool(&self) -> &Tool {
        self.tool.get_or_init(|| {
            let read = Tool::from_json(self.json()).ok().filter(|tool| self.is_of(tool));
            Box::new(read.unwrap_or_else(|| {
                let nothing = json!({ "name": "", "inputSchema": {} });
                Tool::from_json(nothing).expect("it has a name and a schema")
            }))
        })
    }

    /// Returns true if `tool` has the id of this one.
    pub(super) fn is_of(&self, tool: &Tool) -> bool {
        tool.id().to_string() == self.id()
    }
}

impl fmt::Debug for FileTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool().fmt(f)
    }
}

pub(crate) fn put_summary(out: &mut Vec<u8>, summary: &Summary) {
    let Summary { id, name, namespace, short_description, category, input_modes, output_modes, security_summary, tags } =
        summary;
    [id, name, short_description].into_iter().for_each(|text| put_text(out, text));
    [namespace, category, security_summary].into_iter().for_each(|text| put_list(out, text.as_slice()));
    [input_modes, output_modes, tags].into_iter().for_each(|texts| put_list(out, texts));
}

pub(crate) fn take_summary(bytes: &mut Bytes<'_>) -> Result<Summary, Damage> {
    let mut text = || bytes.text().map(str::to_owned);
    let (id, name, short_description) = (text()?, text()?, text()?);
    let mut option = || take_option(bytes).map(|text| text.map(str::to_owned));
    let (namespace, category, security_summary) = (option()?, option()?, option()?);
    let (input_modes, output_modes, tags) = (take_list(bytes)?, take_list(bytes)?, take_list(bytes)?);
    Ok(Summary { id, name, namespace, short_description, category, input_modes, output_modes, security_summary, tags })
}

fn put_list(out: &mut Vec<u8>, texts: &[String]) {
    put_number(out, texts.len() as u64);
    texts.iter().for_each(|text| put_text(out, text));
}

fn take_list(bytes: &mut Bytes<'_>) -> Result<Vec<String>, Damage> {
    (0..bytes.count()?).map(|_| bytes.text().map(str::to_owned)).collect()
}

/// Reads a list of at most one text.
fn take_option<'b>(bytes: &mut Bytes<'b>) -> Result<Option<&'b str>, Damage> {
    match bytes.count()? {
        0 => Ok(None),
        1 => bytes.text().map(Some),
        _ => Err(Damage::Content),
    }
}
