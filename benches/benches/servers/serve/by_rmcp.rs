//! rmcp with sessions disabled and responses in JSON instead of events. Only serde's checks are made.

use std::sync::Arc;

use axum::Router;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Sum, listener};
use crate::tools::{self, Hits, Search};

#[derive(Deserialize, JsonSchema)]
struct Terms {
    a: i64,
    b: i64,
}

/// As in rmcp's examples: a router in a field.
#[derive(Clone)]
pub(super) struct Tools {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Tools {
    pub(super) fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    /// Adds two integers.
    #[tool]
    fn add(&self, Parameters(Terms { a, b }): Parameters<Terms>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    /// Searches.
    #[tool]
    fn search(&self, Parameters(args): Parameters<Search>) -> Json<Hits> {
        Json(tools::search(args))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// Without its macros and its router: serde, the function, and a result.
#[derive(Clone)]
pub(super) struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let data = match &*request.name {
            "add" => {
                let Terms { a, b } = serde_json::from_value(arguments).expect("valid");
                serde_json::to_value(Sum { sum: a + b })
            }
            _ => serde_json::to_value(tools::search(serde_json::from_value(arguments).expect("valid"))),
        };
        Ok(CallToolResult::structured(data.expect("a result is JSON")).into())
    }
}

pub(super) async fn over_http<H: ServerHandler>(make: impl Fn() -> H + Send + Sync + 'static) {
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(move || Ok(make()), Arc::new(NeverSessionManager::default()), config);
    axum::serve(listener().await, Router::new().nest_service("/mcp", service)).await.expect("it serves");
}

pub(super) async fn over_pipes(handler: impl ServerHandler) {
    let running = handler.serve(rmcp::transport::stdio()).await.expect("it begins");
    drop(running.waiting().await);
}
