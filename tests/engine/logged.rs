//! What the engine keeps out of the log: secrets of an edited file, and what is said
//! in private.

use super::*;
use humble::log::LogSink;
use std::fs;
use tempfile::TempDir;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

/// A program whose log of this thread is written; the log ends with the guard.
async fn logged(config: &str) -> (Bench, DefaultGuard) {
    let home = TempDir::new().expect("a scratch folder");
    fs::write(home.path().join("config.json"), config).expect("written");
    let folder = home.path().join("logs");
    let (sink, handle) = LogSink::new(&folder, tracing::Level::DEBUG, |_| {});
    let registry = tracing_subscriber::registry().with(sink);
    let guard = tracing::subscriber::set_default(registry);
    let bench = Bench::logged(home, Script::default(), handle).await;
    (bench, guard)
}

fn log(bench: &Bench) -> String {
    let folder = fs::read_dir(bench.home.path().join("logs")).expect("a folder");
    folder
        .map(|entry| fs::read_to_string(entry.expect("readable").path()).expect("text"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_edited_in_is_hidden_whether_it_is_taken_or_not() {
    let (mut bench, _log) = logged(CONFIG).await;
    let config = json!({ "models": [
        { "name": "m", "provider": "ollama", "active": true, "apiKey": "sk-waiting-0001" },
        { "name": "x", "provider": "openai", "apiKey": "sk-harmless-0002" },
    ] });
    bench.edits("config.json", &config.to_string()).await;
    bench.asked_of_edit().await;
    tracing::info!(target: "humble::test", "one sk-waiting-0001 other sk-harmless-0002 end");
    let log = log(&bench);
    assert!(log.contains(" end"), "{log}");
    assert!(!log.contains("0001") && !log.contains("0002"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn what_is_said_in_private_is_in_no_log_even_at_debug() {
    let config = CONFIG.replacen('{', "{ \"logLevel\": \"debug\",", 1);
    let (mut bench, _log) = logged(&config).await;
    for private in [true, false] {
        bench.send(Command::SetPrivate(private)).await;
        let changed = |event: &Event| *event == Event::PrivateChanged(private);
        bench.until("the change", changed).await;
        let word = if private { "whispered" } else { "aloud" };
        tracing::debug!(target: "humble::test", "{word}");
        tracing::info!(target: "humble::test", "after {private}");
    }
    let log = log(&bench);
    let said = ["whispered", "after true", "aloud", "after false"];
    let said = said.map(|words| log.contains(words));
    assert_eq!(said, [false, true, true, true], "{log}");
}
