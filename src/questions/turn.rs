//! The questions of a turn.

use super::{C, STOP_TURN, code, paragraph, question, row, with_alias};
use crate::domain::tool::{ToolOutcome, ToolState};
use crate::domain::{ServerId, ToolCall};
use crate::protocol::{Block, CallToApprove, ChoiceRow, Question};
use crate::text::Clean;

pub(super) const UNUSABLE_CALL: &[ChoiceRow] = &[
    row(
        C::TellModel,
        'm',
        "tell the model",
        "Tell the model and let it try again",
    ),
    row(C::TreatAsText, 't', "as text", "Treat it as plain text"),
    STOP_TURN,
];

pub(super) const AFTER_ERROR: &[ChoiceRow] = &[
    row(C::Retry, 'r', "run it again", "Run the failed call again"),
    row(C::AllowMoreTools, 'g', "go on", "Continue with more tools"),
    STOP_TURN,
];

pub(super) const STALLED: &[ChoiceRow] = &[
    with_alias(row(C::KeepWaiting, 'y', "wait", "Keep waiting"), 'w'),
    row(
        C::SendAgain,
        'r',
        "ask again",
        "Drop the connection and ask again",
    ),
    STOP_TURN,
];

pub(super) const ROUND_LIMIT: &[ChoiceRow] = &[
    with_alias(
        row(
            C::ExtendRoundLimit,
            'y',
            "as many again",
            "Continue for as many rounds again",
        ),
        'g',
    ),
    row(C::NoRoundLimit, 'b', "no limit", "No limit for this turn"),
    row(
        C::AnswerNow,
        'l',
        "answer now",
        "Answer now without more tools",
    ),
    STOP_TURN,
];

pub(super) const GROW_CONTEXT: &[ChoiceRow] = &[
    with_alias(row(C::Grow, 'y', "enlarge", "Enlarge it"), 'g'),
    row(
        C::SendAnyway,
        'c',
        "send anyway",
        "Send anyway; the oldest part is cut off",
    ),
    STOP_TURN,
];

const TELL_MODEL: ChoiceRow = row(
    C::TellModel,
    'm',
    "tell the model",
    "Tell the model to name the server",
);
const SERVER_1: ChoiceRow = row(C::FirstServer, '1', "server 1", "Use server 1");
const SERVER_2: ChoiceRow = row(C::SecondServer, '2', "server 2", "Use server 2");
const SERVER_3: ChoiceRow = row(C::ThirdServer, '3', "server 3", "Use server 3");
const SERVER_4: ChoiceRow = row(C::FourthServer, '4', "server 4", "Use server 4");
/// Servers that can be chosen. If more have the tool, the model must name the server.
pub const SERVER_CHOICES_MAX: usize = 4;
pub(super) const TWO_SERVERS: &[ChoiceRow] = &[SERVER_1, SERVER_2, TELL_MODEL, STOP_TURN];
pub(super) const THREE_SERVERS: &[ChoiceRow] =
    &[SERVER_1, SERVER_2, SERVER_3, TELL_MODEL, STOP_TURN];
pub(super) const FOUR_SERVERS: &[ChoiceRow] = &[
    SERVER_1, SERVER_2, SERVER_3, SERVER_4, TELL_MODEL, STOP_TURN,
];

/// These calls await approval.
pub fn approve(calls: Vec<CallToApprove>) -> Question {
    let blocks = vec![Block::Calls(calls)];
    question("approve", "Tool call", "Call now?", &[], blocks)
}

/// A call that cannot be used, after an earlier one of this turn was already reported to the model.
pub fn unusable_call(raw: &str, why: &str) -> Question {
    let why = Clean::escaped_line(why);
    let intro = paragraph(&format!("The model wrote an invalid tool call: {why}."));
    let blocks = [intro].into_iter().chain(code("It wrote:", raw));
    // JSON that names no tool may be the answer that the user asked for.
    let is_json = raw.starts_with(['{', '[']);
    Question {
        default: Some(if is_json { C::TreatAsText } else { C::Stop }),
        ..question(
            "repair",
            "Tool call",
            "What now?",
            UNUSABLE_CALL,
            blocks.collect(),
        )
    }
}

