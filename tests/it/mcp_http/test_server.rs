//! An MCP server over HTTP for tests: in this process, on a port of its own, well-behaved
//! unless told otherwise, with every request recorded and every connection counted.

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

pub const PATIENCE: Duration = Duration::from_secs(20);
pub const MODERN: &str = "2026-07-28";

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Of HTTP.
    pub verb: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    /// Null where it had none.
    pub body: Value,
    /// How many requests came before with this verb and this method of MCP.
    pub earlier_count: usize,
}

impl ReceivedRequest {
    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.verb)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What is done instead of what a good server would do.
#[derive(Debug, Clone)]
pub enum Behavior {
    /// A whole answer: status, further lines of its head, body.
    Response(u16, Vec<String>, String),
    /// A stream of events, part by part.
    Stream(Vec<ReplyPart>),
    /// What a good server does, so much later.
    Delayed(Duration),
    /// Nothing, with the connection open.
    Hang,
    /// A head that announces JSON, and a body without end.
    EndlessBody,
}

#[derive(Debug, Clone)]
pub enum ReplyPart {
    /// These bytes.
    Text(String),
    /// The answer of a good server.
    Answer,
    Pause(Duration),
    /// The stream stays open, and carries what is told on streams.
    StayOpen,
    /// So many bytes of one event.
    Flood(usize),
    /// The stream stays open until the client leaves.
    Hang,
    /// The connection breaks.
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
    manner: Box<BehaviorFn>,
    asks: Mutex<Vec<ReceivedRequest>>,
    open: AtomicUsize,
    /// Connections that the client left before their answer was whole.
    left: AtomicUsize,
    /// Of HTTP+SSE, and those that were opened by GET.
    pub streams: Mutex<Vec<mpsc::UnboundedSender<String>>>,
    /// What the list of tools holds beyond the usual.
    pub further: Mutex<Vec<Value>>,
    dead: CancellationToken,
}

pub struct TestHttpServer {
    inner: Arc<ServerState>,
    pub origin: String,
    accepting: JoinHandle<()>,
}

impl Drop for TestHttpServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl TestHttpServer {
    /// A server that behaves.
    pub async fn start() -> Self {
        Self::start_with(|_| None).await
    }

    /// A server that does what `manner` says, where it says something.
    pub async fn start_with(
        manner: impl Fn(&ReceivedRequest) -> Option<Behavior> + Send + Sync + 'static,
    ) -> Self {
        Self::at_port(0, manner).await
    }

    /// The same at a port that is wanted, for a server that is met again.
    pub async fn at_port(
        port: u16,
        manner: impl Fn(&ReceivedRequest) -> Option<Behavior> + Send + Sync + 'static,
    ) -> Self {
        let started = Instant::now();
        let listener = loop {
            match TcpListener::bind(("127.0.0.1", port)).await {
                Ok(listener) => break listener,
                // The server before it may not be quite gone.
                Err(_) if started.elapsed() < PATIENCE => sleep(Duration::from_millis(5)).await,
                Err(fault) => panic!("no port: {fault}"),
            }
        };
        let origin = format!("http://{}", listener.local_addr().expect("it is bound"));
        let inner = Arc::new(ServerState {
            manner: Box::new(manner),
            asks: Mutex::default(),
            open: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            streams: Mutex::default(),
            further: Mutex::default(),
            dead: CancellationToken::new(),
        });
        let accepting = {
            let inner = inner.clone();
            tokio::spawn(async move {
                loop {
                    let (stream, _) = tokio::select! {
                        () = inner.dead.cancelled() => break,
                        accepted = listener.accept() => accepted.expect("a connection"),
                    };
                    let inner = inner.clone();
                    inner.open.fetch_add(1, Ordering::SeqCst);
                    tokio::spawn(async move {
                        tokio::select! {
                            () = inner.dead.cancelled() => {}
                            _ = inner.serve(stream) => {}
                        }
                        inner.open.fetch_sub(1, Ordering::SeqCst);
                    });
                }
            })
        };
        Self {
            inner,
            origin,
            accepting,
        }
    }

    pub fn port(&self) -> u16 {
        let port = self.origin.rsplit(':').next();
        port.and_then(|port| port.parse().ok()).expect("it has one")
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.inner.asks.lock().unwrap().clone()
    }

    /// The requests with this method of MCP, or this verb of HTTP.
    pub fn requests_for(&self, method: &str) -> Vec<ReceivedRequest> {
        let mut asks = self.requests();
        asks.retain(|ask| ask.method() == method);
        asks
    }

