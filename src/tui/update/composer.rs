//! The message editor: typing, pasting, and Enter.

use crate::domain::{Notice, WaitReason};
use crate::protocol::Command;
use crate::tui::clipboard::CopyRequest;
use crate::tui::keymap::Action;
use crate::tui::layer::{Handled, Layer, UiRequest};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{
    attachments, branches, find, mentions, messages, navigation, queue, submit, unsent,
};
use crate::tui::widgets::editor::{Edit, Editor, Motion};

pub fn type_char(model: &mut UiModel, c: char) {
    model.composer.paste_detector.char_typed(model.now);
    let is_second_blank = c == ' ' && model.composer.take_completed();
    begin_typing(model);
    if is_second_blank {
        return;
    }
    model.composer.editor.insert(c.encode_utf8(&mut [0; 4]));
    mentions::char_typed(model);
    if c == '/' && model.composer.editor.one_line() == Some("/") {
        let command = Command::ListPromptTemplates;
        model.requests.push_back(UiRequest::Send(command));
    }
}

/// Handles text that arrived faster than anyone types.
pub fn insert_burst(model: &mut UiModel, text: &str) {
    model.composer.handle_burst(text, model.now);
    paste(model, text, PasteKind::Burst);
}

/// How pasted text arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasteKind {
    /// As a whole.
    Bracketed,
    /// As a burst of keys, which may be a part of a paste.
    Burst,
}

/// Removes the byte order mark that some programs write first: it would keep a command or a request
/// for notes from being recognized.
fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Pastes into a text field. Pasted text is never submitted and never answers a question.
pub fn paste(model: &mut UiModel, text: &str, kind: PasteKind) {
    let has_keys = model.dialog_has_keys();
    if has_keys && model.with_dialogs(|dialogs, cx| dialogs.paste(text, cx)) == Handled::Consumed {
        return;
    }
    if model.layer.is_some() {
        model.with_layer(|layer, cx| layer.paste(text, cx));
        return;
    }
    if find::paste(model, text) {
        return;
    }
    let text = without_byte_order_mark(text);
    model.panes.focus = Focus::Message;
    find::close_unless_focused(model);
    begin_typing(model);
    if attachments::drop_paths(model, text) {
        return;
    }
    match kind {
        PasteKind::Bracketed => model.composer.editor.paste(text),
        PasteKind::Burst => model.composer.editor.insert(text),
    }
}

/// Replaces the message with the text from `$EDITOR`.
pub fn replace_text(model: &mut UiModel, text: &str) {
    let text = without_byte_order_mark(text);
    // An unchanged text keeps its chips.
    if model.composer.editor.text() != text {
        model.composer.editor.replace_all(text);
        model.composer.continue_typing();
    }
}

/// Prepares the message for typed or pasted text: clears a prompt typed by the tour, and
/// inserts digits typed at the first-run chooser.
fn begin_typing(model: &mut UiModel) {
    model.composer.continue_typing();
    if let Some(tour) = &mut model.tour {
        tour.clear_prompt(&mut model.composer.editor);
    }
    move_first_run_digits(model);
}

/// Moves digits typed at the first-run chooser into the message. They were the start of a
/// prompt, not a choice.
fn move_first_run_digits(model: &mut UiModel) {
    if let Some(digits) = model.first_run.take_typed() {
        model.composer.editor.insert(&digits);
    }
}

/// Handles Enter: finishes an edit, runs a command, sends or queues a prompt, or resumes a paused
/// queue if the message is empty.
pub fn submit_message(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    model.panes.focus = Focus::Message;
    find::close_unless_focused(model);
    if mentions::look_for_files(model) {
        return;
    }
    if !attachments::can_send(model) || queue::finish_edit(model, effects) {
        return;
    }
    if model.composer.editor.is_blank() && branches::cancel_edit(model) {
        return;
    }
    let is_waiting = model.chat.transcript.wait_reason() == Some(WaitReason::StartingServers);
    if model.composer.editor.is_blank() && is_waiting {
        return effects.push(UiEffect::Send(Command::SendNow));
    }
    if model.composer.editor.is_blank() {
        model.composer.queue.is_paused = false;
        return submit::send_queued(model, effects);
    }
    if messages::submit_answer(model, effects) {
        return;
    }
    // A space before the slash makes it a message.
    let command = model.composer.editor.text();
    if command.starts_with('/') {
        return model.with_composer(|composer, cx| composer.run_typed_command(command.trim(), cx));
    }
    let ends_with_completion = model.composer.take_completed();
    let mut text = model.composer.editor.take();
    if ends_with_completion {
        text.truncate(text.trim_end_matches(' ').len());
    }
    submit_prompt(model, text, effects);
}

