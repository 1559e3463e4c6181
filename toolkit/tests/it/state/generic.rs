//! Generic toolsets, with tools for each concrete type.

use std::collections::BTreeMap;
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use toolkit::{Dispatcher, catalog, handle, toolset};

pub trait Store: Send + Sync + 'static {
    type Key: DeserializeOwned + Serialize + JsonSchema + Ord + Clone + Send + 'static;
    const NAME: &'static str;
}

pub struct Memory;
impl Store for Memory {
    type Key = String;
    const NAME: &'static str = "memory";
}

pub struct Disk;
impl Store for Disk {
    type Key = u32;
    const NAME: &'static str = "disk";
}

pub struct Notes<S: Store, V = String>(Mutex<BTreeMap<S::Key, V>>);

impl<S: Store, V> Default for Notes<S, V> {
    fn default() -> Self {
        Notes(Mutex::default())
    }
}

#[toolset(namespace = "notes", version = "1.0.0", tags = ["notes"])]
#[concrete(Notes<Memory, String>)]
#[concrete(Notes<Disk, Vec<u8>>, namespace = "archive", tags = ["disk"])]
impl<S: Store, V> Notes<S, V>
where
    V: DeserializeOwned + Serialize + JsonSchema + Clone + Send + 'static,
{
    /// Keeps a value under a key, and returns how many there are.
    #[tool(idempotent)]
    pub fn keep(&self, key: S::Key, value: V) -> usize {
        let mut notes = self.0.lock().unwrap();
        notes.insert(key, value);
        notes.len()
    }

    /// Returns the value of a key.
    #[tool(read_only)]
    pub async fn find(&self, #[arg] key: <S as Store>::Key) -> Option<V> {
        self.0.lock().unwrap().get(&key).cloned()
    }

    /// Returns the keys, and the name of the store.
    #[tool]
    pub fn keys(&self) -> (Vec<S::Key>, String) {
        (self.0.lock().unwrap().keys().cloned().collect(), S::NAME.to_owned())
    }
}

fn dispatcher() -> Dispatcher {
    let catalog = catalog![
        Notes::<Memory, String>::keep,
        Notes::<Memory, String>::find,
        Notes::<Memory, String>::keys,
        Notes::<Disk, Vec<u8>>::keep,
        Notes::<Disk, Vec<u8>>::find,
        Notes::<Disk, Vec<u8>>::keys,
    ];
    Dispatcher::builder(catalog.unwrap())
        .state(Notes::<Memory>::default())
        .state(Notes::<Disk, Vec<u8>>::default())
        .build()
        .unwrap()
}

#[tokio::test]
async fn each_concrete_type_has_tools_of_its_own() {
    let dispatcher = dispatcher();
    let ids: Vec<String> = dispatcher.catalog().iter().map(|tool| tool.id().to_string()).collect();
    assert_eq!(
        ids,
        [
            "archive:find:1.0.0",
            "archive:keep:1.0.0",
            "archive:keys:1.0.0",
            "notes:find:1.0.0",
            "notes:keep:1.0.0",
            "notes:keys:1.0.0"
        ]
    );
    let keep = |namespace: &str| dispatcher.catalog().resolve(&format!("{namespace}:keep")).unwrap();
    assert_eq!(keep("notes").input().as_value()["properties"]["key"]["type"], "string");
    assert_eq!(keep("archive").input().as_value()["properties"]["key"]["type"], "integer");
    assert_eq!(keep("archive").tags(), ["notes", "disk"]);

    let call = async |id: &str, arguments| dispatcher.call(id, arguments).await.unwrap().value();
    assert_eq!(call("notes:keep", json!({ "key": "a", "value": "b" })).await, 1);
    assert_eq!(call("archive:keep", json!({ "key": 7, "value": [1, 2] })).await, 1);
    assert_eq!(call("notes:find", json!({ "key": "a" })).await, "b");
    assert_eq!(call("archive:find", json!({ "key": 7 })).await, json!([1, 2]));
    assert_eq!(call("archive:keys", json!({})).await, json!([[7], "disk"]));
    let found = handle!(Notes::<Disk, Vec<u8>>::find).call(&dispatcher, 7).await.unwrap();
    assert_eq!(found, Some(vec![1, 2]));
}
