//! A hub with one test server or several, what it reported, and a mark in the
//! environment of every process that it starts, by which a survivor is found.

use super::fixtures;
use humble::domain::{
    Arguments, CallId, LaunchConfig, Notice, Server, ServerConfig, ServerStatus, ToolOutcome,
    ToolProgress,
};
use humble::mcp::{Hub, HubEvent, McpCall};
use humble::serve::BuiltInServer;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Nothing here takes so long unless it hangs.
const WAIT_DEADLINE: Duration = Duration::from_secs(20);
const PROCESS_MARK: &str = "HUMBLE_TEST_MARK";

pub struct HubHarness {
    pub hub: Hub,
    events: mpsc::Receiver<HubEvent>,
    pub progress: Vec<ToolProgress>,
    pub notices: Vec<Notice>,
    mark: String,
}

/// The program of `tests/support/mcp_server.rs`, beside this test's own folder.
pub fn test_server_path() -> String {
    let mut path: PathBuf = std::env::current_exe().expect("a test knows its own path");
    path.pop();
    path.pop();
    path.push("examples/test-mcp-server");
    assert!(
        path.exists(),
        "`cargo test --test mcp` alone does not build it: `cargo build --example test-mcp-server`"
    );
    path.to_str()
        .expect("the path of the build is text")
        .to_owned()
}

/// The test server with this manner, under the id `test`.
pub fn test_server_config(manner: &str) -> ServerConfig {
    fixtures::server_config("test", fixtures::stdio(&test_server_path(), &[manner], &[]))
}

pub fn arguments(value: Value) -> Arguments {
    value.as_object().cloned().expect("arguments are an object")
}

impl HubHarness {
    pub fn start(configs: Vec<ServerConfig>) -> Self {
        Self::new(configs, None)
    }

    /// One that keeps what it finds out about servers.
    pub fn start_with_cache(configs: Vec<ServerConfig>, file: PathBuf) -> Self {
        Self::new(configs, Some(file))
    }

    fn new(configs: Vec<ServerConfig>, memory: Option<PathBuf>) -> Self {
        static DESKS: AtomicU64 = AtomicU64::new(0);
        let number = DESKS.fetch_add(1, Ordering::Relaxed);
        let (sender, events) = mpsc::channel(64);
        let mark = match &memory {
            // The mark is part of the launch, which is to be the same each time.
            Some(file) => file.display().to_string(),
            None => format!("{}-{number}", std::process::id()),
        };
        let mut desk = Self {
            hub: Hub::new(sender, Arc::new(BuiltInServer)),
            events,
            progress: Vec::new(),
            notices: Vec::new(),
            mark,
        };
        if let Some(file) = memory {
            desk.hub.set_cache_file(file);
        }
        desk.configure(configs);
        desk
    }

    /// One server of this manner, connected.
    pub async fn start_connected(manner: &str) -> Self {
        Self::connect(test_server_config(manner)).await
    }

    pub async fn connect(config: ServerConfig) -> Self {
        let mut desk = Self::start(vec![config]);
        desk.wait_for(|server| server.status == ServerStatus::Connected)
            .await;
        desk
    }

    pub fn configure(&mut self, mut configs: Vec<ServerConfig>) {
        for config in &mut configs {
            if let LaunchConfig::Stdio { env, .. } = &mut config.launch {
                env.push((PROCESS_MARK.to_owned(), self.mark.clone()));
            }
        }
        self.hub.configure(configs);
    }

    pub fn server(&self) -> Server {
        self.hub.servers().remove(0)
    }

    /// Waits until the first server is as wanted, following the events.
    pub async fn wait_for(&mut self, wanted: impl Fn(&Server) -> bool) -> Server {
        let started = Instant::now();
        loop {
            let server = self.server();
            if wanted(&server) {
                return server;
            }
            assert!(
                started.elapsed() < WAIT_DEADLINE,
                "it never came to pass: {server:#?}"
            );
            // stderr makes no event: look again now and then.
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

    pub async fn wait_for_stderr(&mut self, words: &str) {
        self.wait_for(|server| server.stderr.iter().any(|line| line.contains(words)))
            .await;
    }

    pub async fn wait_for_notice(&mut self, words: &str) {
        let started = Instant::now();
        while !self
            .notices
            .iter()
            .any(|notice| notice.what.contains(words))
        {
            assert!(
                started.elapsed() < WAIT_DEADLINE,
                "never noticed: {words}; {:?}",
                self.notices
            );
            let _ = tokio::time::timeout(Duration::from_millis(20), self.take_event()).await;
        }
    }

    async fn take_event(&mut self) {
        match self.events.recv().await {
            Some(HubEvent::Progress { progress, .. }) => self.progress.push(progress),
            Some(HubEvent::Noticed(notice)) => self.notices.push(notice),
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
        let calling = self.hub.call(call, cancel);
        tokio::pin!(calling);
        let deadline = tokio::time::sleep(WAIT_DEADLINE);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                outcome = &mut calling => break outcome,
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
        }
    }

    /// Closes the hub, which must not take long, and finds no process left.
    pub async fn close(self) {
        let started = Instant::now();
        self.hub.shutdown().await;
        assert!(
            started.elapsed() < Duration::from_millis(4_300),
            "{:?}",
            started.elapsed()
        );
        assert_eq!(surviving_processes(&self.mark), Vec::<String>::new());
    }

    /// Drops the hub as a panic would, and waits for the last process to go.
    pub fn drop_hub(self) {
        let Self { hub, mark, .. } = self;
        drop(hub);
        let started = Instant::now();
        while !surviving_processes(&mark).is_empty() {
            assert!(
                started.elapsed() < WAIT_DEADLINE,
                "left: {:?}",
                surviving_processes(&mark)
            );
            // Not into the runtime: in a panic no task runs any more.
            std::thread::yield_now();
        }
    }

    pub fn processes(&self) -> usize {
        surviving_processes(&self.mark).len()
    }
}

/// The processes that carry the mark. A zombie has no environment any more.
fn surviving_processes(mark: &str) -> Vec<String> {
    let wanted = format!("{PROCESS_MARK}={mark}");
    let processes = std::fs::read_dir("/proc").expect("these tests run where there is /proc");
    processes
        .flatten()
        .filter(|entry| {
            std::fs::read(entry.path().join("environ")).is_ok_and(|variables| {
                variables
                    .split(|byte| *byte == 0)
                    .any(|one| one == wanted.as_bytes())
            })
        })
        .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
        .collect()
}

pub fn succeeded(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Succeeded { text, .. } => text,
        other => panic!("no success: {other:?}"),
    }
}

pub fn failed(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Failed { text, .. } => text,
        other => panic!("no failure: {other:?}"),
    }
}

pub fn unreachable_because(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Unreachable { why, .. } => why,
        other => panic!("not unreachable: {other:?}"),
    }
}
