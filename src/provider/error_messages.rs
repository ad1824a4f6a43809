//! The one table of what a person reads when a model server fails: what
//! happened, why, and what to do. Text of the server stands in it raw.

use super::error::{Cause, Garbled, PAUSE_MAX, Place};
use super::types::EndReason;
use crate::domain::{Advice, Notice};
use crate::http_util::CONNECT_TIMEOUT_SECONDS;
use std::time::Duration;

const REWORD: &str = "Put the question in other words.";
const PAUSE: [Advice; 2] = [Advice::RetryLater, Advice::ChooseOtherModel];
const KEPT: &str = "What came so far is kept.";

/// `after_words` tells whether something came that is kept.
pub(super) fn notice(place: &Place, cause: &Cause, after_words: bool) -> Notice {
    let Place { url, name, .. } = place;
    match cause {
        Cause::Refused => Notice::failure(format!("Nothing listens at {url}.")).advise(
            match place.provider.server_command() {
                Some(command) => {
                    format!("Start it with `{command} serve`, or check baseUrl in config.json.")
                }
                None => format!("Start the server, or check baseUrl of `{name}` in config.json."),
            },
        ),
        Cause::Unresolved => Notice::failure(format!("The host of {url} cannot be found.")).advise(
            format!("Check the network, and baseUrl of `{name}` in config.json."),
        ),
        Cause::ConnectTimeout => Notice::failure(format!(
            "{url} did not accept a connection within {CONNECT_TIMEOUT_SECONDS} s."
        ))
        .advise(format!(
            "Check the network, and baseUrl of `{name}` in config.json."
        )),
        Cause::Silent { seconds } => {
            Notice::failure(format!("{url} did not answer within {seconds} s."))
                .advise("Check the network and the server's log, then try again.")
        }
        Cause::Unreachable { why } => unreachable(place, why),
        Cause::Reset => Notice::failure(format!("{url} closed the connection before it answered."))
            .retry(place),
        Cause::Redirected { to } => Notice::failure(format!("{url} redirects to {to}."))
            .because("A conversation goes only to the address that config.json names.")
            .advise(format!("If it is right, make it the baseUrl of `{name}`.")),
        Cause::Status {
            status,
            message,
            retry_after,
            path,
        } => match retry_after.filter(|pause| *pause > PAUSE_MAX) {
            Some(pause) if matches!(status, 429 | 503 | 529) => {
                long_pause(place, *status, message.as_deref(), pause)
            }
            _ => answered(place, *status, message.as_deref(), path.as_deref()),
        },
        Cause::NoTools { status, message } => because(
            Notice::failure(format!(
                "`{}` at {url} takes no tools (HTTP {status}).",
                place.model
            )),
            Some(message),
        )
        .advise(format!(
            "Set toolCalls of `{name}` to \"prompt\" in config.json: the tools are then explained in words."
        ))
        .advise(Advice::Probe),
        Cause::ContextOverflow {
            sent,
            limit,
            message,
        } => overflow(place, *sent, *limit, message),
        Cause::Cut => Notice::failure(format!(
            "The connection to {url} was cut in the middle of the answer."
        ))
        .kept(after_words)
        .retry(place),
        Cause::Empty => Notice::failure(format!("{url} ended its answer before the first word."))
            .retry(place),
        Cause::InStream { message } => because(
            Notice::failure(format!("{url} reported an error instead of going on.")),
            Some(message),
        )
        .kept(after_words)
        .retry(place),
        Cause::Busy { message } => because(
            Notice::failure(format!("{url} has too much to do.")),
            Some(message),
        )
        .kept(after_words)
        .advise_all(if after_words { &[Advice::Retry] } else { &PAUSE }),
        Cause::NoCredit { status, message } => because(
            Notice::failure(format!(
                "The account at {url} has no credit (HTTP {status})."
            )),
            Some(message),
        )
        .advise("Top it up.")
        .advise(Advice::ChooseOtherModel),
        Cause::Garbled(garbled) => {
            Notice::failure(format!("What {url} sent is not a model's answer."))
                .because(why_garbled(garbled))
                .advise(format!(
                    "Check baseUrl and provider of `{name}` in config.json."
                ))
        }
        _ => before_sending(place, cause),
    }
}

