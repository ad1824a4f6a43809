//! Receives the browser's callback after a sign-in, on 127.0.0.1 and only while a sign-in is open.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use url::Url;

/// The ports that are registered with authorization servers, which compare redirect URIs exactly.
/// They are below the ephemeral port range, so the system does not assign them to other sockets.
pub const CALLBACK_PORTS: [u16; 4] = [14713, 14714, 14715, 14716];
pub const CALLBACK_PATH: &str = "/callback";
/// Maximum number of connections at a time; browsers open a few in advance. A further one takes the
/// place of the oldest.
const CONNECTIONS_MAX: usize = 16;
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
const HEADER_BYTES_MAX: usize = 32 << 10;

/// A request from the browser. `reply` decides which page it shows.
pub struct BrowserVisit {
    pub url: String,
    pub reply: oneshot::Sender<CallbackPage>,
}

#[derive(Debug, Clone, Copy)]
pub enum CallbackPage {
    SignedIn,
    /// The authorization server refused, the answer came from another one, or the code could not
    /// be exchanged for tokens.
    Failed,
    /// The answer does not belong to this sign-in, or this sign-in has ended.
    Stale,
}

/// The open port of one sign-in. Dropping it closes the port and all connections.
pub struct CallbackListener {
    listener: TcpListener,
    pub redirect_uri: Url,
}

/// The address that the browser is sent to.
pub fn redirect_uri(port: u16) -> Url {
    let text = format!("http://127.0.0.1:{port}{CALLBACK_PATH}");
    Url::parse(&text).expect("the text is a valid URL for every port")
}

struct CallbackConnection {
    task: AbortHandle,
    has_request: Arc<AtomicBool>,
}

impl CallbackConnection {
    fn is_idle(&self) -> bool {
        !self.has_request.load(Ordering::Relaxed)
    }
}

impl CallbackListener {
    /// Opens the first free port. If all are taken (`None`), the user can still paste the address.
    pub async fn open(ports: &[u16]) -> Option<Self> {
        for &port in ports {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            match TcpListener::bind(address).await {
                Ok(listener) => {
                    return Some(Self {
                        listener,
                        redirect_uri: redirect_uri(port),
                    });
                }
                Err(error) => tracing::info!("the callback port {port} is not free: {error}"),
            }
        }
        None
    }

    /// Reports each visit to the callback address, until dropped.
    pub async fn run(self, visits: mpsc::Sender<BrowserVisit>) {
        let mut tasks = JoinSet::new();
        // The oldest first.
        let mut connections: Vec<CallbackConnection> = Vec::new();
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                // For example, the process has too many open files.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            while tasks.try_join_next().is_some() {}
            connections.retain(|connection| !connection.task.is_finished());
            if connections.len() == CONNECTIONS_MAX {
                // Another program could keep connections open without a request, so these go first.
                let idle = connections.iter().position(CallbackConnection::is_idle);
                connections.remove(idle.unwrap_or(0)).task.abort();
            }
            let (visits, base) = (visits.clone(), self.redirect_uri.clone());
            let has_request = Arc::new(AtomicBool::new(false));
            let is_asked = Arc::clone(&has_request);
            let task = tasks.spawn(async move {
                let service = service_fn(move |request| {
                    is_asked.store(true, Ordering::Relaxed);
                    let (visits, base) = (visits.clone(), base.clone());
                    async move { Ok::<_, Infallible>(answer(&request, &base, &visits).await) }
                });
                let serving = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEADER_TIMEOUT)
                    .max_buf_size(HEADER_BYTES_MAX)
                    .keep_alive(false)
                    .serve_connection(TokioIo::new(stream), service);
                if let Err(error) = serving.await {
                    tracing::debug!("a callback connection failed: {error}");
                }
            });
            connections.push(CallbackConnection { task, has_request });
        }
    }
}

async fn answer(
    request: &Request<Incoming>,
    base: &Url,
    visits: &mpsc::Sender<BrowserVisit>,
) -> Response<Full<Bytes>> {
    // Another site could send requests to this port under its own host name (DNS rebinding).
    let host = request.headers().get(hyper::header::HOST);
    let expected = base.port().map(|port| format!("127.0.0.1:{port}"));
    let is_ours = host.and_then(|host| host.to_str().ok()) == expected.as_deref()
        && request.uri().path() == CALLBACK_PATH;
    if request.method() != Method::GET || !is_ours {
        return page(StatusCode::NOT_FOUND, "Not found", "There is nothing here.");
    }
    let mut url = base.clone();
    url.set_query(request.uri().query());
    let (reply, shown) = oneshot::channel();
    let visit = BrowserVisit {
        url: url.into(),
        reply,
    };
    if visits.send(visit).await.is_err() {
        return stale_page();
    }
    match shown.await {
        Ok(CallbackPage::SignedIn) => page(
            StatusCode::OK,
            "Signed in",
            "You can close this page and go back to the terminal.",
        ),
        Ok(CallbackPage::Failed) => page(
            StatusCode::BAD_REQUEST,
            "Not signed in",
            "The terminal shows the reason. You can close this page.",
        ),
        Ok(CallbackPage::Stale) | Err(_) => stale_page(),
    }
}

fn stale_page() -> Response<Full<Bytes>> {
    page(
        StatusCode::BAD_REQUEST,
        "Not signed in",
        "This answer belongs to no sign-in in progress. Go back to the terminal.",
    )
}

/// A page without scripts and without anything from the request.
fn page(status: StatusCode, title: &str, text: &str) -> Response<Full<Bytes>> {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>humble: {title}</title>\
         <h1>{title}</h1><p>{text}</p></html>\n"
    );
    let response = Response::builder()
        .status(status)
        .header("content-type", "text/html; charset=utf-8")
        .header("content-security-policy", "default-src 'none'")
        .header("referrer-policy", "no-referrer")
        .header("cache-control", "no-store")
        .header("x-content-type-options", "nosniff");
    response
        .body(Full::new(Bytes::from(body)))
        .expect("all headers are valid")
}
