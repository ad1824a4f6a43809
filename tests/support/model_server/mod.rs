//! A model server for tests: HTTP/1.1 on 127.0.0.1, with replies scripted down to the bytes
//! of each chunk and all requests recorded. It runs on its own thread, so both synchronous
//! and asynchronous tests can use it, and it ends on drop.
#![allow(
    dead_code,
    unused_imports,
    reason = "each test crate uses only some of these items"
)]

pub mod dialect_models;
pub mod gate;
pub mod hosted;
mod http;
pub mod replies;

pub use gate::Gate;
pub use hosted::*;
use http::{read_request, write_reply};
pub use replies::*;

use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct RecordedRequest {
    pub method: String,
    pub path: String,
    /// Without the question mark.
    pub query: String,
    pub headers: Vec<(String, String)>,
    /// Null if the body was not JSON.
    pub body: Value,
}

impl RecordedRequest {
    /// A header's value; `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(header, _)| header == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The requests that the server has recorded so far.
#[derive(Debug, Clone, Default)]
pub struct ServerLog {
    pub requests: Vec<RecordedRequest>,
    /// Number of replies that the client aborted.
    pub aborted_replies: usize,
}

#[derive(Debug, Clone)]
enum ReplyStep {
    Chunk(Vec<u8>),
    Pause(Duration),
    Gate(Gate),
    /// Waits until this long after the start of the reply or its last gate.
    WaitUntil(Duration),
    /// Closes the connection without ending the reply.
    Disconnect,
    /// Sends nothing more and keeps the connection open.
    Hang,
}

/// A reply: status, headers, and steps performed in order.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<ReplyStep>,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            steps: Vec::new(),
        }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status)
            .header("content-type", "application/json")
            .chunk(body.to_string())
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn chunk(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.with_step(ReplyStep::Chunk(bytes.into()))
    }

    /// Adds a chunk before all others.
    pub fn prepend_chunk(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.insert(0, ReplyStep::Chunk(bytes.into()));
        self
    }

    pub fn pause(self, time: Duration) -> Self {
        self.with_step(ReplyStep::Pause(time))
    }

    /// Sends the rest this long after the start of the reply or its last gate. Unlike pauses, such
    /// waits do not accumulate delay.
    pub fn pause_until(self, time: Duration) -> Self {
        self.with_step(ReplyStep::WaitUntil(time))
    }

    pub fn gate(self, gate: &Gate) -> Self {
        self.with_step(ReplyStep::Gate(gate.clone()))
    }

    pub fn disconnect(self) -> Self {
        self.with_step(ReplyStep::Disconnect)
    }

    pub fn hang(self) -> Self {
        self.with_step(ReplyStep::Hang)
    }

    /// Adds a pause before each step so far.
    pub fn pace(mut self, time: Duration) -> Self {
        let steps = std::mem::take(&mut self.steps).into_iter();
        self.steps = steps
            .flat_map(|step| [ReplyStep::Pause(time), step])
            .collect();
        self
    }

    /// Holds the reply at the gate after `count` chunks.
    pub fn gate_after(mut self, count: usize, gate: &Gate) -> Self {
        self.steps.insert(count, ReplyStep::Gate(gate.clone()));
        self
    }

    /// Closes the connection after `count` chunks.
    pub fn disconnect_after(mut self, count: usize) -> Self {
        self.steps.truncate(count);
        self.disconnect()
    }

    /// Hangs after `count` chunks.
    pub fn hang_after(mut self, count: usize) -> Self {
        self.steps.truncate(count);
        self.hang()
    }

    fn with_step(mut self, step: ReplyStep) -> Self {
        self.steps.push(step);
        self
    }
}

#[derive(Debug, Default)]
struct Script {
    queued: HashMap<String, VecDeque<Reply>>,
    repeated: HashMap<String, Reply>,
    reply_functions: HashMap<String, dialect_models::ReplyFn>,
}

