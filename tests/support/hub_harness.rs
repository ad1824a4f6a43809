//! A hub with test servers, and the events that it reported. A mark in the environment identifies
//! child processes that outlive the hub.

use super::fixtures;
use humble::app::built_in_server;
use humble::config::Home;
use humble::domain::{
    Arguments, BuiltInSettings, CallId, LaunchConfig, Notice, Server, ServerConfig, ServerRequest,
    ServerRequestId, ServerRequestReply, ServerStatus, ServerTask, ToolOutcome, ToolProgress,
};
use humble::mcp::{Hub, HubEvent, McpCall};
use humble::provider::Provider;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
const PROCESS_MARK: &str = "HUMBLE_TEST_MARK";

pub struct HubHarness {
    pub hub: Hub,
    events: mpsc::Receiver<HubEvent>,
    pub progress: Vec<ToolProgress>,
    pub notices: Vec<Notice>,
    /// The tasks of calls, in order.
    pub tasks: Vec<ServerTask>,
    /// The servers' requests, in order.
    pub requests: Vec<(ServerRequestId, ServerRequest)>,
    /// How many of the requests `wait_for_request` has returned.
    returned_requests: usize,
    pub withdrawn: Vec<ServerRequestId>,
    /// Sent at once as the reply to each request.
    pub reply_with: Option<ServerRequestReply>,
    mark: String,
}

/// Path of the program built from `tests/support/mcp_server.rs`.
pub fn test_server_path() -> String {
    let mut path: PathBuf = std::env::current_exe().expect("a test knows its own path");
    path.pop();
    path.pop();
    path.push("examples/test-mcp-server");
    assert!(
        path.exists(),
        "build it with `cargo build --example test-mcp-server`"
    );
    path.to_str()
        .expect("the path of the build is UTF-8")
        .to_owned()
}

/// The test server with this behavior, under the id `test`.
pub fn test_server_config(behavior: &str) -> ServerConfig {
    fixtures::server_config(
        "test",
        fixtures::stdio(&test_server_path(), &[behavior], &[]),
    )
}

pub fn arguments(value: Value) -> Arguments {
    value
        .as_object()
        .cloned()
        .expect("arguments are an object")
        .into()
}

impl HubHarness {
    pub fn start(configs: Vec<ServerConfig>) -> Self {
        Self::new(configs, None)
    }

    /// Like [`Self::start`], with a detection cache in this file.
    pub fn start_with_cache(configs: Vec<ServerConfig>, file: PathBuf) -> Self {
        Self::new(configs, Some(file))
    }

