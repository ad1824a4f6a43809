//! A log file that cannot be written is reported until it can.

use super::*;
use crate::scoped_subscriber::set_scoped_subscriber;
use humble::domain::SecretRegistry;
use humble::domain::{Banner, BannerCause};
use humble::log::TracingLayer;
use std::fs;
use tokio::sync::mpsc;
use tracing_subscriber::layer::SubscriberExt;

fn is_about_log(banner: &Banner) -> bool {
    banner.cause == BannerCause::UnwritableLog
}

#[tokio::test(start_paused = true)]
async fn unwritable_log_is_reported_until_a_line_is_written() {
    let home = TempDir::new().expect("a temporary folder");
    fs::write(home.path().join("config.json"), OLLAMA_CONFIG).expect("written");
    let folder = home.path().join("logs");
    fs::write(&folder, "in the way").expect("written");
    let (sender, lines) = mpsc::channel(64);
    let secrets = SecretRegistry::default();
    let level = tracing::Level::INFO;
    let (layer, handle) = TracingLayer::new(&folder, level, secrets.clone(), move |line| {
        let _ = sender.try_send(line);
    });
    let registry = tracing_subscriber::registry().with(layer);
    let _log = set_scoped_subscriber(registry);
    let log = (handle, lines, secrets);
    let mut harness = EngineHarness::start_with_log(home, Script::default(), log).await;
    tracing::info!(target: "humble::test", "lost");
    let is_logged =
        |event: &Event| matches!(event, Event::LogLineWritten(line) if line.text.ends_with("lost"));
    harness.wait_for("the line", is_logged).await;
    let mut banners = harness.events.iter().filter_map(|event| match event {
        Event::BannersChanged(banners) => Some(banners.iter().any(is_about_log)),
        _ => None,
    });
    assert_eq!(banners.next_back(), Some(true));
    fs::remove_file(&folder).expect("removed");
    fs::create_dir(&folder).expect("created");
    tracing::info!(target: "humble::test", "written");
    let is_cleared = |event: &Event| matches!(event, Event::BannersChanged(banners) if !banners.iter().any(is_about_log));
    harness.wait_for("no banner", is_cleared).await;
}
