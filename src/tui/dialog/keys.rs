//! Key handling of a dialog that accepts keys.

use crate::domain::Decision;
use crate::domain::{ArgumentPattern, Notice};
use crate::protocol::{UserAnswer, UserChoice};
use crate::tui::dialog::argument_editor::{
    argument_editor_key, current_arguments, edit_arguments, editor_mode, values_page_key,
};
use crate::tui::dialog::choices::{choice_for_char, choice_for_key, page_letter, scroll_key};
use crate::tui::dialog::dialogs::Dialogs;
use crate::tui::dialog::permission_notice::permission_notice;
use crate::tui::dialog::read_before_run;
use crate::tui::dialog::read_before_run::KeyGate;
use crate::tui::dialog::read_only_tools;
use crate::tui::dialog::server_form;
use crate::tui::dialog::state::{
    Dialog, DialogAction, DialogChoice, DialogMode, DialogPage, EditTarget,
};
use crate::tui::dialog::unused_key::unused_key_notice;
use crate::tui::input::decode::normalize_key;
use crate::tui::input::key_repeat::KeyRepeatGuard;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// On a screen with fewer columns or rows the question is unreadable, so nothing can be approved.
pub(super) const READABLE_COLUMNS_MIN: u16 = 20;
const READABLE_ROWS_MIN: u16 = 4;

/// Passes a key to the current dialog, and sends the answer once the question is decided.
pub fn handle_key(dialogs: &mut Dialogs, key: KeyEvent, cx: &mut UiContext) {
    let (now, shared) = (cx.shared.now, cx.shared);
    let held = dialogs.decision_key.as_mut();
    let repeats = held.is_some_and(|held| held.record_press(key.code, now));
    let Some(dialog) = dialogs.current_mut() else {
        return;
    };
    if repeats && matches!(dialog.mode, DialogMode::Choosing) {
        return;
    }
    if decides_on_tiny_screen(shared, dialog, key) {
        let text = "Make the window larger to answer.";
        return cx.notify(Notice::warning(text));
    }
    if let Some(address) = server_form::address_to_copy(shared, dialog, key) {
        return cx.copy("the address", address);
    }
    if let Some(notice) = read_before_run::require_reading(shared, dialog, key) {
        return cx.notify_about_key(notice);
    }
    match read_before_run::gate_key(dialog, key, cx) {
        KeyGate::Allow => {}
        KeyGate::Block => return,
        KeyGate::BlockNearEnd => {
            // The same key, held down, must not run the call once its end is visible.
            dialogs.decision_key = Some(KeyRepeatGuard::new(key.code, now));
            return;
        }
    }
    let notice = server_form::kept_input_notice(shared, dialog, key);
    if let Some(notice) = notice.or_else(|| unused_key_notice(shared, dialog, key)) {
        return cx.notify_about_key(notice);
    }
    let decided = dialog.decided_count();
    let answer = match &dialog.mode {
        DialogMode::Choosing => choice_key(shared, dialog, key),
        DialogMode::DenialReason(_) => denial_reason_key(shared, dialog, key),
        DialogMode::ConfirmUnread(_) => read_before_run::confirm_unread_key(shared, dialog, key),
        DialogMode::ConfirmSecret(_) => server_form::confirm_secret_key(shared, dialog, key),
        DialogMode::EditForm => {
            server_form::fields_key(shared, dialog, key);
            None
        }
        DialogMode::EditArguments { .. } => argument_editor_key(dialog, key, cx),
    };
    let has_decided = dialog.decided_count() > decided;
    let notice = (answer.as_ref()).and_then(|answer| permission_notice(shared, dialog, answer));
    if answer.is_none() && has_decided {
        // A double key press must not run the next call.
        dialog.wait_for_quiet(now);
        dialog.is_drawn = false;
    }
    if std::mem::take(&mut dialog.opens_editor) {
        let id = dialog.id;
        dialogs.edited_externally = Some(id);
        return;
    }
    if let Some((call, rows)) = dialog.run_unread.take() {
        cx.request(UiRequest::RecordUndrawnRows(call, rows));
    }
    if answer.is_some() || has_decided || key.code == KeyCode::Esc {
        dialogs.decision_key = Some(KeyRepeatGuard::new(key.code, now));
    }
    if let Some(answer) = answer {
        if let Some(notice) = notice {
            cx.notify(notice);
        }
        dialogs.answer(answer, cx);
    }
}

