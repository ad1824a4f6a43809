//! Prompts that are sent while servers are still starting.

use super::*;
use humble::domain::WaitReason;
use humble::engine::EngineOptions;
use tokio::time::Instant;

/// A home with one server, which is started with this shell script.
fn home_with_server(script: &str, enabled: bool) -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    engine_harness::write_config(&home, OLLAMA_CONFIG);
    let args = json!(["-c", script, home.path().join("ready")]);
    write_servers(
        &home,
        json!({ "command": "sh", "args": args, "enabled": enabled }),
    );
    home
}

fn write_servers(home: &TempDir, entry: Value) {
    let file = json!({ "mcpServers": { "shop": entry } });
    let path = home.path().join("mcp-servers.json");
    let text = file.to_string();
    humble::files::create_new(&path, text.as_bytes(), humble::files::PRIVATE_MODE)
        .expect("the home is writable");
}

const SILENT: &str = "exec sleep 600";

async fn wait_for_waiting(harness: &mut EngineHarness) {
    let is_waiting = |event: &Event| {
        let wait = WaitReason::StartingServers;
        matches!(event, Event::Turn(_, event) if *event == TurnEvent::Waiting { wait })
    };
    harness.wait_for("the wait for servers", is_waiting).await;
}

fn notices(harness: &EngineHarness) -> Vec<String> {
    let notices = harness.turn_notices();
    notices.into_iter().map(|notice| notice.what).collect()
}

const MISSING: &str = "Server `shop` is still starting; this prompt runs without its tools.";

#[tokio::test(start_paused = true)]
async fn a_prompt_waits_ten_seconds_for_a_server_and_then_goes_without_it() {
    let home = home_with_server(SILENT, true);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Hi.")).await;
    let started = Instant::now();
    harness.prompt("hello").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    let waited = started.elapsed();
    assert!(
        (Duration::from_secs(10)..Duration::from_secs(11)).contains(&waited),
        "{waited:?}"
    );
    assert_eq!(notices(&harness), [MISSING]);
    harness.shut_down().await;
}

#[tokio::test]
async fn a_prompt_goes_as_soon_as_the_server_is_ready_and_offers_its_tools() {
    let home = TempDir::new().expect("a temporary folder");
    engine_harness::write_config(&home, OLLAMA_CONFIG);
    let tool = json!({ "name": "find_lamp", "inputSchema": { "type": "object" } });
    let mut entry = shell_server::install(&home.path().join("shell"), &json!([tool]));
    let server = entry["args"].clone();
    let script = "while [ ! -e \"$0\" ]; do sleep 0.02; done; exec sh \"$1\" \"$2\"";
    entry["args"] = json!([
        "-c",
        script,
        home.path().join("ready"),
        server[0],
        server[1]
    ]);
    write_servers(&home, entry);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Hi.")).await;
    harness.prompt("hello").await;
    wait_for_waiting(&mut harness).await;
    assert_eq!(harness.requests.count(), 0);
    std::fs::write(harness.home.path().join("ready"), "").expect("written");
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    let request = format!("{:?}", harness.last_request());
    assert!(request.contains("find_lamp"), "{request}");
    assert_eq!(notices(&harness), [""; 0]);
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_prompt_is_sent_at_once_on_request() {
    let home = home_with_server(SILENT, true);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Hi.")).await;
    harness.prompt("hello").await;
    wait_for_waiting(&mut harness).await;
    let waiting = Instant::now();
    harness.send(Command::SendNow).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    assert!(waiting.elapsed() < Duration::from_secs(1));
    assert_eq!(notices(&harness), [MISSING]);
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_wait_without_a_request() {
    let home = home_with_server(SILENT, true);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Hi.")).await;
    harness.prompt("hello").await;
    wait_for_waiting(&mut harness).await;
    harness.send(Command::Interrupt).await;
    assert_eq!(harness.wait_for_turn_end().await, TurnEnd::Cancelled);
    assert_eq!(harness.requests.count(), 0);
    let home = harness.shut_down().await;
    assert!(session_files(&home).is_empty());
}

#[tokio::test]
async fn a_server_that_fails_ends_the_wait_and_later_prompts_do_not_wait_for_it() {
    let script = "while [ ! -e \"$0\" ]; do sleep 0.02; done; exit 3";
    let home = home_with_server(script, true);
    let answers = Script::default().answer("One.").answer("Two.");
    let mut harness = EngineHarness::start_in(home, answers).await;
    harness.prompt("hello").await;
    wait_for_waiting(&mut harness).await;
    std::fs::write(harness.home.path().join("ready"), "").expect("written");
    assert_eq!(harness.wait_for_turn_end().await, answered("One."));
    let started = Instant::now();
    harness.prompt("hello again").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Two."));
    assert!(started.elapsed() < Duration::from_secs(9));
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_does_not_wait_for_a_server_that_is_off() {
    let home = home_with_server(SILENT, false);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Hi.")).await;
    let started = Instant::now();
    harness.prompt("hello").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    assert!(started.elapsed() < Duration::from_secs(1));
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn switching_the_server_off_ends_the_wait() {
    let home = home_with_server(SILENT, true);
    let mut harness = EngineHarness::start_in(home, Script::default().answer("Hi.")).await;
    harness.prompt("hello").await;
    wait_for_waiting(&mut harness).await;
    let waiting = Instant::now();
    harness.send(Command::ToggleServer("shop".into())).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    assert!(waiting.elapsed() < Duration::from_secs(5));
    assert_eq!(notices(&harness), [""; 0]);
    harness.shut_down().await;
}

/// `humble ask` waits for servers itself, up to their own limit, before it sends its prompt.
#[tokio::test(start_paused = true)]
async fn a_one_shot_run_does_not_wait_twice() {
    let home = home_with_server(SILENT, true);
    let options = EngineOptions {
        is_one_shot: true,
        ..EngineOptions::default()
    };
    let script = Script::default().answer("Hi.");
    let mut harness = EngineHarness::start_with_options(home, script, options).await;
    let started = Instant::now();
    harness.prompt("hello").await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Hi."));
    assert!(started.elapsed() < Duration::from_secs(1));
    harness.shut_down().await;
}
