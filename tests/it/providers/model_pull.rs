//! Pulling and removing models on a scripted Ollama server.

use crate::providers::model_server::*;
use crate::providers::requests::*;
use futures::StreamExt;
use humble::domain::ModelConfig;
use humble::provider::{FailureCause, Provider, ProviderError, PullProgress};
use serde_json::{Value, json};
use std::time::Duration;

const PULL: &str = "/api/pull";
const DELETE: &str = "/api/delete";

type Steps = Vec<Result<PullProgress, ProviderError>>;

async fn pull(model: &ModelConfig) -> Steps {
    let steps = Provider::new().pull(model, "llama3.2:3b");
    let steps = tokio::time::timeout(Duration::from_secs(10), steps.collect());
    steps.await.expect("pull ends")
}

fn ndjson_reply(lines: &[Value]) -> Reply {
    let reply = Reply::status(200).header("content-type", "application/x-ndjson");
    lines
        .iter()
        .fold(reply, |reply, line| reply.chunk(format!("{line}\n")))
}

fn step(status: &str, done: u64, total: u64) -> Result<PullProgress, ProviderError> {
    Ok(PullProgress {
        status: status.into(),
        done,
        total,
    })
}

fn layer(digest: &str, total: u64, completed: u64) -> Value {
    let status = format!("pulling {digest}");
    json!({"status": status, "digest": digest, "total": total, "completed": completed})
}

#[tokio::test]
async fn pull_reports_the_sum_of_its_layers_and_succeeds() {
    let server = ModelServer::start();
    let statuses = [
        json!({"status": "pulling manifest"}),
        json!({"status": "pulling aa", "digest": "aa", "total": 1000}),
        layer("aa", 1000, 400),
        layer("bb", 50, 50),
        layer("aa", 1000, 1200),
        json!({"status": "verifying sha256 digest"}),
        json!({"status": "success"}),
    ];
    server.queue_reply(PULL, ndjson_reply(&statuses));
    let expected: Steps = vec![
        step("pulling manifest", 0, 0),
        step("pulling", 0, 1000),
        step("pulling", 400, 1000),
        step("pulling", 450, 1050),
        step("pulling", 1050, 1050),
        step("verifying sha256 digest", 1050, 1050),
        step("success", 1050, 1050),
    ];
    assert_eq!(pull(&ollama(&server)).await, expected);
    let body = json!({"model": "llama3.2:3b", "stream": true});
    assert_eq!(server.bodies(PULL), [body]);
}

#[tokio::test]
async fn pull_without_final_success_is_cut_off() {
    let server = ModelServer::start();
    let model = ollama(&server);
    for reply in [
        ndjson_reply(&[layer("aa", 10, 5)]),
        ndjson_reply(&[layer("aa", 10, 5)]).disconnect(),
    ] {
        server.queue_reply(PULL, reply);
        let steps = pull(&model).await;
        assert_eq!(steps[0], step("pulling", 5, 10));
        let last = steps[1].as_ref().expect_err("success was not reported");
        assert_eq!((&last.cause, steps.len()), (&FailureCause::ReplyCutOff, 2));
    }
    server.queue_reply(PULL, Reply::status(200).chunk("{\"status\":\"success\"}"));
    assert_eq!(
        pull(&model).await,
        [step("success", 0, 0)],
        "the last line needs no newline"
    );
}

#[tokio::test]
async fn failed_pull_ends_with_its_cause() {
    let server = ModelServer::start();
    let model = ollama(&server);
    let message = "pull model manifest: file does not exist";
    server.queue_reply(
        PULL,
        ndjson_reply(&[json!({"error": message}), json!({"status": "success"})]),
    );
    let in_reply = FailureCause::ErrorInReply {
        message: message.into(),
    };
    server.queue_reply(PULL, ollama_error(500, message));
    server.queue_reply(PULL, Reply::status(200).chunk("<html>\n"));
    let mut causes = Vec::new();
    for _ in 0..3 {
        let steps = pull(&model).await;
        assert_eq!(steps.len(), 1);
        causes.push(steps[0].clone().expect_err("request fails").cause);
    }
    let malformed = FailureCause::Malformed(humble::provider::error::MalformedReply::WebPage);
    assert_eq!(causes, [in_reply, status_failure(500, message), malformed]);
}

#[tokio::test]
async fn dropping_a_pull_closes_its_connection() {
    let server = ModelServer::start();
    server.queue_reply(PULL, ndjson_reply(&[layer("aa", 10, 5)]).hang());
    let mut steps = Provider::new().pull(&ollama(&server), "x");
    assert_eq!(steps.next().await, Some(step("pulling", 5, 10)));
    drop(steps);
    server.wait_for(|log| log.aborted_replies == 1).await;
}

#[tokio::test]
async fn removal_names_the_model_and_reports_why_it_failed() {
    let server = ModelServer::start();
    let model = ollama(&server);
    server.queue_reply(DELETE, Reply::json(200, &json!({})));
    let provider = Provider::new();
    assert_eq!(provider.remove(&model, "old:1b").await, Ok(()));
    let request = &server.requests()[0];
    assert_eq!(request.method, "DELETE");
    assert_eq!(request.body, json!({"model": "old:1b"}));
    server.queue_reply(DELETE, ollama_error(404, "model 'old:1b' not found"));
    let error = provider
        .remove(&model, "old:1b")
        .await
        .expect_err("model is missing");
    assert_eq!(error.cause, status_failure(404, "model 'old:1b' not found"));
}
