//! Connections to hosts whose names are resolved by a script. The rest of the tool is tested through
//! its public interface in `tests/it/tools`.

use super::network::{NameResolver, Network};
use super::*;
use hyper_util::client::proxy::matcher::Matcher;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Gives each lookup the next list of addresses.
struct ScriptedResolver {
    answers: Vec<Vec<SocketAddr>>,
    count: AtomicUsize,
}

impl ScriptedResolver {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |address: &&str| address.parse().expect("an address");
        let answers = answers.iter();
        Arc::new(Self {
            answers: answers
                .map(|answer| answer.iter().map(parse).collect())
                .collect(),
            count: AtomicUsize::new(0),
        })
    }
}

impl NameResolver for ScriptedResolver {
    fn resolve(&self, _: &str, _: u16) -> BoxFuture<'_, io::Result<Vec<SocketAddr>>> {
        let index = self.count.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.get(index).cloned();
        Box::pin(async move { answer.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

/// A server that answers every request with `response` and returns the request lines.
fn serve(response: &'static str) -> (SocketAddr, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (sender, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            while lines
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let _ = (&stream).write_all(response.as_bytes());
            if sender.send(first).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

const PAGE: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<h1>Hi</h1>";

async fn fetch(url: &str, network: &Network, allowed: &[&str]) -> Result<String, String> {
    let allowed: Vec<FetchHost> = allowed
        .iter()
        .map(|host| FetchHost::parse(host).expect("a host"))
        .collect();
    let progress = ProgressReporter::ignored();
    let fetch = Fetch {
        network,
        allowed: &allowed,
        progress: &progress,
    };
    let page = fetch.page(Url::parse(url).expect("a URL")).await?;
    Ok(page.text)
}

fn direct(resolver: &Arc<ScriptedResolver>) -> Network {
    Network::scripted(resolver.clone(), Matcher::builder().build())
}

#[tokio::test]
async fn a_name_is_resolved_once_and_the_connection_uses_that_address() {
    let (address, requests) = serve(PAGE);
    let port = address.port();
    // A second lookup would lead elsewhere.
    let resolver = ScriptedResolver::new(&[&[&address.to_string()], &["127.0.0.1:1"]]);
    let url = format!("http://nas.example:{port}/a");
    let host = format!("nas.example:{port}");
    let text = fetch(&url, &direct(&resolver), &[&host]).await;
    assert_eq!(text.as_deref(), Ok("# Hi\n"));
    assert_eq!(resolver.count.load(Ordering::SeqCst), 1);
    assert_eq!(requests.recv().as_deref(), Ok("GET /a HTTP/1.1"));
}

#[tokio::test]
async fn names_that_resolve_to_non_public_addresses_are_refused() {
    let cases: [(&[&str], &str); 4] = [
        (&["127.0.0.1:80"], "resolves to a loopback address"),
        (
            &["93.184.216.34:80", "10.0.0.1:80"],
            "resolves to a private address",
        ),
        (
            &["[::ffff:127.0.0.1]:80"],
            "resolves to an IPv4-mapped address",
        ),
        (&["[64:ff9b::7f00:1]:80"], "resolves to a NAT64 address"),
    ];
    for (addresses, expected) in cases {
        let resolver = ScriptedResolver::new(&[addresses]);
        let why = fetch(
            "http://evil.example/",
            &direct(&resolver),
            &["evil.example:81"],
        )
        .await;
        let why = why.expect_err("refused");
        assert!(
            why.contains(expected) && why.contains("\"evil.example:80\""),
            "{why}"
        );
    }
    let resolver = ScriptedResolver::new(&[&[]]);
    let why = fetch("http://nowhere.example/", &direct(&resolver), &[]).await;
    assert!(
        why.expect_err("no address")
            .contains("`nowhere.example` was not found")
    );
}

#[tokio::test]
async fn with_a_proxy_the_proxy_resolves_names_but_addresses_are_still_checked() {
    let (address, requests) = serve(PAGE);
    let proxies = Matcher::builder().http(format!("http://{address}")).build();
    let resolver = ScriptedResolver::new(&[]);
    let network = Network::scripted(resolver.clone(), proxies);
    let text = fetch("http://page.example/a", &network, &[]).await;
    assert_eq!(text.as_deref(), Ok("# Hi\n"));
    let request = requests.recv().expect("the proxy was asked");
    assert_eq!(request, "GET http://page.example/a HTTP/1.1");
    assert_eq!(resolver.count.load(Ordering::SeqCst), 0);
    for url in [
        "http://localhost/",
        "http://a.localhost./",
        "http://localhost../",
        "http://10.1.2.3/",
        "http://[::1]/",
        "http://0x7f000001/",
    ] {
        let why = fetch(url, &network, &[]).await.expect_err(url);
        assert!(why.contains("only public addresses"), "{url}: {why}");
    }
    assert!(requests.try_recv().is_err());
}
