//! Questions about unfinished turns of an earlier run, offered at startup. What they show comes from a
//! file, so invisible characters are escaped.

use super::{C, code, paragraph, question, row, with_alias};
use crate::domain::SessionId;
use crate::protocol::{Block, ChoiceRow, Question};
use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use jiff::tz::TimeZone;

/// Columns shown of a prompt or a partial answer.
const TEXT_COLUMNS_MAX: usize = 1_200;
const TITLE_COLUMNS_MAX: usize = 80;
const ARGUMENTS_COLUMNS_MAX: usize = 8_000;
const CALLS_MAX: usize = 100;
pub const UNFINISHED_KINDS: [&str; 2] = ["unfinished", "discard"];

/// The effect of the first choice. The turn itself does not continue.
const RESTORING: &str = "Restoring puts the prompt into the message. Nothing runs until you send \
                         it; the answer then starts over.";

const KEEP: ChoiceRow = with_alias(
    row(
        C::KeepForLater,
        'n',
        "not now",
        "Keep it for the next start",
    ),
    'k',
);
const DISCARD: ChoiceRow = row(C::Discard, 'x', "discard…", "Discard it");

pub(super) const UNFINISHED_TURN: &[ChoiceRow] = &[
    with_alias(
        row(
            C::Resume,
            'y',
            "restore",
            "Put the prompt into the message, to ask it again",
        ),
        'r',
    ),
    KEEP,
    DISCARD,
];

pub(super) const UNFINISHED_TASK: &[ChoiceRow] = &[
    with_alias(
        row(
            C::Resume,
            'y',
            "wait for it",
            "Resume it: wait for the task",
        ),
        'r',
    ),
    KEEP,
    DISCARD,
];

pub(super) const CONFIRM_DISCARD: &[ChoiceRow] = &[
    with_alias(row(C::Discard, 'y', "discard", "Discard it for good"), 'x'),
    row(C::KeepForLater, 'n', "keep", "Keep it for the next start"),
];

/// A turn that was running when an earlier run ended. No text is sanitized.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnfinishedTurn {
    pub prompt: String,
    pub partial_answer: String,
    /// The thinking up to the interruption.
    pub thinking: String,
    pub session: Option<SessionId>,
    /// The title of its conversation, unless it is a new one.
    pub title: Option<String>,
    pub started_at: Option<jiff::Timestamp>,
    /// All calls of the turn in order, finished or not.
    pub calls: Vec<UnfinishedCall>,
    /// The answer was to become a note, which may have been saved.
    pub writes_note: bool,
    /// Number of turns before this one that have no answer either.
    pub earlier_unanswered: usize,
}

