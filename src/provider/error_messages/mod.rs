//! The notices about failed requests to model servers: a summary, the reason and advice. Text
//! from the server is inserted unmodified and is sanitized when a notice is displayed.

mod new_server;
mod status;

use super::error::{FailureCause, MalformedReply, RequestTarget};
use super::types::EndReason;
use crate::domain::{Advice, Notice};
use crate::http_util::CONNECT_TIMEOUT_SECONDS;

const REPHRASE: &str = "Rephrase the question.";
const PARTIAL_REPLY_KEPT: &str = "The partial answer is kept.";
const OVERLOAD_ADVICE: [Advice; 2] = [Advice::RetryLater, Advice::ChooseOtherModel];

pub(super) fn notice(
    target: &RequestTarget,
    cause: &FailureCause,
    has_partial_reply: bool,
) -> Notice {
    match cause {
        FailureCause::ConnectionRefused
        | FailureCause::HostNotFound
        | FailureCause::ConnectTimeout
        | FailureCause::Timeout { .. }
        | FailureCause::Unreachable { .. }
        | FailureCause::ConnectionReset
        | FailureCause::Redirected { .. } => connection_notice(target, cause),
        FailureCause::Status { .. }
        | FailureCause::ToolsUnsupported { .. }
        | FailureCause::ContextOverflow { .. }
        | FailureCause::SignInRequired { .. }
        | FailureCause::NoCredit { .. } => status::notice(target, cause),
        FailureCause::ReplyCutOff
        | FailureCause::EmptyReply
        | FailureCause::ErrorInReply { .. }
        | FailureCause::Overloaded { .. }
        | FailureCause::Malformed(_) => reply_notice(target, cause, has_partial_reply),
        FailureCause::MissingKey { .. }
        | FailureCause::UnusableKey { .. }
        | FailureCause::Unsupported
        | FailureCause::InvalidBaseUrl { .. }
        | FailureCause::InvalidCaFile { .. }
        | FailureCause::TlsUnavailable { .. }
        | FailureCause::ScriptExhausted { .. } => settings_notice(target, cause),
    }
}

/// Failures in which no usable response arrived.
fn connection_notice(target: &RequestTarget, cause: &FailureCause) -> Notice {
    let RequestTarget { url, name, .. } = target;
    let check_advice =
        format!("Check the network connection and `baseUrl` of `{name}` in config.json.");
    match cause {
        FailureCause::ConnectionRefused => Notice::failure(format!("Nothing listens at {url}."))
            .with_advice(match target.provider.server_command() {
                Some(command) => {
                    format!("Start the server with `{command} serve`, or check `baseUrl` in config.json.")
                }
                None => format!("Start the server, or check `baseUrl` of `{name}` in config.json."),
            }),
        FailureCause::HostNotFound => {
            Notice::failure(format!("The host of {url} was not found.")).with_advice(check_advice)
        }
        FailureCause::ConnectTimeout => Notice::failure(format!(
            "{url} did not accept a connection within {CONNECT_TIMEOUT_SECONDS} s."
        ))
        .with_advice(check_advice),
        FailureCause::Timeout { seconds } => {
            Notice::failure(format!("{url} did not answer within {seconds} s."))
                .with_advice("Check the network and the server's log, then try again.")
        }
        FailureCause::Unreachable { why } => {
            let notice =
                Notice::failure(format!("Cannot connect to {url}.")).with_reason(with_period(why));
            if why.to_lowercase().contains("certificate") {
                notice.with_advice(format!(
                    "If the server uses your own certificate, set `caFile` of `{name}` in config.json."
                ))
            } else {
                notice.with_advice(format!("Check `baseUrl` of `{name}` in config.json."))
            }
        }
        FailureCause::Redirected { to } => Notice::failure(format!("{url} redirects to {to}."))
            .with_reason("Conversations are sent only to the address in config.json.")
            .with_advice(format!(
                "If the new address is right, set it as `baseUrl` of `{name}`."
            )),
        _ => Notice::failure(format!("{url} closed the connection before it answered."))
            .with_retry_advice(target),
    }
}

/// Failures in the body of a response with a success status.
fn reply_notice(target: &RequestTarget, cause: &FailureCause, has_partial_reply: bool) -> Notice {
    let RequestTarget { url, name, .. } = target;
    match cause {
        FailureCause::EmptyReply => {
            Notice::failure(format!("{url} sent an empty answer.")).with_retry_advice(target)
        }
        FailureCause::ErrorInReply { message } => with_server_text(
            Notice::failure(format!("{url} reported an error in its answer.")),
            Some(message),
        )
        .mention_partial_reply(has_partial_reply)
        .with_retry_advice(target),
        FailureCause::Overloaded { message } => with_server_text(
            Notice::failure(format!("{url} is overloaded.")),
            Some(message),
        )
        .mention_partial_reply(has_partial_reply)
        .with_all_advice(match has_partial_reply {
            true => &[Advice::Retry],
            false => &OVERLOAD_ADVICE,
        }),
        FailureCause::Malformed(malformed) => {
            Notice::failure(format!("The answer from {url} is not valid."))
                .with_reason(malformed_reason(malformed))
                .with_advice(format!(
                    "Check `baseUrl` and `provider` of `{name}` in config.json."
                ))
        }
        _ => Notice::failure(format!(
            "The connection to {url} was cut in the middle of the answer."
        ))
        .mention_partial_reply(has_partial_reply)
        .with_retry_advice(target),
    }
}