/// What keeps a request from being sent at all.
fn before_sending(place: &Place, cause: &Cause) -> Notice {
    let Place { name, provider, .. } = place;
    match cause {
        Cause::MissingKey { variable } => Notice::failure(format!("There is no key for `{name}`."))
            .because(format!(
                "The environment variable {variable} is not set or empty."
            ))
            .advise("Set it and start again, or give the model an apiKey in config.json."),
        Cause::UnusableKey { why } => {
            Notice::failure(format!("The key for `{name}` cannot be sent."))
                .because(capital(&sentence(why)))
                .advise("Correct its apiKey in config.json, or the variable it names.")
        }
        Cause::Unsupported => Notice::failure(format!(
            "`{name}` is of the provider {provider}, which no server is asked for."
        ))
        .advise(Advice::ChooseOtherModel),
        Cause::BadUrl { given, why } => Notice::failure(format!(
            "The baseUrl of `{name}` cannot be used: `{given}`."
        ))
        .because(sentence(why))
        .advise("Correct it in config.json; it looks like http://localhost:11434."),
        Cause::BadCaFile { path, why } => Notice::failure(format!(
            "The caFile of `{name}` cannot be used: {}.",
            path.display()
        ))
        .because(sentence(why))
        .advise("It must hold certificates in PEM form; correct it in config.json."),
        Cause::ScriptOver { rounds } => Notice::failure(format!(
            "The script has {rounds} rounds, and the model was asked once more."
        )),
        Cause::NoClient { why } => {
            Notice::failure("Secure connections cannot be set up on this system.")
                .because(sentence(why))
                .advise("Install the system's CA certificates, or name a caFile in config.json.")
        }
        // The rest have arms in `notice`.
        _ => Notice::failure(format!("The request to {} failed.", place.url)),
    }
}

fn unreachable(place: &Place, why: &str) -> Notice {
    let advice = if why.to_lowercase().contains("certificate") {
        "If the certificate is your own, name it as caFile in config.json.".to_owned()
    } else {
        format!("Check baseUrl of `{}` in config.json.", place.name)
    };
    Notice::failure(format!("{} cannot be talked to.", place.url))
        .because(sentence(why))
        .advise(advice)
}

/// A status that is no success.
fn answered(place: &Place, status: u16, message: Option<&str>, path: Option<&str>) -> Notice {
    let Place {
        url, name, model, ..
    } = place;
    let said = message.unwrap_or_default().to_lowercase();
    let failure = |what: String| because(Notice::failure(what), message);
    match status {
        401 if place.key_sent => failure(format!("{url} does not accept the key (HTTP 401)."))
            .advise(format!(
                "Check apiKey of `{name}` in config.json, {}.",
                match place.provider.key_variable() {
                    Some(name) => format!("or the variable it names ({name} where it is left out)"),
                    None => "or the variable it names".to_owned(),
                }
            )),
        401 => failure(format!("{url} wants a key (HTTP 401)."))
            .advise(format!("Give `{name}` an apiKey in config.json.")),
        403 => failure(format!("{url} does not allow this (HTTP 403).")).advise(format!(
            "Check whether the key of `{name}` may use the model `{model}`."
        )),
        404 if said.contains("model") => {
            let missing = Notice::failure(format!("{url} does not have the model `{model}`."));
            missing
                .advise(match place.provider.server_command() {
                    Some(command) => format!("Pull it with `{command} pull {model}`."),
                    None => format!("Check model of `{name}` in config.json."),
                })
                .advise(Advice::ChooseOtherModel)
        }
        404 if path.is_some() => failure(format!(
            "{url} has no such address as {} (HTTP 404).",
            path.unwrap_or_default()
        ))
        .advise(format!("Check baseUrl of `{name}` in config.json.")),
        404 | 405 => failure(format!("{url} has no such address (HTTP {status})."))
            .advise(format!("Check baseUrl of `{name}` in config.json.")),
        413 => failure(format!(
            "The conversation is too large for {url} (HTTP 413)."
        ))
        .advise(Advice::NewSession)
        .advise(Advice::ChooseOtherModel),
        408 | 504 => {
            failure(format!("{url} took too long to answer (HTTP {status}).")).retry(place)
        }
        429 => failure(format!("{url} asks for a pause (HTTP 429).")).advise_all(&PAUSE),
        502 => failure(format!(
            "{url} got no answer from the server behind it (HTTP 502)."
        ))
        .retry(place),
        503 | 529 => {
            failure(format!("{url} has too much to do (HTTP {status}).")).advise_all(&PAUSE)
        }
        500..=599 => failure(format!("{url} failed (HTTP {status}).")).retry(place),
        _ if said.contains("does not support thinking") => {
            failure(format!("{url} refused the request (HTTP {status}).")).advise(format!(
                "Remove think from `{name}` in config.json, or set it to false."
            ))
        }
        _ => failure(format!("{url} refused the request (HTTP {status})."))
            .advise(format!("Check `{name}` in config.json."))
            .advise(Advice::ChooseOtherModel),
    }
}

