//! Unsent text of an earlier run: the draft, and the prompt of a resumed turn.

use crate::domain::attachment::shown_path;
use crate::domain::{Advice, Notice, Prompt, UnsentText};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::attachments::mention::mentions_path;
use crate::tui::keymap::Action;
use crate::tui::layer::UiRequest;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{queue, submit};
use crate::tui::widgets::editor::{Edit, Motion};

/// Maximum number of file names in a notice.
const FILE_NAMES_MAX: usize = 3;

/// Restores the draft of the last run. Text goes to the history if the
/// message field is in use.
pub fn history_loaded(model: &mut UiModel, prompts: &[String], draft: Option<UnsentText>) {
    model.composer.load_history(prompts);
    let Some(draft) = draft.filter(|draft| !draft.is_blank()) else {
        return;
    };
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
    model.composer.restore_queue(&draft.queue);
    if has_message && is_free {
        model.composer.restore_message(&draft.message);
    }
    let notice = restored_notice(
        model,
        &draft,
        has_message && is_free,
        !in_history.is_empty(),
    );
    model.notify(notice);
}

fn restored_notice(
    model: &UiModel,
    draft: &UnsentText,
    is_in_message: bool,
    is_in_history: bool,
) -> Notice {
    let count = draft.queue.len();
    let mut notice = Notice::info(match (count, is_in_message) {
        (0, true) => "Restored your unsent message.".to_owned(),
        (0, false) => "Your unsent message from last time is in the history.".to_owned(),
        (1, _) => "Restored a queued prompt; the queue is paused.".to_owned(),
        (count, _) => format!("Restored {count} queued prompts; the queue is paused."),
    });
    // Files that the message mentions are attached when it is sent.
    let is_mentioned =
        |name: &String| is_in_message && mentions_path(&draft.message, &shown_path(name));
    let files = draft.files.iter().filter(|name| !is_mentioned(name));
    let files: Vec<String> = files.cloned().collect();
    if !files.is_empty() {
        let files = file_names(&files);
        notice = notice.with_reason(format!("Attach {files} again: files are not kept."));
    }
    let hint = match is_in_history {
        true => recall_hint(model, "brings back an unsent text."),
        false if count > 0 => model
            .keymap
            .hint(Action::Send, "in an empty message sends it."),
        false => None,
    };
    match hint {
        Some(hint) => notice.with_advice(hint),
        None => notice,
    }
}

/// The first names, and how many more there are.
fn file_names(files: &[String]) -> String {
    let shown = files.iter().take(FILE_NAMES_MAX);
    let shown: Vec<String> = shown
        .map(|name| Clean::name(name).as_str().to_owned())
        .collect();
    match files.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more files", shown.join(", ")),
    }
}

fn recall_hint(model: &UiModel, effect: &str) -> Option<String> {
    let recall = Action::Edit(Edit::Move(Motion::Up));
    model.keymap.hint(recall, effect)
}

/// Puts the prompt of a resumed turn into the message. A text that is there goes to the history,
/// and queued prompts stay in the queue.
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
    model.composer.begin_typing();
    let removed = model.attachments.show(prompt.attachments);
    model.panes.focus = Focus::Message;
    // A prompt of a replacement turn still replaces the same turns.
    if model.chat.transcript.turns_replaced_by_last().is_some() {
        model.composer.begin_replacing_last();
    }
    let mut notice = with_sentence(notice, "The interrupted prompt is in the message.");
    let recall = recall_hint(model, "brings back your unsent text.");
    if let Some(recall) = recall.filter(|_| has_unsent) {
        notice = notice.with_advice(recall);
    }
    if !removed.is_empty() {
        let names: Vec<String> = removed.into_iter().map(|file| file.name).collect();
        notice = notice.with_advice(format!("Removed {} from it.", file_names(&names)));
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

/// Adds a text to the history, unless it is there already.
pub fn keep_in_history(model: &mut UiModel, text: &str) {
    let prompts = model.composer.history().prompts();
    if !prompts.iter().any(|prompt| prompt == text) {
        submit::remember(model, text);
    }
    save_in_history(model, text);
}

/// Tells where the prompts of a closed conversation are.
pub fn kept_queue_notice(model: &UiModel, count: usize, files: &[String]) -> Notice {
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

/// Saves an unsent text in the history, because the next draft replaces the one that contains it.
fn save_in_history(model: &mut UiModel, text: &str) {
    let command = Command::AddToHistory(text.to_owned());
    model.requests.push_back(UiRequest::Send(command));
}
