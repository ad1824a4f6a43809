//! The debug log contains requests and replies, but no secrets. Failure messages mention a partial
//! answer only if there is one.

use super::notice_text::notice_text;
use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::scoped_subscriber::set_scoped_subscriber;
use humble::domain::model::Secret;
use humble::domain::{Message, ModelConfig, SecretRegistry, ToolResultMessage};
use humble::log::TracingLayer;
use humble::provider::{ChatRequest, Provider};
use serde_json::json;
use std::fs;
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt;

const KEY: &str = "sk-12345-67890";
const OTHER_SECRET: &str = "the-secret-of-a-server";

async fn log_of_request(level: Level, model: &ModelConfig, messages: Vec<Message>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let secrets = SecretRegistry::default();
    secrets.add_credentials([Secret::new(OTHER_SECRET)]);
    let (layer, _) = TracingLayer::new(folder.path(), level, secrets.clone(), |_| {});
    let subscriber = tracing_subscriber::registry().with(layer);
    let guard = set_scoped_subscriber(subscriber);
    let request = ChatRequest {
        messages,
        ..request(model)
    };
    collect_parts(Provider::with_secrets(secrets).stream(request)).await;
    drop(guard);
    let files = fs::read_dir(folder.path()).unwrap();
    files
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
        .collect()
}

#[tokio::test]
async fn requests_and_replies_are_logged_only_at_debug_level() {
    let server = ModelServer::start();
    server.always_reply(CHAT, ollama_thinking(&["음", "…"], &["안녕", "!"]));
    let messages = vec![Message::User("무엇?".into())];
    let log = log_of_request(Level::DEBUG, &ollama(&server), messages.clone()).await;
    assert!(log.contains("/api/chat: {\"model\":"), "{log}");
    assert!(log.contains("무엇?"), "{log}");
    let answer = "reply from `mine`: thinking: 음… | text: 안녕! | usage: ";
    assert!(log.contains(answer), "{log}");
    assert!(log.contains(" | end: Stop"), "{log}");
    let log = log_of_request(Level::INFO, &ollama(&server), messages).await;
    assert_eq!(log, "");
}

#[tokio::test]
async fn secrets_are_redacted_from_the_log_even_if_a_reply_splits_them() {
    let server = ModelServer::start();
    let fragments = [
        &KEY[..5],
        &KEY[5..],
        " and ",
        &OTHER_SECRET[..9],
        &OTHER_SECRET[9..],
    ];
    server.queue_reply(COMPLETIONS, openai_thinking(&fragments, &fragments));
    let result = ToolResultMessage {
        wire_id: "1".into(),
        content: format!("the env is {KEY} {OTHER_SECRET}"),
        tool: "env".into(),
        native_name: "env".into(),
        images: Vec::new(),
        is_error: false,
    };
    let messages = vec![Message::User(KEY.into()), Message::ToolResult(result)];
    let log = log_of_request(Level::DEBUG, &with_key(openai(&server), KEY), messages).await;
    for fragment in [KEY, OTHER_SECRET, &KEY[5..], &OTHER_SECRET[9..]] {
        assert!(!log.contains(fragment), "{fragment}: {log}");
    }
    assert!(log.contains("the env is [hidden] [hidden]"), "{log}");
    assert!(log.contains("text: [hidden] and [hidden]"), "{log}");
}

#[tokio::test]
async fn huge_request_and_reply_are_truncated_in_the_log() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_text(&[&"답".repeat(100_000)]));
    let messages = vec![Message::User("word ".repeat(200_000))];
    let log = log_of_request(Level::DEBUG, &ollama(&server), messages).await;
    assert_eq!(log.matches(" more bytes)\n").count(), 2);
    assert!(log.len() < 150_000, "{}", log.len());
}

#[tokio::test]
async fn partial_answer_is_mentioned_only_if_there_is_one() {
    let server = ModelServer::start();
    let line = |text: &str| ollama_line(&json!({"role": "assistant", "content": text}));
    let sentence = "The partial answer is kept.";
    for (answer, is_kept) in [("", false), ("안", true)] {
        for end in ["", "{\"error\":\"out of memory\"}\n"] {
            let reply = Reply::status(200).chunk(line(answer)).chunk(end);
            server.queue_reply(CHAT, reply);
            let parts = collect_parts(Provider::new().stream(request(&ollama(&server)))).await;
            let error = parts.last().unwrap().as_ref().unwrap_err();
            let text = notice_text(&error.notice());
            assert_eq!(text.contains(sentence), is_kept, "{text}");
            assert!(text.contains("[Retry]"), "{text}");
        }
    }
}