/// A pause that nobody waits for by itself.
fn long_pause(place: &Place, status: u16, message: Option<&str>, pause: Duration) -> Notice {
    let (url, pause) = (&place.url, spelt(pause));
    let what = match status {
        429 => format!("{url} asks to wait {pause} (HTTP 429)."),
        _ => format!("{url} has too much to do, and asks to wait {pause} (HTTP {status})."),
    };
    because(Notice::failure(what), message)
        .advise(Advice::ChooseOtherModel)
        .advise("Or wait that long, and ask again.")
}

/// A pause in whole units, rounded up: whoever waits so long is not early.
fn spelt(pause: Duration) -> String {
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

fn overflow(place: &Place, sent: Option<u64>, limit: Option<u64>, message: &str) -> Notice {
    let what = format!("The conversation is too long for `{}`.", place.name);
    let notice = match (sent, limit) {
        (Some(sent), Some(limit)) => Notice::failure(what).because(format!(
            "It has {sent} tokens, and {} takes {limit}.",
            place.url
        )),
        _ => because(Notice::failure(what), Some(message)),
    };
    notice
        .advise(Advice::NewSession)
        .advise(Advice::ChooseLargerContext)
}

fn why_garbled(garbled: &Garbled) -> String {
    match garbled {
        Garbled::WebPage => "It is a web page.".to_owned(),
        Garbled::NotJson { line } => format!("A line is not JSON: `{line}`."),
        Garbled::Foreign { json } => format!("It is other JSON: `{json}`."),
        Garbled::NoList => "It holds no list of models.".to_owned(),
        Garbled::NotUtf8 => "Its bytes are not UTF-8 text.".to_owned(),
        Garbled::TooLong { bytes_max } => {
            format!("A part of it is longer than {} MB.", bytes_max >> 20)
        }
        Garbled::TooManyCalls { calls_max } => {
            format!("It asks for more than {calls_max} tools at once.")
        }
    }
}

/// What the user is told of an end that is not a usual one. An answer cut by the limit of
/// tokens has words of its own, where it can be continued.
pub(super) fn ended(reason: &EndReason) -> Option<Notice> {
    let notice = match reason {
        EndReason::Stop | EndReason::ToolCalls | EndReason::Length => return None,
        EndReason::Refused { why } => because(
            Notice::warning("The model refused to go on."),
            why.as_deref(),
        )
        .advise(REWORD)
        .advise(Advice::ChooseOtherModel),
        EndReason::ContentFilter => {
            Notice::warning("A content filter of the server ended the answer.")
                .advise(REWORD)
                .advise(Advice::ChooseOtherModel)
        }
        EndReason::ContextFull => {
            Notice::warning("The answer was cut where the model's context was full.")
                .advise(Advice::NewSession)
                .advise(Advice::ChooseLargerContext)
        }
        EndReason::Paused => Notice::warning("The server paused in the middle of the answer.")
            .advise("Ask it to go on."),
        EndReason::StopSequence => Notice::warning("The answer ended at a stop sequence.")
            .because("The model's `options` in config.json set it."),
        EndReason::OutOfResources => {
            Notice::warning("The server ran out of resources in the middle of the answer.")
                .advise(Advice::Retry)
        }
        EndReason::Other(name) => Notice::warning(format!("The server ended the answer: {name}.")),
    };
    Some(notice)
}

/// Advice that several sentences of the table share.
trait Advised: Sized {
    fn retry(self, place: &Place) -> Self;
    fn kept(self, after_words: bool) -> Self;
    fn advise_all(self, advice: &[Advice]) -> Self;
}

impl Advised for Notice {
    /// The server may have written the reason into its own log.
    fn retry(self, place: &Place) -> Self {
        let notice = self.advise(Advice::Retry);
        match place.provider.server_command() {
            Some(command) => {
                notice.advise(format!("If it happens again, see `{command} serve`'s log."))
            }
            None => notice,
        }
    }

    fn kept(self, after_words: bool) -> Self {
        match after_words {
            true => self.advise(KEPT),
            false => self,
        }
    }

    fn advise_all(mut self, advice: &[Advice]) -> Self {
        self.advice.extend_from_slice(advice);
        self
    }
}

fn because(notice: Notice, message: Option<&str>) -> Notice {
    match message.filter(|message| !message.is_empty()) {
        Some(message) => notice.because(sentence(message)),
        None => notice,
    }
}

/// Words of ours that stand alone begin like a sentence.
fn capital(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// Words of others end like a sentence, so that what follows does not run into them.
fn sentence(words: &str) -> String {
    if words.ends_with(['.', '!', '?', '…', '。']) {
        words.to_owned()
    } else {
        format!("{words}.")
    }
}
