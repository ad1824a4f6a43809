//! A hub that knows one server by its URL, and what must be gone when it is closed.

use crate::mcp_http::hub_harness::HubHarness;
use crate::mcp_http::test_server::{PATIENCE, TestHttpServer};
use crate::support::fixtures;
use humble::domain::server::{ProtocolMode, RemoteTransport};
use humble::domain::{Notice, ServerConfig, ServerStatus};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

pub struct HttpHarness {
    pub desk: HubHarness,
    pub web: TestHttpServer,
    tasks: usize,
}

pub fn remote(url: String, transport: RemoteTransport) -> ServerConfig {
    let headers = [("Authorization", "Bearer s3cret-token")];
    let launch = fixtures::remote(&url, transport, &headers);
    ServerConfig {
        startup_timeout: Duration::from_secs(3),
        ..fixtures::server_config("web", launch)
    }
}

/// A server under this path, spoken to over streamable HTTP of the older era.
pub fn server_at(web: &TestHttpServer, path: &str) -> ServerConfig {
    ServerConfig {
        protocol: ProtocolMode::Legacy,
        ..remote(format!("{}{path}", web.origin), RemoteTransport::Http)
    }
}

impl HttpHarness {
    pub fn start(web: TestHttpServer, config: ServerConfig) -> Self {
        let tasks = Handle::current().metrics().num_alive_tasks();
        let desk = HubHarness::start(vec![config]);
        Self { desk, web, tasks }
    }

    /// The same, with what is known of servers kept in a file.
    pub fn start_with_cache(web: TestHttpServer, config: ServerConfig, file: PathBuf) -> Self {
        let tasks = Handle::current().metrics().num_alive_tasks();
        let mut desk = HubHarness::start(Vec::new());
        desk.hub.set_cache_file(file);
        desk.configure(vec![config]);
        Self { desk, web, tasks }
    }

    pub async fn start_connected(web: TestHttpServer, config: ServerConfig) -> Self {
        let mut bench = Self::start(web, config);
        bench.wait_until_connected().await;
        bench
    }

    pub async fn wait_until_connected(&mut self) {
        self.desk
            .wait_for(|server| server.status == ServerStatus::Connected)
            .await;
    }

    pub async fn wait_for_sign_in(&mut self) -> Notice {
        let wanted = |status: &ServerStatus| matches!(status, ServerStatus::NeedsSignIn(_));
        let server = self.desk.wait_for(|server| wanted(&server.status)).await;
        match server.status {
            ServerStatus::NeedsSignIn(notice) => notice,
            other => unreachable!("waited for a sign-in, found {other:?}"),
        }
    }

    /// The sentence of a server that could not be started.
    pub async fn connection_error(web: TestHttpServer, config: ServerConfig) -> String {
        let mut bench = Self::start(web, config);
        let sentence = bench.desk.wait_for_failure().await.summary();
        bench.close().await;
        sentence
    }

    /// Closes the hub and finds no connection and no task left.
    pub async fn close(self) -> TestHttpServer {
        let Self { desk, web, tasks } = self;
        desk.close().await;
        web.wait_until_idle().await;
        let started = Instant::now();
        while Handle::current().metrics().num_alive_tasks() > tasks {
            assert!(started.elapsed() < PATIENCE, "a task goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        web
    }
}
