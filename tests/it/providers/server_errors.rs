//! Failures of each provider over a real socket: their messages, and whether they are transient.

use super::notice_text::notice_text;
use crate::providers::model_server::*;
use crate::providers::requests::*;
use crate::support::fixtures::model_config;
use humble::domain::model::ApiKey;
use humble::domain::{ModelConfig, ProviderKind};
use humble::provider::{Provider, ProviderError};
use serde_json::json;
use std::time::Duration;

const MESSAGES: &str = "/v1/messages";

/// A model of this provider on the test server, and the path of its requests.
pub fn model_at(server: &ModelServer, provider: ProviderKind) -> (ModelConfig, &'static str) {
    let (url, path) = match provider {
        ProviderKind::Ollama => (server.url(), CHAT),
        ProviderKind::Anthropic => (format!("{}/v1", server.url()), MESSAGES),
        _ => (format!("{}/v1", server.url()), COMPLETIONS),
    };
    (model_config(provider, &url), path)
}

pub fn error_reply(provider: ProviderKind, status: u16, message: &str) -> Reply {
    match provider {
        ProviderKind::Ollama => ollama_error(status, message),
        ProviderKind::Mistral => mistral_error(status, message),
        ProviderKind::Anthropic => anthropic_error(status, "invalid_request_error", message),
        _ => openai_error(status, message, None),
    }
}

pub async fn request_error(model: &ModelConfig) -> ProviderError {
    let stream = Provider::new().stream(request(model));
    let last = collect_parts(stream).await.pop().expect("a part arrives");
    last.expect_err("request fails")
}

/// Status, message, and whether the error is transient. `fill_template` fills the placeholders except `{path}`.
const STATUSES: [(u16, &str, bool); 14] = [
    (
        400,
        "{url} refused the request (HTTP 400). Because. Check the settings of `mine` in config.json, or [ChooseOtherModel]",
        false,
    ),
    (
        401,
        "{url} requires an API key (HTTP 401). Because. Set `apiKey` of `mine` in config.json.",
        false,
    ),
    (
        402,
        "The account at {url} has no credit left (HTTP 402). Because. Top up the account, or [ChooseOtherModel]",
        false,
    ),
    (
        403,
        "{url} denied access (HTTP 403). Because. Check whether the key of `mine` may use the model `qwen3:4b`.",
        false,
    ),
    (
        404,
        "{path} does not exist at {url} (HTTP 404). Because. Check `baseUrl` of `mine` in config.json.",
        false,
    ),
    (
        408,
        "{url} took too long to answer (HTTP 408). Because. {retry}",
        false,
    ),
    (
        413,
        "The conversation is too large for {url} (HTTP 413). Because. [NewSession], or [ChooseOtherModel]",
        false,
    ),
    (
        422,
        "{url} refused the request (HTTP 422). Because. Check the settings of `mine` in config.json, or [ChooseOtherModel]",
        false,
    ),
    (
        429,
        "{url} is limiting requests (HTTP 429). Because. {retry_later}",
        true,
    ),
    (
        500,
        "{url} reported an internal error (HTTP 500). Because. {retry}",
        false,
    ),
    (
        502,
        "The server behind {url} did not answer (HTTP 502). Because. {retry}",
        false,
    ),
    (
        503,
        "{url} is overloaded (HTTP 503). Because. {retry_later}",
        true,
    ),
    (
        504,
        "{url} took too long to answer (HTTP 504). Because. {retry}",
        false,
    ),
    (
        529,
        "{url} is overloaded (HTTP 529). Because. {retry_later}",
        true,
    ),
];

fn fill_template(template: &str, server: &ModelServer, provider: ProviderKind) -> String {
    let retry = match provider {
        ProviderKind::Ollama => "[Retry] If it happens again, check the log of `ollama serve`.",
        _ => "[Retry]",
    };
    let retry_later = "[RetryLater], or [ChooseOtherModel]";
    template
        .replace("{url}", &server.url())
        .replace("{retry}", retry)
        .replace("{retry_later}", retry_later)
}

#[tokio::test]
async fn every_status_of_every_provider_has_a_message() {
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        for (status, template, is_transient) in STATUSES {
            let reply = error_reply(provider, status, "Because");
            server.queue_reply(path, reply.header("retry-after", "3"));
            let error = request_error(&model).await;
            let expected = fill_template(template, &server, provider).replace("{path}", path);
            assert_eq!(notice_text(&error.notice()), expected, "{provider}");
            assert_eq!(error.is_transient(), is_transient, "{provider} {status}");
            if status != 402 {
                assert_eq!(error.retry_after(), Some(Duration::from_secs(3)));
            }
        }
        assert_eq!(
            server.requests().len(),
            STATUSES.len(),
            "every request is sent exactly once"
        );
    }
}

