//! Notices about requests that the server rejected, usually with an error status.

use super::{AdviceExt, OVERLOAD_ADVICE, with_server_text};
use crate::domain::{Advice, Notice};
use crate::provider::error::{FailureCause, PAUSE_MAX, RequestTarget};
use std::time::Duration;

pub(super) fn notice(target: &RequestTarget, cause: &FailureCause) -> Notice {
    let RequestTarget {
        url, name, model, ..
    } = target;
    match cause {
        FailureCause::Status {
            status,
            message,
            retry_after,
            path,
        } => {
            let message = message.as_deref();
            match retry_after.filter(|pause| *pause > PAUSE_MAX) {
                Some(pause) if matches!(status, 429 | 503 | 529) => {
                    long_pause_notice(url, *status, message, pause)
                }
                _ => status_notice(target, *status, message, path.as_deref()),
            }
        }
        FailureCause::ToolsUnsupported { status, message } => with_server_text(
            Notice::failure(format!(
                "`{model}` at {url} does not support tools (HTTP {status})."
            )),
            Some(message),
        )
        .with_advice(format!(
            "Set `toolCalls` of `{name}` to \"prompt\" in config.json; the tools are then described in the prompt."
        ))
        .with_advice(Advice::Probe),
        FailureCause::SignInRequired { url: page } => Notice::failure(format!(
            "The Ollama at {url} is not signed in to ollama.com (HTTP 401)."
        ))
        .with_reason(format!("The model `{model}` runs there."))
        .with_advice(format!("Sign in with `ollama signin`, or at {page}.")),
        FailureCause::NoCredit { status, message } => with_server_text(
            Notice::failure(format!(
                "The account at {url} has no credit left (HTTP {status})."
            )),
            Some(message),
        )
        .with_advice("Top up the account.")
        .with_advice(Advice::ChooseOtherModel),
        FailureCause::ContextOverflow {
            sent: Some(sent),
            limit: Some(limit),
            ..
        } => conversation_too_long(name).with_reason(format!(
            "It has {sent} tokens; the limit at {url} is {limit}."
        )),
        FailureCause::ContextOverflow { message, .. } => {
            with_server_text(conversation_too_long(name), Some(message))
        }
        _ => Notice::failure(format!("The request to {url} failed.")),
    }
}

fn conversation_too_long(name: &str) -> Notice {
    Notice::failure(format!("The conversation is too long for `{name}`."))
        .with_advice(Advice::NewSession)
        .with_advice(Advice::ChooseLargerContext)
}

fn status_notice(
    target: &RequestTarget,
    status: u16,
    message: Option<&str>,
    path: Option<&str>,
) -> Notice {
    let RequestTarget {
        url, name, model, ..
    } = target;
    let server_text = message.unwrap_or_default().to_lowercase();
    let failure = |summary: String| with_server_text(Notice::failure(summary), message);
    match status {
        401 => unauthorized_notice(target, message),
        403 => failure(format!("{url} denied access (HTTP 403).")).with_advice(format!(
            "Check whether the key of `{name}` may use the model `{model}`."
        )),
        404 if server_text.contains("model") => {
            let notice = Notice::failure(format!("{url} does not have the model `{model}`."));
            notice
                .with_advice(match target.provider.server_command() {
                    Some(command) => format!("Pull it with `{command} pull {model}`."),
                    None => format!("Check `model` of `{name}` in config.json."),
                })
                .with_advice(Advice::ChooseOtherModel)
        }
        404 | 405 => failure(match path {
            Some(path) => format!("{path} does not exist at {url} (HTTP {status})."),
            None => format!("The requested address does not exist at {url} (HTTP {status})."),
        })
        .with_advice(format!("Check `baseUrl` of `{name}` in config.json.")),
        413 => failure(format!(
            "The conversation is too large for {url} (HTTP 413)."
        ))
        .with_advice(Advice::NewSession)
        .with_advice(Advice::ChooseOtherModel),
        408 | 504 => failure(format!("{url} took too long to answer (HTTP {status})."))
            .with_retry_advice(target),
        429 => failure(format!("{url} is limiting requests (HTTP 429)."))
            .with_all_advice(&OVERLOAD_ADVICE),
        502 => failure(format!(
            "The server behind {url} did not answer (HTTP 502)."
        ))
        .with_retry_advice(target),
        503 | 529 => failure(format!("{url} is overloaded (HTTP {status})."))
            .with_all_advice(&OVERLOAD_ADVICE),
        500..=599 => failure(format!("{url} reported an internal error (HTTP {status})."))
            .with_retry_advice(target),
        _ if server_text.contains("does not support thinking") => {
            failure(format!("{url} refused the request (HTTP {status}).")).with_advice(format!(
                "Remove `think` from `{name}` in config.json, or set it to false."
            ))
        }
        _ => failure(format!("{url} refused the request (HTTP {status})."))
            .with_advice(format!("Check the settings of `{name}` in config.json."))
            .with_advice(Advice::ChooseOtherModel),
    }
}

fn unauthorized_notice(target: &RequestTarget, message: Option<&str>) -> Notice {
    let RequestTarget { url, name, .. } = target;
    let failure = |summary: String| with_server_text(Notice::failure(summary), message);
    if !target.has_key {
        return failure(format!("{url} requires an API key (HTTP 401)."))
            .with_advice(format!("Set `apiKey` of `{name}` in config.json."));
    }
    let variable_hint = match target.provider.key_variable() {
        Some(variable) => format!(" ({variable} if `apiKey` is not set)"),
        None => String::new(),
    };
    failure(format!("{url} rejected the API key (HTTP 401).")).with_advice(format!(
        "Check `apiKey` of `{name}` in config.json, or the environment variable it names{variable_hint}."
    ))
}

/// The notice for a server that asks for a longer pause than an automatic retry would wait.
fn long_pause_notice(url: &str, status: u16, message: Option<&str>, pause: Duration) -> Notice {
    let pause = format_pause(pause);
    let summary = match status {
        429 => format!("{url} is limiting requests and asks you to wait {pause} (HTTP 429)."),
        _ => format!("{url} is overloaded and asks you to wait {pause} (HTTP {status})."),
    };
    with_server_text(Notice::failure(summary), message)
        .with_advice(Advice::ChooseOtherModel)
        .with_advice("Or ask again after that time.")
}

/// The pause in whole days, hours or minutes, rounded up so that the user does not retry too
/// early.
fn format_pause(pause: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match pause.as_secs() {
        seconds if seconds > 365 * DAY => "more than a year".to_owned(),
        seconds if seconds > 2 * DAY => format!("{} days", seconds.div_ceil(DAY)),
        seconds if seconds >= 2 * HOUR => format!("{} h", seconds.div_ceil(HOUR)),
        seconds => format!("{} min", seconds.div_ceil(MINUTE)),
    }
}