/// Whether this key would approve something that the screen is too small to show.
fn decides_on_tiny_screen(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> bool {
    let (width, height) = shared.size;
    if width >= READABLE_COLUMNS_MIN && height >= READABLE_ROWS_MIN {
        return false;
    }
    let rows = dialog.choices(shared);
    let confirms_field =
        shared.keymap.layer_key(key, &[KeyContext::InputLine]) == Some(LayerKey::Confirm);
    let row = match &dialog.mode {
        DialogMode::EditArguments { .. }
        | DialogMode::ConfirmUnread(_)
        | DialogMode::ConfirmSecret(_)
            if confirms_field =>
        {
            return true;
        }
        DialogMode::Choosing => choice_for_key(dialog, &rows, key, shared.keymap),
        _ => None,
    };
    let is_safe = |action| {
        let keeps = UserChoice::KeepForLater;
        matches!(action, DialogAction::Refuse | DialogAction::Deny)
            || action == DialogAction::Choose(keeps)
    };
    row.is_some_and(|row| !is_safe(row.action) && row.answer != Some(LayerKey::No))
}

/// Pasted text never answers a question. An open field takes it; otherwise the message
/// does, and the dialog stops accepting keys because the rest of the paste may arrive as
/// key presses.
pub fn paste(dialog: &mut Dialog, text: &str) -> Handled {
    match &mut dialog.mode {
        DialogMode::DenialReason(editor)
        | DialogMode::ConfirmUnread(editor)
        | DialogMode::ConfirmSecret(editor) => text_field::paste_line(editor, text),
        DialogMode::EditForm => {
            if let Some(form) = &mut dialog.form {
                form.paste(text);
            }
        }
        DialogMode::EditArguments { editor, check, .. } => {
            *check = None;
            editor.insert(text);
        }
        DialogMode::Choosing => {
            dialog.accepts_keys = false;
            return Handled::PassedOn;
        }
    }
    Handled::Consumed
}

fn choice_key(shared: SharedUiState, dialog: &mut Dialog, key: KeyEvent) -> Option<UserAnswer> {
    let rows = dialog.choices(shared);
    if scroll_key(dialog, key, shared.keymap) {
        return None;
    }
    if dialog.page() == DialogPage::Values {
        values_page_key(shared, dialog, key);
        return None;
    }
    if shared.keymap.global_action(key) == Some(Action::RAW) {
        dialog.toggle_json();
        return None;
    }
    match shared.keymap.layer_key(key, &[KeyContext::Question]) {
        Some(LayerKey::Start) => dialog.scroll = 0,
        Some(LayerKey::End) => dialog.scroll = dialog.last_top(),
        Some(LayerKey::Left) => dialog.show_call(dialog.call_index.saturating_sub(1)),
        Some(LayerKey::Right) => dialog.show_call(dialog.call_index + 1),
        Some(LayerKey::Up) => step_choice(dialog, &rows, -1),
        Some(LayerKey::Down) => step_choice(dialog, &rows, 1),
        // A repeat of a held key is not a second decision.
        _ if key.kind == KeyEventKind::Repeat => {}
        Some(LayerKey::Confirm) => {
            return perform(shared, dialog, rows.get(dialog.selected_choice?)?.action);
        }
        Some(LayerKey::Back) => return go_back(dialog),
        _ => return letter_key(shared, dialog, &rows, key),
    }
    None
}

/// Closes the page, the full height or the edit, whichever is open, or else the question.
fn go_back(dialog: &mut Dialog) -> Option<UserAnswer> {
    if dialog.page() != DialogPage::Subject {
        dialog.show_page(DialogPage::Subject);
    } else if dialog.is_full {
        dialog.is_full = false;
    } else if !dialog.discard_edit() {
        return dismiss(dialog);
    }
    None
}

/// Handles a letter or digit that chooses, or shows more of the question.
fn letter_key(
    shared: SharedUiState,
    dialog: &mut Dialog,
    rows: &[DialogChoice],
    key: KeyEvent,
) -> Option<UserAnswer> {
    let (KeyCode::Char(typed), KeyModifiers::NONE) = normalize_key(key) else {
        return None;
    };
    if let Some(row) = choice_for_char(dialog, rows, typed) {
        return perform(shared, dialog, row.action);
    }
    match page_letter(dialog, typed, shared.keymap)? {
        LayerKey::Details => toggle_page(dialog, DialogPage::Details),
        LayerKey::Lasting => toggle_page(dialog, DialogPage::Lasting),
        _ => dialog.is_full = !dialog.is_full,
    }
    None
}

/// Selects the next or the previous choice among those that the page shows.
fn step_choice(dialog: &mut Dialog, rows: &[DialogChoice], by: isize) {
    let reachable = dialog.reachable_choices(rows);
    let last = reachable.len().saturating_sub(1);
    let selected = dialog.selected_choice;
    let at = selected.and_then(|row| reachable.iter().position(|index| *index == row));
    let next = match at {
        None if by < 0 => last,
        None => 0,
        Some(at) => at.saturating_add_signed(by).min(last),
    };
    dialog.selected_choice = reachable.get(next).copied();
}

fn toggle_page(dialog: &mut Dialog, page: DialogPage) {
    let shown = dialog.page();
    dialog.show_page(match shown == page {
        true => DialogPage::Subject,
        false => page,
    });
}

fn dismiss(dialog: &mut Dialog) -> Option<UserAnswer> {
    if dialog.call().is_some() {
        return dialog.decide(Decision::Refuse);
    }
    Some(UserAnswer::Dismissed)
}

fn perform(shared: SharedUiState, dialog: &mut Dialog, action: DialogAction) -> Option<UserAnswer> {
    match action {
        DialogAction::Run => dialog.decide(Decision::Run),
        DialogAction::Refuse => dialog.decide(Decision::Refuse),
        DialogAction::RunForSession => dialog.decide(Decision::RunForSession),
        DialogAction::RunAlways => dialog.decide(Decision::RunAlways),
        DialogAction::RunServer => dialog.decide(Decision::RunWholeServer),
        DialogAction::RunReadOnly => read_only_tools::list_or_grant(shared, dialog),
        DialogAction::Never => dialog.decide(Decision::Never),
        DialogAction::RunMatching => {
            let pattern =
                ArgumentPattern::from_arguments(&current_arguments(shared, dialog)?).to_json();
            let text = serde_json::to_string_pretty(&pattern).ok()?;
            dialog.mode = editor_mode(Editor::for_approval(&text), EditTarget::Pattern);
            None
        }
        DialogAction::UseFirstResult => dialog.decide(Decision::ReuseResult),
        DialogAction::TreatAsText => dialog.decide(Decision::TreatAsText),
        DialogAction::RunAll => Some(dialog.run_undecided()),
        DialogAction::RunUnread => {
            dialog.mode = DialogMode::ConfirmUnread(Editor::default());
            None
        }
        DialogAction::Choose(choice) => server_form::perform_choice(dialog, choice),
        DialogAction::Deny => {
            // Show the tool and its server above the field.
            dialog.scroll = 0;
            let draft = dialog.denial_drafts.get_mut(dialog.call_index);
            dialog.mode = DialogMode::DenialReason(draft.map(std::mem::take).unwrap_or_default());
            None
        }
        DialogAction::Edit => {
            edit_arguments(shared, dialog);
            None
        }
    }
}

fn denial_reason_key(
    shared: SharedUiState,
    dialog: &mut Dialog,
    key: KeyEvent,
) -> Option<UserAnswer> {
    if scroll_key(dialog, key, shared.keymap) {
        return None;
    }
    let DialogMode::DenialReason(editor) = &mut dialog.mode else {
        return None;
    };
    match shared.keymap.layer_key(key, &[KeyContext::InputLine]) {
        Some(LayerKey::Back) => {
            let draft = std::mem::take(editor);
            dialog.mode = DialogMode::Choosing;
            if let Some(kept) = dialog.denial_drafts.get_mut(dialog.call_index) {
                *kept = draft;
            }
        }
        Some(LayerKey::Confirm) if key.kind == KeyEventKind::Repeat => {}
        Some(LayerKey::Confirm) => {
            let reason = editor.text().trim().to_owned();
            let message = Some(reason).filter(|reason| !reason.is_empty());
            return dialog.decide(Decision::Deny { message });
        }
        _ => {
            text_field::handle_key(editor, key, shared.keymap);
        }
    }
    None
}
