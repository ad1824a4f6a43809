//! An in-process MCP server over HTTP for tests. It is well-behaved unless configured otherwise,
//! records every request and counts connections.

use crate::mcp_http::http_writer::{begin_stream, end_stream, write_chunk, write_response};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

pub const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
pub const MODERN: &str = "2026-07-28";

/// One received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The HTTP method.
    pub verb: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    /// Null if there was none or it was not JSON.
    pub body: Value,
    /// Number of earlier requests with the same [`Self::method`].
    pub earlier_count: usize,
}

impl ReceivedRequest {
    /// The MCP method, or the HTTP method if the body has none.
    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.verb)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// A replacement for the default response.
#[derive(Debug, Clone)]
pub enum Behavior {
    /// A complete response: status, header lines, body.
    Response(u16, Vec<String>, String),
    Stream(Vec<ReplyPart>),
    /// The default response after a delay.
    Delayed(Duration),
    /// No response; the connection stays open.
    Hang,
    /// Headers that announce JSON, and an endless body.
    EndlessBody,
}

/// One part of an event stream.
#[derive(Debug, Clone)]
pub enum ReplyPart {
    Text(String),
    /// The default answer, as an event.
    Answer,
    Pause(Duration),
    /// Keeps the stream open for broadcast messages.
    StayOpen,
    /// This many bytes of one event.
    Flood(usize),
    /// Keeps the stream open until the client disconnects.
    Hang,
    Disconnect,
}

pub fn status(status: u16, body: &str) -> Option<Behavior> {
    Some(Behavior::Response(status, Vec::new(), body.to_owned()))
}

pub fn json_with(status: u16, body: &Value) -> Option<Behavior> {
    let head = vec!["Content-Type: application/json".to_owned()];
    Some(Behavior::Response(status, head, body.to_string()))
}

pub fn redirect(status: u16, to: &str) -> Option<Behavior> {
    Some(Behavior::Response(
        status,
        vec![format!("Location: {to}")],
        String::new(),
    ))
}

pub fn event(data: &Value) -> ReplyPart {
    ReplyPart::Text(format!("event: message\ndata: {data}\n\n"))
}

type BehaviorFn = dyn Fn(&ReceivedRequest) -> Option<Behavior> + Send + Sync;

pub struct ServerState {
    behavior: Box<BehaviorFn>,
    requests: Mutex<Vec<ReceivedRequest>>,
    open_connections: AtomicUsize,
    /// Connections that the client closed while the server hung or sent an endless body.
    dropped: AtomicUsize,
    /// Streams held open for broadcast messages, including closed ones that are not removed yet.
    pub streams: Mutex<Vec<mpsc::UnboundedSender<String>>>,
    /// Tools in addition to the default one.
    pub extra_tools: Mutex<Vec<Value>>,
    shutdown: CancellationToken,
}

pub struct TestHttpServer {
    state: Arc<ServerState>,
    pub origin: String,
    accepting: JoinHandle<()>,
}

impl Drop for TestHttpServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl TestHttpServer {
    /// A well-behaved server.
    pub async fn start() -> Self {
        Self::start_with(|_| None).await
    }

    /// A server that responds as `behavior` specifies, and by default where it returns `None`.
    pub async fn start_with(
        behavior: impl Fn(&ReceivedRequest) -> Option<Behavior> + Send + Sync + 'static,
    ) -> Self {
        Self::at_port(0, behavior).await
    }

    /// Like [`Self::start_with`], at this port, for tests that restart the server.
    pub async fn at_port(
        port: u16,
        behavior: impl Fn(&ReceivedRequest) -> Option<Behavior> + Send + Sync + 'static,
    ) -> Self {
        let started = Instant::now();
        let listener = loop {
            match TcpListener::bind(("127.0.0.1", port)).await {
                Ok(listener) => break listener,
                // The previous server may still be closing.
                Err(_) if started.elapsed() < WAIT_TIMEOUT => sleep(Duration::from_millis(5)).await,
                Err(error) => panic!("the port cannot be bound: {error}"),
            }
        };
        let origin = format!(
            "http://{}",
            listener.local_addr().expect("the listener is bound")
        );
        let state = Arc::new(ServerState {
            behavior: Box::new(behavior),
            requests: Mutex::default(),
            open_connections: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            streams: Mutex::default(),
            extra_tools: Mutex::default(),
            shutdown: CancellationToken::new(),
        });
        let accepting = {
            let state = state.clone();
            tokio::spawn(async move {
                loop {
                    let (stream, _) = tokio::select! {
                        () = state.shutdown.cancelled() => break,
                        accepted = listener.accept() => accepted.expect("a connection"),
                    };
                    let state = state.clone();
                    state.open_connections.fetch_add(1, Ordering::SeqCst);
                    tokio::spawn(async move {
                        tokio::select! {
                            () = state.shutdown.cancelled() => {}
                            _ = state.serve(stream) => {}
                        }
                        state.open_connections.fetch_sub(1, Ordering::SeqCst);
                    });
                }
            })
        };
        Self {
            state,
            origin,
            accepting,
        }
    }

