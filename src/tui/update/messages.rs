//! Editing any message of the conversation, and its branches.

use crate::domain::{Attachment, EntryBody, Notice, TranscriptEntry};
use crate::front_end::conversation_state::BranchRequest;
use crate::protocol::Command;
use crate::tui::chat::stops::Stop;
use crate::tui::composer::state::MessageTarget;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::selection::with_pane;
use crate::tui::update::{branches, submit};
use std::sync::Arc;

/// Loads the selected message into the editor. Nothing changes until it is sent.
pub fn edit_selected(model: &mut UiModel) {
    if submit::notify_if_busy(model) {
        return;
    }
    let Some((target, text, attachments)) = editable_message(model) else {
        let notice = Notice::info("Only your messages and their final answers can be edited.");
        return model.notify_about_key(notice);
    };
    load(model, target, &text, attachments);
}

/// Puts a message with its files into the editor, which gets the focus.
pub fn load(
    model: &mut UiModel,
    target: MessageTarget,
    text: &str,
    attachments: Vec<Arc<Attachment>>,
) {
    model.composer.begin_editing(target, text);
    model.attachments.replace_for_edit(attachments);
    model.panes.focus = Focus::Message;
    model.chat.viewport.stop = None;
}

fn editable_message(model: &UiModel) -> Option<(MessageTarget, String, Vec<Arc<Attachment>>)> {
    let index = model.chat.viewport.stop?.index;
    let transcript = &model.chat.transcript;
    let entry = transcript.entries().get(index)?;
    match &entry.body {
        EntryBody::Prompt {
            kind,
            text,
            attachments,
        } if kind.is_typed() => {
            let later = &transcript.entries()[index + 1..];
            let is_last = !later.iter().any(
                |later| matches!(&later.body, EntryBody::Prompt { kind, .. } if kind.is_typed()),
            );
            let target = match is_last {
                true => MessageTarget::LastPrompt,
                false => MessageTarget::Prompt(entry.turn),
            };
            Some((target, text.clone(), attachments.to_vec()))
        }
        EntryBody::Text { text, .. } if transcript.is_final_answer(index) => {
            let prompt = transcript.prompt_of(index)?;
            let turn = transcript.entries()[prompt].turn;
            Some((MessageTarget::Answer(turn), text.clone(), Vec::new()))
        }
        _ => None,
    }
}

/// Sends the edited answer to the engine, or shows a notice that says why not. Returns false if no
/// answer is being edited.
pub fn submit_answer(model: &mut UiModel, effects: &mut Vec<UiEffect>) -> bool {
    let Some(MessageTarget::Answer(turn)) = model.composer.edited().map(|edited| edited.target)
    else {
        return false;
    };
    if submit::notify_if_busy(model) {
        return true;
    }
    let transcript = &model.chat.transcript;
    let prompt = transcript.prompt_index(turn);
    let turns_from_end = prompt.map_or(0, |prompt| transcript.answered_turns_from(prompt));
    if turns_from_end == 0 {
        model.notify(Notice::warning(
            "That answer is no longer in the conversation.",
        ));
        return true;
    }
    let answer = model.composer.editor.text();
    model.composer.cancel_editing();
    model.attachments.end_edit();
    model.conversation.has_branches = true;
    effects.push(UiEffect::Send(Command::ReplaceAnswer {
        turns_from_end,
        answer,
    }));
    true
}

/// Lists the branches that leave the conversation at the selected message.
pub fn list_branches_of_selected(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if submit::notify_if_busy(model) {
        return;
    }
    let transcript = &model.chat.transcript;
    let stop = model.chat.viewport.stop;
    let prompt = stop.and_then(|stop| transcript.prompt_of(stop.index));
    let turns_from_end = prompt.map_or(0, |prompt| {
        let turns = transcript.answered_turns_from(prompt);
        // An unanswered prompt is not part of the saved conversation.
        let after = transcript.answered_turns_from(prompt + 1);
        if turns > after { turns } else { 0 }
    });
    if turns_from_end == 0 {
        let notice = Notice::info("This message has no other branches.");
        return model.notify_about_key(notice);
    }
    branches::list_branches(
        model,
        BranchRequest::OfMessage,
        Some(turns_from_end),
        effects,
    );
}

/// Remembers the prompt of the selected message, because another branch of the conversation replaces
/// all entries.
pub fn keep_selected(model: &mut UiModel) {
    let transcript = &model.chat.transcript;
    let stop = model.chat.viewport.stop;
    let prompt = stop.and_then(|stop| transcript.prompt_of(stop.index));
    model.conversation.reselected_prompt = prompt.map(|prompt| {
        let earlier = transcript.entries()[..prompt].iter();
        earlier.filter(|entry| is_typed_prompt(entry)).count()
    });
}

/// Selects the prompt of the message that was selected before another branch was shown.
pub fn select_again(model: &mut UiModel) {
    let Some(number) = model.conversation.reselected_prompt.take() else {
        return;
    };
    let entries = model.chat.transcript.entries().iter().enumerate();
    let mut prompts = entries.filter(|(_, entry)| is_typed_prompt(entry));
    let Some((index, _)) = prompts.nth(number) else {
        return;
    };
    model.panes.focus = Focus::Chat;
    with_pane(model, Focus::Chat, |view| {
        let (height, input) = (view.height(), view.input);
        let stop = Stop::at_entry(index);
        view.viewport.go_to_top(input, height, stop);
    });
}

fn is_typed_prompt(entry: &TranscriptEntry) -> bool {
    matches!(&entry.body, EntryBody::Prompt { kind, .. } if kind.is_typed())
}
