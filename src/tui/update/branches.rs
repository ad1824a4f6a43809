//! Actions on the whole conversation: undo, retry or edit the last turn, switch branches,
//! rename, private mode, token usage.

use crate::domain::{EntryBody, LastPrompt, Notice, Prompt, PromptKind, TurnId, WaitReason};
use crate::front_end::conversation_state::{BranchRequest, ReplacementTurn, TitleSource, title_of};
use crate::protocol::Command;
use crate::tui::composer::state::MessageTarget;
use crate::tui::keymap::Action;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{messages, set_aside, submit};
use crate::tui::widgets::editor::{Edit, Motion};

/// Shown once a replacement of a turn has been answered.
const REPLACED_NOTICE: &str = "Earlier branch kept in /branches.";

/// Runs an action on the conversation or on one of its messages. Returns false for any other
/// action.
pub fn run_action(
    model: &mut UiModel,
    action: Action,
    argument: &str,
    effects: &mut Vec<UiEffect>,
) -> bool {
    match action {
        Action::Retry => retry(model, effects),
        Action::EditLast => edit_last_prompt(model),
        Action::EditMessage => messages::edit_selected(model),
        Action::MessageBranches => messages::list_branches_of_selected(model, effects),
        Action::Undo => undo_last_turn(model, effects),
        Action::DropStopped => drop_stopped_turn(model, effects),
        Action::Branches => request_branches(model, argument, effects),
        Action::Private => set_private(model, argument, effects),
        Action::Back => return cancel_edit(model),
        _ => return false,
    }
    true
}

/// Sends the last prompt again. An existing answer is kept as another branch; an attempt without an
/// answer is replaced. A turn that waits to repeat its request repeats it at once, and a summary
/// that failed is requested again.
pub fn retry(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.chat.transcript.wait_reason() == Some(WaitReason::Retrying) {
        return effects.push(UiEffect::Send(Command::SendNow));
    }
    if submit::notify_if_busy(model) {
        return;
    }
    if model.chat.transcript.is_last_summary_answered() == Some(false) {
        return submit::compact(model);
    }
    let Some(last) = model.chat.transcript.last_prompt() else {
        return model.notify(Notice::info("Nothing to retry yet."));
    };
    let text = last.text.to_owned();
    let attachments = last.attachments.to_vec();
    let prompt = match last.kind {
        PromptKind::Continue => Prompt::continuation(),
        _ => match replacement_prompt(model, text, REPLACED_NOTICE) {
            prompt if prompt.kind == PromptKind::Ask => prompt.with_kind(PromptKind::Retry),
            replacement => replacement,
        },
    };
    submit::submit(model, prompt.with_attachments(attachments), effects);
}

/// Continues a turn that an earlier run left waiting for the tasks of its calls. Its prompt is the
/// last one of the conversation.
pub fn resume(model: &mut UiModel, prompt: Prompt, effects: &mut Vec<UiEffect>) {
    model.conversation.is_opening = false;
    let attachments = prompt.attachments;
    let prompt = match replacement_prompt(model, prompt.text, REPLACED_NOTICE) {
        prompt if prompt.kind == PromptKind::Ask => prompt.with_kind(PromptKind::Retry),
        replacement => replacement,
    };
    let prompt = prompt.with_attachments(attachments).resuming_calls();
    submit::submit(model, prompt, effects);
}

/// Makes `prompt` replace the last turn if that turn was answered or was itself a
/// replacement. The conversation stays unchanged until the new answer arrives; `notice` is
/// shown only then.
fn replacement_prompt(model: &mut UiModel, prompt: String, notice: &'static str) -> Prompt {
    let mut prompt = Prompt::new(prompt);
    let last = model.conversation.last_prompt.as_ref();
    prompt.bypasses_agents =
        last.is_some_and(|last| last.bypasses_agents && last.text == prompt.text);
    // A failed continuation belongs to the answer above it.
    let has_answer = |last: LastPrompt| last.is_answered || last.kind == PromptKind::Continue;
    let transcript = &model.chat.transcript;
    // A retry of a failed replacement replaces the same turns.
    let replaced_by_last = transcript.turns_replaced_by_last();
    let is_replacement =
        transcript.last_prompt().is_some_and(has_answer) || replaced_by_last.is_some();
    let Some(replaced) = transcript.last_typed_prompt().filter(|_| is_replacement) else {
        return prompt;
    };
    let title = title_of(replaced).to_owned();
    model.conversation.replacement = Some(ReplacementTurn { notice, title });
    prompt.replacing(replaced_by_last.unwrap_or(1))
}

/// Loads the last prompt into the message. The conversation changes only when it is sent.
pub fn edit_last_prompt(model: &mut UiModel) {
    if submit::notify_if_busy(model) {
        return;
    }
    let Some(prompt) = model.chat.transcript.last_typed_prompt() else {
        return model.notify(Notice::info("Nothing to edit yet."));
    };
    let prompt = prompt.to_owned();
    let attachments = model.chat.transcript.last_attachments().to_vec();
    messages::load(model, MessageTarget::LastPrompt, &prompt, attachments);
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
        Some(MessageTarget::LastPrompt) => replacement_prompt(model, text, REPLACED_NOTICE),
        Some(MessageTarget::Prompt(turn)) => replacement_of(model, turn, text),
    }
}

