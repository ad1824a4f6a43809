//! Editing the arguments of a call: the list of values, and the text field.

use crate::domain::Arguments;
use crate::domain::Decision;
use crate::protocol::{Command, UserAnswer, parse_arguments, parse_pattern_for};
use crate::tui::dialog::arguments::editable::{
    EditableValue, editable_values, value_to_text, with_edited_value,
};
use crate::tui::dialog::choices::ERROR_CHARS_MAX;
use crate::tui::dialog::state::{Dialog, DialogMode, DialogPage, EditTarget, PendingArguments};
use crate::tui::dialog::value_options::{next_option, value_options};
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::layer::{SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::editor::{Edit, Editor, Motion};
use crate::tui::widgets::text_field;
use crossterm::event::{KeyEvent, KeyEventKind};

/// Opens the list of editable values. A single value is opened directly; without any, all
/// arguments are opened as JSON.
pub fn edit_arguments(shared: SharedUiState, dialog: &mut Dialog) {
    let Some(arguments) = current_arguments(shared, dialog) else {
        return;
    };
    match editable_values(&arguments).as_slice() {
        [] => edit_all_arguments(dialog, &arguments),
        [only] => edit_value(dialog, &arguments, only),
        _ => dialog.show_page(DialogPage::Values),
    }
}

fn edit_all_arguments(dialog: &mut Dialog, arguments: &Arguments) {
    let draft = dialog
        .argument_drafts
        .get_mut(dialog.call_index)
        .and_then(Option::take);
    let text = || serde_json::to_string_pretty(arguments).unwrap_or_default();
    let editor = draft.unwrap_or_else(|| Editor::for_approval(&text()));
    dialog.mode = editor_mode(editor, EditTarget::Arguments);
}

pub fn editor_mode(editor: Editor, target: EditTarget) -> DialogMode {
    DialogMode::EditArguments {
        editor,
        error: None,
        check: None,
        target,
    }
}

/// Handles a key on the page of values. It may choose one value, or all of them as JSON.
pub fn values_page_key(shared: SharedUiState, dialog: &mut Dialog, key: KeyEvent) {
    let Some(arguments) = current_arguments(shared, dialog) else {
        return;
    };
    let values = editable_values(&arguments);
    let last = values.len();
    let selected = dialog.selected_choice.unwrap_or(0);
    let meaning = shared.keymap.layer_key(key, &[KeyContext::Question]);
    let chosen = match (meaning, typed_char(key)) {
        (Some(LayerKey::Up), _) => return dialog.select_row(selected.saturating_sub(1)),
        (Some(LayerKey::Down), _) => return dialog.select_row((selected + 1).min(last)),
        (Some(LayerKey::Start), _) => return dialog.select_row(0),
        (Some(LayerKey::End), _) => return dialog.select_row(last),
        (Some(LayerKey::Back), _) => return dialog.show_page(DialogPage::Subject),
        (Some(LayerKey::Confirm), _) | (None, Some(' ')) => selected,
        (_, Some('0')) => last,
        (_, Some(digit @ '1'..='9')) => digit as usize - '1' as usize,
        _ => return,
    };
    let Some(value) = values.get(chosen) else {
        if chosen == last {
            edit_all_arguments(dialog, &arguments);
        }
        return;
    };
    edit_value(dialog, &arguments, value);
    if let DialogMode::EditArguments { editor, target, .. } = &mut dialog.mode {
        switch_option(editor, target, key);
    }
}

/// Opens the editor of one value, with its draft if the user last left this editor with Esc.
fn edit_value(dialog: &mut Dialog, arguments: &Arguments, value: &EditableValue) {
    let drafts = dialog.value_drafts.get_mut(dialog.call_index);
    let draft = drafts.and_then(|drafts| drafts.remove(&value.pointer));
    let editor = draft.unwrap_or_else(|| {
        let text = value_to_text(arguments, &value.pointer).unwrap_or_default();
        let mut editor = Editor::for_approval(&text);
        if !editor.has_several_lines() {
            editor.edit(Edit::Move(Motion::TextEnd));
        }
        editor
    });
    let schema = dialog.call().map(|call| &call.tool.input_schema);
    let options = schema.map(|schema| value_options(schema, arguments, &value.pointer));
    let target = EditTarget::Value {
        pointer: value.pointer.clone(),
        label: value.label.clone(),
        options: options.unwrap_or_default(),
    };
    dialog.mode = editor_mode(editor, target);
}

pub fn current_arguments(shared: SharedUiState, dialog: &Dialog) -> Option<Arguments> {
    if let Some(Some(edited)) = dialog.edited_arguments.get(dialog.call_index) {
        return Some(edited.clone());
    }
    let offered = dialog.call()?;
    let call = shared.transcript.call(offered.call)?;
    Some(call.arguments.clone())
}

/// Keeps the text of a field that the user leaves with Esc, unless it is a pattern.
fn keep_draft(dialog: &mut Dialog, target: EditTarget, draft: Editor) {
    let at = dialog.call_index;
    match target {
        EditTarget::Pattern => {}
        EditTarget::Arguments => {
            if let Some(kept) = dialog.argument_drafts.get_mut(at) {
                *kept = Some(draft);
            }
        }
        EditTarget::Value { pointer, .. } => {
            if let Some(drafts) = dialog.value_drafts.get_mut(at) {
                drafts.insert(pointer, draft);
            }
        }
    }
}

pub fn argument_editor_key(
    dialog: &mut Dialog,
    key: KeyEvent,
    cx: &mut UiContext,
) -> Option<UserAnswer> {
    let tool = dialog.call()?.tool.clone();
    let current = current_arguments(cx.shared, dialog)?;
    let DialogMode::EditArguments {
        editor,
        error,
        check,
        target,
        ..
    } = &mut dialog.mode
    else {
        return None;
    };
    let meaning = cx.shared.keymap.layer_key(key, &[KeyContext::InputLine]);
    let action = cx.shared.keymap.global_action(key);
    if meaning.is_none() && action == Some(Action::EditExternally) {
        cx.request(UiRequest::EditExternally(editor.text()));
        dialog.opens_editor = true;
        return None;
    }
    match meaning {
        Some(LayerKey::Back) => {
            let draft = std::mem::take(editor);
            let target = target.clone();
            dialog.mode = DialogMode::Choosing;
            keep_draft(dialog, target, draft);
        }
        Some(LayerKey::Confirm) if key.kind == KeyEventKind::Repeat => {}
        Some(LayerKey::Confirm) => {
            let text = editor.text();
            let edited = match target {
                EditTarget::Pattern => match parse_pattern_for(&current, &text) {
                    Ok(pattern) => return dialog.decide(Decision::RunMatching { pattern }),
                    Err(reason) => Err(reason),
                },
                EditTarget::Arguments => parse_arguments(&text),
                EditTarget::Value { pointer, .. } => with_edited_value(&current, pointer, &text),
            };
            match edited {
                Ok(_) if check.is_some() => return None,
                Ok(arguments) => {
                    let query = cx.next_query_id();
                    *check = Some(PendingArguments {
                        query,
                        arguments: arguments.clone(),
                    });
                    cx.send(Command::CheckArguments {
                        query,
                        tool,
                        arguments,
                    });
                }
                Err(reason) => *error = Some(reason.chars().take(ERROR_CHARS_MAX).collect()),
            }
        }
        _ => {
            if !switch_option(editor, target, key) {
                type_key(editor, key, cx.shared.keymap);
            }
            (*error, *check) = (None, None);
        }
    }
    None
}

/// Switches a boolean, or a value for which the schema lists the options, to the next one with Space.
fn switch_option(editor: &mut Editor, target: &EditTarget, key: KeyEvent) -> bool {
    let EditTarget::Value { options, .. } = target else {
        return false;
    };
    let next = next_option(options, &editor.text()).filter(|_| typed_char(key) == Some(' '));
    if let Some(next) = next {
        editor.set(next);
    }
    next.is_some()
}

/// Handles a key in the field. At its start, the key that deletes to the start of the line clears the
/// line.
fn type_key(editor: &mut Editor, key: KeyEvent, keymap: &Keymap) {
    let had_effect = text_field::handle_key(editor, key, keymap);
    let clears = keymap.text_field_action(key) == Some(Action::Edit(Edit::KillToStart));
    if clears && !had_effect && !editor.has_several_lines() {
        editor.edit(Edit::KillToEnd);
    }
}