    pub fn port(&self) -> u16 {
        let port = self.origin.rsplit(':').next();
        port.and_then(|port| port.parse().ok())
            .expect("the origin has a port")
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state.requests.lock().unwrap().clone()
    }

    /// The requests with this MCP method or HTTP method.
    pub fn requests_for(&self, method: &str) -> Vec<ReceivedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.method() == method);
        requests
    }

    pub fn dropped_connections(&self) -> usize {
        self.state.dropped.load(Ordering::SeqCst)
    }

    /// Stops the server and closes all connections.
    pub fn shut_down(&self) {
        self.state.shutdown.cancel();
    }

    pub fn add_tool(&self, definition: Value) {
        self.state.extra_tools.lock().unwrap().push(definition);
    }

    /// Sends a message on all open streams.
    pub fn broadcast(&self, message: &Value) {
        self.state.broadcast(message);
    }

    pub fn open_streams(&self) -> usize {
        let mut streams = self.state.streams.lock().unwrap();
        streams.retain(|stream| !stream.is_closed());
        streams.len()
    }

    pub async fn wait_until(&self, condition: &str, holds: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !holds(self) {
            assert!(
                started.elapsed() < WAIT_TIMEOUT,
                "timed out waiting for: {condition}. Requests: {:?}",
                self.requests()
            );
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until no connection is left.
    pub async fn wait_until_idle(&self) {
        self.wait_until("no connection", |web| {
            web.state.open_connections.load(Ordering::SeqCst) == 0
        })
        .await;
    }
}

impl ServerState {
    pub fn broadcast(&self, message: &Value) {
        for stream in self.streams.lock().unwrap().iter() {
            let _ = stream.send(format!("event: message\ndata: {message}\n\n"));
        }
    }

    async fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader);
        while let Some(request) = self.read_request(&mut reader).await? {
            match (self.behavior)(&request) {
                Some(replacement) => {
                    self.respond_with(replacement, &request, &mut reader, &mut writer)
                        .await?
                }
                None => self.respond(&request, &mut reader, &mut writer).await?,
            }
        }
        Ok(())
    }

    async fn read_request(
        &self,
        reader: &mut BufReader<OwnedReadHalf>,
    ) -> std::io::Result<Option<ReceivedRequest>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let mut words = lines[0].split(' ').map(str::to_owned);
        let (verb, path) = (words.next().unwrap(), words.next().unwrap());
        let headers: HashMap<String, String> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers
            .get("content-length")
            .map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await?;
        let mut request = ReceivedRequest {
            verb,
            path,
            headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            earlier_count: 0,
        };
        let mut requests = self.requests.lock().unwrap();
        let earlier = requests
            .iter()
            .filter(|other| other.method() == request.method());
        request.earlier_count = earlier.count();
        requests.push(request.clone());
        Ok(Some(request))
    }

    pub async fn respond_with(
        &self,
        replacement: Behavior,
        request: &ReceivedRequest,
        reader: &mut BufReader<OwnedReadHalf>,
        writer: &mut OwnedWriteHalf,
    ) -> std::io::Result<()> {
        match replacement {
            Behavior::Response(status, head, body) => {
                write_response(writer, status, &head, &body).await
            }
            Behavior::Delayed(time) => {
                sleep(time).await;
                Box::pin(self.respond(request, reader, writer)).await
            }
            Behavior::Hang => self.wait_for_disconnect(reader).await,
            Behavior::EndlessBody => {
                writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
                write_chunk(writer, "{\"a\":\"").await?;
                let part = "x".repeat(1 << 20);
                while write_chunk(writer, &part).await.is_ok() {}
                self.dropped.fetch_add(1, Ordering::SeqCst);
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            Behavior::Stream(parts) => {
                begin_stream(writer).await?;
                for part in parts {
                    match part {
                        ReplyPart::Text(text) => write_chunk(writer, &text).await?,
                        ReplyPart::Answer => {
                            let answer = self.answer(request);
                            write_chunk(writer, &format!("data: {answer}\n\n")).await?;
                        }
                        ReplyPart::Pause(time) => sleep(time).await,
                        ReplyPart::StayOpen => self.hold_stream_open(reader, writer).await?,
                        ReplyPart::Flood(bytes) => {
                            write_chunk(writer, "data: ").await?;
                            let part = "x".repeat(1 << 20);
                            for _ in 0..bytes >> 20 {
                                write_chunk(writer, &part).await?;
                            }
                        }
                        ReplyPart::Hang => self.wait_for_disconnect(reader).await?,
                        ReplyPart::Disconnect => {
                            return Err(std::io::ErrorKind::ConnectionAborted.into());
                        }
                    }
                }
                end_stream(writer).await
            }
        }
    }

    async fn wait_for_disconnect(
        &self,
        reader: &mut BufReader<OwnedReadHalf>,
    ) -> std::io::Result<()> {
        let _ = reader.read_u8().await;
        self.dropped.fetch_add(1, Ordering::SeqCst);
        Err(std::io::ErrorKind::ConnectionAborted.into())
    }
}