/// Makes `text` replace the prompt of a turn and everything after it.
fn replacement_of(model: &mut UiModel, turn: TurnId, text: String) -> Prompt {
    let transcript = &model.chat.transcript;
    let Some(index) = transcript.prompt_index(turn) else {
        return Prompt::new(text);
    };
    let turns = transcript.answered_turns_from(index);
    if turns == 0 {
        return Prompt::new(text);
    }
    let replaced = match &transcript.entries()[index].body {
        EntryBody::Prompt { text, .. } => title_of(text).to_owned(),
        _ => String::new(),
    };
    model.conversation.replacement = Some(ReplacementTurn {
        notice: REPLACED_NOTICE,
        title: replaced,
    });
    Prompt::new(text).replacing(turns)
}

/// Undoes the last turn, whose typed prompt goes to the history, or removes a summary that came
/// after it.
pub fn undo_last_turn(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if submit::notify_if_busy(model) {
        return;
    }
    if model.dialogs.asks_about_unfinished_turn() {
        // The user may mean that turn, which the conversation does not contain yet.
        let notice = Notice::info("Nothing was undone: an unfinished turn waits for your answer.");
        return model.notify(notice.with_advice("Answer the question about it first."));
    }
    if let Some(is_complete) = model.chat.transcript.is_last_summary_answered() {
        return undo_summary(model, is_complete, effects);
    }
    let Some(last) = model.chat.transcript.last_prompt() else {
        return model.notify(nothing_to_undo(model));
    };
    let prompt = Prompt::new(last.text).with_kind(last.kind);
    if last.is_answered {
        remove_last_turn(model);
        model.conversation.has_branches = true;
        effects.push(UiEffect::Send(Command::Rewind));
        let notice = undone_notice(model);
        let notice = match model.chat.transcript.last_prompt() {
            Some(_) => notice,
            None => notice.with_advice("The session file keeps the turn until the next answer."),
        };
        model.notify(notice.with_advice("/branches restores the whole turn."));
    } else {
        remove_last_turn(model);
        effects.push(UiEffect::Send(Command::DropCancelled(prompt.clone())));
        model.notify(undone_notice(model));
    }
    if prompt.kind.is_typed() {
        submit::remember(model, prompt.typed_text());
    }
}

/// Undoes the last turn if the user stopped its answer and one of its entries is selected.
fn drop_stopped_turn(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let selected = model.chat.viewport.stop;
    if selected.is_some_and(|stop| model.chat.transcript.is_in_stopped_turn(stop.index)) {
        return undo_last_turn(model, effects);
    }
    let notice = Notice::info("Only the last turn can be dropped, and only if you stopped it.");
    model.notify_about_key(notice);
}

fn nothing_to_undo(model: &UiModel) -> Notice {
    let nothing = Notice::info("Nothing left to undo.");
    match (
        model.conversation.has_branches,
        model.conversation.has_undone_turn,
    ) {
        (true, _) => nothing.with_advice("/branches restores undone turns."),
        (false, true) => nothing,
        (false, false) => Notice::info("Nothing to undo yet."),
    }
}

/// Removes the most recent summary; the turns stay.
fn undo_summary(model: &mut UiModel, is_complete: bool, effects: &mut Vec<UiEffect>) {
    model.chat.transcript.remove_last_summary();
    reset_after_removal(model);
    if is_complete {
        effects.push(UiEffect::Send(Command::DropSummary));
        model.notify(Notice::info(
            "Summary removed. The model gets the earlier messages again.",
        ));
    }
}

fn remove_last_turn(model: &mut UiModel) {
    model.chat.transcript.remove_last_prompt();
    model.conversation.has_undone_turn = true;
    reset_after_removal(model);
}

fn reset_after_removal(model: &mut UiModel) {
    let is_empty = model.chat.transcript.entries().is_empty();
    model.chat.rebuild_indices();
    model.conversation.is_last_answer_truncated = false;
    model.conversation.last_prompt = None;
    if is_empty && model.conversation.title_source == TitleSource::FirstAnswered {
        model.conversation.title_source = TitleSource::Unanswered;
    }
}

/// Requests the list of branches; `branch_list::show` then picks `argument` or opens the picker.
pub fn request_branches(model: &mut UiModel, argument: &str, effects: &mut Vec<UiEffect>) {
    list_branches(
        model,
        BranchRequest::Any(argument.to_owned()),
        None,
        effects,
    );
}

/// Requests the list of branches, or of those at the `turns_from_end`-th last prompt.
pub fn list_branches(
    model: &mut UiModel,
    request: BranchRequest,
    turns_from_end: Option<usize>,
    effects: &mut Vec<UiEffect>,
) {
    if submit::notify_if_busy(model) {
        return;
    }
    model.conversation.requested_branch = Some(request);
    effects.push(UiEffect::Send(Command::ListBranches { turns_from_end }));
}

pub fn set_private(model: &mut UiModel, argument: &str, effects: &mut Vec<UiEffect>) {
    let is_private = match argument {
        "" | "on" => true,
        "off" => false,
        _ => return model.notify(Notice::warning("Usage: /private [off]")),
    };
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
