//! One thing for each tool.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use toolkit::Tool;
use toolkit::tool::ToolId;

/// One thing for each tool that was called: as many as the catalogues have tools, whatever is called how often.
pub(crate) struct PerTool<T> {
    make: Box<dyn Fn(&Tool) -> T + Send + Sync>,
    made: RwLock<HashMap<ToolId, Arc<T>>>,
}

impl<T> PerTool<T> {
    pub(crate) fn new(make: impl Fn(&Tool) -> T + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), made: RwLock::default() }
    }

    pub(crate) fn of(&self, tool: &Tool) -> Arc<T> {
        let made = self.made.read().unwrap_or_else(PoisonError::into_inner).get(tool.id()).cloned();
        made.unwrap_or_else(|| {
            // Made before the lock is taken: it is the host's function that says what.
            let new = Arc::new((self.make)(tool));
            let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(tool.id().clone()).or_insert(new))
        })
    }
}
