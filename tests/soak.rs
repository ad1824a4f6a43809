//! Soak test (`just soak`): twenty servers, two thousand calls and random kills in three minutes.
//! Every call must have an outcome, no process may be left, and memory must not grow.
//! `HUMBLE_SOAK_SECONDS` sets another duration with the same call rate. Not part of `cargo test`,
//! because it needs an idle machine, time, and /proc.

#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "support/memory.rs"]
mod memory;
#[path = "soak/servers.rs"]
mod servers;
#[path = "support/test_rng.rs"]
mod test_rng;

use humble::app::built_in_server;
use humble::config::Home;
use humble::domain::{BuiltInSettings, CallId, Server, ServerId, ServerStatus, ToolOutcome};
use humble::mcp::{Hub, HubEvent, McpCall};
use humble::provider::Provider;
use memory::{resident_kilobytes, slope};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use servers::{HttpServerProcess, http_server_config, marked_process_ids, stdio_server_config};
use std::collections::BTreeMap;
use std::time::Duration;
use test_rng::TestRng;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

const SERVER_COUNT: usize = 20;
const HTTP_SERVER_COUNT: usize = 5;
const SECONDS: u64 = 180;
const CALL_COUNT: u64 = 2_000;
const KILL_INTERVAL: Duration = Duration::from_secs(2);
const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);
/// Every call must have an outcome within this time, even if its server is killed.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum growth of resident memory, in kB per minute. A leak of call results or sessions would
/// exceed it.
const MEMORY_SLOPE_MAX: f64 = 2_048.0;
/// In a shorter run, the slope is not meaningful and is not checked.
const SLOPE_SECONDS_MIN: u64 = 60;

#[test]
fn slope_of_a_line_is_computed() {
    let line: Vec<(f64, f64)> = (0..90)
        .map(|n| (f64::from(n), 7.0 * f64::from(n) + 3.0))
        .collect();
    assert!((slope(&line) - 7.0).abs() < 1e-9);
}

/// A random call, and whether to cancel it at once.
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
        Value::Object(arguments) => arguments.into(),
        _ => Default::default(),
    };
    let call = McpCall {
        id: CallId(number),
        server: ServerId::new(format!("server-{}", rng.below(SERVER_COUNT))),
        tool: tool.to_owned(),
        arguments,
        pin: None,
        task: None,
    };
    (call, rng.one_in(20))
}

fn outcome_name(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Succeeded { .. } => "succeeded",
        ToolOutcome::Failed { .. } => "failed",
        ToolOutcome::Unreachable { .. } => "unreachable",
        ToolOutcome::TimedOut { .. } => "timed out",
        ToolOutcome::Interrupted => "interrupted",
        _ => "other",
    }
}

struct Soak {
    hub: Hub,
    calls: JoinSet<&'static str>,
    outcome_counts: BTreeMap<&'static str, u64>,
    started_calls: u64,
    kill_count: u64,
    /// Minutes since the start, and resident memory in kB.
    samples: Vec<(f64, f64)>,
    rng: TestRng,
    http_servers: Vec<HttpServerProcess>,
}

impl Soak {
    fn start(sender: mpsc::Sender<HubEvent>, mark: &str) -> Self {
        let mut hub = Hub::new(
            sender,
            built_in_server(
                &Home::at("/nonexistent"),
                BuiltInSettings::default(),
                Provider::new(),
            ),
        );
        let http_servers: Vec<HttpServerProcess> = (0..HTTP_SERVER_COUNT)
            .map(|_| HttpServerProcess::start(mark))
            .collect();
        let http_configs = http_servers
            .iter()
            .enumerate()
            .map(|(number, process)| http_server_config(number, process));
        let stdio_configs =
            (HTTP_SERVER_COUNT..SERVER_COUNT).map(|number| stdio_server_config(number, mark));
        hub.configure(http_configs.chain(stdio_configs).collect());
        Self {
            hub,
            calls: JoinSet::new(),
            outcome_counts: BTreeMap::new(),
            started_calls: 0,
            kill_count: 0,
            samples: Vec::new(),
            rng: TestRng::new(6),
            http_servers,
        }
    }

    fn start_call(&mut self) {
        self.started_calls += 1;
        let (call, is_cancelled) = random_call(&mut self.rng, self.started_calls);
        let cancel = CancellationToken::new();
        let pending_call = self.hub.call(call.clone(), cancel.clone());
        self.calls.spawn(async move {
            if is_cancelled {
                cancel.cancel();
            }
            let outcome = timeout(OUTCOME_TIMEOUT, pending_call)
                .await
                .unwrap_or_else(|_| panic!("no outcome for {call:?}"));
            outcome_name(&outcome)
        });
    }

    fn restart_ended_http_servers(&mut self, mark: &str) {
        for process in &mut self.http_servers {
            process.restart_if_ended(mark);
        }
    }

