//! Replies and failures over a real socket, from a scripted server.

use crate::providers::decoding::DecodedReply;
use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::support::fixtures::model_config;
use futures::{FutureExt, StreamExt};
use humble::domain::{ProviderKind, Usage};
use humble::provider::error::MalformedReply;
use humble::provider::{EndReason, FailureCause, Provider, StreamPart};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn an_ollama_request_is_sent_and_its_reply_is_decoded() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_thinking(&["음", "…"], &["안녕", "!"]));
    let expected = DecodedReply {
        text: "안녕!".into(),
        thinking: "음…".into(),
        usage: Some(Usage {
            input: Some(20),
            output: Some(10),
            ..Usage::default()
        }),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(ask(&ollama(&server)).await, expected);
    let recorded = &server.requests()[0];
    assert_eq!(
        (recorded.method.as_str(), recorded.path.as_str()),
        ("POST", CHAT)
    );
    assert_eq!(recorded.header("content-type"), Some("application/json"));
    let agent = concat!("humble/", env!("CARGO_PKG_VERSION"));
    assert_eq!(recorded.header("user-agent"), Some(agent));
    assert_eq!(recorded.header("authorization"), None, "no key is needed");
    let expected = json!({
        "model": "qwen3:4b",
        "messages": [{"role": "user", "content": "안녕"}],
        "stream": true,
        "options": {"temperature": 0.1, "num_ctx": 4096},
    });
    assert_eq!(recorded.body, expected);
}

#[tokio::test]
async fn openai_replies_are_decoded_and_the_key_is_sent() {
    let server = ModelServer::start();
    server.queue_reply(COMPLETIONS, openai_thinking(&["음"], &["안녕", "!"]));
    server.queue_reply(COMPLETIONS, openai_call("f", &json!({"city": "서울"})));
    let provider = Provider::new();
    let model = with_key(openai(&server), "sk-12345");
    let decoded = ask_with(&provider, &model).await;
    assert_eq!(
        (decoded.text.as_str(), decoded.thinking.as_str()),
        ("안녕!", "음")
    );
    assert_eq!(decoded.end, Some(EndReason::Stop));
    let decoded = ask_with(&provider, &model).await;
    assert_eq!(
        decoded.calls[0].arguments,
        Ok(json!({"city": "서울"}).as_object().unwrap().clone().into())
    );
    let recorded = &server.requests()[0];
    assert_eq!(recorded.header("authorization"), Some("Bearer sk-12345"));
}

#[tokio::test]
async fn refused_connection_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(
        failure_cause(&model_config(ProviderKind::Ollama, &url)).await,
        FailureCause::ConnectionRefused
    );
}

#[tokio::test]
async fn unknown_host_is_reported() {
    let url = "http://no-such-host.invalid:11434";
    let cause = failure_cause(&model_config(ProviderKind::Ollama, url)).await;
    assert_eq!(cause, FailureCause::HostNotFound);
}

