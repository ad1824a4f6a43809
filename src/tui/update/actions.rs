//! Runs every action of the keymap, and commands with their arguments.

use crate::commands::calls::CANCEL;
use crate::commands::{CommandRow, conversation, models, servers};
use crate::protocol::Command;
use crate::tui::help::{HelpLayer, HelpTopic};
use crate::tui::history_search::HistorySearch;
use crate::tui::keymap::Action;
use crate::tui::layer::Layer;
use crate::tui::msg::UiEffect;
use crate::tui::palette::Palette;
use crate::tui::servers::{commands as pane_actions, stderr_log};
use crate::tui::ui_model::UiModel;
use crate::tui::update::{
    branches, calls, composer, find, interrupt, messages, navigation, selection,
};
use crate::tui::widgets::list_layer::ListSource;

pub fn run_action(model: &mut UiModel, action: Action, effects: &mut Vec<UiEffect>) {
    if find::run_action(model, action) || selection::run_action(model, action) {
        return;
    }
    match action {
        Action::Command(row) => run_command(model, row, "", effects),
        Action::Send => composer::submit_message(model, effects),
        Action::Interrupt => interrupt::interrupt(model, effects),
        Action::Back if branches::cancel_edit(model) => {}
        Action::Edit(edit) => composer::edit_message(model, edit, effects),
        Action::EditMessage => messages::edit_selected(model),
        Action::MessageBranches => messages::list_branches_of_selected(model, effects),
        Action::DropStopped => branches::drop_stopped_turn(model, effects),
        Action::RestoreSession => model.with_context(|cx| conversation::undo_delete(cx)),
        Action::ToggleServer
        | Action::Reconnect
        | Action::Stderr
        | Action::Instructions
        | Action::Withheld => run_server_action(model, action),
        Action::CancelCall => run_command(model, &CANCEL, "", effects),
        Action::OpenCall | Action::AttachLink => calls::use_selected_call(model, action),
        Action::Commands => model.with_context(|cx| {
            cx.send(Command::ListPromptTemplates);
            Palette.open(cx);
        }),
        Action::SearchHistory => model.with_context(|cx| HistorySearch.open(cx)),
        Action::EditExternally => effects.push(UiEffect::OpenEditor(model.composer.editor.text())),
        Action::Redraw => effects.push(UiEffect::Repaint),
        Action::Suspend => effects.push(UiEffect::Suspend),
        other_action => navigation::run_action(model, other_action, effects),
    }
}

pub fn run_command(
    model: &mut UiModel,
    row: &'static CommandRow,
    argument: &str,
    effects: &mut Vec<UiEffect>,
) {
    let chooses_model = [&models::SET_MODEL, &models::MODELS].contains(&row);
    match chooses_model && argument.is_empty() && model.reopen_first_run() {
        true => effects.push(UiEffect::Send(Command::ListCatalog)),
        false => model.with_context(|cx| (row.run)(cx, argument)),
    }
}

/// Opens the help, which first lists the keys of the open dialog or layer. The layer opens again once
/// the help closes.
pub fn show_help(model: &mut UiModel, topic: HelpTopic, filter: &str) {
    let hints = match (model.visible_dialog(), &model.layer) {
        (Some(_), _) => model.dialogs.hints(model.shared()),
        (None, Some(layer)) => layer.hints(model.shared()),
        (None, None) => Vec::new(),
    };
    let below = model.layer.take();
    model.open_layer(Box::new(HelpLayer::new(topic, filter, &hints, below)));
}

/// Acts on the server or tool that is selected in the pane.
fn run_server_action(model: &mut UiModel, action: Action) {
    match action {
        Action::ToggleServer => model.with_servers_pane(|pane, cx| pane_actions::toggle(pane, cx)),
        Action::Withheld => {
            model.with_servers_pane(|pane, cx| pane_actions::review_withheld(pane, cx));
        }
        _ => {}
    }
    let selected = model.servers_pane.selected_server();
    let Some(id) = selected.map(|server| server.id.clone()) else {
        return;
    };
    model.with_context(|cx| match action {
        Action::Reconnect => servers::reconnect(cx, &id),
        Action::Instructions => servers::review_instructions(cx, &id),
        Action::Stderr => stderr_log::open(&id, cx),
        _ => {}
    });
}
