//! A hub that knows one server by its URL, and what must be gone when it is closed.

use crate::mcp_http::mcp_desk::Desk;
use crate::mcp_http::web::{PATIENCE, Web};
use crate::support::fixtures;
use humble::domain::server::{Protocol, RemoteTransport};
use humble::domain::{Notice, ServerConfig, ServerStatus};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

pub struct Bench {
    pub desk: Desk,
    pub web: Web,
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
pub fn at(web: &Web, path: &str) -> ServerConfig {
    ServerConfig {
        protocol: Protocol::Legacy,
        ..remote(format!("{}{path}", web.origin), RemoteTransport::Http)
    }
}

impl Bench {
    pub fn of(web: Web, config: ServerConfig) -> Self {
        let tasks = Handle::current().metrics().num_alive_tasks();
        let desk = Desk::of(vec![config]);
        Self { desk, web, tasks }
    }

    /// The same, with what is known of servers kept in a file.
    pub fn remembering(web: Web, config: ServerConfig, file: PathBuf) -> Self {
        let tasks = Handle::current().metrics().num_alive_tasks();
        let mut desk = Desk::of(Vec::new());
        desk.hub.remember_in(file);
        desk.configure(vec![config]);
        Self { desk, web, tasks }
    }

    pub async fn connected(web: Web, config: ServerConfig) -> Self {
        let mut bench = Self::of(web, config);
        bench.until_connected().await;
        bench
    }

    pub async fn until_connected(&mut self) {
        self.desk
            .until(|server| server.status == ServerStatus::Connected)
            .await;
    }

    pub async fn until_sign_in(&mut self) -> Notice {
        let wanted = |status: &ServerStatus| matches!(status, ServerStatus::NeedsSignIn(_));
        let server = self.desk.until(|server| wanted(&server.status)).await;
        match server.status {
            ServerStatus::NeedsSignIn(notice) => notice,
            other => unreachable!("waited for a sign-in, found {other:?}"),
        }
    }

    /// The sentence of a server that could not be started.
    pub async fn refused(web: Web, config: ServerConfig) -> String {
        let mut bench = Self::of(web, config);
        let sentence = bench.desk.until_failed().await.summary();
        bench.close().await;
        sentence
    }

    /// Closes the hub and finds no connection and no task left.
    pub async fn close(self) -> Web {
        let Self { desk, web, tasks } = self;
        desk.close().await;
        web.quiet().await;
        let started = Instant::now();
        while Handle::current().metrics().num_alive_tasks() > tasks {
            assert!(started.elapsed() < PATIENCE, "a task goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        web
    }
}