/// Failures in which the request was not sent.
fn settings_notice(target: &RequestTarget, cause: &FailureCause) -> Notice {
    let RequestTarget { name, provider, .. } = target;
    match cause {
        FailureCause::MissingKey { variable } => {
            Notice::failure(format!("There is no key for `{name}`."))
                .with_reason(format!(
                    "The environment variable {variable} is unset or empty."
                ))
                .with_advice(format!(
                    "Set it and restart humble, or set `apiKey` of `{name}` in config.json."
                ))
        }
        FailureCause::UnusableKey { why } => Notice::failure(format!(
            "The key for `{name}` cannot be sent."
        ))
        .with_reason(capitalized(&with_period(why)))
        .with_advice(format!(
            "Correct `apiKey` of `{name}` in config.json, or the environment variable it names."
        )),
        FailureCause::InvalidBaseUrl { given, why } => Notice::failure(format!(
            "The `baseUrl` of `{name}` is not valid: `{given}`."
        ))
        .with_reason(capitalized(&with_period(why)))
        .with_advice("Correct it in config.json. Example: http://localhost:11434."),
        FailureCause::InvalidCaFile { path, why } => Notice::failure(format!(
            "The `caFile` of `{name}` cannot be used: {}.",
            path.display()
        ))
        .with_reason(capitalized(&with_period(why)))
        .with_advice(format!(
            "Set `caFile` of `{name}` in config.json to a file of certificates in PEM format."
        )),
        FailureCause::TlsUnavailable { why } => {
            Notice::failure("Secure connections cannot be set up on this system.")
                .with_reason(capitalized(&with_period(why)))
                .with_advice(
                    "Install the system's CA certificates, or set `caFile` in config.json.",
                )
        }
        FailureCause::ScriptExhausted { rounds } => Notice::failure(format!(
            "The script has {rounds} rounds, but the model was asked once more."
        )),
        _ => Notice::failure(format!(
            "`{name}` uses the provider `{provider}`, which does not support this kind of request."
        ))
        .with_advice(Advice::ChooseOtherModel),
    }
}

fn malformed_reason(malformed: &MalformedReply) -> String {
    match malformed {
        MalformedReply::WebPage => "It is a web page.".to_owned(),
        MalformedReply::NotJson { line } => format!("This line is not JSON: `{line}`."),
        MalformedReply::UnexpectedJson { json } => format!("It is unexpected JSON: `{json}`."),
        MalformedReply::NotAModelList => "It is not a list of models.".to_owned(),
        MalformedReply::NotUtf8 => "It is not UTF-8 text.".to_owned(),
        MalformedReply::TooLong { bytes_max } => {
            format!("Part of it is longer than {} MB.", bytes_max >> 20)
        }
        MalformedReply::TooManyCalls { calls_max } => {
            format!("It calls more than {calls_max} tools at once.")
        }
        MalformedReply::TooManyBlocks { blocks_max } => {
            format!("It has more than {blocks_max} content blocks.")
        }
    }
}

/// Reaching the token limit has no notice here, because the engine offers to continue
/// such an answer.
pub(super) fn end_notice(reason: &EndReason) -> Option<Notice> {
    let notice = match reason {
        EndReason::Stop | EndReason::ToolCalls | EndReason::Length => return None,
        EndReason::Refused { why } => with_server_text(
            Notice::warning("The model refused to continue."),
            why.as_deref(),
        )
        .with_advice(REPHRASE)
        .with_advice(Advice::ChooseOtherModel),
        EndReason::ContentFilter => {
            Notice::warning("A content filter on the server ended the answer.")
                .with_advice(REPHRASE)
                .with_advice(Advice::ChooseOtherModel)
        }
        EndReason::ContextFull => {
            Notice::warning("The answer was cut off because the model's context is full.")
                .with_advice(Advice::NewSession)
                .with_advice(Advice::ChooseLargerContext)
        }
        EndReason::Paused => Notice::warning("The server paused in the middle of the answer.")
            .with_advice("Ask the model to continue."),
        EndReason::StopSequence => Notice::warning("The answer ended at a stop sequence.")
            .with_reason("It is set in the model's `options` in config.json."),
        EndReason::OutOfResources => {
            Notice::warning("The server ran out of resources in the middle of the answer.")
                .with_advice(Advice::Retry)
        }
        EndReason::Other(name) => Notice::warning(format!("The server ended the answer: {name}.")),
    };
    Some(notice)
}

trait AdviceExt: Sized {
    fn with_retry_advice(self, target: &RequestTarget) -> Self;
    fn mention_partial_reply(self, has_partial_reply: bool) -> Self;
    fn with_all_advice(self, advice: &[Advice]) -> Self;
}

impl AdviceExt for Notice {
    /// Also refers to the server's log, if we know where it is.
    fn with_retry_advice(self, target: &RequestTarget) -> Self {
        let notice = self.with_advice(Advice::Retry);
        match target.provider.server_command() {
            Some(command) => notice.with_advice(format!(
                "If it happens again, check the log of `{command} serve`."
            )),
            None => notice,
        }
    }

    fn mention_partial_reply(self, has_partial_reply: bool) -> Self {
        match has_partial_reply {
            true => self.with_advice(PARTIAL_REPLY_KEPT),
            false => self,
        }
    }

    fn with_all_advice(mut self, advice: &[Advice]) -> Self {
        self.advice.extend_from_slice(advice);
        self
    }
}

fn with_server_text(notice: Notice, message: Option<&str>) -> Notice {
    match message.filter(|message| !message.is_empty()) {
        Some(message) => notice.with_reason(with_period(message)),
        None => notice,
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// Ends text from the server or a library with a period unless it already ends like a sentence,
/// so that the next sentence does not run into it.
fn with_period(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…', '。']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