/// Which server a call means: several have the tool, and the call, which is `raw`, names none of
/// them.
pub fn choose_server(tool: &str, servers: &[ServerId], raw: &str) -> Question {
    const NUMBERS: [&str; SERVER_CHOICES_MAX] = ["1", "2", "3", "4"];
    let tool = Clean::name(tool);
    let names = servers.iter().map(|server| Clean::name(server.as_str()));
    let listed: Vec<String> = names.clone().map(|name| name.to_string()).collect();
    let listed = listed.join(", ");
    let intro = format!("Several servers have {tool}: {listed}. The model named none of them.");
    let pairs = Block::Pairs(NUMBERS.into_iter().zip(names).collect());
    let blocks = [paragraph(&intro), pairs]
        .into_iter()
        .chain(code("It wrote:", raw));
    let choices = match servers.len() {
        0..=2 => TWO_SERVERS,
        3 => THREE_SERVERS,
        _ => FOUR_SERVERS,
    };
    Question {
        default: Some(C::TellModel),
        ..question(
            "choose_server",
            "Tool call",
            "Which server?",
            choices,
            blocks.collect(),
        )
    }
}

/// The model requests more tools although calls of this turn failed. Names come first, because an error
/// text has no length limit.
pub fn after_error(failed: Option<&ToolCall>, requested_tools: &[String]) -> Question {
    let call = failed.map_or_else(
        || Clean::from_static("A call"),
        |call| {
            let [tool, server] = [&call.tool, call.server.as_str()].map(Clean::quoted_if_needed);
            Clean::single_line(&format!("{tool} on {server}"))
        },
    );
    let wanted = Clean::escaped_line(&requested_tools.join(", "));
    let intro = paragraph(&format!(
        "{call} failed. The model now wants to call: {wanted}."
    ));
    let error = failed.map(error_text).unwrap_or_default();
    let arguments = failed.and_then(|call| serde_json::to_string_pretty(&call.arguments).ok());
    let blocks = [
        Some(intro),
        code("Error:", &error),
        code("Arguments:", &arguments.unwrap_or_default()),
    ];
    let blocks = blocks.into_iter().flatten().collect();
    question("after_error", "Tool call", "What now?", AFTER_ERROR, blocks)
}

fn error_text(call: &ToolCall) -> String {
    let ToolState::Done(outcome) = &call.state else {
        return String::new();
    };
    match outcome {
        ToolOutcome::Failed { text, .. } => text.clone(),
        ToolOutcome::Unreachable { why, .. } => why.clone(),
        ToolOutcome::TimedOut { elapsed } => {
            format!("No result arrived within {} s.", elapsed.as_secs())
        }
        _ => String::new(),
    }
}

/// The model has sent nothing for this many seconds.
pub fn stalled(seconds: u64) -> Question {
    let intro = paragraph(&format!("The model has sent nothing for {seconds} s."));
    question(
        "stalled",
        "No answer",
        "Keep waiting?",
        STALLED,
        vec![intro],
    )
}

/// The model has requested tools in `rounds` rounds. `was_told_to_answer`: it was told to answer without
/// tools, but requested some again.
pub fn round_limit(rounds: u32, was_told_to_answer: bool) -> Question {
    let intro = match (was_told_to_answer, rounds) {
        (true, _) => "The model was asked to answer now, but still calls tools.".to_owned(),
        (false, 1) => "The model has called tools in 1 round of this turn.".to_owned(),
        (false, _) => format!("The model has called tools in {rounds} rounds of this turn."),
    };
    let default = if was_told_to_answer {
        C::Stop
    } else {
        C::AnswerNow
    };
    Question {
        default: Some(default),
        ..question(
            "bound",
            "Round limit",
            "Continue?",
            ROUND_LIMIT,
            vec![paragraph(&intro)],
        )
    }
}

/// Ollama's context must grow from `from` to `to` tokens, beyond the size that needs no consent, to fit
/// a request of about `estimate` tokens.
pub fn grow_context(estimate: u64, from: u64, to: u64) -> Question {
    let intro = format!(
        "The request takes about {estimate} tokens, but the context holds {from}. With {to}, the model \
         is reloaded, needs more memory and runs slower."
    );
    let blocks = vec![paragraph(&intro)];
    question(
        "grow_context",
        "Context",
        "Enlarge the context?",
        GROW_CONTEXT,
        blocks,
    )
}
