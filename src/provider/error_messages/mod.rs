//! Every message about a model server that failed: what happened, why, and what to do.
//! Text from the server is inserted unmodified; whoever displays a notice sanitizes it.

mod new_server;
mod status;

use super::error::{FailureCause, MalformedReply, RequestTarget};
use super::types::EndReason;
use crate::domain::{Advice, Notice};
use crate::http_util::CONNECT_TIMEOUT_SECONDS;

const REPHRASE: &str = "Rephrase the question.";
const PARTIAL_REPLY_KEPT: &str = "The partial answer is kept.";
/// What to do about an overloaded server.
const OVERLOADED: [Advice; 2] = [Advice::RetryLater, Advice::ChooseOtherModel];

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

/// No response arrived.
fn connection_notice(target: &RequestTarget, cause: &FailureCause) -> Notice {
    let RequestTarget { url, name, .. } = target;
    let check = format!("Check the network connection and baseUrl of `{name}` in config.json.");
    match cause {
        FailureCause::ConnectionRefused => Notice::failure(format!("Nothing listens at {url}."))
            .with_advice(match target.provider.server_command() {
                Some(command) => {
                    format!("Start it with `{command} serve`, or check baseUrl in config.json.")
                }
                None => format!("Start the server, or check baseUrl of `{name}` in config.json."),
            }),
        FailureCause::HostNotFound => {
            Notice::failure(format!("The host of {url} was not found.")).with_advice(check)
        }
        FailureCause::ConnectTimeout => Notice::failure(format!(
            "{url} did not accept a connection within {CONNECT_TIMEOUT_SECONDS} s."
        ))
        .with_advice(check),
        FailureCause::Timeout { seconds } => {
            Notice::failure(format!("{url} did not answer within {seconds} s."))
                .with_advice("Check the network and the server's log, then try again.")
        }
        FailureCause::Unreachable { why } => {
            let notice =
                Notice::failure(format!("Cannot connect to {url}.")).with_reason(sentence(why));
            if why.to_lowercase().contains("certificate") {
                notice.with_advice(format!(
                    "If the server uses your own certificate, set caFile of `{name}` in config.json."
                ))
            } else {
                notice.with_advice(format!("Check baseUrl of `{name}` in config.json."))
            }
        }
        FailureCause::Redirected { to } => Notice::failure(format!("{url} redirects to {to}."))
            .with_reason("Conversations are sent only to the address in config.json.")
            .with_advice(format!(
                "If the new address is right, set it as baseUrl of `{name}`."
            )),
        _ => Notice::failure(format!("{url} closed the connection before it answered."))
            .retry(target),
    }
}

/// The response was successful, but not its body.
fn reply_notice(target: &RequestTarget, cause: &FailureCause, has_partial_reply: bool) -> Notice {
    let RequestTarget { url, name, .. } = target;
    match cause {
        FailureCause::EmptyReply => {
            Notice::failure(format!("{url} sent an empty answer.")).retry(target)
        }
        FailureCause::ErrorInReply { message } => with_server_text(
            Notice::failure(format!("{url} reported an error in its answer.")),
            Some(message),
        )
        .keeping(has_partial_reply)
        .retry(target),
        FailureCause::Overloaded { message } => with_server_text(
            Notice::failure(format!("{url} is overloaded.")),
            Some(message),
        )
        .keeping(has_partial_reply)
        .advise_all(match has_partial_reply {
            true => &[Advice::Retry],
            false => &OVERLOADED,
        }),
        FailureCause::Malformed(malformed) => {
            Notice::failure(format!("The answer from {url} is not valid."))
                .with_reason(malformed_reason(malformed))
                .with_advice(format!(
                    "Check baseUrl and provider of `{name}` in config.json."
                ))
        }
        _ => Notice::failure(format!(
            "The connection to {url} was cut in the middle of the answer."
        ))
        .keeping(has_partial_reply)
        .retry(target),
    }
}

/// The request was not sent at all.
fn settings_notice(target: &RequestTarget, cause: &FailureCause) -> Notice {
    let RequestTarget { name, provider, .. } = target;
    match cause {
        FailureCause::MissingKey { variable } => {
            Notice::failure(format!("There is no key for `{name}`."))
                .with_reason(format!(
                    "The environment variable {variable} is unset or empty."
                ))
                .with_advice(format!(
                    "Set it and restart humble, or set apiKey of `{name}` in config.json."
                ))
        }
        FailureCause::UnusableKey { why } => Notice::failure(format!(
            "The key for `{name}` cannot be sent."
        ))
        .with_reason(capitalized(&sentence(why)))
        .with_advice(format!(
            "Correct apiKey of `{name}` in config.json, or the environment variable it names."
        )),
        FailureCause::InvalidBaseUrl { given, why } => {
            Notice::failure(format!("The baseUrl of `{name}` is not valid: `{given}`."))
                .with_reason(capitalized(&sentence(why)))
                .with_advice("Correct it in config.json. Example: http://localhost:11434.")
        }
        FailureCause::InvalidCaFile { path, why } => Notice::failure(format!(
            "The caFile of `{name}` cannot be used: {}.",
            path.display()
        ))
        .with_reason(capitalized(&sentence(why)))
        .with_advice(format!(
            "Set caFile of `{name}` in config.json to a file of certificates in PEM format."
        )),
        FailureCause::TlsUnavailable { why } => {
            Notice::failure("Secure connections cannot be set up on this system.")
                .with_reason(capitalized(&sentence(why)))
                .with_advice("Install the system's CA certificates, or set caFile in config.json.")
        }
        FailureCause::ScriptExhausted { rounds } => Notice::failure(format!(
            "The script has {rounds} rounds, but the model was asked once more."
        )),
        _ => Notice::failure(format!(
            "`{name}` uses the provider `{provider}`, which does not support this."
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
    }
}

/// The notice for an unusual end. An answer that reached the token limit has none here, because
/// the engine offers to continue it.
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
            .with_advice("Ask it to continue."),
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

/// Advice that several messages share.
trait AdviceExt: Sized {
    fn retry(self, target: &RequestTarget) -> Self;
    fn keeping(self, has_partial_reply: bool) -> Self;
    fn advise_all(self, advice: &[Advice]) -> Self;
}

impl AdviceExt for Notice {
    /// Points to the server's log as well, if we know where it is.
    fn retry(self, target: &RequestTarget) -> Self {
        let notice = self.with_advice(Advice::Retry);
        match target.provider.server_command() {
            Some(command) => notice.with_advice(format!(
                "If it happens again, check the log of `{command} serve`."
            )),
            None => notice,
        }
    }

    fn keeping(self, has_partial_reply: bool) -> Self {
        match has_partial_reply {
            true => self.with_advice(PARTIAL_REPLY_KEPT),
            false => self,
        }
    }

    fn advise_all(mut self, advice: &[Advice]) -> Self {
        self.advice.extend_from_slice(advice);
        self
    }
}

/// Adds the server's own message as the reason, if there is one.
fn with_server_text(notice: Notice, message: Option<&str>) -> Notice {
    match message.filter(|message| !message.is_empty()) {
        Some(message) => notice.with_reason(sentence(message)),
        None => notice,
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// Adds the full stop that text from elsewhere may lack, so that the next sentence does not
/// run into it.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…', '。']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}