#[tokio::test]
async fn retry_after_as_a_date_is_parsed_for_every_provider() {
    let retry_at = jiff::Timestamp::now() + jiff::Span::new().seconds(90);
    let date = jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&retry_at)
        .expect("valid date");
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        server.queue_reply(
            path,
            error_reply(provider, 429, "x").header("retry-after", &date),
        );
        let retry_after = request_error(&model)
            .await
            .retry_after()
            .expect("retry-after is set");
        let range = Duration::from_secs(60)..=Duration::from_secs(90);
        assert!(range.contains(&retry_after), "{provider}: {retry_after:?}");
    }
}

/// Bodies sent with status 200 that are not a valid reply, and their messages. `{hello}` stands for
/// the quoted line.
const INVALID_BODIES: [(&[u8], &str); 5] = [
    (b"", "{url} sent an empty answer. {retry}"),
    (
        b"<!DOCTYPE html><html></html>",
        "The answer from {url} is not valid. It is a web page. Check `baseUrl` and `provider` of `mine` in config.json.",
    ),
    (
        b"data: {\"x\": \"\xE9\"}\n\n",
        "The answer from {url} is not valid. It is not UTF-8 text. Check `baseUrl` and `provider` of `mine` in config.json.",
    ),
    (
        b"data: hello\n\n",
        "The answer from {url} is not valid. This line is not JSON: `{hello}`. Check `baseUrl` and `provider` of `mine` in config.json.",
    ),
    (
        b"{\"error\": {\"message\": \"Because\"}}",
        "{url} reported an error in its answer. Because. {retry}",
    ),
];

#[tokio::test]
async fn malformed_reply_has_a_message_for_every_provider() {
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        let is_ollama = provider == ProviderKind::Ollama;
        for (body, template) in INVALID_BODIES {
            server.queue_reply(path, Reply::status(200).chunk(body));
            let error = request_error(&model).await;
            let hello = if is_ollama { "data: hello" } else { "hello" };
            let expected = fill_template(template, &server, provider).replace("{hello}", hello);
            assert_eq!(notice_text(&error.notice()), expected, "{provider}");
            assert!(!error.is_transient());
        }
    }
}

#[tokio::test]
async fn broken_connection_and_redirect_have_a_message_for_every_provider() {
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        let partial_reply = match provider {
            ProviderKind::Ollama => ollama_line(&json!({"content": "so far"})),
            ProviderKind::Anthropic => anthropic_text(0, &["so far"]),
            _ => openai_event(&json!({"content": "so far"}), None),
        };
        server.queue_reply(path, Reply::status(200).chunk(partial_reply).disconnect());
        let error = request_error(&model).await;
        let retry = fill_template("{retry}", &server, provider);
        let expected = format!(
            "The connection to {} was cut in the middle of the answer. The partial answer is kept. {retry}",
            server.url()
        );
        assert_eq!(notice_text(&error.notice()), expected);
        assert!(!error.is_transient(), "text was received");
        server.queue_reply(path, Reply::status(302).header("location", "/elsewhere"));
        let expected = format!(
            "{0} redirects to {0}/elsewhere. Conversations are sent only to the address in config.json. If the new address is right, set it as `baseUrl` of `mine`.",
            server.url()
        );
        assert_eq!(notice_text(&request_error(&model).await.notice()), expected);
    }
}

#[tokio::test]
async fn unreachable_server_has_a_message_for_every_provider() {
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (mut model, _) = model_at(&server, provider);
        let url = server.url();
        drop(server);
        let advice = match provider {
            ProviderKind::Ollama => {
                "Start the server with `ollama serve`, or check `baseUrl` in config.json."
            }
            _ => "Start the server, or check `baseUrl` of `mine` in config.json.",
        };
        let expected = format!("Nothing listens at {url}. {advice}");
        assert_eq!(notice_text(&request_error(&model).await.notice()), expected);
        model.base_url = "http://no-such-host.invalid/v1".into();
        let expected = "The host of http://no-such-host.invalid was not found. Check the network connection and `baseUrl` of `mine` in config.json.";
        assert_eq!(notice_text(&request_error(&model).await.notice()), expected);
    }
}

