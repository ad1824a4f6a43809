//! Twenty servers, two thousand calls, servers killed at random, for three minutes
//! (`just soak`): no call without an answer, nobody left at the end, and memory that
//! does not grow. `HUMBLE_SOAK_SECONDS` makes it shorter, with as many calls a second.
//! Not run by `cargo test`: it needs quiet and time, and /proc.

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
/// Those of them that are reached over HTTP.
const REMOTE: usize = 5;
const SECONDS: u64 = 180;
const CALLS: u64 = 2_000;
const KILL_EVERY: Duration = Duration::from_secs(2);
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
/// No call takes so long, whatever happens to its server.
const ANSWER_MAX: Duration = Duration::from_secs(60);
const PROCESS_MARK: &str = "HUMBLE_TEST_MARK";
/// Resident memory may grow by so much in a minute, in kB: a leak of a call's result
/// or of a session would be more.
const SLOPE_MAX: f64 = 2_048.0;
/// Too short a run has no slope worth a judgement.
const WARM_UP_SECONDS: u64 = 60;
const BEHAVIORS: [&str; 5] = ["", "one-bad-tool", "junk", "asks", "parent"];

/// A program that is built beside this one.
fn example(name: &str) -> PathBuf {
    let mut program = std::env::current_exe().expect("a test knows its own path");
    program.pop();
    program.pop();
    let program = program.join("examples").join(name);
    assert!(program.exists(), "`cargo build --example {name}` makes it");
    program
}

/// A server over HTTP, which somebody starts again whenever it is killed.
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
        command.spawn().expect("it starts")
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

/// Processes that bear the mark, by their ids.
fn alive(mark: &str) -> Vec<i32> {
    let wanted = format!("{PROCESS_MARK}={mark}");
    let entries = std::fs::read_dir("/proc").expect("a soak runs where there is /proc");
    let is_ours = |path: PathBuf| {
        let variables = std::fs::read(path.join("environ")).unwrap_or_default();
        let mut variables = variables.split(|byte| *byte == 0);
        variables.any(|one| one == wanted.as_bytes())
    };
    let ours = entries.flatten().filter(|entry| is_ours(entry.path()));
    let ids = ours.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.collect()
}

/// Memory of this process that is resident, in kB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).expect("kB")
}

/// kB a minute, by least squares. The first third is left out: there everything is
/// allocated for the first time.
fn slope(samples: &[(f64, f64)]) -> f64 {
    let samples = &samples[samples.len() / 3..];
    let count = samples.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|sample| sample.0), mean(|sample| sample.1));
    let above: f64 = samples.iter().map(|(a, b)| (a - x) * (b - y)).sum();
    let below: f64 = samples.iter().map(|(a, _)| (a - x).powi(2)).sum();
    above / below
}

#[test]
fn slope_of_a_line_is_computed() {
    let line: Vec<(f64, f64)> = (0..90)
        .map(|n| (f64::from(n), 7.0 * f64::from(n) + 3.0))
        .collect();
    assert!((slope(&line) - 7.0).abs() < 1e-9);
}

fn random_call(dice: &mut TestRng, number: u64) -> (McpCall, bool) {
    let long = "가나다 ".repeat(1 + dice.below(10_000));
    let (tool, arguments) = match dice.below(200) {
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
        server: ServerId::new(format!("server-{}", dice.below(SERVERS))),
        tool: tool.to_owned(),
        arguments,
        pin: None,
    };
    (call, dice.one_in(20))
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
    begun: u64,
    killed: u64,
    samples: Vec<(f64, f64)>,
    dice: TestRng,
    remotes: Vec<HttpServerProcess>,
}

impl Soak {
    fn call(&mut self) {
        self.begun += 1;
        let (call, is_cut) = random_call(&mut self.dice, self.begun);
        let cancel = CancellationToken::new();
        let calling = self.hub.call(call.clone(), cancel.clone());
        self.calls.spawn(async move {
            if is_cut {
                cancel.cancel();
            }
            let answered = timeout(ANSWER_MAX, calling).await;
            let answered = answered.unwrap_or_else(|_| panic!("no answer to {call:?}"));
            name(&answered)
        });
    }

