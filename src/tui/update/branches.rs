//! Changes to the whole conversation: undoing or replacing a turn, its branches, and private mode.

use crate::domain::{Notice, Prompt, TurnId};
use crate::front_end::conversation_state::BranchRequest;
use crate::front_end::undo::{SUMMARY_REMOVED, Undone, undo};
use crate::protocol::Command;
use crate::tui::composer::state::MessageTarget;
use crate::tui::keymap::Action;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{set_aside, submit};
use crate::tui::widgets::editor::{Edit, Motion};

/// Continues a turn that an earlier run left waiting for the tasks of its calls. Its prompt is the
/// last one of the conversation.
pub fn resume(model: &mut UiModel, prompt: Prompt, effects: &mut Vec<UiEffect>) {
    model.conversation.is_opening = false;
    let attachments = prompt.attachments;
    let conversation = &model.conversation;
    let retried = conversation.retried_prompt(&model.chat.transcript, prompt.text);
    let prompt = retried.with_attachments(attachments).resuming_calls();
    submit::submit(model, prompt, effects);
}

/// Cancels editing a message. Returns false if none was being edited.
pub fn cancel_edit(model: &mut UiModel) -> bool {
    let was_editing = model.composer.cancel_editing();
    if was_editing {
        model.attachments.end_edit();
        model.notify(Notice::info("Edit discarded."));
    }
    was_editing
}

/// Makes a prompt from the message's text. An edited prompt replaces the original one, unless a turn
/// is running.
pub fn prompt_from_message(model: &mut UiModel, text: String) -> Prompt {
    let edited = model.composer.finish_editing();
    match edited.filter(|_| model.running_turn().is_none()) {
        None | Some(MessageTarget::Answer(_)) => Prompt::new(text),
        Some(MessageTarget::LastPrompt) => {
            let conversation = &model.conversation;
            conversation.replacement_prompt(&model.chat.transcript, text)
        }
        Some(MessageTarget::Prompt(turn)) => replacement_of(model, turn, text),
    }
}

/// Makes `text` replace the prompt of a turn and everything after it.
fn replacement_of(model: &UiModel, turn: TurnId, text: String) -> Prompt {
    let transcript = &model.chat.transcript;
    let Some(index) = transcript.prompt_index(turn) else {
        return Prompt::new(text);
    };
    let turns = transcript.answered_turns_from(index);
    if turns == 0 {
        return Prompt::new(text);
    }
    Prompt::new(text).replacing(turns)
}

/// Undoes the last turn, whose typed prompt goes to the history, or removes a summary that came
/// after it.
pub fn undo_last_turn(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.dialogs.asks_about_unfinished_turn() {
        // The user may mean that turn, which the conversation does not contain yet.
        let notice = Notice::info("Nothing was undone: an unfinished turn waits for your answer.");
        return model.notify(notice.with_advice("Answer the question about it first."));
    }
    let undone = undo(&mut model.conversation, &mut model.chat.transcript);
    model.chat.rebuild_indices();
    match undone {
        Undone::Nothing(notice) => model.notify(notice),
        Undone::Summary(None) => {}
        Undone::Summary(Some(command)) => {
            effects.push(UiEffect::Send(command));
            model.notify(Notice::info(SUMMARY_REMOVED));
        }
        Undone::Turn {
            prompt,
            command,
            was_answered,
        } => {
            effects.push(UiEffect::Send(command));
            let mut notice = undone_notice(model);
            if was_answered && model.chat.transcript.last_prompt().is_none() {
                let kept = "The session file keeps the turn until the next answer.";
                notice = notice.with_advice(kept);
            }
            if was_answered {
                notice = notice.with_advice("/branches restores the whole turn.");
            }
            model.notify(notice);
            if prompt.kind.is_typed() {
                submit::remember(model, prompt.typed_text());
            }
        }
    }
}

/// Undoes the last turn if the user stopped its answer and one of its entries is selected.
pub fn drop_stopped_turn(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let selected = model.chat.viewport.stop;
    if selected.is_some_and(|stop| model.chat.transcript.is_in_stopped_turn(stop.index)) {
        if !submit::notify_if_busy(model) {
            undo_last_turn(model, effects);
        }
        return;
    }
    let notice = Notice::info("Only the last turn can be dropped, and only if you stopped it.");
    model.notify_about_key(notice);
}

/// Requests the list of branches, or of those at the `turns_from_end`-th last prompt.
pub fn list_branches(
    model: &mut UiModel,
    request: BranchRequest,
    turns_from_end: Option<usize>,
    effects: &mut Vec<UiEffect>,
) {
    model.conversation.requested_branch = Some(request);
    effects.push(UiEffect::Send(Command::ListBranches { turns_from_end }));
}

pub fn set_private(model: &mut UiModel, is_private: bool, effects: &mut Vec<UiEffect>) {
    if is_private && !model.conversation.is_private {
        set_aside::begin_private(model, effects);
    }
    model.conversation.ends_private = !is_private;
    effects.push(UiEffect::Send(Command::SetPrivate(is_private)));
}

fn undone_notice(model: &UiModel) -> Notice {
    let notice = Notice::info("Undone.");
    let restores = model
        .keymap
        .hint(Action::Edit(Edit::Move(Motion::Up)), "restores the prompt.");
    match restores {
        Some(restores) => notice.with_reason(restores),
        None => notice,
    }
}
