//! The whole error message for most causes of failure. The messages for other causes
//! are checked by the tests that provoke them.

use super::notice_text::notice_text;
use crate::support::fixtures::model_config;
use humble::domain::ProviderKind::{self, Ollama, OpenAi, Scripted};
use humble::domain::model::{ApiKey, Secret};
use humble::provider::error::MalformedReply;
use humble::provider::{FailureCause, ProviderError};
use std::path::PathBuf;
use std::time::Duration;

const OLLAMA: &str = "http://localhost:11434";
const OPENAI: &str = "https://user:secret@api.example.com/v1";

fn message_for(provider: ProviderKind, cause: FailureCause) -> String {
    let url = if provider == Ollama { OLLAMA } else { OPENAI };
    notice_text(&ProviderError::new(&model_config(provider, url), cause).notice())
}

fn status_failure(status: u16, message: &str) -> FailureCause {
    FailureCause::Status {
        status,
        message: (!message.is_empty()).then(|| message.to_owned()),
        retry_after: None,
        path: None,
    }
}

#[test]
fn unreachable_server_is_explained() {
    let cases = [
        (
            Ollama,
            FailureCause::ConnectionRefused,
            "Nothing listens at http://localhost:11434. Start the server with `ollama serve`, or check `baseUrl` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::ConnectionRefused,
            "Nothing listens at https://api.example.com. Start the server, or check `baseUrl` of `mine` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::HostNotFound,
            "The host of https://api.example.com was not found. Check the network connection and `baseUrl` of `mine` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::ConnectTimeout,
            "https://api.example.com did not accept a connection within 10 s. Check the network connection and `baseUrl` of `mine` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::Unreachable {
                why: "invalid peer certificate: UnknownIssuer".into(),
            },
            "Cannot connect to https://api.example.com. invalid peer certificate: UnknownIssuer. If the server uses your own certificate, set `caFile` of `mine` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::Unreachable {
                why: "no route to host".into(),
            },
            "Cannot connect to https://api.example.com. no route to host. Check `baseUrl` of `mine` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::ConnectionReset,
            "https://api.example.com closed the connection before it answered. [Retry]",
        ),
        (
            OpenAi,
            FailureCause::Redirected {
                to: "https://other.example/v1".into(),
            },
            "https://api.example.com redirects to https://other.example/v1. Conversations are sent only to the address in config.json. If the new address is right, set it as `baseUrl` of `mine`.",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(message_for(provider, cause), expected);
    }
}

