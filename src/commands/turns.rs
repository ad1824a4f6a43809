//! Commands on the turns of the open conversation: ask again, edit, undo, continue, summarize.

use super::arguments::{ArgumentKind as Arg, COPY_WORDS};
use super::{BindingGroup as G, CommandCx, CommandRow, ScreenPart, Wanted};
use crate::domain::{Notice, Prompt, PromptKind, Transcript, WaitReason};
use crate::front_end::call_text::copied_section;
use crate::protocol::Command;
use crate::text::Clean;

pub static ANSWER: CommandRow = CommandRow::new(
    "/answer",
    "answer",
    G::Conversation,
    "Open a server's question",
    |cx, _| cx.switch(ScreenPart::Question),
)
.keys(&["Alt+Q"])
.found_by("form elicitation request");

pub static RETRY: CommandRow = CommandRow::new(
    "/retry",
    "retry",
    G::Conversation,
    "Retry the last prompt",
    |cx, _| retry(cx),
)
.keys(&["Alt+R"])
.found_by("again regenerate redo repeat");

pub static EDIT: CommandRow = CommandRow::new(
    "/edit",
    "edit-last",
    G::Conversation,
    "Edit and resend the last prompt",
    |cx, _| edit(cx),
)
.found_by("change");

pub static COPY: CommandRow = CommandRow::new(
    "/copy",
    "copy",
    G::Conversation,
    "Copy the last answer, or a call's result",
    copy,
)
.usage("[call]", Arg::Words(COPY_WORDS))
.keys(&["Ctrl+Y"])
.sparing_message()
.found_by("clipboard yank code");

pub static UNDO: CommandRow = CommandRow::new(
    "/undo",
    "undo",
    G::Conversation,
    "Undo the last turn",
    |cx, _| ask_if_idle(cx, Wanted::Undo),
)
.found_by("delete remove back revert rollback");

pub static CHAT: CommandRow = CommandRow::new(
    "/chat",
    "chat",
    G::Conversation,
    "Send a prompt without the note agents",
    chat,
)
.usage("PROMPT", Arg::Free);

pub static CONTINUE: CommandRow = CommandRow::new(
    "/continue",
    "continue",
    G::Conversation,
    "Continue a truncated answer",
    |cx, _| continue_answer(cx),
)
.keys(&["Alt+C"])
.found_by("more resume");

pub static COMPACT: CommandRow = CommandRow::new(
    "/compact",
    "compact",
    G::Conversation,
    "Summarize older messages to free context",
    |cx, _| ask_if_idle(cx, Wanted::Summary),
)
.found_by("shorten context tokens usage summary shrink compress");

fn chat(cx: &mut dyn CommandCx, prompt: &str) {
    cx.ask_for(match prompt {
        "" => Wanted::Argument {
            row: &CHAT,
            question: "Prompt: ".to_owned(),
        },
        prompt => Wanted::ChatPrompt(prompt.to_owned()),
    });
}

fn ask_if_idle(cx: &mut dyn CommandCx, wanted: Wanted) {
    if !cx.has_to_wait() {
        cx.ask_for(wanted);
    }
}

/// Sends the last prompt again. An existing answer is kept as another branch; an attempt without an
/// answer is replaced. A turn that waits to repeat its request repeats it at once, and a summary
/// that failed is requested again.
fn retry(cx: &mut dyn CommandCx) {
    if cx.state().transcript.wait_reason() == Some(WaitReason::Retrying) {
        return cx.send(Command::SendNow);
    }
    if cx.has_to_wait() {
        return;
    }
    let state = cx.state();
    if state.transcript.is_last_summary_answered() == Some(false) {
        return cx.ask_for(Wanted::Summary);
    }
    let Some(last) = state.transcript.last_prompt() else {
        return cx.notify(Notice::info("Nothing to retry yet."));
    };
    let prompt = match last.kind {
        PromptKind::Continue => Prompt::continuation(),
        _ => {
            let text = last.text.to_owned();
            state.conversation.retried_prompt(state.transcript, text)
        }
    };
    let prompt = prompt.with_attachments(last.attachments.to_vec());
    cx.ask_for(Wanted::Turn(prompt));
}

fn edit(cx: &mut dyn CommandCx) {
    if cx.has_to_wait() {
        return;
    }
    let transcript = cx.state().transcript;
    let Some(text) = transcript.last_typed_prompt() else {
        return cx.notify(Notice::info("Nothing to edit yet."));
    };
    let edited = Wanted::EditedPrompt {
        text: text.to_owned(),
        files: transcript.last_attachments().to_vec(),
    };
    cx.ask_for(edited);
}

/// Continues the last answer if it is incomplete: the token limit truncated it, or the user stopped
/// it.
fn continue_answer(cx: &mut dyn CommandCx) {
    if cx.has_to_wait() {
        return;
    }
    let state = cx.state();
    match state.conversation.is_last_answer_truncated {
        true => cx.ask_for(Wanted::Turn(Prompt::continuation())),
        false => cx.notify(nothing_to_continue(state.transcript)),
    }
}

/// Explains why the last answer cannot be continued: it is complete, or it is incomplete and not part
/// of the conversation.
fn nothing_to_continue(transcript: &Transcript) -> Notice {
    if transcript.last_prompt().is_none_or(|last| last.is_answered) {
        return Notice::info("Nothing to continue: the last answer was not truncated.");
    }
    let text = match transcript.was_last_turn_cancelled() {
        true => "Nothing to continue: the model does not see the turn that was stopped.",
        false => "The model does not see a failed answer, so it cannot go on.",
    };
    Notice::info(text).with_advice("/retry asks again.")
}

/// Copies the selected call's result, or the last answer if no call is selected. `/copy call` copies
/// the result of the latest call that ran.
fn copy(cx: &mut dyn CommandCx, argument: &str) {
    let state = cx.state();
    let call = match argument {
        "" => state.selected_call.and_then(|id| state.transcript.call(id)),
        "call" => state.transcript.last_run_call(),
        _ => return cx.notify(COPY.usage_notice()),
    };
    let (name, text) = match call {
        Some(call) => {
            let (heading, text) = copied_section(call);
            let name = format!("the {heading} of {}", Clean::name(&call.tool));
            (name, text.into_owned())
        }
        None if argument == "call" => {
            return cx.notify(Notice::info("No result to copy yet."));
        }
        None => match state.transcript.last_answer() {
            Some(answer) => ("the last answer".to_owned(), answer.to_owned()),
            None => return cx.notify(Notice::info("No answer to copy yet.")),
        },
    };
    cx.ask_for(Wanted::Copy { name, text });
}
