//! Soak test (`just soak`): twenty servers, two thousand calls and random kills for three minutes.
//! Every call must be answered, no process may be left, and memory must not grow.
//! `HUMBLE_SOAK_SECONDS` shortens it at the same call rate. Not part of `cargo test`, because it
//! needs an idle machine, time, and /proc.

#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "support/test_rng.rs"]
mod test_rng;

use humble::domain::server::RemoteTransport;
use humble::domain::{CallId, Server, ServerConfig, ServerId, ServerStatus, ToolOutcome};
use humble::mcp::{Hub, HubEvent, McpCall};
use humble::serve::BuiltInServer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;
use test_rng::TestRng;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

const SERVERS: usize = 20;
/// Number of servers reached over HTTP.
const REMOTE: usize = 5;
const SECONDS: u64 = 180;
const CALLS: u64 = 2_000;
const KILL_EVERY: Duration = Duration::from_secs(2);
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
/// Deadline of every call, whatever happens to its server.
const ANSWER_MAX: Duration = Duration::from_secs(60);
const PROCESS_MARK: &str = "HUMBLE_TEST_MARK";
/// Maximum growth of resident memory in kB per minute; a leaked call result or session would exceed
/// it.
const SLOPE_MAX: f64 = 2_048.0;
/// The slope of a shorter run is not meaningful.
const WARM_UP_SECONDS: u64 = 60;
const BEHAVIORS: [&str; 5] = ["", "one-bad-tool", "junk", "asks", "parent"];

/// The path of an example built alongside this test.
fn example(name: &str) -> PathBuf {
    let mut program = std::env::current_exe().expect("a test has a path");
    program.pop();
    program.pop();
    let program = program.join("examples").join(name);
    assert!(program.exists(), "run `cargo build --example {name}` first");
    program
}

/// A server over HTTP, restarted after it is killed.
struct HttpServerProcess {
    port: u16,
    child: Child,
}

impl HttpServerProcess {
    fn start(mark: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("bound").port();
        drop(free);
        let child = Self::run(port, mark);
        Self { port, child }
    }

    fn run(port: u16, mark: &str) -> Child {
        let mut command = Command::new(example("test-http-server"));
        command.arg(port.to_string()).env(PROCESS_MARK, mark);
        command.spawn().expect("the server starts")
    }

    fn revive(&mut self, mark: &str) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            self.child = Self::run(self.port, mark);
        }
    }
}

impl Drop for HttpServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn remote(number: usize, remote: &HttpServerProcess) -> ServerConfig {
    let url = format!("http://127.0.0.1:{}/mcp", remote.port);
    ServerConfig {
        launch: fixtures::remote(&url, RemoteTransport::Http, &[]),
        ..server(number, "")
    }
}

fn server(number: usize, mark: &str) -> ServerConfig {
    let program = example("test-mcp-server");
    let manner = BEHAVIORS[number % BEHAVIORS.len()];
    let launch = fixtures::stdio(
        &program.to_string_lossy(),
        &[manner],
        &[(PROCESS_MARK, mark)],
    );
    ServerConfig {
        startup_timeout: Duration::from_secs(20),
        tool_timeout: Duration::from_secs(5),
        ..fixtures::server_config(&format!("server-{number}"), launch)
    }
}

/// Ids of the processes with this mark.
fn alive(mark: &str) -> Vec<i32> {
    let wanted = format!("{PROCESS_MARK}={mark}");
    let entries = std::fs::read_dir("/proc").expect("the soak test needs /proc");
    let is_ours = |path: PathBuf| {
        let variables = std::fs::read(path.join("environ")).unwrap_or_default();
        let mut variables = variables.split(|byte| *byte == 0);
        variables.any(|variable| variable == wanted.as_bytes())
    };
    let ours = entries.flatten().filter(|entry| is_ours(entry.path()));
    let ids = ours.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.collect()
}

/// Resident memory of this process, in kB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).expect("kB")
}

/// Slope in kB per minute, by least squares. Skips the first third, where everything is allocated
/// for the first time.
fn slope(samples: &[(f64, f64)]) -> f64 {
    let samples = &samples[samples.len() / 3..];
    let count = samples.len() as f64;
    let mean =
        |component: fn(&(f64, f64)) -> f64| samples.iter().map(component).sum::<f64>() / count;
    let (x, y) = (mean(|sample| sample.0), mean(|sample| sample.1));
    let numerator: f64 = samples.iter().map(|(a, b)| (a - x) * (b - y)).sum();
    let denominator: f64 = samples.iter().map(|(a, _)| (a - x).powi(2)).sum();
    numerator / denominator
}