#[test]
fn rejected_request_is_explained() {
    let cases = [
        (
            Ollama,
            status_failure(404, "model 'qwen3:4b' not found"),
            "http://localhost:11434 does not have the model `qwen3:4b`. Pull it with `ollama pull qwen3:4b`, or [ChooseOtherModel]",
        ),
        (
            OpenAi,
            status_failure(404, "The model `x` does not exist"),
            "https://api.example.com does not have the model `qwen3:4b`. Check `model` of `mine` in config.json, or [ChooseOtherModel]",
        ),
        (
            Ollama,
            FailureCause::Status {
                status: 404,
                message: Some("404 page not found".into()),
                retry_after: None,
                path: Some("/v1/api/chat".into()),
            },
            "/v1/api/chat does not exist at http://localhost:11434 (HTTP 404). 404 page not found. Check `baseUrl` of `mine` in config.json.",
        ),
        (
            OpenAi,
            status_failure(401, "Invalid API Key"),
            "https://api.example.com requires an API key (HTTP 401). Invalid API Key. Set `apiKey` of `mine` in config.json.",
        ),
        (
            OpenAi,
            status_failure(403, ""),
            "https://api.example.com denied access (HTTP 403). Check whether the key of `mine` may use the model `qwen3:4b`.",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(message_for(provider, cause), expected);
    }
}

#[test]
fn request_that_the_server_cannot_handle_is_explained() {
    let cases = [
        (
            OpenAi,
            status_failure(413, ""),
            "The conversation is too large for https://api.example.com (HTTP 413). [NewSession], or [ChooseOtherModel]",
        ),
        (
            OpenAi,
            status_failure(429, "Slow down!"),
            "https://api.example.com is limiting requests (HTTP 429). Slow down! [RetryLater], or [ChooseOtherModel]",
        ),
        (
            Ollama,
            status_failure(500, "out of memory"),
            "http://localhost:11434 reported an internal error (HTTP 500). out of memory. [Retry] If it happens again, check the log of `ollama serve`.",
        ),
        (
            OpenAi,
            status_failure(503, ""),
            "https://api.example.com is overloaded (HTTP 503). [RetryLater], or [ChooseOtherModel]",
        ),
        (
            Ollama,
            status_failure(400, "\"x\" does not support thinking"),
            "http://localhost:11434 refused the request (HTTP 400). \"x\" does not support thinking. Remove `think` from `mine` in config.json, or set it to false.",
        ),
        (
            Ollama,
            FailureCause::ToolsUnsupported {
                status: 400,
                message: "x does not support tools".into(),
            },
            "`qwen3:4b` at http://localhost:11434 does not support tools (HTTP 400). x does not support tools. Set `toolCalls` of `mine` to \"prompt\" in config.json; the tools are then described in the prompt. [Probe]",
        ),
        (
            OpenAi,
            status_failure(418, "short and stout"),
            "https://api.example.com refused the request (HTTP 418). short and stout. Check the settings of `mine` in config.json, or [ChooseOtherModel]",
        ),
        (
            OpenAi,
            FailureCause::ContextOverflow {
                sent: Some(2009),
                limit: Some(512),
                message: "too long".into(),
            },
            "The conversation is too long for `mine`. It has 2009 tokens; the limit at https://api.example.com is 512. [NewSession], or [ChooseLargerContext]",
        ),
        (
            OpenAi,
            FailureCause::ContextOverflow {
                sent: None,
                limit: None,
                message: "too long".into(),
            },
            "The conversation is too long for `mine`. too long. [NewSession], or [ChooseLargerContext]",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(message_for(provider, cause), expected);
    }
}

#[test]
fn rejected_key_names_its_setting_and_variable() {
    let mut model = model_config(OpenAi, OPENAI);
    model.api_key = ApiKey::Known(Secret::new("sk-wrong"));
    let error = ProviderError::new(&model, status_failure(401, "Incorrect API key provided"));
    assert_eq!(
        error.to_string(),
        "https://api.example.com rejected the API key (HTTP 401). Incorrect API key provided. Check `apiKey` of `mine` in config.json, or the environment variable it names (OPENAI_API_KEY if `apiKey` is not set)."
    );
    assert!(!format!("{error:?}").contains("sk-wrong"));
}

#[test]
fn failed_reply_is_explained() {
    let malformed = FailureCause::Malformed;
    let not_answer = "The answer from https://api.example.com is not valid.";
    let check = "Check `baseUrl` and `provider` of `mine` in config.json.";
    let cases = [
        (Ollama, FailureCause::ReplyCutOff, "The connection to http://localhost:11434 was cut in the middle of the answer. [Retry] If it happens again, check the log of `ollama serve`.".to_owned()),
        (OpenAi, FailureCause::ReplyCutOff, "The connection to https://api.example.com was cut in the middle of the answer. [Retry]".to_owned()),
        (OpenAi, FailureCause::EmptyReply, "https://api.example.com sent an empty answer. [Retry]".to_owned()),
        (OpenAi, FailureCause::ErrorInReply { message: "it broke".into() }, "https://api.example.com reported an error in its answer. it broke. [Retry]".to_owned()),
        (OpenAi, malformed(MalformedReply::WebPage), format!("{not_answer} It is a web page. {check}")),
        (OpenAi, malformed(MalformedReply::NotJson { line: "hello".into() }), format!("{not_answer} This line is not JSON: `hello`. {check}")),
        (OpenAi, malformed(MalformedReply::UnexpectedJson { json: "null".into() }), format!("{not_answer} It is unexpected JSON: `null`. {check}")),
        (OpenAi, malformed(MalformedReply::NotUtf8), format!("{not_answer} It is not UTF-8 text. {check}")),
        (OpenAi, malformed(MalformedReply::TooLong { bytes_max: 16 << 20 }), format!("{not_answer} Part of it is longer than 16 MB. {check}")),
        (ProviderKind::Anthropic, malformed(MalformedReply::TooManyBlocks { blocks_max: 4096 }), format!("{not_answer} It has more than 4096 content blocks. {check}")),
        (OpenAi, malformed(MalformedReply::TooManyCalls { calls_max: 256 }), format!("{not_answer} It calls more than 256 tools at once. {check}")),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(message_for(provider, cause), expected);
    }
}

#[test]
fn request_that_cannot_be_sent_is_explained() {
    let cases = [
        (
            OpenAi,
            FailureCause::MissingKey {
                variable: "MY_KEY".into(),
            },
            "There is no key for `mine`. The environment variable MY_KEY is unset or empty. Set it and restart humble, or set `apiKey` of `mine` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::UnusableKey {
                why: "it contains a line break".into(),
            },
            "The key for `mine` cannot be sent. It contains a line break. Correct `apiKey` of `mine` in config.json, or the environment variable it names.",
        ),
        (
            Scripted,
            FailureCause::Unsupported,
            "`mine` uses the provider `scripted`, which does not support this kind of request. [ChooseOtherModel]",
        ),
        (
            OpenAi,
            FailureCause::InvalidBaseUrl {
                given: "localhost".into(),
                why: "relative URL without a base".into(),
            },
            "The `baseUrl` of `mine` is not valid: `localhost`. Relative URL without a base. Correct it in config.json. Example: http://localhost:11434.",
        ),
        (
            OpenAi,
            FailureCause::InvalidCaFile {
                path: PathBuf::from("my.pem"),
                why: "it contains no certificates".into(),
            },
            "The `caFile` of `mine` cannot be used: my.pem. It contains no certificates. Set `caFile` of `mine` in config.json to a file of certificates in PEM format.",
        ),
        (
            OpenAi,
            FailureCause::TlsUnavailable {
                why: "no roots".into(),
            },
            "Secure connections cannot be set up on this system. No roots. Install the system's CA certificates, or set `caFile` in config.json.",
        ),
        (
            OpenAi,
            FailureCause::ScriptExhausted { rounds: 2 },
            "The script has 2 rounds, but the model was asked once more.",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(message_for(provider, cause), expected);
    }
}

#[test]
fn long_pause_is_given_in_whole_units() {
    let pauses = [
        (121, "3 min"),
        (7199, "120 min"),
        (7200, "2 h"),
        (7201, "3 h"),
        (172_800, "48 h"),
        (172_801, "3 days"),
        (u64::MAX, "more than a year"),
    ];
    let text = |status, seconds| {
        let cause = FailureCause::Status {
            status,
            message: None,
            retry_after: Some(Duration::from_secs(seconds)),
            path: None,
        };
        message_for(OpenAi, cause)
    };
    let advice = "[ChooseOtherModel] Or ask again after that time.";
    for (seconds, pause) in pauses {
        assert_eq!(
            text(429, seconds),
            format!(
                "https://api.example.com is limiting requests and asks you to wait {pause} (HTTP 429). {advice}"
            )
        );
        let expected =
            format!("https://api.example.com is overloaded and asks you to wait {pause} (HTTP");
        assert_eq!(text(503, seconds), format!("{expected} 503). {advice}"));
        assert_eq!(text(529, seconds), format!("{expected} 529). {advice}"));
    }
    let short = "https://api.example.com is limiting requests (HTTP 429). [RetryLater], or [ChooseOtherModel]";
    assert_eq!(text(429, 120), short);
    assert!(
        text(500, 7200)
            .starts_with("https://api.example.com reported an internal error (HTTP 500).")
    );
}

#[test]
fn server_messages_are_truncated_and_otherwise_raw() {
    let long = format!("\u{1b}[31m{}", "가".repeat(2000));
    let text = message_for(OpenAi, FailureCause::ErrorInReply { message: long });
    assert!(text.contains("\u{1b}[31m가"));
    assert!(
        text.chars().count() < 700,
        "{} characters",
        text.chars().count()
    );
}

#[test]
fn rate_limits_overload_and_resets_are_transient_and_other_failures_are_not() {
    let is_transient =
        |cause| ProviderError::new(&model_config(OpenAi, OPENAI), cause).is_transient();
    assert!(
        is_transient(status_failure(429, ""))
            && is_transient(status_failure(503, ""))
            && is_transient(status_failure(529, ""))
    );
    assert!(
        is_transient(FailureCause::ConnectionReset)
            && is_transient(FailureCause::Overloaded {
                message: String::new()
            })
    );
    assert!(
        !is_transient(status_failure(500, ""))
            && !is_transient(FailureCause::ReplyCutOff)
            && !is_transient(FailureCause::ConnectionRefused)
    );
    let busy = FailureCause::Status {
        status: 503,
        message: None,
        retry_after: Some(Duration::from_secs(7)),
        path: None,
    };
    let error = ProviderError::new(&model_config(OpenAi, OPENAI), busy);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}
