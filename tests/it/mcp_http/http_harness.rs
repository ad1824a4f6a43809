//! A hub with one server at a URL, and the checks for leftovers when it is closed.

use crate::mcp_http::hub_harness::HubHarness;
use crate::mcp_http::test_server::{TestHttpServer, WAIT_TIMEOUT};
use crate::support::fixtures;
use humble::domain::server::{ProtocolMode, RemoteTransport};
use humble::domain::{Notice, ServerConfig, ServerStatus};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

pub struct HttpHarness {
    pub mcp: HubHarness,
    pub web: TestHttpServer,
    task_count: usize,
}

/// The server `web` at this URL, with an `Authorization` header.
pub fn remote(url: String, transport: RemoteTransport) -> ServerConfig {
    let headers = [("Authorization", "Bearer s3cret-token")];
    let launch = fixtures::remote(&url, transport, &headers);
    ServerConfig {
        startup_timeout: Duration::from_secs(3),
        ..fixtures::server_config("web", launch)
    }
}

/// A server at this path that uses legacy streamable HTTP.
pub fn server_at(web: &TestHttpServer, path: &str) -> ServerConfig {
    ServerConfig {
        protocol: ProtocolMode::Legacy,
        ..remote(format!("{}{path}", web.origin), RemoteTransport::Http)
    }
}

impl HttpHarness {
    pub fn start(web: TestHttpServer, config: ServerConfig) -> Self {
        let task_count = Handle::current().metrics().num_alive_tasks();
        let mcp = HubHarness::start(vec![config]);
        Self {
            mcp,
            web,
            task_count,
        }
    }

    /// Like [`Self::start`], with a detection cache in this file.
    pub fn start_with_cache(web: TestHttpServer, config: ServerConfig, file: PathBuf) -> Self {
        let task_count = Handle::current().metrics().num_alive_tasks();
        let mut mcp = HubHarness::start(Vec::new());
        mcp.hub.set_cache_file(file);
        mcp.configure(vec![config]);
        Self {
            mcp,
            web,
            task_count,
        }
    }

    pub async fn start_connected(web: TestHttpServer, config: ServerConfig) -> Self {
        let mut harness = Self::start(web, config);
        harness.wait_until_connected().await;
        harness
    }

    pub async fn wait_until_connected(&mut self) {
        self.mcp
            .wait_for(|server| server.status == ServerStatus::Connected)
            .await;
    }

    pub async fn wait_for_sign_in(&mut self) -> Notice {
        let is_sign_in = |status: &ServerStatus| matches!(status, ServerStatus::NeedsSignIn(_));
        let server = self.mcp.wait_for(|server| is_sign_in(&server.status)).await;
        match server.status {
            ServerStatus::NeedsSignIn(notice) => notice,
            other => unreachable!("waited for a sign-in, found {other:?}"),
        }
    }

    /// The notice about a connection that failed.
    pub async fn connection_error(web: TestHttpServer, config: ServerConfig) -> String {
        let mut harness = Self::start(web, config);
        let sentence = harness.mcp.wait_for_failure().await.summary();
        harness.close().await;
        sentence
    }

    /// Closes the hub and checks that no connection and no task is left.
    pub async fn close(self) -> TestHttpServer {
        let Self {
            mcp,
            web,
            task_count,
        } = self;
        mcp.close().await;
        web.wait_until_idle().await;
        let started = Instant::now();
        while Handle::current().metrics().num_alive_tasks() > task_count {
            assert!(started.elapsed() < WAIT_TIMEOUT, "a task is still running");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        web
    }
}
