//! Handles MCP requests for the built-in tools, in both eras. Unsupported methods fail with *Unknown
//! method*, even where `rmcp` would return an empty list.

use super::calls::{CallRunner, IncomingCall};
use super::message::{call_problem, short_name, unknown_method};
use super::tools::ProgressReporter;
use crate::domain::ToolProgress;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::json;
use std::pin::pin;
use tokio::sync::mpsc;

/// How long clients may cache the tool list and the discovery result. Both are fixed while a session
/// or `humble serve` runs.
const CACHE_MILLISECONDS: u64 = 3_600_000;
/// Further reports to a slow reader are dropped.
const PROGRESS_BUFFER: usize = 16;
/// Supported methods. If one of them arrives as a custom request, its parameters are invalid.
const METHODS: [&str; 5] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
];

/// Serves one session, or one request in the modern era. Cheap to clone.
#[derive(Clone)]
pub struct BuiltInHandler {
    calls: CallRunner,
    transport: &'static str,
}

impl BuiltInHandler {
    /// `transport` appears in the log.
    pub fn new(calls: CallRunner, transport: &'static str) -> Self {
        Self { calls, transport }
    }
}

impl ServerHandler for BuiltInHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(
            Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        )
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(CACHE_MILLISECONDS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.calls.definitions().to_vec();
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(CACHE_MILLISECONDS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut tools = self.calls.definitions().iter();
        tools.find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = IncomingCall {
            name: &request.name,
            arguments: request.arguments.unwrap_or_default(),
            progress: ProgressReporter::ignored(),
            cancelled: context.ct.clone(),
            transport: self.transport,
        };
        let result = match context.meta.get_progress_token() {
            None => self.calls.run(call).await,
            Some(token) => self.run_with_progress(call, token, &context.peer).await,
        };
        result.map(CallToolResponse::from)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if METHODS.contains(&request.method.as_str()) {
            let method = Some(json!({ "method": short_name(&request.method) }));
            let why = match request.method.as_str() {
                "tools/call" => call_problem(request.params.as_ref()),
                _ => "Invalid params".to_owned(),
            };
            return Err(ErrorData::invalid_params(why, method));
        }
        Err(unknown_method(&request.method))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(unknown_method("completion/complete"))
    }

    #[expect(deprecated, reason = "the legacy era still has the method")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(unknown_method("logging/setLevel"))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(unknown_method("prompts/get"))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(unknown_method("prompts/list"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(unknown_method("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(unknown_method("resources/templates/list"))
    }

    async fn read_resource(
        &self,
        _: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Err(unknown_method("resources/read"))
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(unknown_method("resources/subscribe"))
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(unknown_method("resources/unsubscribe"))
    }
}

impl BuiltInHandler {
    async fn run_with_progress(
        &self,
        mut call: IncomingCall<'_>,
        token: ProgressToken,
        peer: &Peer<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let (sender, mut reports) = mpsc::channel(PROGRESS_BUFFER);
        call.progress = ProgressReporter::new(sender);
        let mut running = pin!(self.calls.run(call));
        loop {
            tokio::select! {
                // Reports made before the result are sent before it.
                biased;
                Some(report) = reports.recv() => {
                    let report = progress_params(token.clone(), report);
                    // The client may be gone; then the transport cancels the call.
                    let _ = peer.notify_progress(report).await;
                }
                result = &mut running => return result,
            }
        }
    }
}

fn progress_params(token: ProgressToken, report: ToolProgress) -> ProgressNotificationParam {
    let mut params = ProgressNotificationParam::new(token, report.done);
    params.total = report.total;
    params.message = report.message;
    params
}
