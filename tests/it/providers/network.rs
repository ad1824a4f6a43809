//! Answers and failures over a real socket, from a server that does what it is told.

use crate::providers::decoding::DecodedReply;
use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::support::fixtures::model_config;
use futures::{FutureExt, StreamExt};
use humble::domain::{ProviderKind, Usage};
use humble::provider::error::Garbled;
use humble::provider::{Cause, EndReason, Provider, StreamPart};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn an_answer_of_ollama_arrives() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_thinking(&["음", "…"], &["안녕", "!"]));
    let expected = DecodedReply {
        text: "안녕!".into(),
        thinking: "음…".into(),
        usage: Some(Usage {
            input: Some(20),
            output: Some(10),
        }),
        end: Some(EndReason::Stop),
        ..DecodedReply::default()
    };
    assert_eq!(ask(&ollama(&server)).await, expected);
    let sent = &server.requests()[0];
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", CHAT));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    let agent = concat!("humble/", env!("CARGO_PKG_VERSION"));
    assert_eq!(sent.header("user-agent"), Some(agent));
    assert_eq!(sent.header("authorization"), None, "no key is needed");
    let expected = json!({
        "model": "qwen3:4b",
        "messages": [{"role": "user", "content": "안녕"}],
        "stream": true,
        "options": {"temperature": 0.1, "num_ctx": 4096},
    });
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn an_answer_of_an_openai_server_arrives() {
    let server = ModelServer::start();
    server.queue_reply(COMPLETIONS, openai_thinking(&["음"], &["안녕", "!"]));
    server.queue_reply(COMPLETIONS, openai_call("f", &json!({"city": "서울"})));
    let provider = Provider::new();
    let model = with_key(openai(&server), "sk-12345");
    let said = ask_with(&provider, &model).await;
    assert_eq!(
        (said.text.as_str(), said.thinking.as_str()),
        ("안녕!", "음")
    );
    assert_eq!(said.end, Some(EndReason::Stop));
    let said = ask_with(&provider, &model).await;
    assert_eq!(
        said.calls[0].arguments,
        Ok(json!({"city": "서울"}).as_object().unwrap().clone())
    );
    let sent = &server.requests()[0];
    assert_eq!(sent.header("authorization"), Some("Bearer sk-12345"));
}

#[tokio::test]
async fn nothing_listens() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    assert_eq!(
        cause(&model_config(ProviderKind::Ollama, &url)).await,
        Cause::Refused
    );
}

#[tokio::test]
async fn a_host_that_does_not_exist() {
    let url = "http://no-such-host.invalid:11434";
    let cause = cause(&model_config(ProviderKind::Ollama, url)).await;
    assert_eq!(cause, Cause::Unresolved);
}

#[tokio::test]
async fn each_status_carries_the_words_of_the_server() {
    let server = ModelServer::start();
    let missing = "model 'qwen3:4b' not found";
    server.queue_reply(CHAT, ollama_error(404, missing));
    assert_eq!(cause(&ollama(&server)).await, status(404, missing));
    server.queue_reply(
        CHAT,
        ollama_error(500, "llama runner process has terminated"),
    );
    let expected = status(500, "llama runner process has terminated");
    assert_eq!(cause(&ollama(&server)).await, expected);
    server.queue_reply(COMPLETIONS, openai_error(401, "Invalid API Key", None));
    assert_eq!(
        cause(&openai(&server)).await,
        status(401, "Invalid API Key")
    );
    server.queue_reply(
        COMPLETIONS,
        Reply::json(422, &json!({"detail": [{"msg": "bad"}]})),
    );
    assert_eq!(cause(&openai(&server)).await, status(422, "bad"));
    server.queue_reply(
        COMPLETIONS,
        Reply::status(502).chunk("<html>Bad Gateway</html>"),
    );
    let expected = Cause::Status {
        status: 502,
        message: None,
        retry_after: None,
        path: None,
    };
    assert_eq!(cause(&openai(&server)).await, expected);
    let error = json!({"message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 5});
    server.queue_reply(COMPLETIONS, Reply::json(400, &json!({"error": error})));
    let expected = Cause::ContextOverflow {
        sent: Some(9),
        limit: Some(5),
        message: "too long".into(),
    };
    assert_eq!(cause(&openai(&server)).await, expected);
}

#[tokio::test]
async fn the_pause_that_a_busy_server_asks_for_is_known() {
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
        let fault = parts(stream).await.remove(0).unwrap_err();
        assert_eq!(fault.retry_after(), Some(expected));
    }
}

#[tokio::test]
async fn an_endless_error_body_is_read_only_so_far() {
    let server = ModelServer::start();
    let endless = Reply::status(500).chunk("x".repeat(100_000)).hang();
    server.queue_reply(CHAT, endless);
    let Cause::Status { message, .. } = cause(&ollama(&server)).await else {
        panic!("it is a status");
    };
    assert_eq!(message.unwrap().chars().count(), 501, "500 and an ellipsis");
}

#[tokio::test]
async fn a_key_that_the_server_echoes_is_taken_out() {
    let server = ModelServer::start();
    let model = with_key(openai(&server), "sk-12345");
    let echo = format!("{}sk-12345 is wrong", " ".repeat(490) + "x");
    server.queue_reply(COMPLETIONS, openai_error(401, &echo, None));
    assert_eq!(cause(&model).await, status(401, "x[hidden] is wrong"));
    server.queue_reply(
        COMPLETIONS,
        Reply::status(200).chunk("data: key sk-12345\n\n"),
    );
    let expected = Cause::Garbled(Garbled::NotJson {
        line: "key [hidden]".into(),
    });
    assert_eq!(cause(&model).await, expected);
}

#[tokio::test]
async fn a_token_in_the_address_that_the_server_echoes_is_taken_out() {
    let server = ModelServer::start();
    let mut model = openai(&server);
    let token = "0123456789abcdefABCD";
    model.base_url = model.base_url.replace("/v1", &format!("/s/{token}/v1"));
    let echo = format!("no model at /s/{token}/v1 or %2Fs%2F{token}");
    let path = format!("/s/{token}{COMPLETIONS}");
    server.queue_reply(&path, openai_error(401, &echo, None));
    let expected = status(401, "no model at /s/[hidden]/v1 or %2Fs%2F[hidden]");
    assert_eq!(cause(&model).await, expected);
}

#[tokio::test]
async fn a_cut_and_an_error_in_the_middle_keep_what_came() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_text(&["안", "녕"]).disconnect_after(1));
    let said = ask(&ollama(&server)).await;
    assert_eq!((said.text.as_str(), said.failed), ("안", Some(Cause::Cut)));
    server.queue_reply(COMPLETIONS, openai_text(&["안", "녕"]).disconnect_after(2));
    let said = ask(&openai(&server)).await;
    assert_eq!(
        (said.text.as_str(), said.failed),
        ("안녕", Some(Cause::Cut))
    );
    let error = Reply::status(200)
        .chunk(ollama_line(&json!({"content": "안"})))
        .chunk("{\"error\":\"it broke\"}\n");
    server.queue_reply(CHAT, error);
    let said = ask(&ollama(&server)).await;
    let expected = Cause::InStream {
        message: "it broke".into(),
    };
    assert_eq!((said.text.as_str(), said.failed), ("안", Some(expected)));
}

