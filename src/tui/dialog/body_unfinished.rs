//! Dialog bodies for an unfinished turn: the prompt, its tool calls and the partial answer.
//! All of it comes from a file, so invisible characters are escaped.

use crate::protocol::{CallStage, UnfinishedCall, UnfinishedTurn};
use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::tui::widgets::painter::{indented_rows, single_line, wrapped_rows};
use jiff::tz::TimeZone;

/// Columns shown of a prompt or a partial answer.
const TEXT_COLUMNS_MAX: usize = 1_200;
const TITLE_COLUMNS_MAX: usize = 80;
const ARGUMENTS_COLUMNS_MAX: usize = 8_000;
const CALLS_MAX: usize = 100;

/// The effect of the first choice. The turn itself does not continue.
const RESTORING: &str = "Restoring puts the prompt into the message. Nothing runs until you send \
                         it; the answer then starts over.";

pub fn unfinished_rows(turn: &UnfinishedTurn, columns: u16) -> Vec<String> {
    let at = turn.started_at.map_or_else(String::new, |started_at| {
        let local = started_at.to_zoned(TimeZone::system());
        format!(" ({})", local.strftime("%d %b %H:%M"))
    });
    let has_call_in = |stage: &CallStage| turn.calls.iter().any(|call| call.stage == *stage);
    let intro = if turn.waits_for_task() {
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
    };
    let mut rows = wrapped_rows(&Clean::single_line(&intro), columns);
    if turn.writes_note && !turn.partial_answer.trim().is_empty() {
        let note = "If you have a notes folder, look for the note there first: it may have been \
                    saved already, and sending the prompt again writes another one.";
        rows.extend(wrapped_rows(&Clean::from_static(note), columns));
    }
    if let Some(title) = &turn.title {
        let title = truncate_with_mark(title.trim(), TITLE_COLUMNS_MAX);
        let conversation = format!("Its conversation is \"{title}\".");
        rows.extend(wrapped_rows(&Clean::single_line(&conversation), columns));
    }
    push_section(&mut rows, "You asked:", &turn.prompt, columns);
    push_call_rows(&mut rows, &turn.calls, columns);
    push_section(
        &mut rows,
        "The answer so far:",
        &turn.partial_answer,
        columns,
    );
    if turn.partial_answer.trim().is_empty() {
        push_section(&mut rows, "The thinking so far:", &turn.thinking, columns);
    }
    if turn.earlier_unanswered > 0 {
        let more = match turn.earlier_unanswered {
            1 => "1 earlier prompt is unanswered too.".to_owned(),
            more => format!("{more} earlier prompts are unanswered too."),
        };
        rows.push(String::new());
        rows.extend(wrapped_rows(&Clean::single_line(&more), columns));
    }
    rows
}

/// Calls come before the partial answer, because they may run again once the prompt is sent again.
fn push_call_rows(rows: &mut Vec<String>, calls: &[UnfinishedCall], columns: u16) {
    if calls.is_empty() {
        return;
    }
    rows.push(String::new());
    rows.extend(wrapped_rows(&Clean::from_static("Tool calls:"), columns));
    for call in calls.iter().take(CALLS_MAX) {
        let stage = match &call.stage {
            CallStage::AwaitingApproval => "awaited your approval, did not run".to_owned(),
            CallStage::Running => "was running".to_owned(),
            CallStage::RunningAsTask => "was running as a task".to_owned(),
            CallStage::Ended(outcome) => outcome.replace('_', " "),
        };
        let heading = format!("{}   {}: {stage}", call.tool, call.server);
        rows.extend(wrapped_rows(
            &single_line(&truncate_with_mark(&heading, TEXT_COLUMNS_MAX)),
            columns,
        ));
        let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
        rows.extend(indented_rows(
            &truncate_with_mark(&arguments, ARGUMENTS_COLUMNS_MAX),
            columns,
        ));
    }
    let more = calls.len().saturating_sub(CALLS_MAX);
    if more > 0 {
        let rest = format!("… and {more} more, not shown here.");
        rows.extend(wrapped_rows(&Clean::single_line(&rest), columns));
    }
}

pub fn discard_rows(prompt: &str, columns: u16) -> Vec<String> {
    let intro = "This deletes the prompt and any partial answer:";
    let mut rows = wrapped_rows(&Clean::single_line(intro), columns);
    rows.extend(indented_rows(
        &truncate_with_mark(prompt, TEXT_COLUMNS_MAX),
        columns,
    ));
    rows
}

fn push_section(rows: &mut Vec<String>, title: &str, text: &str, columns: u16) {
    if text.trim().is_empty() {
        return;
    }
    rows.push(String::new());
    rows.extend(wrapped_rows(&Clean::single_line(title), columns));
    rows.extend(indented_rows(
        &truncate_with_mark(text.trim(), TEXT_COLUMNS_MAX),
        columns,
    ));
}

fn truncate_with_mark(text: &str, width: usize) -> String {
    let start = truncate_to_width(text, width);
    let more = if start.len() < text.len() { " …" } else { "" };
    format!("{start}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_unfinished_turn_lists_calls_before_the_partial_answer() {
        let call = |tool: &str, stage| UnfinishedCall {
            server: "fs".to_owned(),
            tool: tool.to_owned(),
            arguments: json!({}),
            stage,
        };
        let turn = UnfinishedTurn {
            title: Some("My disk".to_owned()),
            prompt: "Tidy up".to_owned(),
            partial_answer: "Half".to_owned(),
            calls: vec![
                call("list", CallStage::Ended("timed_out".to_owned())),
                call("delete\nlist", CallStage::Running),
                call("move", CallStage::AwaitingApproval),
            ],
            ..UnfinishedTurn::default()
        };
        let expected = [
            "humble ended while a tool call of this turn was running. ",
            "Restoring puts the prompt into the message. Nothing runs ",
            "until you send it; the answer then starts over.",
            "Its conversation is \"My disk\".",
            "",
            "You asked:",
            "  Tidy up",
            "",
            "Tool calls:",
            "list   fs: timed out",
            "  {}",
            "delete⟨LF⟩list   fs: was running",
            "  {}",
            "move   fs: awaited your approval, did not run",
            "  {}",
            "",
            "The answer so far:",
            "  Half",
        ];
        assert_eq!(unfinished_rows(&turn, 60), expected);
    }
}
