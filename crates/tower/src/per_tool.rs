//! A value for each tool.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use toolkit::Tool;
use toolkit::tool::ToolId;

/// A value for each tool, created at the first call of the tool. The number of values is bounded by that of the tools.
pub(crate) struct PerTool<T> {
    make: Box<dyn Fn(&Tool) -> T + Send + Sync>,
    made: RwLock<HashMap<ToolId, Arc<T>>>,
}

impl<T> PerTool<T> {
    pub(crate) fn new(make: impl Fn(&Tool) -> T + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), made: RwLock::default() }
    }

    pub(crate) fn get(&self, tool: &Tool) -> Arc<T> {
        let made = self.made.read().unwrap_or_else(PoisonError::into_inner).get(tool.id()).cloned();
        made.unwrap_or_else(|| {
            // Created before the lock is acquired, since `make` may call a function of the host.
            let new = Arc::new((self.make)(tool));
            let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(tool.id().clone()).or_insert(new))
        })
    }
}
