//! Keys that act on a message of the chat, while the chat has the focus but nothing is selected.

use crate::domain::Notice;
use crate::tui::chat::stops::Stop;
use crate::tui::keymap::{Action, BindingScope};
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::selection::with_pane;
use crate::tui::update::{line_selection, selection};
use crossterm::event::KeyEvent;

/// Handles the key that selects lines, edits a message or drops a stopped turn: selects the message.
/// The last two take a second press, because the first one may be the start of a prompt. Returns false
/// for any other key, and if there is no such message.
pub fn handle_key(model: &mut UiModel, key: KeyEvent) -> bool {
    let is_selecting = model.chat.viewport.stop.is_some() || selection::has_selection(model);
    if model.panes.focus != Focus::Chat || is_selecting {
        return false;
    }
    let is_on_stop = |scope| scope == BindingScope::ChatStop;
    match model.keymap.find_action(key, is_on_stop) {
        Some(Action::SelectLines) => {
            model.chat.viewport.stop = last_stop_in_view(model);
            model.chat.viewport.stop.is_some()
                && line_selection::run_action(model, Action::SelectLines)
        }
        Some(Action::EditMessage) => select_editable(model),
        Some(Action::DropStopped) => select_stopped(model),
        _ => false,
    }
}

/// Selects the answer of the last turn, if the user stopped it.
fn select_stopped(model: &mut UiModel) -> bool {
    let transcript = &model.chat.transcript;
    let last = transcript.entries().len().checked_sub(1);
    let Some(last) = last.filter(|_| transcript.is_last_answer_stopped()) else {
        return false;
    };
    model.chat.viewport.stop = Some(Stop::at_entry(last));
    let drop = model
        .keymap
        .hint(Action::DropStopped, "drops the stopped answer.");
    model.notify_about_key(Notice::info(drop.unwrap_or_default()));
    true
}

fn last_stop_in_view(model: &mut UiModel) -> Option<Stop> {
    with_pane(model, Focus::Chat, |view| {
        let (height, input) = (view.height(), view.input);
        view.viewport.last_stop_in_view(input, height)
    })
}

/// Selects the last message in view that can be edited.
fn select_editable(model: &mut UiModel) -> bool {
    let visible = with_pane(model, Focus::Chat, |view| {
        let (height, input) = (view.height(), view.input);
        let top = view.viewport.top_position(input, height);
        view.viewport.visible_rows(input, top, height)
    });
    let transcript = &model.chat.transcript;
    let mut indices = visible.iter().rev().map(|row| row.index);
    let Some(index) = indices.find(|index| transcript.is_editable(*index)) else {
        return false;
    };
    model.chat.viewport.stop = Some(Stop::at_entry(index));
    let edit = model
        .keymap
        .hint(Action::EditMessage, "edits the selected message.");
    let select = [Action::PreviousLine, Action::NextLine];
    let select = model.keymap.pair_hint(select, "select another.");
    let hints: Vec<String> = edit.into_iter().chain(select).collect();
    model.notify_about_key(Notice::info(hints.join(" ")));
    true
}
