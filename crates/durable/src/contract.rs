//! The contracts of tools, to which a run is bound: what they accept and return, without the texts that models read.

use std::collections::{BTreeMap, HashMap};

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolkit::schema::Schema;
use toolkit::{Catalog, Tool};
use toolkit_backends::chain::Chain;
use toolkit_schema::walk;

/// The length of a digest in bytes.
const DIGEST_LEN: usize = 8;

/// The version of the record that this crate writes. A run is continued only by workers with the same one.
const FORMAT: u32 = 3;

/// The contracts of the tools of a catalog: a digest by the id of the tool.
pub(crate) struct Contracts {
    catalog: Catalog,
    digests: HashMap<String, String>,
}

impl Contracts {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let digests = catalog.iter().map(|tool| (tool.id().to_string(), digest(tool))).collect();
        Self { catalog: catalog.clone(), digests }
    }

    /// Returns the version of the tools: the format of the record, and the digest of all contracts.
    pub(crate) fn version(&self) -> String {
        let sorted: BTreeMap<&String, &String> = self.digests.iter().collect();
        format!("{FORMAT}-{}", hash(&json!(sorted).to_string()))
    }

    /// Returns the digests, as JSON.
    pub(crate) fn to_json(&self) -> String {
        let mut digests: Vec<&String> = self.digests.values().collect();
        digests.sort_unstable();
        json!(digests).to_string()
    }

    /// Returns the contract of a run: the digest of each tool of its chain by its name in the chain, as JSON. A tool that is
    /// absent has none: the chain is rejected.
    pub(crate) fn of_chain(&self, chain: &Chain) -> String {
        let digest = |name: &str| Some((name.to_owned(), self.digest(name)?.clone()));
        let contract: BTreeMap<String, String> = chain.steps().iter().filter_map(|step| digest(step.tool())).collect();
        json!(contract).to_string()
    }

    /// Returns true if the tools of the chain of a run have the recorded contract.
    pub(crate) fn fit(&self, contract: &str) -> bool {
        let recorded: HashMap<String, String> = serde_json::from_str(contract).unwrap_or_default();
        recorded.iter().all(|(name, digest)| self.digest(name) == Some(digest))
    }

    fn digest(&self, name: &str) -> Option<&String> {
        self.digests.get(&self.catalog.resolve(name).ok()?.id().to_string())
    }
}

/// Returns the digests of a recorded contract.
pub(crate) fn digests(contract: &str) -> Vec<String> {
    let recorded: HashMap<String, String> = serde_json::from_str(contract).unwrap_or_default();
    recorded.into_values().collect()
}

fn digest(tool: &Tool) -> String {
    let contract = json!({
        "input": without_texts(tool.input()),
        "output": tool.output().map(without_texts),
        "mayRepeat": tool.annotations().may_repeat(),
    });
    hash(&contract.to_string())
}

fn without_texts(schema: &Schema) -> Value {
    let mut value = schema.as_value().clone();
    remove_texts(&mut value);
    // The order of properties is not part of a contract.
    value.sort_all_objects();
    value
}

fn remove_texts(schema: &mut Value) {
    if let Value::Object(keywords) = schema {
        keywords.retain(|keyword, _| !walk::is_annotation(keyword));
        walk::each_mut(keywords, |_, sub| remove_texts(sub));
    }
}

fn hash(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text)[..DIGEST_LEN])
}
