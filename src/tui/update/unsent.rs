//! Unsent text: the draft of an earlier run, the prompt of a resumed turn, and texts that go to the
//! history when they leave the message.

use crate::domain::attachment::shown_path;
use crate::domain::{Advice, EditedPrompt, Notice, Prompt, UnsentPrompt, UnsentText};
use crate::protocol::Command;
use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::tui::attachments::mention::mentions_path;
use crate::tui::composer::queue::{QueuedPrompt, UnrestoredFile};
use crate::tui::composer::state::MessageTarget;
use crate::tui::keymap::Action;
use crate::tui::layer::UiRequest;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::earlier_files::file_names;
use crate::tui::update::{earlier_files, queue, submit};
use crate::tui::widgets::editor::{Edit, Motion};

const TITLE_COLUMNS_MAX: usize = 50;

/// Restores the draft of the last run, or sets it aside if private mode is on or requested. Its
/// message goes to the history if the message field is in use; the texts in `others` always do.
pub fn history_loaded(model: &mut UiModel, prompts: &[String], draft: Option<UnsentText>) {
    model.composer.load_history(prompts);
    let Some(draft) = draft.filter(|draft| !draft.is_blank()) else {
        return;
    };
    if model.conversation.is_private || model.composer.awaits_private() {
        return model.composer.set_draft_aside(draft);
    }
    let notice = restore_draft(model, prompts, draft);
    model.notify(notice);
}

/// Puts the last run's unsent text back. Returns the notice about it. `prompts` is the saved history.
pub fn restore_draft(model: &mut UiModel, prompts: &[String], mut draft: UnsentText) -> Notice {
    let tour = model.tour.as_ref();
    let has_tour_prompt =
        tour.is_some_and(|tour| tour.has_untouched_prompt(&model.composer.editor));
    let is_free = model.composer.editor.is_empty() || has_tour_prompt;
    let has_message = !draft.message.trim().is_empty();
    let displaced = Some(&draft.message).filter(|_| has_message && !is_free);
    let in_history: Vec<&String> = draft.others.iter().chain(displaced).collect();
    for text in &in_history {
        submit::remember(model, text);
        // After a crash, the history may contain it already.
        if !prompts.contains(text) {
            save_in_history(model, text);
        }
    }
    let is_in_history = !in_history.is_empty();
    let queue = std::mem::take(&mut draft.queue);
    let restored = RestoredDraft {
        queued: queue.len(),
        is_in_message: has_message && is_free,
        is_in_history,
    };
    let queue = queue.into_iter().map(|prompt| queued_prompt(model, prompt));
    let queue: Vec<QueuedPrompt> = queue.collect();
    model.composer.restore_queue(queue);
    if is_free {
        // Files that the message mentions are attached when it is sent.
        let is_attached_later =
            |name: &str| has_message && mentions_path(&draft.message, &shown_path(name));
        draft
            .files
            .retain(|file| file.path.is_some() || !is_attached_later(&file.name));
        earlier_files::restore(model, draft.files);
    } else {
        model.attachments.add_lost(draft.files);
    }
    if restored.is_in_message {
        let edit_of = draft.edit_of.take();
        model.composer.restore_message(&draft.message, edit_of);
        continue_edit(model);
    }
    restored_notice(model, &restored)
}

struct RestoredDraft {
    /// Number of queued prompts.
    queued: usize,
    is_in_message: bool,
    is_in_history: bool,
}

/// A queued prompt of the last run, whose files are being read again.
fn queued_prompt(model: &mut UiModel, prompt: UnsentPrompt) -> QueuedPrompt {
    let missing = prompt.files.into_iter().map(|file| UnrestoredFile {
        query: earlier_files::request(model, &file),
        file,
    });
    QueuedPrompt {
        missing: missing.collect(),
        ..QueuedPrompt::new(prompt.text)
    }
}