    fn kill(&mut self, mark: &str) {
        // What was killed last time has been missed by now.
        self.remotes.iter_mut().for_each(|one| one.revive(mark));
        let alive = alive(mark);
        if alive.is_empty() {
            return;
        }
        let chosen = *self.dice.pick(&alive);
        if let Some(process) = Pid::from_raw(chosen)
            && kill_process(process, Signal::KILL).is_ok()
        {
            self.killed += 1;
        }
        // A person looks at one that is down, now and then.
        let servers = self.hub.servers();
        let server = self.dice.pick(&servers);
        if matches!(server.status, ServerStatus::Failed(_)) {
            self.hub.reconnect(&server.id);
        }
    }

    fn count(&mut self, ended: Option<Result<&'static str, tokio::task::JoinError>>) {
        if let Some(ended) = ended {
            let end = ended.expect("each call has an answer");
            *self.ends.entry(end).or_default() += 1;
        }
    }
}

/// After all that each server is well again, once a person asks for it.
async fn everybody_comes_back(soak: &mut Soak) {
    let ids: Vec<ServerId> = soak
        .hub
        .servers()
        .into_iter()
        .map(|server| server.id)
        .collect();
    for id in &ids {
        soak.hub.reconnect(id);
    }
    let is_well = |server: &Server| server.status == ServerStatus::Connected;
    let back = async {
        let mut ticks = interval(Duration::from_millis(50));
        // Twice in a row: one that is about to be closed is still connected.
        let mut well = 0;
        while well < 10 {
            ticks.tick().await;
            let all = soak.hub.servers().iter().all(is_well);
            well = if all { well + 1 } else { 0 };
        }
    };
    let waited = timeout(Duration::from_secs(60), back).await;
    assert!(
        waited.is_ok(),
        "all servers come back: {:#?}",
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
async fn servers_that_die_at_random_cost_no_call_its_answer() {
    let seconds = std::env::var("HUMBLE_SOAK_SECONDS").ok();
    let seconds: u64 = seconds.map_or(SECONDS, |text| text.parse().expect("seconds"));
    let calls = CALLS * seconds / SECONDS;
    let mark = format!("soak-{}", std::process::id());
    let (sender, mut events) = mpsc::channel::<HubEvent>(64);
    let mut hub = Hub::new(sender, Arc::new(BuiltInServer));
    let remotes: Vec<HttpServerProcess> = (0..REMOTE)
        .map(|_| HttpServerProcess::start(&mark))
        .collect();
    let over_http = remotes.iter().enumerate();
    let over_http = over_http.map(|(number, one)| remote(number, one));
    let children = (REMOTE..SERVERS).map(|number| server(number, &mark));
    hub.configure(over_http.chain(children).collect());
    let reading = tokio::spawn(async move { while events.recv().await.is_some() {} });
    let mut soak = Soak {
        hub,
        calls: JoinSet::new(),
        ends: BTreeMap::new(),
        begun: 0,
        killed: 0,
        samples: Vec::new(),
        dice: TestRng::new(6),
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
    // A busy machine falls behind its pace: the calls are what counts.
    while soak.begun < calls || started.elapsed() < Duration::from_secs(seconds) {
        tokio::select! {
            _ = call.tick(), if soak.begun < calls => soak.call(),
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
    soak.remotes.iter_mut().for_each(|one| one.revive(&mark));
    everybody_comes_back(&mut soak).await;
    soak.hub.shutdown().await;
    reading.await.expect("it reads to the end");
    drop(soak.remotes);
    assert_eq!(alive(&mark), Vec::<i32>::new(), "every process is gone");
    assert!(
        seconds < WARM_UP_SECONDS || slope < SLOPE_MAX,
        "{slope:+.0} kB a minute"
    );
}