#[tokio::test]
async fn exhausted_credit_is_distinguished_from_rate_limiting() {
    let server = ModelServer::start();
    let (model, path) = model_at(&server, ProviderKind::OpenAi);
    let body = json!({"message": "You exceeded your current quota.", "type": "insufficient_quota",
        "param": null, "code": "insufficient_quota"});
    server.queue_reply(path, Reply::json(429, &json!({ "error": body })));
    let error = request_error(&model).await;
    assert!(!error.is_transient());
    assert_eq!(
        notice_text(&error.notice()),
        format!(
            "The account at {} has no credit left (HTTP 429). You exceeded your current quota. Top up the account, or [ChooseOtherModel]",
            server.url()
        )
    );
    let (model, path) = model_at(&server, ProviderKind::Anthropic);
    let message = "Your credit balance is too low to access the Anthropic API.";
    server.queue_reply(path, anthropic_error(400, "invalid_request_error", message));
    let sentence = notice_text(&request_error(&model).await.notice());
    assert!(
        sentence.contains("has no credit left (HTTP 400)"),
        "{sentence}"
    );
}

#[tokio::test]
async fn overload_inside_a_stream_is_recognized() {
    let server = ModelServer::start();
    let (model, path) = model_at(&server, ProviderKind::Anthropic);
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let overloaded = anthropic_event(&error);
    server.queue_reply(path, Reply::status(200).chunk(overloaded.clone()));
    let first = request_error(&model).await;
    assert!(first.is_transient());
    let expected = format!(
        "{} is overloaded. Overloaded. [RetryLater], or [ChooseOtherModel]",
        server.url()
    );
    assert_eq!(notice_text(&first.notice()), expected);
    let partial_reply = anthropic_text(0, &["so far"]) + &overloaded;
    server.queue_reply(path, Reply::status(200).chunk(partial_reply));
    assert!(
        !request_error(&model).await.is_transient(),
        "text was received"
    );
}

#[tokio::test]
async fn key_is_sent_in_the_header_each_provider_expects() {
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (model, path) = model_at(&server, provider);
        server.queue_reply(path, error_reply(provider, 401, "wrong: sk-12345"));
        let error = request_error(&with_key(model, "sk-12345")).await;
        let text = notice_text(&error.notice());
        let expected = format!(
            "{} rejected the API key (HTTP 401). wrong: [hidden]. Check",
            server.url()
        );
        assert!(text.starts_with(&expected), "{text}");
        assert!(!format!("{error:?}").contains("sk-12345"));
        let recorded = &server.requests()[0];
        let bearer = recorded.header("authorization");
        if provider == ProviderKind::Anthropic {
            assert_eq!(recorded.header("x-api-key"), Some("sk-12345"));
            assert_eq!(recorded.header("anthropic-version"), Some("2023-06-01"));
            assert_eq!(bearer, None);
        } else {
            assert_eq!(bearer, Some("Bearer sk-12345"));
        }
    }
}

#[tokio::test]
async fn unusable_key_error_names_the_variable_or_setting() {
    for provider in ProviderKind::ALL {
        let server = ModelServer::start();
        let (mut model, _) = model_at(&server, provider);
        model.api_key = ApiKey::MissingVariable("MY_KEY".into());
        assert_eq!(
            notice_text(&request_error(&model).await.notice()),
            "There is no key for `mine`. The environment variable MY_KEY is unset or empty. Set it and restart humble, or set `apiKey` of `mine` in config.json."
        );
        model.api_key = ApiKey::Unusable("the key contains a line break".into());
        assert_eq!(
            notice_text(&request_error(&model).await.notice()),
            "The key for `mine` cannot be sent. The key contains a line break. Correct `apiKey` of `mine` in config.json, or the environment variable it names."
        );
        for key in ["two\nlines", "bell\u{7}", "nul\0"] {
            let error = request_error(&with_key(model.clone(), key)).await;
            assert_eq!(
                notice_text(&error.notice()),
                "The key for `mine` cannot be sent. It contains characters that are not allowed in an HTTP header. Correct `apiKey` of `mine` in config.json, or the environment variable it names."
            );
        }
        assert!(server.requests().is_empty());
    }
}

#[tokio::test]
async fn ollama_that_is_not_signed_in_says_how_to_sign_in() {
    let server = ModelServer::start();
    let (model, path) = model_at(&server, ProviderKind::Ollama);
    let link = "https://ollama.com/connect?name=pc&key=c3NoLWVkMjU1MTk";
    let expected = format!(
        "The Ollama at {} is not signed in to ollama.com (HTTP 401). The model `qwen3:4b` runs there. Sign in with `ollama signin`, or at {link}.",
        server.url()
    );
    let body = json!({"error": "unauthorized", "signin_url": link});
    server.queue_reply(path, Reply::json(401, &body));
    let error = request_error(&model).await;
    assert_eq!(notice_text(&error.notice()), expected);
    assert!(!error.is_transient());
    // Any other address is not passed on.
    let body = json!({"error": "unauthorized", "signin_url": "javascript:alert(1)"});
    server.queue_reply(path, Reply::json(401, &body));
    let error = request_error(&model).await;
    assert!(notice_text(&error.notice()).contains("Set `apiKey`"));
}
