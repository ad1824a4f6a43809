//! Load test of `humble serve --http` (part of `just soak`): 200 clients call `get_time` for a
//! minute. None may starve, and memory must not grow. `HUMBLE_SOAK_SECONDS` sets a shorter duration.
//! With `HUMBLE_MCP_SERVERS` (see `tests/interop.rs`), as many clients then call a FastMCP server
//! with the same tool, for comparison. Not part of `cargo test`, because it needs an idle machine,
//! time, and /proc.

#[path = "load/client.rs"]
mod client;
#[path = "support/memory.rs"]
mod memory;

use client::LoadClient;
use memory::{resident_kilobytes, slope};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinSet;

const CLIENT_COUNT: usize = 200;
const SECONDS: u64 = 60;
const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum number of calls per client, relative to the mean of all clients.
const FAIR_SHARE_MIN: f64 = 0.5;
/// Maximum growth of resident memory, in kB per minute.
const MEMORY_SLOPE_MAX: f64 = 2_048.0;
/// In a shorter run, the slope is not meaningful and is not checked.
const SLOPE_SECONDS_MIN: u64 = 60;

/// A server process, killed when dropped.
struct ServerProcess {
    child: Child,
    address: SocketAddr,
    /// Holds its files.
    _folder: TempDir,
}

impl ServerProcess {
    fn humble() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_humble"));
        command.args([
            "serve",
            "--http",
            "--port",
            "0",
            "--rate-limit",
            "0",
            "--home",
        ]);
        command.arg(folder.path()).env_remove("HUMBLE_SERVE_TOKEN");
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("the first line");
        let url = line.trim().rsplit("http://").next().expect("an address");
        let address = url.parse().expect("an address");
        // The program logs each call there, so the pipe must be emptied.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self {
            child,
            address,
            _folder: folder,
        }
    }

    fn fastmcp(servers: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        drop(listener);
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/load/fastmcp_time.py");
        let mut command = Command::new(format!("{servers}/python/bin/python"));
        command.arg(program).arg(address.port().to_string());
        command
            .env("HOME", folder.path())
            .current_dir(folder.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("python starts");
        let deadline = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(address).is_err() {
            assert!(
                Instant::now() < deadline,
                "the FastMCP server does not listen"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Self {
            child,
            address,
            _folder: folder,
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct LoadReport {
    calls_per_second: f64,
    p50: Duration,
    p99: Duration,
    slowest: Duration,
    /// Number of calls by each client.
    counts: Vec<usize>,
    resident_kilobytes: f64,
    /// Growth of resident memory, in kB per minute.
    slope: f64,
}

impl LoadReport {
    fn print(&self, name: &str) {
        let fewest = self.counts.iter().min().expect("clients");
        let most = self.counts.iter().max().expect("clients");
        println!(
            "{name}: {:.0} calls a second, p50 {:.1} ms, p99 {:.1} ms, slowest {:.0} ms, {fewest} to {most} calls a \
             client, {:.0} kB resident, {:+.0} kB a minute",
            self.calls_per_second,
            milliseconds(self.p50),
            milliseconds(self.p99),
            milliseconds(self.slowest),
            self.resident_kilobytes,
            self.slope
        );
    }

    fn assert_fair(&self) {
        let total: usize = self.counts.iter().sum();
        let mean = total as f64 / self.counts.len() as f64;
        let fewest = *self.counts.iter().min().expect("clients") as f64;
        assert!(
            mean >= 1.0 && fewest >= mean * FAIR_SHARE_MIN,
            "{:?}",
            self.counts
        );
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

async fn run_load(server: &ServerProcess, duration: Duration) -> LoadReport {
    let mut clients = Vec::new();
    for _ in 0..CLIENT_COUNT {
        clients.push(LoadClient::open(server.address).await);
    }
    let started = Instant::now();
    let end = started + duration;
    let mut running = JoinSet::new();
    for mut client in clients {
        running.spawn(async move { client.call_until(end).await });
    }
    let process = server.child.id().to_string();
    let mut samples = Vec::new();
    while Instant::now() < end {
        tokio::time::sleep(SAMPLE_INTERVAL).await;
        let minutes = started.elapsed().as_secs_f64() / 60.0;
        samples.push((minutes, resident_kilobytes(&process)));
    }
    let times = running.join_all().await;
    let elapsed = started.elapsed().as_secs_f64();
    let counts = times.iter().map(Vec::len).collect();
    let mut all: Vec<Duration> = times.into_iter().flatten().collect();
    all.sort_unstable();
    LoadReport {
        calls_per_second: all.len() as f64 / elapsed,
        p50: all[all.len() / 2],
        p99: all[all.len() * 99 / 100],
        slowest: all[all.len() - 1],
        counts,
        resident_kilobytes: samples.last().map_or(0.0, |sample| sample.1),
        slope: slope(&samples),
    }
}

#[tokio::test]
#[ignore = "takes two minutes: `just soak`"]
async fn two_hundred_clients_are_served_fairly_within_steady_memory() {
    let seconds = std::env::var("HUMBLE_SOAK_SECONDS").ok();
    let seconds = seconds.map_or(SECONDS, |text| text.parse().expect("seconds"));
    let seconds = seconds.min(SECONDS);
    let duration = Duration::from_secs(seconds);
    let ours = run_load(&ServerProcess::humble(), duration).await;
    ours.print("humble serve");
    ours.assert_fair();
    assert!(
        seconds < SLOPE_SECONDS_MIN || ours.slope < MEMORY_SLOPE_MAX,
        "{:+.0} kB a minute",
        ours.slope
    );
    let Ok(servers) = std::env::var("HUMBLE_MCP_SERVERS") else {
        println!("HUMBLE_MCP_SERVERS is not set: not compared with FastMCP");
        return;
    };
    let theirs = run_load(&ServerProcess::fastmcp(&servers), duration).await;
    theirs.print("FastMCP");
    println!(
        "humble serve relative to FastMCP: {:.1} times the calls, {:.2} times the memory",
        ours.calls_per_second / theirs.calls_per_second,
        ours.resident_kilobytes / theirs.resident_kilobytes
    );
    assert!(ours.calls_per_second > theirs.calls_per_second);
    assert!(ours.resident_kilobytes < theirs.resident_kilobytes);
}
