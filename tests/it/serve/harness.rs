//! A server in this process, and a client that can break every rule of HTTP.

use crate::support::fixtures::model_config;
use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use humble::domain::{BuiltInSettings, Notice, OllamaTarget, ProviderKind};
use humble::notes::Notebook;
use humble::ports::{CompletedText, Completion, CompletionRequest};
use humble::provider::Provider;
use humble::serve::http::{
    AccessPolicy, HttpHandlers, HttpLimits, HttpOptions, Listener, resolve, serve,
};
use humble::serve::{BuiltInHandler, BuiltInTools, CallLimits, CallLog, CallRunner};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Much longer than any step takes.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
pub const JSON_HEADERS: &str = "host: localhost\r\ncontent-type: application/json\r\n\
    accept: application/json, text/event-stream\r\n";

pub struct TestServe {
    pub address: SocketAddr,
    pub client: reqwest::Client,
    pub stop: CancellationToken,
    pub task: JoinHandle<()>,
    /// One message whenever the work of an `ollama_chat` call ends. Work on the prompt `wait` ends only
    /// when it is stopped.
    pub stopped: mpsc::UnboundedReceiver<()>,
}

/// A model that counts to three. It answers the prompt `soon` after 300 ms, and never
/// answers `wait`.
struct TestModel {
    stopped: mpsc::UnboundedSender<()>,
}

impl Completion for TestModel {
    fn complete(
        &self,
        request: CompletionRequest,
    ) -> BoxFuture<'static, Result<CompletedText, Notice>> {
        let guard = SendOnDrop(self.stopped.clone());
        async move {
            let _guard = guard;
            for count in 1..=3 {
                (request.on_progress)(count);
                tokio::task::yield_now().await;
            }
            match request.prompt.as_str() {
                "wait" => pending::<()>().await,
                "soon" => tokio::time::sleep(Duration::from_millis(300)).await,
                _ => {}
            }
            Ok(CompletedText {
                text: "three".to_owned(),
                is_cut_off: false,
                is_only_calls: false,
            })
        }
        .boxed()
    }
}

struct SendOnDrop(mpsc::UnboundedSender<()>);

impl Drop for SendOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl TestServe {
    pub async fn start() -> Self {
        Self::with_limits(|_| {}).await
    }

    pub async fn with_limits(change: impl FnOnce(&mut HttpLimits)) -> Self {
        let mut limits = HttpLimits::default();
        change(&mut limits);
        Self::with(CallLimits::default(), limits, |access| access).await
    }

    pub async fn with_access(change: impl FnOnce(AccessPolicy) -> AccessPolicy) -> Self {
        Self::with(CallLimits::default(), HttpLimits::default(), change).await
    }

