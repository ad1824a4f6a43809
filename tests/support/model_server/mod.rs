//! A model server for tests: HTTP/1.1 on 127.0.0.1, with replies scripted down to the bytes
//! of each chunk and all requests recorded. It runs on its own thread, so both synchronous
//! and asynchronous tests can use it, and it ends on drop.
#![allow(
    dead_code,
    unused_imports,
    reason = "each test crate uses a part of it"
)]

pub mod dialect_models;
pub mod gate;
pub mod hosted;
pub mod replies;

pub use gate::Gate;
pub use hosted::*;
pub use replies::*;

use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

/// How long a test waits for an event on this server.
const WAIT_DEADLINE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct RecordedRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Null if the body was not JSON.
    pub body: Value,
}

impl RecordedRequest {
    /// A header's value; `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// All events on the server so far.
#[derive(Debug, Clone, Default)]
pub struct ServerLog {
    pub requests: Vec<RecordedRequest>,
    /// Replies that the client aborted.
    pub dropped: usize,
}

#[derive(Debug, Clone)]
enum ReplyStep {
    Chunk(Vec<u8>),
    Pause(Duration),
    Gate(Gate),
    /// Waits until this long after the start of the reply or its last gate.
    At(Duration),
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
        self.act(ReplyStep::Chunk(bytes.into()))
    }

    /// Adds a chunk before all others.
    pub fn prepend_chunk(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.insert(0, ReplyStep::Chunk(bytes.into()));
        self
    }

    pub fn pause(self, time: Duration) -> Self {
        self.act(ReplyStep::Pause(time))
    }

    /// Sends the rest this long after the start of the reply or its last gate: an even pace
    /// without accumulated delay.
    pub fn pause_until(self, time: Duration) -> Self {
        self.act(ReplyStep::At(time))
    }

    pub fn gate(self, gate: &Gate) -> Self {
        self.act(ReplyStep::Gate(gate.clone()))
    }

    pub fn disconnect(self) -> Self {
        self.act(ReplyStep::Disconnect)
    }

    pub fn hang(self) -> Self {
        self.act(ReplyStep::Hang)
    }

    /// Adds a pause before each chunk.
    pub fn pace(mut self, time: Duration) -> Self {
        let acts = std::mem::take(&mut self.steps).into_iter();
        self.steps = acts.flat_map(|act| [ReplyStep::Pause(time), act]).collect();
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

    fn act(mut self, act: ReplyStep) -> Self {
        self.steps.push(act);
        self
    }
}

#[derive(Debug, Default)]
struct Script {
    once: HashMap<String, VecDeque<Reply>>,
    always: HashMap<String, Reply>,
    answers: HashMap<String, dialect_models::ReplyFn>,
}

impl Script {
    fn next(&mut self, request: &RecordedRequest) -> Reply {
        let path = request.path.as_str();
        let once = self.once.get_mut(path).and_then(VecDeque::pop_front);
        once.or_else(|| self.answers.get(path).map(|answer| answer(request)))
            .or_else(|| self.always.get(path).cloned())
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
        let (its_script, its_log) = (script.clone(), log.clone());
        let thread = std::thread::spawn(move || {
            runtime().block_on(async {
                tokio::select! {
                    () = accept(listener, its_script, its_log) => {}
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
        script.once.entry(path.into()).or_default().push_back(reply);
        drop(script);
        self
    }

    /// Replies to each request for this path, unless a reply is queued.
    pub fn always_reply(&self, path: &str, reply: Reply) -> &Self {
        let mut script = self.script.lock().unwrap();
        script.always.insert(path.into(), reply);
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
        let to_path = requests.filter(|request| request.path == path);
        to_path.map(|request| request.body).collect()
    }

    /// Waits until the log matches; panics after ten seconds.
    pub async fn wait_for(&self, wanted: impl Fn(&ServerLog) -> bool) -> ServerLog {
        let mut log = self.log.subscribe();
        let seen = tokio::time::timeout(WAIT_DEADLINE, log.wait_for(|log| wanted(log))).await;
        let Ok(Ok(seen)) = seen else {
            panic!("the model server timed out: {:?}", self.log());
        };
        seen.clone()
    }

    /// Same, for synchronous tests.
    pub fn wait_until(&self, wanted: impl Fn(&ServerLog) -> bool) -> ServerLog {
        runtime().block_on(self.wait_for(wanted))
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was already printed; this drop may be part of another one.
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

/// Serves one connection until either side closes it.
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
        let is_answered = tokio::select! {
            is_whole = write_reply(&mut writer, reply) => is_whole,
            // Clients do not pipeline, so a read only detects the end.
            _ = reader.read(&mut byte) => None,
        };
        match is_answered {
            Some(true) => {}
            Some(false) => return None,
            None => {
                log.send_modify(|log| log.dropped += 1);
                return None;
            }
        }
    }
}

/// `Some(false)`: the reply ends by closing the connection. `None`: the client is gone.
async fn write_reply(writer: &mut (impl AsyncWriteExt + Unpin), reply: Reply) -> Option<bool> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    writer.write_all(head.as_bytes()).await.ok()?;
    let mut began = tokio::time::Instant::now();
    for act in reply.steps {
        match act {
            ReplyStep::Chunk(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                writer.write_all(&chunk).await.ok()?;
            }
            ReplyStep::Pause(time) => tokio::time::sleep(time).await,
            ReplyStep::Gate(gate) => {
                gate.wait_until_open().await;
                began = tokio::time::Instant::now();
            }
            ReplyStep::At(time) => tokio::time::sleep_until(began + time).await,
            ReplyStep::Disconnect => return Some(false),
            ReplyStep::Hang => std::future::pending().await,
        }
    }
    writer.write_all(b"0\r\n\r\n").await.ok()?;
    Some(true)
}

async fn read_request(socket: &mut TcpStream) -> Option<RecordedRequest> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        read_some(socket, &mut bytes).await?;
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?);
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(Some(0), |(_, value)| value.parse().ok())?;
    while bytes.len() < head + 4 + length {
        read_some(socket, &mut bytes).await?;
    }
    Some(RecordedRequest {
        method,
        path: target.split('?').next()?.to_owned(),
        headers,
        body: serde_json::from_slice(&bytes[head + 4..]).unwrap_or_default(),
    })
}

async fn read_some(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let count = socket.read_buf(bytes).await.ok()?;
    (count > 0).then_some(())
}