#[tokio::test]
async fn a_connection_closed_after_the_finish_reason_is_no_cut() {
    let server = ModelServer::start();
    server.queue_reply(COMPLETIONS, openai_text(&["안녕"]).disconnect_after(2));
    let said = ask(&openai(&server)).await;
    assert_eq!((said.end, said.failed), (Some(EndReason::Stop), None));
}

#[tokio::test]
async fn a_connection_closed_before_the_answer_is_a_reset() {
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
    let (cause, ()) = tokio::join!(cause(&model), closing);
    assert_eq!(cause, Cause::Reset);
}

#[tokio::test]
async fn a_server_that_does_not_speak_http_is_named() {
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
    let (cause, ()) = tokio::join!(cause(&model), greeting);
    assert!(matches!(cause, Cause::Unreachable { .. }), "{cause:?}");
}

#[tokio::test]
async fn a_stalled_stream_is_only_pending_and_lives_on() {
    let server = ModelServer::start();
    let gate = Gate::closed();
    server.queue_reply(CHAT, ollama_text(&["안", "녕"]).gate_after(1, &gate));
    let mut stream = Provider::new().stream(request(&ollama(&server)));
    let first = next(&mut stream).await.unwrap().unwrap();
    assert_eq!(first, StreamPart::Text("안".into()));
    assert!(stream.next().now_or_never().is_none(), "nothing came");
    gate.open();
    let second = next(&mut stream).await.unwrap().unwrap();
    assert_eq!(second, StreamPart::Text("녕".into()));
}

#[tokio::test]
async fn bytes_that_make_no_part_are_a_heartbeat() {
    let server = ModelServer::start();
    let gate = Gate::closed();
    let reply = Reply::status(200)
        .chunk(": OPENROUTER PROCESSING\n\n")
        .gate(&gate)
        .chunk(openai_event(&json!({"content": "x"}), Some("stop")));
    server.queue_reply(COMPLETIONS, reply);
    let mut stream = Provider::new().stream(request(&openai(&server)));
    assert_eq!(next(&mut stream).await, Some(Ok(StreamPart::Heartbeat)));
    gate.open();
    assert_eq!(
        next(&mut stream).await,
        Some(Ok(StreamPart::Text("x".into())))
    );
    assert_eq!(
        next(&mut stream).await,
        Some(Ok(StreamPart::End(EndReason::Stop)))
    );
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn dropping_the_stream_drops_the_connection() {
    let server = ModelServer::start();
    server.queue_reply(CHAT, ollama_text(&["안", "녕"]).hang_after(1));
    let mut stream = Provider::new().stream(request(&ollama(&server)));
    assert!(next(&mut stream).await.unwrap().is_ok());
    assert_eq!(server.log().dropped, 0);
    drop(stream);
    server.wait_for(|log| log.dropped == 1).await;
}

#[tokio::test]
async fn dropping_the_stream_before_an_answer_drops_the_connection() {
    let server = ModelServer::start();
    let gate = Gate::closed();
    server.queue_reply(CHAT, Reply::status(200).gate(&gate));
    let mut stream = Provider::new().stream(request(&ollama(&server)));
    tokio::select! {
        part = stream.next() => panic!("{part:?}"),
        _ = server.wait_for(|log| log.requests.len() == 1) => {}
    }
    drop(stream);
    server.wait_for(|log| log.dropped == 1).await;
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = ModelServer::start();
    drop(Provider::new().stream(request(&ollama(&server))));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn counts_that_never_come_do_not_hold_up_the_end() {
    let server = ModelServer::start();
    let event = openai_event(&json!({"content": "x"}), Some("stop"));
    server.queue_reply(COMPLETIONS, Reply::status(200).chunk(event).hang());
    let mut stream = Provider::new().stream(request(&openai(&server)));
    assert_eq!(
        next(&mut stream).await,
        Some(Ok(StreamPart::Text("x".into())))
    );
    // From here on only the clock can move things.
    tokio::time::pause();
    let end = StreamPart::End(EndReason::Stop);
    assert_eq!(next(&mut stream).await, Some(Ok(end)));
}
