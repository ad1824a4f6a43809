//! Key hints for a dialog that accepts keys.

use crate::text::numbers::format_row_count;
use crate::tui::dialog::choices::letter_name;
use crate::tui::dialog::state::{Dialog, DialogMode, DialogPage, EditTarget};
use crate::tui::elicitation::form_state::FormState;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::widgets::editor::Edit;

/// The hints, most important first.
pub fn dialog_hints(dialog: &Dialog, keymap: &Keymap) -> Vec<String> {
    match &dialog.mode {
        DialogMode::Choosing => choosing_hints(dialog, keymap),
        DialogMode::DenialReason(_) => keymap.line_hints("deny", "back"),
        DialogMode::ConfirmUnread(_) => keymap.line_hints("run", "back"),
        DialogMode::ConfirmSecret(_) => keymap.line_hints("send", "back"),
        DialogMode::EditForm => form_hints(dialog, keymap),
        DialogMode::EditArguments { target, .. } => editor_hints(target, keymap),
    }
}

fn choosing_hints(dialog: &Dialog, keymap: &Keymap) -> Vec<String> {
    let hint = |key, word| keymap.layer_hint(KeyContext::Question, key, word);
    let pair = |keys, word| keymap.layer_pair_hint(KeyContext::Question, keys, word);
    let pages = [LayerKey::PageUp, LayerKey::PageDown];
    let scroll = keymap.layer_pair_hint(KeyContext::QuestionText, pages, "scroll");
    let choose = Some("Press a key to choose".to_owned());
    let mut hints = match dialog.page() {
        // The row below the list names the other keys.
        DialogPage::Values => hint_list([pair([LayerKey::Up, LayerKey::Down], "select"), scroll]),
        DialogPage::Subject => match reading_hint(dialog, keymap) {
            Some(reading) => hint_list([Some(reading), choose]),
            None if dialog.calls().len() > 1 => {
                let calls = pair([LayerKey::Left, LayerKey::Right], "other calls");
                hint_list([choose, calls, scroll])
            }
            None => hint_list([choose, scroll]),
        },
        _ => hint_list([choose, hint(LayerKey::Back, "back"), scroll]),
    };
    if dialog.is_edited()
        && dialog.page() == DialogPage::Subject
        && let Some(discard) = hint(LayerKey::Back, "discard edit")
    {
        hints.insert(1.min(hints.len()), discard);
    }
    hints
}

/// How to reach the part that must be read before the question can be answered.
fn reading_hint(dialog: &Dialog, keymap: &Keymap) -> Option<String> {
    let page = match dialog.is_unread_above() {
        true => LayerKey::PageUp,
        false => LayerKey::PageDown,
    };
    let page = keymap.layer_key_name(KeyContext::QuestionText, page);
    let left = dialog.rows_to_read();
    if left > 0 && dialog.call().is_some() {
        let yes = Some(letter_name(keymap, LayerKey::Yes)).filter(|name| !name.is_empty());
        let keys = hint_list([page, yes]).join(" or ");
        return Some(format!("{}: {keys}", format_row_count(left, "more")));
    }
    if dialog.calls().len() > 1 || !dialog.must_be_read() {
        return None;
    }
    let part = match dialog.is_unread_above() {
        true => "the rest",
        false => "the end",
    };
    Some(format!("{} to {part}, then accept", page?))
}

fn form_hints(dialog: &Dialog, keymap: &Keymap) -> Vec<String> {
    let hint = |key, word| keymap.layer_hint(KeyContext::Form, key, word);
    let pair = |keys, word| keymap.layer_pair_hint(KeyContext::Form, keys, word);
    let has_options = dialog.form.as_ref().is_some_and(FormState::has_options);
    let options = pair([LayerKey::Left, LayerKey::Right], "option");
    hint_list([
        hint(LayerKey::Confirm, "next"),
        hint(LayerKey::Back, "review"),
        options.filter(|_| has_options),
        has_options.then(|| "Space select".to_owned()),
        pair([LayerKey::Up, LayerKey::Down], "field"),
    ])
}

/// Hints for a field of several lines.
fn editor_hints(target: &EditTarget, keymap: &Keymap) -> Vec<String> {
    let (confirm, editor) = match target {
        EditTarget::Pattern => ("run and remember", None),
        _ => ("keep", keymap.hint(Action::EditExternally, "editor")),
    };
    let hint = |key, word| keymap.layer_hint(KeyContext::InputLine, key, word);
    let has_options = matches!(target, EditTarget::Value { options, .. } if !options.is_empty());
    hint_list([
        hint(LayerKey::Confirm, confirm),
        has_options.then(|| "Space switch".to_owned()),
        keymap.field_hint(Action::Edit(Edit::Newline), "newline"),
        editor,
        hint(LayerKey::Back, "back"),
    ])
}