    fn kill_random_process(&mut self, mark: &str) {
        // The client has noticed the previous kill by now.
        self.restart_ended_http_servers(mark);
        let process_ids = marked_process_ids(mark);
        if process_ids.is_empty() {
            return;
        }
        let process_id = *self.rng.pick(&process_ids);
        if let Some(process) = Pid::from_raw(process_id)
            && kill_process(process, Signal::KILL).is_ok()
        {
            self.kill_count += 1;
        }
        // Occasionally reconnect a failed server, as a user would.
        let servers = self.hub.servers();
        let server = self.rng.pick(&servers);
        if matches!(server.status, ServerStatus::Failed(_)) {
            self.hub.reconnect(&server.id);
        }
    }

    fn count_outcome(&mut self, joined: Option<Result<&'static str, tokio::task::JoinError>>) {
        if let Some(joined) = joined {
            let outcome = joined.expect("every call has an outcome");
            *self.outcome_counts.entry(outcome).or_default() += 1;
        }
    }
}

async fn check_recovery(soak: &mut Soak) {
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
    let recovery = async {
        let mut ticks = interval(Duration::from_millis(50));
        // Require several successes in a row, because a server that is about to close still counts
        // as connected.
        let mut successes = 0;
        while successes < 10 {
            ticks.tick().await;
            let are_all_connected = soak.hub.servers().iter().all(is_connected);
            successes = if are_all_connected { successes + 1 } else { 0 };
        }
    };
    let result = timeout(Duration::from_secs(60), recovery).await;
    assert!(
        result.is_ok(),
        "some servers did not recover: {:#?}",
        soak.hub.servers()
    );
    for (number, id) in ids.into_iter().enumerate() {
        let arguments = json!({ "a": number, "b": 1 });
        let call = McpCall {
            id: CallId(number as u64),
            server: id,
            tool: "add".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default().into(),
            pin: None,
            task: None,
        };
        let outcome = soak.hub.call(call, CancellationToken::new()).await;
        let sum = (number + 1).to_string();
        assert!(
            matches!(&outcome, ToolOutcome::Succeeded { text, .. } if *text == sum),
            "{outcome:?}"
        );
    }
}

fn ticker(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}

/// Starts `calls` random calls at a steady rate, kills servers and samples memory. Returns after
/// `duration`, once every call has an outcome.
async fn run_calls(soak: &mut Soak, calls: u64, duration: Duration, mark: &str) {
    let call_interval = duration / u32::try_from(calls).expect("the number of calls fits");
    let mut call_ticks = ticker(call_interval);
    let (mut kill_ticks, mut sample_ticks) = (ticker(KILL_INTERVAL), ticker(SAMPLE_INTERVAL));
    let started = Instant::now();
    // A busy machine may fall behind schedule, so the loop ends only after all calls have been
    // started.
    while soak.started_calls < calls || started.elapsed() < duration {
        tokio::select! {
            _ = call_ticks.tick(), if soak.started_calls < calls => soak.start_call(),
            _ = kill_ticks.tick() => soak.kill_random_process(mark),
            _ = sample_ticks.tick() => {
                let minutes = started.elapsed().as_secs_f64() / 60.0;
                soak.samples.push((minutes, resident_kilobytes("self")));
            }
            joined = soak.calls.join_next(), if !soak.calls.is_empty() => soak.count_outcome(joined),
        }
    }
    while let Some(joined) = soak.calls.join_next().await {
        soak.count_outcome(Some(joined));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes three minutes: `just soak`"]
async fn every_call_has_an_outcome_while_servers_are_killed() {
    let seconds = std::env::var("HUMBLE_SOAK_SECONDS").ok();
    let seconds: u64 = seconds.map_or(SECONDS, |text| text.parse().expect("seconds"));
    let calls = CALL_COUNT * seconds / SECONDS;
    let mark = format!("soak-{}", std::process::id());
    let (sender, mut events) = mpsc::channel::<HubEvent>(64);
    let event_reader = tokio::spawn(async move { while events.recv().await.is_some() {} });
    let mut soak = Soak::start(sender, &mark);
    let started = Instant::now();
    run_calls(&mut soak, calls, Duration::from_secs(seconds), &mark).await;
    let slope = slope(&soak.samples);
    let last_sample = soak.samples.last().map_or(0.0, |sample| sample.1);
    let counts = &soak.outcome_counts;
    println!(
        "soak: {calls} calls {counts:?}, {} processes killed in {} s, {last_sample:.0} kB resident, {slope:+.0} kB a minute",
        soak.kill_count,
        started.elapsed().as_secs()
    );
    assert_eq!(counts.values().sum::<u64>(), calls, "{counts:?}");
    assert!(counts["succeeded"] * 2 > calls, "{counts:?}");
    soak.restart_ended_http_servers(&mark);
    check_recovery(&mut soak).await;
    soak.hub.shutdown().await;
    event_reader
        .await
        .expect("the reader ends with the channel");
    drop(soak.http_servers);
    assert_eq!(
        marked_process_ids(&mark),
        Vec::<i32>::new(),
        "processes are left"
    );
    assert!(
        seconds < SLOPE_SECONDS_MIN || slope < MEMORY_SLOPE_MAX,
        "{slope:+.0} kB a minute"
    );
}