/// Identifies the prompt that the message replaces, to save it with the draft. `None` if the message
/// replaces none, or if the conversation has no file.
pub fn edit_of(model: &UiModel) -> Option<EditedPrompt> {
    if let Some(earlier) = model.composer.edit_to_continue() {
        return Some(earlier.clone());
    }
    let transcript = &model.chat.transcript;
    let turn = match model.composer.edited()?.target {
        MessageTarget::LastPrompt => transcript.turns_replaced_by_last().or_else(|| {
            let last = transcript.last_prompt()?;
            last.is_answered.then_some(1)
        })?,
        MessageTarget::Prompt(turn) => {
            transcript.answered_turns_from(transcript.prompt_index(turn)?)
        }
        MessageTarget::Answer(_) => return None,
    };
    Some(EditedPrompt {
        session: model.conversation.session.clone()?,
        title: model.conversation.title.clone(),
        turn,
        prompt: transcript.answered_prompt(turn)?.1.to_owned(),
    })
}

/// Lets the last run's message replace the same prompt again, if its conversation is open and
/// still has that prompt.
pub fn continue_edit(model: &mut UiModel) {
    let Some(edit_of) = model.composer.edit_to_continue() else {
        return;
    };
    let is_open = model.conversation.session.as_ref() == Some(&edit_of.session);
    let transcript = &model.chat.transcript;
    let prompt = transcript.answered_prompt(edit_of.turn);
    let Some((index, text)) = prompt.filter(|(_, text)| is_open && *text == edit_of.prompt) else {
        return;
    };
    let target = MessageTarget::Prompt(transcript.entries()[index].turn);
    model.composer.continue_editing(target, text);
}

fn restored_notice(model: &UiModel, restored: &RestoredDraft) -> Notice {
    let &RestoredDraft {
        queued: count,
        is_in_message,
        is_in_history,
    } = restored;
    let edit_of = model.composer.edit_to_continue();
    let mut notice = Notice::info(match (count, is_in_message) {
        (0, true) if edit_of.is_some() => "Restored your edit of an earlier message.".to_owned(),
        (0, true) => "Restored your unsent message.".to_owned(),
        (0, false) => "Your unsent message from last time is in the history.".to_owned(),
        (1, _) => "Restored a queued prompt; the queue is paused.".to_owned(),
        (count, _) => format!("Restored {count} queued prompts; the queue is paused."),
    });
    let lost = model.attachments.lost().iter();
    let names: Vec<&str> = lost
        .chain(model.composer.queue.lost_files())
        .map(|file| file.name.as_str())
        .collect();
    if !names.is_empty() {
        notice = notice.with_reason(format!("Attach {} again.", file_names(&names)));
    }
    if let Some(edit_of) = edit_of {
        let title = Clean::single_line(truncate_to_width(&edit_of.title, TITLE_COLUMNS_MAX));
        let title = title.as_str();
        notice = notice.with_advice(format!(
            "To replace that message, open \"{title}\" with /sessions."
        ));
    }
    let hint = match is_in_history {
        true => recall_hint(model, "brings back unsent text."),
        false if count > 0 => model
            .keymap
            .hint(Action::Send, "in an empty message resumes it."),
        false => None,
    };
    match hint {
        Some(hint) => notice.with_advice(hint),
        None => notice,
    }
}

fn recall_hint(model: &UiModel, effect: &str) -> Option<String> {
    let recall = Action::Edit(Edit::Move(Motion::Up));
    model.keymap.hint(recall, effect)
}

/// Puts the prompt of a resumed turn into the message. Text that is already there goes to the history,
/// unless it is private: then the prompt goes there instead. Queued prompts stay in the queue.
pub fn prompt_offered(
    model: &mut UiModel,
    prompt: Prompt,
    notice: Option<Notice>,
    effects: &mut Vec<UiEffect>,
) {
    model.composer.queue.pause();
    queue::finish_edit(model, effects);
    model.composer.queue.cancel_edit();
    let unsent = model.composer.editor.text();
    let has_unsent = !model.composer.editor.is_blank() && unsent != prompt.text;
    // Private text must not enter the history, so it stays in the message.
    if has_unsent && model.composer.has_private_text() {
        submit::remember(model, &prompt.text);
        let in_history = "The interrupted prompt is in the history.";
        let notice = with_sentence(notice, in_history);
        return model.notify(match recall_hint(model, "recalls it.") {
            Some(hint) => notice.with_advice(hint),
            None => notice,
        });
    }
    if has_unsent {
        submit::remember(model, &unsent);
        save_in_history(model, &unsent);
    }
    model.composer.editor.set(&prompt.text);
    model.composer.forget_replaced_message();
    let removed = model.attachments.show(prompt.attachments);
    model.panes.focus = Focus::Message;
    // A prompt of a replacement turn still replaces the same turns.
    let transcript = &model.chat.transcript;
    if let Some(turns) = transcript.turns_replaced_by_last() {
        let replaced = transcript.answered_prompt(turns);
        let replaced = replaced.map_or(&*prompt.text, |(_, text)| text);
        model
            .composer
            .continue_editing(MessageTarget::LastPrompt, replaced);
    }
    model.composer.save_draft_at_once();
    let mut notice = with_sentence(notice, "The interrupted prompt is in the message.");
    let recall = recall_hint(model, "brings back your unsent text.");
    if let Some(recall) = recall.filter(|_| has_unsent) {
        notice = notice.with_advice(recall);
    }
    if !removed.is_empty() {
        let names: Vec<&str> = removed.iter().map(|file| file.name.as_str()).collect();
        notice = notice.with_advice(format!("Removed {} from the message.", file_names(&names)));
    }
    let notice = match model.composer.queue.is_empty() {
        true => notice.with_advice(Advice::ResendPrompt),
        false => notice.with_advice("The queue is paused."),
    };
    model.notices.show_about_message(notice, model.now);
}

