//! The built-in MCP server `humble`, reached over an in-memory transport. Never writes to
//! stdout.

mod tools;

use crate::domain::BuiltInSettings;
use crate::ports::LocalServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use serde_json::json;
use tokio::io::{DuplexStream, duplex};

pub use tools::{BuiltInTools, ProgressReporter, ToolFailure};

/// Capacity of the in-memory pipe in each direction.
const BUFFER_BYTES: usize = 64 << 10;

/// Connects clients to the built-in server.
#[derive(Clone)]
pub struct BuiltInServer(BuiltInTools);

impl BuiltInServer {
    pub fn new(tools: BuiltInTools) -> Self {
        Self(tools)
    }
}

impl LocalServer for BuiltInServer {
    fn connect(&self) -> DuplexStream {
        let (client, server) = duplex(BUFFER_BYTES);
        let handler = BuiltInHandler(self.0.clone());
        // The task ends when the client's end of the pipe is dropped.
        tokio::spawn(async move {
            match handler.serve(server).await {
                Ok(running) => {
                    let _ = running.waiting().await;
                }
                Err(error) => tracing::debug!("session of the built-in server failed: {error}"),
            }
        });
        client
    }

    fn configure(&self, settings: &BuiltInSettings) {
        self.0.configure(settings.clone());
    }
}

struct BuiltInHandler(BuiltInTools);

impl ServerHandler for BuiltInHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(
            Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.definitions()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let progress = ProgressReporter::ignored();
        let call = self
            .0
            .call(&request.name, &arguments, progress, context.ct.clone());
        Ok(match call.await {
            Ok(value) => CallToolResult::structured(value),
            Err(ToolFailure::Failed(why)) => CallToolResult::error(vec![ContentBlock::text(why)]),
            Err(ToolFailure::Cancelled) => {
                CallToolResult::error(vec![ContentBlock::text("The call was cancelled.")])
            }
            Err(ToolFailure::UnknownTool) => {
                let tool = Some(json!({ "tool": request.name }));
                return Err(ErrorData::invalid_params("Unknown tool", tool));
            }
        }
        .into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            "Unknown method",
            Some(json!({ "method": request.method })),
        ))
    }
}