#[tokio::test]
async fn error_status_is_reported_with_the_server_message() {
    let server = ModelServer::start();
    let missing = "model 'qwen3:4b' not found";
    server.queue_reply(CHAT, ollama_error(404, missing));
    assert_eq!(
        failure_cause(&ollama(&server)).await,
        status_failure(404, missing)
    );
    server.queue_reply(
        CHAT,
        ollama_error(500, "llama runner process has terminated"),
    );
    let expected = status_failure(500, "llama runner process has terminated");
    assert_eq!(failure_cause(&ollama(&server)).await, expected);
    server.queue_reply(COMPLETIONS, openai_error(401, "Invalid API Key", None));
    assert_eq!(
        failure_cause(&openai(&server)).await,
        status_failure(401, "Invalid API Key")
    );
    server.queue_reply(
        COMPLETIONS,
        Reply::json(422, &json!({"detail": [{"msg": "bad"}]})),
    );
    assert_eq!(
        failure_cause(&openai(&server)).await,
        status_failure(422, "bad")
    );
    server.queue_reply(
        COMPLETIONS,
        Reply::status(502).chunk("<html>Bad Gateway</html>"),
    );
    let expected = FailureCause::Status {
        status: 502,
        message: None,
        retry_after: None,
        path: None,
    };
    assert_eq!(failure_cause(&openai(&server)).await, expected);
    let error = json!({"message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 5});
    server.queue_reply(COMPLETIONS, Reply::json(400, &json!({"error": error})));
    let expected = FailureCause::ContextOverflow {
        sent: Some(9),
        limit: Some(5),
        message: "too long".into(),
    };
    assert_eq!(failure_cause(&openai(&server)).await, expected);
}

#[tokio::test]
async fn retry_after_of_an_overloaded_server_is_kept() {
    let server = ModelServer::start();
    let busy = |pause| {
        Reply::status(429)
            .header("retry-after", pause)
            .chunk("busy")
    };
    server
        .queue_reply(CHAT, busy("7"))
        .queue_reply(CHAT, busy("Wed, 21 Oct 2015 07:28:00 GMT"));
    for expected in [Duration::from_secs(7), Duration::ZERO] {
        let stream = Provider::new().stream(request(&ollama(&server)));
        let error = collect_parts(stream).await.remove(0).unwrap_err();
        assert_eq!(error.retry_after(), Some(expected));
    }
}

#[tokio::test]
async fn an_endless_error_body_is_truncated() {
    let server = ModelServer::start();
    let endless = Reply::status(500).chunk("x".repeat(100_000)).hang();
    server.queue_reply(CHAT, endless);
    let FailureCause::Status { message, .. } = failure_cause(&ollama(&server)).await else {
        panic!("not a status error");
    };
    assert_eq!(message.unwrap().chars().count(), 501, "500 and an ellipsis");
}

#[tokio::test]
async fn echoed_key_is_redacted() {
    let server = ModelServer::start();
    let model = with_key(openai(&server), "sk-12345");
    let echo = format!("{}sk-12345 is wrong", " ".repeat(490) + "x");
    server.queue_reply(COMPLETIONS, openai_error(401, &echo, None));
    assert_eq!(
        failure_cause(&model).await,
        status_failure(401, "x[hidden] is wrong")
    );
    server.queue_reply(
        COMPLETIONS,
        Reply::status(200).chunk("data: key sk-12345\n\n"),
    );
    let expected = FailureCause::Malformed(MalformedReply::NotJson {
        line: "key [hidden]".into(),
    });
    assert_eq!(failure_cause(&model).await, expected);
}

#[tokio::test]
async fn echoed_token_of_the_url_is_redacted() {
    let server = ModelServer::start();
    let mut model = openai(&server);
    let token = "0123456789abcdefABCD";
    model.base_url = model.base_url.replace("/v1", &format!("/s/{token}/v1"));
    let echo = format!("no model at /s/{token}/v1 or %2Fs%2F{token}");
    let path = format!("/s/{token}{COMPLETIONS}");
    server.queue_reply(&path, openai_error(401, &echo, None));
    let expected = status_failure(401, "no model at /s/[hidden]/v1 or %2Fs%2F[hidden]");
    assert_eq!(failure_cause(&model).await, expected);
}

#[tokio::test]
async fn cut_off_and_error_in_the_middle_keep_the_partial_reply() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_text(&["안", "녕"]).disconnect_after(1));
    let decoded = ask(&ollama(&server)).await;
    assert_eq!(
        (decoded.text.as_str(), decoded.failed),
        ("안", Some(FailureCause::ReplyCutOff))
    );
    server.queue_reply(COMPLETIONS, openai_text(&["안", "녕"]).disconnect_after(2));
    let decoded = ask(&openai(&server)).await;
    assert_eq!(
        (decoded.text.as_str(), decoded.failed),
        ("안녕", Some(FailureCause::ReplyCutOff))
    );
    let error = Reply::status(200)
        .chunk(ollama_line(&json!({"content": "안"})))
        .chunk("{\"error\":\"it broke\"}\n");
    server.queue_reply(CHAT, error);
    let decoded = ask(&ollama(&server)).await;
    let expected = FailureCause::ErrorInReply {
        message: "it broke".into(),
    };
    assert_eq!(
        (decoded.text.as_str(), decoded.failed),
        ("안", Some(expected))
    );
}

#[tokio::test]
async fn connection_closed_after_the_finish_reason_is_a_complete_reply() {
    let server = ModelServer::start();
    server.queue_reply(COMPLETIONS, openai_text(&["안녕"]).disconnect_after(2));
    let decoded = ask(&openai(&server)).await;
    assert_eq!((decoded.end, decoded.failed), (Some(EndReason::Stop), None));
}

#[tokio::test]
async fn connection_closed_before_the_response_is_a_reset() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let model = model_config(ProviderKind::Ollama, &url);
    let closing = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = [0; 64];
        tokio::io::AsyncReadExt::read(&mut socket, &mut request)
            .await
            .unwrap();
    };
    let (cause, ()) = tokio::join!(failure_cause(&model), closing);
    assert_eq!(cause, FailureCause::ConnectionReset);
}