fn with_sentence(notice: Option<Notice>, sentence: &str) -> Notice {
    match notice {
        Some(notice) => notice.with_advice(sentence),
        None => Notice::info(sentence),
    }
}

/// Saves a text in the history, and adds it to the prompts that Up recalls unless it is there
/// already.
pub fn keep_in_history(model: &mut UiModel, text: &str) {
    let prompts = model.composer.history().prompts();
    if !prompts.iter().any(|prompt| prompt == text) {
        submit::remember(model, text);
    }
    save_in_history(model, text);
}

/// The notice about the queued prompts of a closed conversation, which are now in the history.
pub fn kept_queue_notice(model: &UiModel, count: usize, files: &[&str]) -> Notice {
    let mut notice = Notice::info(match count {
        1 => "The queued prompt of the last conversation is in the history.".to_owned(),
        count => format!("{count} queued prompts of the last conversation are in the history."),
    });
    if !files.is_empty() {
        let files = file_names(files);
        notice = notice.with_reason(format!("Attach {files} again: files are not kept."));
    }
    let object = if count == 1 { "it" } else { "them" };
    let hint = model
        .keymap
        .hint(Action::SearchHistory, &format!("finds {object}."));
    match hint {
        Some(hint) => notice.with_advice(hint),
        None => notice,
    }
}

/// Clears the message and its files, which undo or recalling the text brings back. Returns false if
/// there was nothing to clear.
pub fn clear_message(model: &mut UiModel) -> bool {
    let text = model.composer.editor.text();
    if model.composer.queue.edited().is_some() {
        // The queued prompt keeps its files.
        model.attachments.end_edit();
        return clear_to_history(model);
    }
    let before_edit = model.composer.text_before_edit().unwrap_or_default();
    let had_files = model.attachments.clear_with_message(&text, before_edit);
    clear_to_history(model) || had_files
}

/// Clears the message, whose text goes to the history unless its private conversation has ended. An
/// untouched prompt of the tour is not saved. Returns false if there was nothing to clear.
pub fn clear_to_history(model: &mut UiModel) -> bool {
    let tour = model.tour.as_ref();
    let has_tour_prompt =
        tour.is_some_and(|tour| tour.has_untouched_prompt(&model.composer.editor));
    let is_private = model.conversation.is_private;
    let Some(texts) = model.composer.clear_to_history(is_private) else {
        return false;
    };
    if !has_tour_prompt {
        texts.iter().for_each(|text| save_in_history(model, text));
    }
    true
}

/// If a recalled prompt replaced an unsent text, adds that text to the history, because the prompt is
/// sent now.
pub fn keep_replaced_draft(model: &mut UiModel) {
    let Some(draft) = model.composer.take_replaced_draft() else {
        return;
    };
    submit::remember(model, &draft);
    if !model.conversation.is_private && !model.composer.has_private_text() {
        save_in_history(model, &draft);
    }
}

/// Saves an unsent text in the history, because no draft contains it any longer.
fn save_in_history(model: &mut UiModel, text: &str) {
    let command = Command::AddToHistory(text.to_owned());
    model.requests.push_back(UiRequest::Send(command));
}