    pub fn dropped_connections(&self) -> usize {
        self.inner.left.load(Ordering::SeqCst)
    }

    /// Ends the server with all its connections.
    pub fn shut_down(&self) {
        self.inner.dead.cancel();
    }

    /// A tool more from now on.
    pub fn add_tool(&self, definition: Value) {
        self.inner.further.lock().unwrap().push(definition);
    }

    /// Sends a message on all streams that stand open.
    pub fn tell(&self, message: &Value) {
        self.inner.tell(message);
    }

    pub fn streams(&self) -> usize {
        let mut streams = self.inner.streams.lock().unwrap();
        streams.retain(|stream| !stream.is_closed());
        streams.len()
    }

    /// Waits until something is so.
    pub async fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !holds(self) {
            assert!(
                started.elapsed() < PATIENCE,
                "{what} never came to pass: {:?}",
                self.requests()
            );
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Finds no connection left.
    pub async fn wait_until_idle(&self) {
        self.wait_until("no connection", |web| {
            web.inner.open.load(Ordering::SeqCst) == 0
        })
        .await;
    }
}

impl ServerState {
    pub fn tell(&self, message: &Value) {
        for stream in self.streams.lock().unwrap().iter() {
            let _ = stream.send(format!("event: message\ndata: {message}\n\n"));
        }
    }

    async fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader);
        while let Some(ask) = self.read(&mut reader).await? {
            match (self.manner)(&ask) {
                Some(act) => {
                    self.respond_with(act, &ask, &mut reader, &mut writer)
                        .await?
                }
                None => self.respond(&ask, &mut reader, &mut writer).await?,
            }
        }
        Ok(())
    }

    async fn read(
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
            .map_or(0, |it| it.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await?;
        let mut ask = ReceivedRequest {
            verb,
            path,
            headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            earlier_count: 0,
        };
        let mut asks = self.asks.lock().unwrap();
        let alike = asks.iter().filter(|other| other.method() == ask.method());
        ask.earlier_count = alike.count();
        asks.push(ask.clone());
        Ok(Some(ask))
    }

    pub async fn respond_with(
        &self,
        act: Behavior,
        ask: &ReceivedRequest,
        reader: &mut BufReader<OwnedReadHalf>,
        writer: &mut OwnedWriteHalf,
    ) -> std::io::Result<()> {
        match act {
            Behavior::Response(status, head, body) => {
                write_response(writer, status, &head, &body).await
            }
            Behavior::Delayed(time) => {
                sleep(time).await;
                Box::pin(self.respond(ask, reader, writer)).await
            }
            Behavior::Hang => self.wait_for_disconnect(reader).await,
            Behavior::EndlessBody => {
                writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
                write_chunk(writer, "{\"a\":\"").await?;
                let part = "x".repeat(1 << 20);
                while write_chunk(writer, &part).await.is_ok() {}
                self.left.fetch_add(1, Ordering::SeqCst);
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            Behavior::Stream(parts) => {
                begin_stream(writer).await?;
                for part in parts {
                    match part {
                        ReplyPart::Text(text) => write_chunk(writer, &text).await?,
                        ReplyPart::Answer => {
                            let answer = self.answer(ask);
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
        self.left.fetch_add(1, Ordering::SeqCst);
        Err(std::io::ErrorKind::ConnectionAborted.into())
    }
}

pub async fn write_response(
    writer: &mut OwnedWriteHalf,
    status: u16,
    head: &[String],
    body: &str,
) -> std::io::Result<()> {
    let mut text = format!(
        "HTTP/1.1 {status} Some\r\nContent-Length: {}\r\n",
        body.len()
    );
    for line in head {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text.push_str(body);
    writer.write_all(text.as_bytes()).await
}

pub async fn begin_stream(writer: &mut OwnedWriteHalf) -> std::io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    writer.write_all(head.as_bytes()).await
}

pub async fn write_chunk(writer: &mut OwnedWriteHalf, text: &str) -> std::io::Result<()> {
    let head = format!("{:x}\r\n", text.len());
    writer.write_all(head.as_bytes()).await?;
    writer.write_all(text.as_bytes()).await?;
    writer.write_all(b"\r\n").await
}

async fn end_stream(writer: &mut OwnedWriteHalf) -> std::io::Result<()> {
    writer.write_all(b"0\r\n\r\n").await
}