    pub async fn with(
        call_limits: CallLimits,
        limits: HttpLimits,
        change: impl FnOnce(AccessPolicy) -> AccessPolicy,
    ) -> Self {
        let addresses = resolve("127.0.0.1", 0).await.expect("an address");
        let listener = Listener::bind(&addresses).await.expect("a free port");
        let address = listener.addresses()[0];
        let (sender, stopped) = mpsc::unbounded_channel();
        let model = model_config(ProviderKind::Ollama, "http://127.0.0.1:1");
        let settings = BuiltInSettings {
            ollama: OllamaTarget::Model(Box::new(model)),
            ..BuiltInSettings::default()
        };
        let model = Arc::new(TestModel { stopped: sender });
        let notes = Notebook::new(
            "/nonexistent".into(),
            model.clone(),
            Arc::new(Provider::new()),
        );
        let tools = BuiltInTools::new(settings, model, Arc::new(notes));
        let calls = CallRunner::new(tools, call_limits, CallLog::Info);
        let handlers = HttpHandlers {
            streamable: BuiltInHandler::new(calls.clone(), "HTTP"),
            sse: BuiltInHandler::new(calls.clone(), "HTTP+SSE"),
        };
        let access = change(AccessPolicy::default().listening_on(address.ip()));
        let stop = CancellationToken::new();
        let options = HttpOptions { access, limits };
        let task = tokio::spawn(serve(listener, handlers, calls, options, stop.clone()));
        let client = reqwest::Client::builder().no_proxy().timeout(WAIT_TIMEOUT);
        Self {
            address,
            client: client.build().expect("a client"),
            stop,
            task,
            stopped,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// `POST` with a JSON body and the headers of an MCP client.
    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client
            .post(self.url(path))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(body.to_string())
    }

    /// Sends a modern request; returns the status and the response message.
    pub async fn modern(&self, method: &str, params: Value) -> (u16, Value) {
        let response = self.modern_request(method, params).send().await;
        message_of(response.expect("a response")).await
    }

    pub fn modern_request(&self, method: &str, mut params: Value) -> RequestBuilder {
        let meta = params["_meta"].take();
        let mut meta = if meta.is_null() { json!({}) } else { meta };
        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        params["_meta"] = meta;
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post("/mcp", &message)
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
            .header("mcp-name", name)
    }

    /// Opens a legacy session and returns its id, or the refusal.
    pub async fn open_session(&self) -> Result<String, Response> {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = self
            .post("/mcp", &message)
            .send()
            .await
            .expect("a response");
        let Some(id) = response.headers().get("mcp-session-id").cloned() else {
            return Err(response);
        };
        let id = id.to_str().expect("ASCII").to_owned();
        response.text().await.expect("a whole response");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let status = self.in_session(&id, &initialized).await.status();
        assert_eq!(status, 202);
        Ok(id)
    }

    /// Sends a message in a legacy session.
    pub async fn in_session(&self, id: &str, message: &Value) -> Response {
        let request = self
            .post("/mcp", message)
            .header("mcp-session-id", id)
            .header("mcp-protocol-version", "2025-11-25");
        request.send().await.expect("a response")
    }

    pub async fn connect(&self) -> RawClient {
        let stream = TcpStream::connect(self.address).await;
        RawClient(stream.expect("the server listens"))
    }

    /// Sends a request as raw text on a new connection; returns everything that comes back.
    pub async fn raw(&self, request: &str) -> String {
        let mut client = self.connect().await;
        client.send(request.as_bytes()).await;
        client.read_all().await
    }

    /// Asserts that plain JSON calls still work, so no misbehaving client has blocked the server.
    pub async fn assert_serves(&self) {
        let call = json!({ "tool": "get_time" });
        let response = self.post("/mcp/tools/call", &call).send().await;
        assert_eq!(response.expect("a response").status(), 200);
    }

    /// Waits until the work of one more `ollama_chat` call ends.
    pub async fn wait_until_stopped(&mut self) {
        let stopped = timeout(WAIT_TIMEOUT, self.stopped.recv()).await;
        stopped
            .expect("the work stops in time")
            .expect("the work reports its end");
    }
}

/// The status of a response, and its JSON-RPC message: the body, or the last event.
pub async fn message_of(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.expect("a whole response");
    let last = events(&text).pop();
    let message = last.unwrap_or_else(|| serde_json::from_str(&text).unwrap_or(json!(text)));
    (status, message)
}

/// The JSON data of all events in a stream.
pub fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

/// A TCP connection for sending arbitrary bytes.
pub struct RawClient(pub TcpStream);

impl RawClient {
    /// Sends as much as the server accepts.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = timeout(WAIT_TIMEOUT, self.0.write_all(bytes)).await;
    }

    /// Reads until the server closes the connection.
    pub async fn read_all(&mut self) -> String {
        let mut bytes = Vec::new();
        let reading = async {
            let mut chunk = [0; 4096];
            // A reset after the response counts as its end.
            while let Ok(count @ 1..) = self.0.read(&mut chunk).await {
                bytes.extend_from_slice(&chunk[..count]);
            }
        };
        let closed = timeout(WAIT_TIMEOUT, reading).await;
        closed.expect("the server closes the connection");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
