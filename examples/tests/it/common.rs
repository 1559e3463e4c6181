//! Shared access to the catalog: tools are called as a model calls them, by name and with JSON.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;
use toolkit::call::ErrorKind;
use toolkit::resource::{ResourceContents, Resources};
use toolkit::{Catalog, Content, Context, Dispatcher, RunResult, ToolError};
use toolkit_examples::Root;

/// A temporary directory, and a dispatcher whose root is its subdirectory `inside`.
pub(crate) struct Host {
    pub(crate) dir: TempDir,
    pub(crate) dispatcher: Dispatcher,
    runtime: tokio::runtime::Runtime,
}

impl Host {
    pub(crate) fn read_only() -> Self {
        Self::new(|path| Root::read_only(path))
    }

    pub(crate) fn writable() -> Self {
        Self::new(|path| Root::writable(path))
    }

    fn new(open: fn(&std::path::Path) -> std::io::Result<Root>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("inside")).unwrap();
        fs::write(dir.path().join("secret.txt"), "outside").unwrap();
        let root = open(&dir.path().join("inside")).unwrap();
        let dispatcher = Dispatcher::builder(Catalog::linked().unwrap()).state(root).build().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { dir, dispatcher, runtime }
    }

    /// Writes a file below the root.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.dir.path().join("inside").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn run(&self, context: &Context, tool: &str, arguments: Value) -> Result<RunResult, ToolError> {
        self.runtime.block_on(self.dispatcher.call_with(context, tool, arguments.to_string()))
    }

    /// Reads a resource.
    pub(crate) fn read(&self, resources: &impl Resources, uri: &str) -> Option<Vec<ResourceContents>> {
        self.runtime.block_on(resources.read(uri, &Context::new())).unwrap()
    }

    /// Returns the events of a call, as JSON.
    pub(crate) fn events(&self, tool: &str, arguments: Value) -> Vec<Value> {
        let mut stream = self.dispatcher.stream(tool, arguments.to_string());
        let mut events = Vec::new();
        while let Some(event) = self.runtime.block_on(stream.next()) {
            events.push(serde_json::to_value(event).unwrap());
        }
        events
    }

    /// Returns the structured result of a successful call.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        match self.run(&Context::new(), tool, arguments) {
            Ok(result) => result.value(),
            Err(error) => panic!("{error:?}"),
        }
    }

    /// Returns the content of a successful call.
    #[track_caller]
    pub(crate) fn content(&self, tool: &str, arguments: Value) -> Vec<Content> {
        match self.run(&Context::new(), tool, arguments) {
            Ok(result) => result.content().into_owned(),
            Err(error) => panic!("{error:?}"),
        }
    }

    /// Returns the message of a call that the tool itself rejects.
    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, arguments: Value, says: &str) {
        self.fails(tool, arguments, ErrorKind::Failed, says);
    }

    /// Returns the message of a call that the schema rejects.
    #[track_caller]
    pub(crate) fn misfit(&self, tool: &str, arguments: Value, says: &str) {
        self.fails(tool, arguments, ErrorKind::InvalidArguments, says);
    }

    #[track_caller]
    pub(crate) fn fails(&self, tool: &str, arguments: Value, kind: ErrorKind, says: &str) {
        match self.run(&Context::new(), tool, arguments) {
            Ok(result) => panic!("it succeeded: {}", result.value()),
            Err(error) => {
                let place = self.dir.path().to_str().unwrap();
                assert_eq!(error.kind(), kind, "{error:?}");
                assert!(error.message().contains(says), "{error}");
                assert!(!error.to_string().contains(place), "the place of the root leaks: {error}");
                assert!(error.to_string().len() < 3000, "the message is too long: {}", error.to_string().len());
            }
        }
    }
}