#[tokio::test]
async fn server_without_http_is_reported() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let model = model_config(ProviderKind::Ollama, &url);
    let greeting = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let banner = b"SSH-2.0-OpenSSH_9.6\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut socket, banner)
            .await
            .unwrap();
        let mut request = [0; 64];
        while tokio::io::AsyncReadExt::read(&mut socket, &mut request)
            .await
            .unwrap_or(0)
            > 0
        {}
    };
    let (cause, ()) = tokio::join!(failure_cause(&model), greeting);
    assert!(
        matches!(cause, FailureCause::Unreachable { .. }),
        "{cause:?}"
    );
}

#[tokio::test]
async fn stalled_stream_stays_pending_and_resumes() {
    let server = ModelServer::start();
    let gate = Gate::closed();
    server.queue_reply(CHAT, ollama_text(&["안", "녕"]).gate_after(1, &gate));
    let mut stream = Provider::new().stream(request(&ollama(&server)));
    let first = next_part(&mut stream).await.unwrap().unwrap();
    assert_eq!(first, StreamPart::Text("안".into()));
    assert!(stream.next().now_or_never().is_none(), "stream is pending");
    gate.open();
    let second = next_part(&mut stream).await.unwrap().unwrap();
    assert_eq!(second, StreamPart::Text("녕".into()));
}

#[tokio::test]
async fn bytes_without_a_complete_part_are_a_heartbeat() {
    let server = ModelServer::start();
    let gate = Gate::closed();
    let reply = Reply::status(200)
        .chunk(": OPENROUTER PROCESSING\n\n")
        .gate(&gate)
        .chunk(openai_event(&json!({"content": "x"}), Some("stop")));
    server.queue_reply(COMPLETIONS, reply);
    let mut stream = Provider::new().stream(request(&openai(&server)));
    assert_eq!(
        next_part(&mut stream).await,
        Some(Ok(StreamPart::Heartbeat))
    );
    gate.open();
    assert_eq!(
        next_part(&mut stream).await,
        Some(Ok(StreamPart::Text("x".into())))
    );
    assert_eq!(
        next_part(&mut stream).await,
        Some(Ok(StreamPart::End(EndReason::Stop)))
    );
    assert_eq!(next_part(&mut stream).await, None);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_text(&["안", "녕"]).hang_after(1));
    let mut stream = Provider::new().stream(request(&ollama(&server)));
    assert!(next_part(&mut stream).await.unwrap().is_ok());
    assert_eq!(server.log().aborted_replies, 0);
    drop(stream);
    server.wait_for(|log| log.aborted_replies == 1).await;
}

#[tokio::test]
async fn dropping_the_stream_before_a_response_closes_the_connection() {
    let server = ModelServer::start();
    let gate = Gate::closed();
    server.queue_reply(CHAT, Reply::status(200).gate(&gate));
    let mut stream = Provider::new().stream(request(&ollama(&server)));
    tokio::select! {
        part = stream.next() => panic!("{part:?}"),
        _ = server.wait_for(|log| log.requests.len() == 1) => {}
    }
    drop(stream);
    server.wait_for(|log| log.aborted_replies == 1).await;
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = ModelServer::start();
    let stream = Provider::new().stream(request(&ollama(&server)));
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(stream);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn end_is_reported_even_if_token_counts_never_arrive() {
    let server = ModelServer::start();
    let event = openai_event(&json!({"content": "x"}), Some("stop"));
    server.queue_reply(COMPLETIONS, Reply::status(200).chunk(event).hang());
    let mut stream = Provider::new().stream(request(&openai(&server)));
    assert_eq!(
        next_part(&mut stream).await,
        Some(Ok(StreamPart::Text("x".into())))
    );
    // From here on, only the paused clock advances.
    tokio::time::pause();
    let end = StreamPart::End(EndReason::Stop);
    assert_eq!(next_part(&mut stream).await, Some(Ok(end)));
}

#[tokio::test]
async fn end_is_reported_even_if_anthropics_last_event_never_arrives() {
    let server = ModelServer::start();
    let whole = anthropic_stream(&[anthropic_text(0, &["x"])], "end_turn");
    let (events, _) = whole.split_once("event: message_stop").unwrap();
    server.queue_reply("/v1/messages", Reply::status(200).chunk(events).hang());
    let url = format!("{}/v1", server.url());
    let model = model_config(ProviderKind::Anthropic, &url);
    let mut stream = Provider::new().stream(request(&model));
    let text = StreamPart::Text("x".into());
    assert_eq!(next_part(&mut stream).await, Some(Ok(text)));
    tokio::time::pause();
    assert!(matches!(
        next_part(&mut stream).await,
        Some(Ok(StreamPart::Usage(_)))
    ));
    let end = StreamPart::End(EndReason::Stop);
    assert_eq!(next_part(&mut stream).await, Some(Ok(end)));
}
