//! The find bar: its keys, and its search, which runs in small steps, one per input.

use crate::domain::Notice;
use crate::tui::chat::find::Find;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layout::ScreenLayout;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::selection::{with_pane, with_pane_in};
use crate::tui::widgets::editor::Edit;
use crate::tui::widgets::text_field;
use crossterm::event::KeyEvent;

/// Runs an action of the find bar. Returns false for any other action.
pub fn run_action(model: &mut UiModel, action: Action) -> bool {
    match action {
        Action::NextMatch => step(model, 1),
        Action::PreviousMatch => step(model, -1),
        Action::Back if has_reached_match(model) => model.chat.find = None,
        Action::Back if model.chat.find.is_some() => go_back(model),
        _ => return false,
    }
    true
}

/// Opens the field, or returns to it. With an argument, searches for it at once.
pub fn open(model: &mut UiModel, argument: &str) {
    if model.chat.transcript.entries().is_empty() {
        return model.notify(Notice::info("The conversation is empty."));
    }
    if model.chat.find.is_none() {
        let focus_before = model.panes.focus;
        let glyphs = model.screen.markdown_glyphs();
        let find = with_pane(model, Focus::Chat, |view| {
            Find::new(view, glyphs, focus_before)
        });
        model.chat.find = Some(find);
    }
    model.panes.focus = Focus::Chat;
    if let Some(find) = &mut model.chat.find {
        find.is_typing = argument.is_empty();
        if !argument.is_empty() {
            find.field.set(argument);
            find.update_query();
        } else {
            // Typing replaces the text of the last search.
            find.field.edit(Edit::SelectAll);
        }
    }
}

/// Shows the first match of `text` in the conversation that was just opened. The view stays as it is
/// if there is none. Keys go to the message, because a user who opens a conversation wants to go on
/// with it.
pub fn show_first(model: &mut UiModel, text: &str) {
    if model.chat.transcript.entries().is_empty() {
        return;
    }
    open(model, "");
    if let Some(find) = &mut model.chat.find {
        find.find_first(text);
        model.panes.focus = Focus::Message;
    }
}

/// Whether the field has the focus.
pub fn is_typing(model: &UiModel) -> bool {
    model.chat.find.as_ref().is_some_and(|find| find.is_typing)
}

/// Whether a match is selected and the field does not have the focus. Esc then stays at the match.
fn has_reached_match(model: &UiModel) -> bool {
    let find = model.chat.find.as_ref();
    find.is_some_and(|find| !find.is_typing && find.current_match().is_some())
}

/// Handles a key while the field has the focus. Returns false if the key has its usual meaning.
pub fn handle_key(model: &mut UiModel, key: KeyEvent) -> bool {
    if !is_typing(model) {
        return false;
    }
    match model.keymap.layer_key(key, &[KeyContext::Find]) {
        Some(LayerKey::Confirm) => {
            stop_typing(model);
            step(model, 1);
        }
        Some(LayerKey::Down) => step(model, 1),
        Some(LayerKey::Up) => step(model, -1),
        Some(LayerKey::Switch) => {
            stop_typing(model);
            show_current(model);
        }
        Some(LayerKey::Back) => go_back(model),
        _ => {
            let Some(find) = &mut model.chat.find else {
                return false;
            };
            if text_field::handle_line_key(&mut find.field, key, &model.keymap) {
                find.update_query();
            } else {
                // Editing keys at the end of the field do nothing.
                return model.keymap.text_field_action(key).is_some();
            }
        }
    }
    true
}

fn stop_typing(model: &mut UiModel) {
    if let Some(find) = &mut model.chat.find {
        find.is_typing = false;
    }
}

/// Pastes into the field. Returns false if it does not have the focus.
pub fn paste(model: &mut UiModel, text: &str) -> bool {
    let Some(find) = model.chat.find.as_mut().filter(|find| find.is_typing) else {
        return false;
    };
    text_field::paste_line(&mut find.field, text);
    find.update_query();
    true
}

fn step(model: &mut UiModel, step: isize) {
    let has_moved = model
        .chat
        .find
        .as_mut()
        .is_some_and(|find| find.select_adjacent(step));
    if has_moved {
        show_current(model);
    }
}

/// Searches a little further, and shows the first match once it is found. Closes the bar if a
/// search by [`show_first`] has found nothing.
pub fn advance(model: &mut UiModel) {
    let Some(find) = &mut model.chat.find else {
        return;
    };
    if find.advance(&model.chat.transcript) {
        return show_current(model);
    }
    let is_done = !find.is_searching(&model.chat.transcript);
    if find.is_for_opened_session && is_done && find.current_match().is_none() {
        // The session index also matches other forms of a word, which do not occur in the chat.
        model.panes.focus = find.focus_before;
        model.chat.find = None;
    }
}

fn show_current(model: &mut UiModel) {
    // The find bar is part of the layout, so this comes before taking it.
    let layout = ScreenLayout::compute(model);
    let Some(mut find) = model.chat.find.take() else {
        return;
    };
    if let Some(current) = find.current_match() {
        let thinking = model.chat.thinking_entries().binary_search(&current.entry);
        let is_aside = layout.has_thinking_aside(model) && layout.thinking.is_some();
        let (pane, index) = match thinking {
            Ok(index) if is_aside => (Focus::Thinking, index),
            _ => (Focus::Chat, current.entry),
        };
        with_pane_in(model, &layout, pane, |view| {
            find.show_current(view, pane, index);
        });
    }
    model.chat.find = Some(find);
}

/// Closes the find bar and restores the position from before the search.
fn go_back(model: &mut UiModel) {
    if let Some(find) = model.chat.find.take() {
        model.panes.focus = find.focus_before;
        with_pane(model, Focus::Chat, |view| find.go_back(view));
    }
}

/// Closes the find bar once the message has the focus. The view stays where it is.
pub fn close_unless_focused(model: &mut UiModel) {
    if model.panes.focus == Focus::Message && model.chat.find.is_some() {
        model.chat.find = None;
    }
}
