//! The same tools with rmcp: from the `params` of a call to the bytes of its result, through its router.
//!
//! Its results contain the data twice, as structured content and as text; only serde's checks are made.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{CallToolRequestParams, CallToolResponse, RequestId};
use rmcp::service::{RequestContext, serve_directly};
use rmcp::{RoleServer, ServerHandler, tool, tool_router};
use tokio::runtime::Runtime;

use crate::tools::{self, Add, Batch, Bills, Hits, Search, Sum};

#[derive(Clone)]
struct Tools;

#[tool_router]
impl Tools {
    /// Adds two integers.
    #[tool]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> Json<Sum> {
        Json(tools::add(a, b))
    }

    /// Searches.
    #[tool]
    fn search(&self, Parameters(args): Parameters<Search>) -> Json<Hits> {
        Json(tools::search(args))
    }

    /// Bills customers.
    #[tool]
    fn batch(&self, Parameters(args): Parameters<Batch>) -> Json<Bills> {
        Json(tools::batch(args))
    }
}

impl ServerHandler for Tools {}

/// A router and the context of a request, both created once.
pub(crate) struct Rmcp {
    router: ToolRouter<Tools>,
    request: RequestContext<RoleServer>,
}

impl Rmcp {
    pub(crate) fn new(runtime: &Runtime) -> Self {
        let _guard = runtime.enter();
        let (_, stream) = tokio::io::duplex(64);
        let service = serve_directly::<RoleServer, _, _, _, _>(Tools, stream, None);
        let request = RequestContext::new(RequestId::Number(1), service.peer().clone());
        Self { router: Tools::tool_router(), request }
    }

    pub(crate) async fn call(&self, params: &[u8]) -> Vec<u8> {
        let params: CallToolRequestParams = serde_json::from_slice(params).expect("valid");
        let call = ToolCallContext::new(&Tools, params, self.request.clone());
        let CallToolResponse::Complete(result) = self.router.call(call).await.expect("it succeeds") else {
            panic!("it asks for nothing");
        };
        serde_json::to_vec(&result).expect("a result is JSON")
    }
}
