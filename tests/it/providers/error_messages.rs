//! The words that a person reads, one line for each way to fail.

use super::notice_text::notice_text;
use crate::support::fixtures::model_config;
use humble::domain::ProviderKind::{self, Ollama, OpenAi, Scripted};
use humble::domain::model::{ApiKey, Secret};
use humble::provider::error::Garbled;
use humble::provider::{Cause, Fault};
use std::path::PathBuf;
use std::time::Duration;

const OLLAMA: &str = "http://localhost:11434";
const OPENAI: &str = "https://user:secret@api.example.com/v1";

fn words(provider: ProviderKind, cause: Cause) -> String {
    let url = if provider == Ollama { OLLAMA } else { OPENAI };
    notice_text(&Fault::new(&model_config(provider, url), cause).notice())
}

fn status(status: u16, message: &str) -> Cause {
    Cause::Status {
        status,
        message: (!message.is_empty()).then(|| message.to_owned()),
        retry_after: None,
        path: None,
    }
}

#[test]
fn a_server_that_cannot_be_reached() {
    let cases = [
        (
            Ollama,
            Cause::Refused,
            "Nothing listens at http://localhost:11434. Start it with `ollama serve`, or check baseUrl in config.json.",
        ),
        (
            OpenAi,
            Cause::Refused,
            "Nothing listens at https://api.example.com. Start the server, or check baseUrl of `mine` in config.json.",
        ),
        (
            OpenAi,
            Cause::Unresolved,
            "The host of https://api.example.com cannot be found. Check the network, and baseUrl of `mine` in config.json.",
        ),
        (
            OpenAi,
            Cause::ConnectTimeout,
            "https://api.example.com did not accept a connection within 10 s. Check the network, and baseUrl of `mine` in config.json.",
        ),
        (
            OpenAi,
            Cause::Unreachable {
                why: "invalid peer certificate: UnknownIssuer".into(),
            },
            "https://api.example.com cannot be talked to. invalid peer certificate: UnknownIssuer. If the certificate is your own, name it as caFile in config.json.",
        ),
        (
            OpenAi,
            Cause::Unreachable {
                why: "no route to host".into(),
            },
            "https://api.example.com cannot be talked to. no route to host. Check baseUrl of `mine` in config.json.",
        ),
        (
            OpenAi,
            Cause::Reset,
            "https://api.example.com closed the connection before it answered. [Retry]",
        ),
        (
            OpenAi,
            Cause::Redirected {
                to: "https://other.example/v1".into(),
            },
            "https://api.example.com redirects to https://other.example/v1. A conversation goes only to the address that config.json names. If it is right, make it the baseUrl of `mine`.",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(words(provider, cause), expected);
    }
}

#[test]
fn a_server_that_refuses() {
    let cases = [
        (
            Ollama,
            status(404, "model 'qwen3:4b' not found"),
            "http://localhost:11434 does not have the model `qwen3:4b`. Pull it with `ollama pull qwen3:4b`, or [ChooseOtherModel]",
        ),
        (
            OpenAi,
            status(404, "The model `x` does not exist"),
            "https://api.example.com does not have the model `qwen3:4b`. Check model of `mine` in config.json, or [ChooseOtherModel]",
        ),
        (
            Ollama,
            Cause::Status {
                status: 404,
                message: Some("404 page not found".into()),
                retry_after: None,
                path: Some("/v1/api/chat".into()),
            },
            "http://localhost:11434 has no such address as /v1/api/chat (HTTP 404). 404 page not found. Check baseUrl of `mine` in config.json.",
        ),
        (
            OpenAi,
            status(401, "Invalid API Key"),
            "https://api.example.com wants a key (HTTP 401). Invalid API Key. Give `mine` an apiKey in config.json.",
        ),
        (
            OpenAi,
            status(403, ""),
            "https://api.example.com does not allow this (HTTP 403). Check whether the key of `mine` may use the model `qwen3:4b`.",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(words(provider, cause), expected);
    }
}

#[test]
fn a_server_that_cannot_serve_this_request() {
    let cases = [
        (
            OpenAi,
            status(413, ""),
            "The conversation is too large for https://api.example.com (HTTP 413). [NewSession], or [ChooseOtherModel]",
        ),
        (
            OpenAi,
            status(429, "Slow down!"),
            "https://api.example.com asks for a pause (HTTP 429). Slow down! [RetryLater], or [ChooseOtherModel]",
        ),
        (
            Ollama,
            status(500, "out of memory"),
            "http://localhost:11434 failed (HTTP 500). out of memory. [Retry] If it happens again, see `ollama serve`'s log.",
        ),
        (
            OpenAi,
            status(503, ""),
            "https://api.example.com has too much to do (HTTP 503). [RetryLater], or [ChooseOtherModel]",
        ),
        (
            Ollama,
            status(400, "\"x\" does not support thinking"),
            "http://localhost:11434 refused the request (HTTP 400). \"x\" does not support thinking. Remove think from `mine` in config.json, or set it to false.",
        ),
        (
            Ollama,
            Cause::NoTools {
                status: 400,
                message: "x does not support tools".into(),
            },
            "`qwen3:4b` at http://localhost:11434 takes no tools (HTTP 400). x does not support tools. Set toolCalls of `mine` to \"prompt\" in config.json: the tools are then explained in words. [Probe]",
        ),
        (
            OpenAi,
            status(418, "short and stout"),
            "https://api.example.com refused the request (HTTP 418). short and stout. Check `mine` in config.json, or [ChooseOtherModel]",
        ),
        (
            OpenAi,
            Cause::ContextOverflow {
                sent: Some(2009),
                limit: Some(512),
                message: "too long".into(),
            },
            "The conversation is too long for `mine`. It has 2009 tokens, and https://api.example.com takes 512. [NewSession], or [ChooseLargerContext]",
        ),
        (
            OpenAi,
            Cause::ContextOverflow {
                sent: None,
                limit: None,
                message: "too long".into(),
            },
            "The conversation is too long for `mine`. too long. [NewSession], or [ChooseLargerContext]",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(words(provider, cause), expected);
    }
}

#[test]
fn a_key_that_is_refused_names_where_it_comes_from() {
    let mut model = model_config(OpenAi, OPENAI);
    model.api_key = ApiKey::Known(Secret::new("sk-wrong"));
    let fault = Fault::new(&model, status(401, "Incorrect API key provided: sk-wrong"));
    assert_eq!(
        fault.to_string(),
        "https://api.example.com does not accept the key (HTTP 401). Incorrect API key provided: [hidden]. Check apiKey of `mine` in config.json, or the variable it names (OPENAI_API_KEY where it is left out)."
    );
    assert!(!format!("{fault:?}").contains("sk-wrong"));
}

#[test]
fn an_answer_that_goes_wrong() {
    let garbled = Cause::Garbled;
    let not_answer = "What https://api.example.com sent is not a model's answer.";
    let check = "Check baseUrl and provider of `mine` in config.json.";
    let cases = [
        (Ollama, Cause::Cut, "The connection to http://localhost:11434 was cut in the middle of the answer. [Retry] If it happens again, see `ollama serve`'s log.".to_owned()),
        (OpenAi, Cause::Cut, "The connection to https://api.example.com was cut in the middle of the answer. [Retry]".to_owned()),
        (OpenAi, Cause::Empty, "https://api.example.com ended its answer before the first word. [Retry]".to_owned()),
        (OpenAi, Cause::InStream { message: "it broke".into() }, "https://api.example.com reported an error instead of going on. it broke. [Retry]".to_owned()),
        (OpenAi, garbled(Garbled::WebPage), format!("{not_answer} It is a web page. {check}")),
        (OpenAi, garbled(Garbled::NotJson { line: "hello".into() }), format!("{not_answer} A line is not JSON: `hello`. {check}")),
        (OpenAi, garbled(Garbled::Foreign { json: "null".into() }), format!("{not_answer} It is other JSON: `null`. {check}")),
        (OpenAi, garbled(Garbled::NotUtf8), format!("{not_answer} Its bytes are not UTF-8 text. {check}")),
        (OpenAi, garbled(Garbled::TooLong { bytes_max: 16 << 20 }), format!("{not_answer} A part of it is longer than 16 MB. {check}")),
        (OpenAi, garbled(Garbled::TooManyCalls { calls_max: 256 }), format!("{not_answer} It asks for more than 256 tools at once. {check}")),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(words(provider, cause), expected);
    }
}

#[test]
fn a_request_that_cannot_be_sent() {
    let cases = [
        (
            OpenAi,
            Cause::MissingKey {
                variable: "MY_KEY".into(),
            },
            "There is no key for `mine`. The environment variable MY_KEY is not set or empty. Set it and start again, or give the model an apiKey in config.json.",
        ),
        (
            OpenAi,
            Cause::UnusableKey {
                why: "it holds a line end".into(),
            },
            "The key for `mine` cannot be sent. It holds a line end. Correct its apiKey in config.json, or the variable it names.",
        ),
        (
            Scripted,
            Cause::Unsupported,
            "`mine` is of the provider scripted, which no server is asked for. [ChooseOtherModel]",
        ),
        (
            OpenAi,
            Cause::BadUrl {
                given: "localhost".into(),
                why: "relative URL without a base".into(),
            },
            "The baseUrl of `mine` cannot be used: `localhost`. relative URL without a base. Correct it in config.json; it looks like http://localhost:11434.",
        ),
        (
            OpenAi,
            Cause::BadCaFile {
                path: PathBuf::from("my.pem"),
                why: "no certificate is in it".into(),
            },
            "The caFile of `mine` cannot be used: my.pem. no certificate is in it. It must hold certificates in PEM form; correct it in config.json.",
        ),
        (
            OpenAi,
            Cause::NoClient {
                why: "no roots".into(),
            },
            "Secure connections cannot be set up on this system. no roots. Install the system's CA certificates, or name a caFile in config.json.",
        ),
        (
            OpenAi,
            Cause::ScriptOver { rounds: 2 },
            "The script has 2 rounds, and the model was asked once more.",
        ),
    ];
    for (provider, cause, expected) in cases {
        assert_eq!(words(provider, cause), expected);
    }
}

#[test]
fn a_long_pause_is_told_in_whole_units() {
    let pauses = [
        (121, "3 min"),
        (7199, "120 min"),
        (7200, "2 h"),
        (7201, "3 h"),
        (172_800, "48 h"),
        (172_801, "3 days"),
        (u64::MAX, "more than a year"),
    ];
    let said = |status, seconds| {
        let cause = Cause::Status {
            status,
            message: None,
            retry_after: Some(Duration::from_secs(seconds)),
            path: None,
        };
        words(OpenAi, cause)
    };
    let advice = "[ChooseOtherModel] Or wait that long, and ask again.";
    for (seconds, pause) in pauses {
        assert_eq!(
            said(429, seconds),
            format!("https://api.example.com asks to wait {pause} (HTTP 429). {advice}")
        );
        let expected =
            format!("https://api.example.com has too much to do, and asks to wait {pause} (HTTP");
        assert_eq!(said(503, seconds), format!("{expected} 503). {advice}"));
        assert_eq!(said(529, seconds), format!("{expected} 529). {advice}"));
    }
    let short =
        "https://api.example.com asks for a pause (HTTP 429). [RetryLater], or [ChooseOtherModel]";
    assert_eq!(said(429, 120), short);
    assert!(said(500, 7200).starts_with("https://api.example.com failed (HTTP 500)."));
}

#[test]
fn texts_of_a_server_are_bounded_and_otherwise_raw() {
    let long = format!("\u{1b}[31m{}", "가".repeat(2000));
    let said = words(OpenAi, Cause::InStream { message: long });
    assert!(said.contains("\u{1b}[31m가"));
    assert!(
        said.chars().count() < 700,
        "{} characters",
        said.chars().count()
    );
}

#[test]
fn only_what_may_pass_by_itself_is_transient() {
    let of = |cause| Fault::new(&model_config(OpenAi, OPENAI), cause).is_transient();
    assert!(of(status(429, "")) && of(status(503, "")) && of(status(529, "")));
    assert!(
        of(Cause::Reset)
            && of(Cause::Busy {
                message: String::new()
            })
    );
    assert!(!of(status(500, "")) && !of(Cause::Cut) && !of(Cause::Refused));
    let busy = Cause::Status {
        status: 503,
        message: None,
        retry_after: Some(Duration::from_secs(7)),
        path: None,
    };
    let fault = Fault::new(&model_config(OpenAi, OPENAI), busy);
    assert_eq!(fault.retry_after(), Some(Duration::from_secs(7)));
}