/// Sends or queues a prompt.
pub fn submit_prompt(model: &mut UiModel, text: String, effects: &mut Vec<UiEffect>) {
    unsent::keep_replaced_draft(model);
    submit::remember(model, &text);
    model.composer.queue.is_paused = false;
    let attachments = model.attachments.take_ready();
    model.attachments.end_edit();
    let prompt = branches::prompt_from_message(model, text).with_attachments(attachments);
    if submit::needs_first_model(model, &prompt) {
        submit::keep_until_model(model, prompt);
    } else if model.is_busy() {
        submit::enqueue(model, prompt);
    } else {
        submit::submit(model, prompt, effects);
    }
}

pub fn edit_message(model: &mut UiModel, edit: Edit, effects: &mut Vec<UiEffect>) {
    if let Some(tour) = &mut model.tour {
        tour.release_prompt();
    }
    move_first_run_digits(model);
    if let Some(scroll) = scroll_instead(&model.composer.editor, edit) {
        return navigation::run_action(model, scroll, effects);
    }
    if edit == Edit::Undo && attachments::restore_removed(model, false) {
        return;
    }
    let selected = model.composer.editor.selected_text();
    let mut has_changed = model.composer.edit(edit);
    if matches!(edit, Edit::Undo | Edit::Move(Motion::Up)) {
        has_changed |= attachments::restore_cleared(model);
    }
    if edit == Edit::Undo && !has_changed {
        has_changed = attachments::restore_removed(model, true);
    }
    match (edit, selected) {
        (Edit::Copy | Edit::Cut, Some(text)) => copy(model, text),
        _ if !has_changed => explain_unchanged(model, edit),
        _ => {}
    }
}

/// In an empty message, the keys for the ends of the line go to the ends of the chat. In a message
/// of one line, so do the keys for the ends of the text.
fn scroll_instead(editor: &Editor, edit: Edit) -> Option<Action> {
    match edit {
        Edit::Move(Motion::LineStart) if editor.is_empty() => Some(Action::ScrollToStart),
        Edit::Move(Motion::LineEnd) if editor.is_empty() => Some(Action::ScrollToEnd),
        Edit::Move(Motion::TextStart) if !editor.has_several_lines() => Some(Action::ScrollToStart),
        Edit::Move(Motion::TextEnd) if !editor.has_several_lines() => Some(Action::ScrollToEnd),
        _ => None,
    }
}

fn copy(model: &mut UiModel, text: String) {
    let name = "the selection".to_owned();
    let request = CopyRequest { name, text };
    model.requests.push_back(UiRequest::Copy(request));
}

/// Explains why a key did nothing.
fn explain_unchanged(model: &mut UiModel, edit: Edit) {
    let notice = match edit {
        Edit::Copy | Edit::Cut => Notice::info("Nothing is selected.")
            .with_advice("Shift with an arrow key selects; /copy copies the last answer."),
        Edit::Yank => {
            Notice::info("Nothing has been cut yet.").with_advice("/copy copies the last answer.")
        }
        Edit::YankEarlier => Notice::info(
            "Paste some cut text first. This key then replaces it with an earlier one.",
        ),
        Edit::Undo => Notice::info("Nothing to undo in the message.")
            .with_advice("/undo takes back the last turn."),
        Edit::Redo => Notice::info("Nothing to redo."),
        Edit::Unfold => Notice::info("The message has no long paste."),
        _ => return,
    };
    model.notify(notice);
}
