//! The built-in MCP server `humble`, reached over an in-memory transport. Never writes to
//! stdout.

mod get_time;
mod say_hello;

use crate::domain::Arguments;
use crate::ports::LocalServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, duplex};

/// Capacity of the in-memory pipe in each direction.
const BUFFER_BYTES: usize = 64 << 10;

/// The tools of the server.
pub fn tools() -> Vec<Tool> {
    vec![get_time::definition(), say_hello::definition()]
}

/// The fields of a JSON object; empty for any other value.
fn object(value: Value) -> Arguments {
    match value {
        Value::Object(fields) => fields,
        _ => Arguments::new(),
    }
}

/// Connects clients to the built-in server.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltInServer;

impl LocalServer for BuiltInServer {
    fn connect(&self) -> DuplexStream {
        let (client, server) = duplex(BUFFER_BYTES);
        // The task ends when the client's end of the pipe is dropped.
        tokio::spawn(async move {
            match BuiltInHandler.serve(server).await {
                Ok(running) => {
                    let _ = running.waiting().await;
                }
                Err(error) => tracing::debug!("session of the built-in server failed: {error}"),
            }
        });
        client
    }
}

struct BuiltInHandler;

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
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            get_time::NAME => get_time::call(&arguments),
            say_hello::NAME => say_hello::call(&arguments),
            other => {
                let tool = Some(json!({ "tool": other }));
                return Err(ErrorData::invalid_params("Unknown tool", tool));
            }
        };
        Ok(match result {
            Ok(value) => CallToolResult::structured(value),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
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