impl Script {
    fn next(&mut self, request: &RecordedRequest) -> Reply {
        let path = request.path.as_str();
        let queued = self.queued.get_mut(path).and_then(VecDeque::pop_front);
        queued
            .or_else(|| self.reply_functions.get(path).map(|reply| reply(request)))
            .or_else(|| self.repeated.get(path).cloned())
            .or_else(|| default_reply(path))
            .unwrap_or_else(|| {
                let text = format!("the test's server has no reply for {path}");
                Reply::json(500, &json!({"error": text}))
            })
    }
}

pub struct ModelServer {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
    log: Arc<watch::Sender<ServerLog>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts listening before it returns.
    pub fn start() -> Self {
        let script = Arc::new(Mutex::new(Script::default()));
        let log = Arc::new(watch::Sender::new(ServerLog::default()));
        let (stop, stopped) = oneshot::channel();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        listener
            .set_nonblocking(true)
            .expect("a configurable socket");
        let (thread_script, thread_log) = (script.clone(), log.clone());
        let thread = std::thread::spawn(move || {
            runtime().block_on(async {
                tokio::select! {
                    () = accept(listener, thread_script, thread_log) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            script,
            log,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Queues a reply to the next request for this path.
    pub fn queue_reply(&self, path: &str, reply: Reply) -> &Self {
        let mut script = self.script.lock().unwrap();
        script
            .queued
            .entry(path.into())
            .or_default()
            .push_back(reply);
        drop(script);
        self
    }

    /// Replies to each request for this path, unless a reply is queued or [`Self::reply_with`] was
    /// called for the path.
    pub fn always_reply(&self, path: &str, reply: Reply) -> &Self {
        let mut script = self.script.lock().unwrap();
        script.repeated.insert(path.into(), reply);
        drop(script);
        self
    }

    pub fn log(&self) -> ServerLog {
        self.log.borrow().clone()
    }

    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.log().requests
    }

    /// The bodies sent to one path, in order.
    pub fn bodies(&self, path: &str) -> Vec<Value> {
        let requests = self.requests().into_iter();
        let matching = requests.filter(|request| request.path == path);
        matching.map(|request| request.body).collect()
    }

    /// Waits until the log matches; panics after ten seconds.
    pub async fn wait_for(&self, is_wanted: impl Fn(&ServerLog) -> bool) -> ServerLog {
        let mut log = self.log.subscribe();
        let result = tokio::time::timeout(WAIT_TIMEOUT, log.wait_for(|log| is_wanted(log))).await;
        let Ok(Ok(log)) = result else {
            panic!("the model server timed out: {:?}", self.log());
        };
        log.clone()
    }

    /// Like [`Self::wait_for`], for synchronous tests.
    pub fn blocking_wait_for(&self, is_wanted: impl Fn(&ServerLog) -> bool) -> ServerLog {
        runtime().block_on(self.wait_for(is_wanted))
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already printed, and this drop may itself be part of a panic.
            let _ = thread.join();
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

async fn accept(
    listener: std::net::TcpListener,
    script: Arc<Mutex<Script>>,
    log: Arc<watch::Sender<ServerLog>>,
) {
    let listener = TcpListener::from_std(listener).expect("inside a runtime");
    // Dropped with this future, so no connection outlives the server.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        if let Ok((socket, _)) = listener.accept().await {
            connections.spawn(serve(socket, script.clone(), log.clone()));
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(
    mut socket: TcpStream,
    script: Arc<Mutex<Script>>,
    log: Arc<watch::Sender<ServerLog>>,
) -> Option<()> {
    loop {
        let request = read_request(&mut socket).await?;
        let reply = script.lock().unwrap().next(&request);
        log.send_modify(|log| log.requests.push(request));
        let (mut reader, mut writer) = socket.split();
        let mut byte = [0];
        let is_reusable = tokio::select! {
            is_reusable = write_reply(&mut writer, reply) => is_reusable,
            // Clients do not pipeline requests, so a read can only detect that the client is gone.
            _ = reader.read(&mut byte) => None,
        };
        match is_reusable {
            Some(true) => {}
            Some(false) => return None,
            None => {
                log.send_modify(|log| log.aborted_replies += 1);
                return None;
            }
        }
    }
}