#[test]
fn slope_of_a_line_is_computed() {
    let line: Vec<(f64, f64)> = (0..90)
        .map(|n| (f64::from(n), 7.0 * f64::from(n) + 3.0))
        .collect();
    assert!((slope(&line) - 7.0).abs() < 1e-9);
}

fn random_call(rng: &mut TestRng, number: u64) -> (McpCall, bool) {
    let long = "가나다 ".repeat(1 + rng.below(10_000));
    let (tool, arguments) = match rng.below(200) {
        0..70 => ("add", json!({ "a": 1, "b": 2 })),
        70..120 => ("echo", json!({ "text": long })),
        120..140 => ("slow", json!({ "seconds": 0.3 })),
        140..160 => ("progress", json!({ "seconds": 0.3 })),
        160..170 => ("fail", json!({})),
        170..180 => ("odd", json!({})),
        180..187 => ("late", json!({ "seconds": 0.2 })),
        187..193 => ("no-such-tool", json!({})),
        193..199 => ("grow", json!({})),
        _ => ("die", json!({})),
    };
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Default::default(),
    };
    let call = McpCall {
        id: CallId(number),
        server: ServerId::new(format!("server-{}", rng.below(SERVERS))),
        tool: tool.to_owned(),
        arguments,
        pin: None,
    };
    (call, rng.one_in(20))
}

fn name(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Succeeded { .. } => "succeeded",
        ToolOutcome::Failed { .. } => "failed",
        ToolOutcome::Unreachable { .. } => "unreachable",
        ToolOutcome::TimedOut { .. } => "timed out",
        ToolOutcome::Interrupted => "interrupted",
        _ => "otherwise",
    }
}

struct Soak {
    hub: Hub,
    calls: JoinSet<&'static str>,
    ends: BTreeMap<&'static str, u64>,
    started_calls: u64,
    killed: u64,
    samples: Vec<(f64, f64)>,
    rng: TestRng,
    remotes: Vec<HttpServerProcess>,
}

impl Soak {
    fn call(&mut self) {
        self.started_calls += 1;
        let (call, is_cancelled) = random_call(&mut self.rng, self.started_calls);
        let cancel = CancellationToken::new();
        let calling = self.hub.call(call.clone(), cancel.clone());
        self.calls.spawn(async move {
            if is_cancelled {
                cancel.cancel();
            }
            let outcome = timeout(ANSWER_MAX, calling)
                .await
                .unwrap_or_else(|_| panic!("no outcome for {call:?}"));
            name(&outcome)
        });
    }

    fn revive_remotes(&mut self, mark: &str) {
        for process in &mut self.remotes {
            process.revive(mark);
        }
    }

    fn kill(&mut self, mark: &str) {
        // The client has noticed the previous kill by now.
        self.revive_remotes(mark);
        let alive = alive(mark);
        if alive.is_empty() {
            return;
        }
        let chosen = *self.rng.pick(&alive);
        if let Some(process) = Pid::from_raw(chosen)
            && kill_process(process, Signal::KILL).is_ok()
        {
            self.killed += 1;
        }
        // Now and then the user reconnects a failed server.
        let servers = self.hub.servers();
        let server = self.rng.pick(&servers);
        if matches!(server.status, ServerStatus::Failed(_)) {
            self.hub.reconnect(&server.id);
        }
    }

    fn count(&mut self, ended: Option<Result<&'static str, tokio::task::JoinError>>) {
        if let Some(ended) = ended {
            let end = ended.expect("every call has an outcome");
            *self.ends.entry(end).or_default() += 1;
        }
    }
}