    fn new(configs: Vec<ServerConfig>, cache_file: Option<PathBuf>) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let (sender, events) = mpsc::channel(64);
        let mark = match &cache_file {
            // The mark is part of the launch, which must be the same at each start.
            Some(file) => file.display().to_string(),
            None => format!("{}-{number}", std::process::id()),
        };
        let mut harness = Self {
            hub: Hub::new(
                sender,
                built_in_server(
                    &Home::at("/nonexistent"),
                    BuiltInSettings::default(),
                    Provider::new(),
                ),
            ),
            events,
            progress: Vec::new(),
            notices: Vec::new(),
            tasks: Vec::new(),
            requests: Vec::new(),
            returned_requests: 0,
            withdrawn: Vec::new(),
            reply_with: None,
            mark,
        };
        if let Some(file) = cache_file {
            harness.hub.set_cache_file(file);
        }
        harness.configure(configs);
        harness
    }

    /// One connected server with this behavior.
    pub async fn start_connected(behavior: &str) -> Self {
        Self::connect(test_server_config(behavior)).await
    }

    pub async fn connect(config: ServerConfig) -> Self {
        Self::connect_with_roots(config, &[]).await
    }

    /// Connects one server, which can list these roots.
    pub async fn connect_with_roots(config: ServerConfig, roots: &[&str]) -> Self {
        let mut harness = Self::start(Vec::new());
        harness.set_roots(roots);
        harness.configure(vec![config]);
        harness
            .wait_for(|server| server.status == ServerStatus::Connected)
            .await;
        harness
    }

    pub fn configure(&mut self, mut configs: Vec<ServerConfig>) {
        for config in &mut configs {
            if let LaunchConfig::Stdio { env, .. } = &mut config.launch {
                env.push((PROCESS_MARK.to_owned(), self.mark.clone()));
            }
        }
        self.hub.configure(configs);
    }

    pub fn set_roots(&self, roots: &[&str]) {
        self.hub
            .set_roots(roots.iter().map(PathBuf::from).collect());
    }

    pub fn server(&self) -> Server {
        self.hub.servers().remove(0)
    }

    /// Waits until the first server matches.
    pub async fn wait_for(&mut self, is_wanted: impl Fn(&Server) -> bool) -> Server {
        let started = Instant::now();
        loop {
            let server = self.server();
            if is_wanted(&server) {
                return server;
            }
            assert!(started.elapsed() < WAIT_TIMEOUT, "timed out: {server:#?}");
            // Lines on stderr produce no events, so poll.
            let _ = tokio::time::timeout(Duration::from_millis(20), self.take_event()).await;
        }
    }

    pub async fn wait_for_failure(&mut self) -> Notice {
        let failed = self
            .wait_for(|server| matches!(server.status, ServerStatus::Failed(_)))
            .await;
        match failed.status {
            ServerStatus::Failed(notice) => notice,
            other => unreachable!("waited for a failure, found {other:?}"),
        }
    }

    pub async fn wait_for_stderr(&mut self, text: &str) {
        self.wait_for(|server| server.stderr.iter().any(|line| line.contains(text)))
            .await;
    }

    pub async fn wait_for_notice(&mut self, text: &str) {
        let started = Instant::now();
        while !self.notices.iter().any(|notice| notice.what.contains(text)) {
            assert!(
                started.elapsed() < WAIT_TIMEOUT,
                "no notice with `{text}`: {:?}",
                self.notices
            );
            let _ = tokio::time::timeout(Duration::from_millis(20), self.take_event()).await;
        }
    }

    /// Waits for the next request that was not returned before; it may have arrived already.
    pub async fn wait_for_request(&mut self) -> ServerRequestId {
        let started = Instant::now();
        while self.requests.len() == self.returned_requests {
            assert!(started.elapsed() < WAIT_TIMEOUT, "no request");
            let _ = tokio::time::timeout(Duration::from_millis(20), self.take_event()).await;
        }
        self.returned_requests += 1;
        self.requests[self.returned_requests - 1].0
    }

    pub async fn wait_until_withdrawn(&mut self, id: ServerRequestId) {
        let started = Instant::now();
        while !self.withdrawn.contains(&id) {
            assert!(started.elapsed() < WAIT_TIMEOUT, "{id:?} is still open");
            let _ = tokio::time::timeout(Duration::from_millis(20), self.take_event()).await;
        }
    }

    async fn take_event(&mut self) {
        match self.events.recv().await {
            Some(HubEvent::Progress { progress, .. }) => self.progress.push(progress),
            Some(HubEvent::Noticed(notice)) => self.notices.push(notice),
            Some(HubEvent::Requested { id, request, .. }) => {
                self.requests.push((id, request));
                if let Some(reply) = &self.reply_with {
                    self.hub.reply(id, reply.clone());
                }
            }
            Some(HubEvent::RequestWithdrawn(id)) => self.withdrawn.push(id),
            Some(HubEvent::TaskStarted { task, .. }) => self.tasks.push(task),
            Some(HubEvent::Changed(_)) | None => {}
        }
    }

    pub async fn call(&mut self, tool: &str, value: Value) -> ToolOutcome {
        self.call_with(tool, value, CancellationToken::new()).await
    }

    pub async fn call_with(
        &mut self,
        tool: &str,
        value: Value,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        self.run_call(self.call_request(tool, value), cancel).await
    }

    pub async fn run_call(&mut self, call: McpCall, cancel: CancellationToken) -> ToolOutcome {
        let call = self.hub.call(call, cancel);
        tokio::pin!(call);
        let deadline = tokio::time::sleep(WAIT_TIMEOUT);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                outcome = &mut call => break outcome,
                () = self.take_event() => {}
                () = &mut deadline => panic!("the call never ended"),
            }
        }
    }

    pub fn call_request(&self, tool: &str, value: Value) -> McpCall {
        McpCall {
            id: CallId(1),
            server: self.server().id,
            tool: tool.to_owned(),
            arguments: arguments(value),
            pin: None,
            task: None,
        }
    }

    /// Shuts the hub down and checks that this is quick and leaves no process.
    pub async fn close(self) {
        let started = Instant::now();
        self.hub.shutdown().await;
        // The hub limits its shutdown to 3.8 seconds.
        assert!(
            started.elapsed() < Duration::from_millis(4_300),
            "{:?}",
            started.elapsed()
        );
        assert_eq!(marked_processes(&self.mark), Vec::<String>::new());
    }

    /// Drops the hub as a panic would and waits until all processes are gone.
    pub fn drop_hub(self) {
        let Self { hub, mark, .. } = self;
        drop(hub);
        let started = Instant::now();
        while !marked_processes(&mark).is_empty() {
            assert!(
                started.elapsed() < WAIT_TIMEOUT,
                "processes left: {:?}",
                marked_processes(&mark)
            );
            // Do not yield to the runtime: after a panic, no task would run.
            std::thread::yield_now();
        }
    }

    pub fn process_count(&self) -> usize {
        marked_processes(&self.mark).len()
    }
}

/// The command lines of processes with this mark. Zombies are not included, because they have
/// no environment.
fn marked_processes(mark: &str) -> Vec<String> {
    let mark_variable = format!("{PROCESS_MARK}={mark}");
    let processes = std::fs::read_dir("/proc").expect("these tests need /proc");
    processes
        .flatten()
        .filter(|entry| {
            std::fs::read(entry.path().join("environ")).is_ok_and(|variables| {
                variables
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == mark_variable.as_bytes())
            })
        })
        .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
        .collect()
}

pub fn succeeded(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Succeeded { text, .. } => text,
        other => panic!("not a success: {other:?}"),
    }
}

pub fn failed(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Failed { text, .. } => text,
        other => panic!("not a failure: {other:?}"),
    }
}

pub fn unreachable_because(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Unreachable { why, .. } => why,
        other => panic!("not unreachable: {other:?}"),
    }
}