impl UnfinishedTurn {
    /// Whether resuming the turn waits for a task.
    pub fn waits_for_task(&self) -> bool {
        self.calls
            .iter()
            .any(|call| call.stage == CallStage::RunningAsTask)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedCall {
    pub server: String,
    pub tool: String,
    pub arguments: serde_json::Value,
    pub stage: CallStage,
}

/// The stage that a call had reached when the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStage {
    /// It was waiting for approval and never ran.
    AwaitingApproval,
    /// It was running; its effects are unknown.
    Running,
    /// It was running as a task on its server, and may still be running.
    RunningAsTask,
    /// The outcome from the journal, not sanitized: `ok`, `failed` and so on.
    Ended(String),
}

/// Whether to resume an unfinished turn of an earlier run. Calls come before the partial answer, because
/// they may run again once the prompt is sent again.
pub fn unfinished(turn: &UnfinishedTurn) -> Question {
    let mut blocks = vec![paragraph(&introduction(turn))];
    if turn.writes_note && !turn.partial_answer.trim().is_empty() {
        blocks.push(paragraph(
            "If you have a notes folder, look for the note there first: it may have been saved already, and \
             sending the prompt again writes another one.",
        ));
    }
    if let Some(title) = &turn.title {
        let title = truncated(title.trim(), TITLE_COLUMNS_MAX);
        let text = Clean::single_line(&format!("Its conversation is \"{title}\"."));
        blocks.push(Block::Paragraph(text));
    }
    let text = |heading, text: &str| code(heading, &truncated(text.trim(), TEXT_COLUMNS_MAX));
    blocks.extend(text("You asked:", &turn.prompt));
    blocks.extend(turn.calls.iter().take(CALLS_MAX).map(call_block));
    let more = turn.calls.len().saturating_sub(CALLS_MAX);
    if more > 0 {
        blocks.push(paragraph(&format!(
            "… and {more} more calls, not shown here."
        )));
    }
    blocks.extend(text("The answer so far:", &turn.partial_answer));
    if turn.partial_answer.trim().is_empty() {
        blocks.extend(text("The thinking so far:", &turn.thinking));
    }
    blocks.extend(match turn.earlier_unanswered {
        0 => None,
        1 => Some(paragraph("1 earlier prompt is unanswered too.")),
        more => Some(paragraph(&format!(
            "{more} earlier prompts are unanswered too."
        ))),
    });
    let (prompt, choices) = match turn.waits_for_task() {
        true => ("Resume it?", UNFINISHED_TASK),
        false => ("Restore the prompt?", UNFINISHED_TURN),
    };
    Question {
        default: Some(C::KeepForLater),
        ..question(
            UNFINISHED_KINDS[0],
            "Unfinished turn",
            prompt,
            choices,
            blocks,
        )
    }
}

fn introduction(turn: &UnfinishedTurn) -> String {
    let at = turn.started_at.map_or_else(String::new, |started_at| {
        let local = started_at.to_zoned(TimeZone::system());
        format!(" ({})", local.strftime("%d %b %H:%M"))
    });
    let has_call_in = |stage: &CallStage| turn.calls.iter().any(|call| call.stage == *stage);
    if turn.waits_for_task() {
        format!(
            "humble ended while a tool call of this turn{at} ran as a task on its server. If you \
             resume the turn, it waits for the task; the tool is not called again."
        )
    } else if has_call_in(&CallStage::Running) {
        format!("humble ended while a tool call of this turn{at} was running. {RESTORING}")
    } else if has_call_in(&CallStage::AwaitingApproval) {
        format!(
            "humble ended while a tool call of this turn{at} awaited your approval. {RESTORING}"
        )
    } else {
        format!("humble ended before this turn{at} was answered. {RESTORING}")
    }
}

fn call_block(call: &UnfinishedCall) -> Block {
    let stage = match &call.stage {
        CallStage::AwaitingApproval => "awaited your approval, did not run".to_owned(),
        CallStage::Running => "was running".to_owned(),
        CallStage::RunningAsTask => "was running as a task".to_owned(),
        CallStage::Ended(outcome) => outcome.replace('_', " "),
    };
    let heading = format!("Tool call {} on {}: {stage}", call.tool, call.server);
    let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
    Block::Code {
        heading: Clean::escaped_line(&truncated(&heading, TEXT_COLUMNS_MAX)),
        text: Clean::escaped(&truncated(&arguments, ARGUMENTS_COLUMNS_MAX)),
    }
}

/// Whether to discard the unfinished turn for good.
pub fn discard(prompt: &str) -> Question {
    let heading = "This deletes the prompt and any partial answer:";
    let prompt = truncated(prompt, TEXT_COLUMNS_MAX);
    let blocks = vec![Block::Code {
        heading: Clean::from_static(heading),
        text: Clean::escaped(&prompt),
    }];
    Question {
        default: Some(C::KeepForLater),
        ..question(
            UNFINISHED_KINDS[1],
            "Unfinished turn",
            "Discard it?",
            CONFIRM_DISCARD,
            blocks,
        )
    }
}

fn truncated(text: &str, width: usize) -> String {
    let start = truncate_to_width(text, width);
    let more = if start.len() < text.len() { " …" } else { "" };
    format!("{start}{more}")
}