/// Checks that every server recovers after a manual reconnect.
async fn every_server_recovers(soak: &mut Soak) {
    let ids: Vec<ServerId> = soak
        .hub
        .servers()
        .into_iter()
        .map(|server| server.id)
        .collect();
    for id in &ids {
        soak.hub.reconnect(id);
    }
    let is_connected = |server: &Server| server.status == ServerStatus::Connected;
    let back = async {
        let mut ticks = interval(Duration::from_millis(50));
        // Require several successes in a row, since a server that is about to be closed is still
        // connected.
        let mut successes = 0;
        while successes < 10 {
            ticks.tick().await;
            let all = soak.hub.servers().iter().all(is_connected);
            successes = if all { successes + 1 } else { 0 };
        }
    };
    let waited = timeout(Duration::from_secs(60), back).await;
    assert!(
        waited.is_ok(),
        "all servers recover: {:#?}",
        soak.hub.servers()
    );
    for (number, id) in ids.into_iter().enumerate() {
        let arguments = json!({ "a": number, "b": 1 });
        let call = McpCall {
            id: CallId(number as u64),
            server: id,
            tool: "add".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            pin: None,
        };
        let outcome = soak.hub.call(call, CancellationToken::new()).await;
        let sum = (number + 1).to_string();
        assert!(
            matches!(&outcome, ToolOutcome::Succeeded { text, .. } if *text == sum),
            "{outcome:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes three minutes: `just soak`"]
async fn every_call_has_an_outcome_although_servers_are_killed() {
    let seconds = std::env::var("HUMBLE_SOAK_SECONDS").ok();
    let seconds: u64 = seconds.map_or(SECONDS, |text| text.parse().expect("seconds"));
    let calls = CALLS * seconds / SECONDS;
    let mark = format!("soak-{}", std::process::id());
    let (sender, mut events) = mpsc::channel::<HubEvent>(64);
    let mut hub = Hub::new(sender, Arc::new(BuiltInServer));
    let remotes: Vec<HttpServerProcess> = (0..REMOTE)
        .map(|_| HttpServerProcess::start(&mark))
        .collect();
    let numbered = remotes.iter().enumerate();
    let over_http = numbered.map(|(number, process)| remote(number, process));
    let children = (REMOTE..SERVERS).map(|number| server(number, &mark));
    hub.configure(over_http.chain(children).collect());
    let reading = tokio::spawn(async move { while events.recv().await.is_some() {} });
    let mut soak = Soak {
        hub,
        calls: JoinSet::new(),
        ends: BTreeMap::new(),
        started_calls: 0,
        killed: 0,
        samples: Vec::new(),
        rng: TestRng::new(6),
        remotes,
    };
    let ticker = |every: Duration| {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        ticks
    };
    let mut call = ticker(Duration::from_secs(seconds) / u32::try_from(calls).expect("few"));
    let (mut kill, mut sample) = (ticker(KILL_EVERY), ticker(SAMPLE_EVERY));
    let started = Instant::now();
    // A busy machine may fall behind schedule, so the number of calls decides.
    while soak.started_calls < calls || started.elapsed() < Duration::from_secs(seconds) {
        tokio::select! {
            _ = call.tick(), if soak.started_calls < calls => soak.call(),
            _ = kill.tick() => soak.kill(&mark),
            _ = sample.tick() => {
                let minutes = started.elapsed().as_secs_f64() / 60.0;
                soak.samples.push((minutes, resident()));
            }
            ended = soak.calls.join_next(), if !soak.calls.is_empty() => soak.count(ended),
        }
    }
    while let Some(ended) = soak.calls.join_next().await {
        soak.count(Some(ended));
    }
    let slope = slope(&soak.samples);
    let last = soak.samples.last().map_or(0.0, |sample| sample.1);
    println!(
        "soak: {calls} calls {:?}, {} processes killed in {} s, {last:.0} kB resident, {slope:+.0} kB a minute",
        soak.ends,
        soak.killed,
        started.elapsed().as_secs()
    );
    assert_eq!(soak.ends.values().sum::<u64>(), calls, "{:?}", soak.ends);
    assert!(soak.ends["succeeded"] * 2 > calls, "{:?}", soak.ends);
    soak.revive_remotes(&mark);
    every_server_recovers(&mut soak).await;
    soak.hub.shutdown().await;
    reading.await.expect("the reader ends with the channel");
    drop(soak.remotes);
    assert_eq!(alive(&mark), Vec::<i32>::new(), "every process is gone");
    assert!(
        seconds < WARM_UP_SECONDS || slope < SLOPE_MAX,
        "{slope:+.0} kB a minute"
    );
}
