//! Runs every action of the keymap, with the argument of its command.

use crate::commands::calls::CANCEL;
use crate::commands::{conversation, models, servers};
use crate::domain::Notice;
use crate::protocol::Command;
use crate::tui::help::HelpLayer;
use crate::tui::history_search::HistorySearch;
use crate::tui::keymap::Action;
use crate::tui::layer::{Layer, UiContext};
use crate::tui::log::state as log;
use crate::tui::msg::UiEffect;
use crate::tui::palette::Palette;
use crate::tui::servers::{commands as pane_actions, stderr_log, viewer};
use crate::tui::trust::layer::TrustList;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{
    attachments, branches, calls, composer, find, interrupt, navigation, selection, submit,
};
use crate::tui::widgets::list_layer::ListSource;
use crate::tui::{imports, server_content, sessions, settings};

pub fn run_action(
    model: &mut UiModel,
    action: Action,
    argument: &str,
    effects: &mut Vec<UiEffect>,
) {
    let is_done = find::run_action(model, action, argument)
        || branches::run_action(model, action, argument, effects)
        || selection::run_action(model, action);
    if is_done {
        return;
    }
    match action {
        Action::Send => composer::submit_message(model, effects),
        Action::Interrupt => interrupt::interrupt(model, effects),
        Action::Quit => interrupt::quit(model, effects),
        Action::Edit(edit) => composer::edit_message(model, edit, effects),
        Action::Continue => submit::continue_answer(model, effects),
        Action::Compact => submit::compact(model),
        Action::Chat => submit::submit_bypassing_agents(model, argument, effects),
        Action::NewSession => start_session(model, effects),
        Action::Sessions | Action::Export | Action::RestoreSession => {
            run_session_action(model, action, argument);
        }
        Action::Command(row)
            if argument.is_empty()
                && [&models::SET_MODEL, &models::MODELS].contains(&row)
                && model.reopen_first_run() =>
        {
            effects.push(UiEffect::Send(Command::ListCatalog));
        }
        Action::Command(row) => model.with_context(|cx| row.run_shared(cx, argument)),
        Action::Theme => model.with_context(|cx| settings::set_theme(argument, cx)),
        Action::ImportServers | Action::Trust | Action::Tools => {
            model.with_context(|cx| open_list(action, argument, cx));
        }
        Action::ToggleServer
        | Action::Reconnect
        | Action::Stderr
        | Action::Instructions
        | Action::Withheld => run_server_action(model, action),
        Action::Answer => answer_servers(model),
        Action::CancelCall => model.with_context(|cx| CANCEL.run_shared(cx, argument)),
        Action::OpenCall | Action::AttachLink => calls::use_selected_call(model, action),
        Action::Commands => model.with_context(|cx| {
            cx.send(Command::ListPromptTemplates);
            Palette.open(cx);
        }),
        Action::Help | Action::ChangeKeys => show_help(model, action),
        Action::Log => model.with_context(|cx| log::open(argument, cx)),
        Action::SearchHistory => model.with_context(|cx| HistorySearch.open(cx)),
        Action::Raw => toggle_raw_text(model),
        Action::CopyAnswer => calls::copy_answer_or_result(model, argument),
        Action::EditExternally => effects.push(UiEffect::OpenEditor(model.composer.editor.text())),
        Action::Mouse => toggle_mouse(model, effects),
        Action::Attach => attachments::attach(model, argument),
        Action::Detach => attachments::detach(model, argument),
        Action::ServerPrompt | Action::Resource => use_server_content(model, action, argument),
        Action::Redraw => effects.push(UiEffect::Repaint),
        Action::Suspend => effects.push(UiEffect::Suspend),
        other_action => navigation::run_action(model, other_action, effects),
    }
}

fn open_list(action: Action, argument: &str, cx: &mut UiContext) {
    match action {
        Action::ImportServers => imports::open(cx),
        Action::Trust => TrustList::default().open(cx),
        _ => viewer::open_tools(argument, cx),
    }
}

/// Opens the help, which first lists the keys of the open dialog or layer. The layer opens again once
/// the help closes.
pub fn show_help(model: &mut UiModel, action: Action) {
    let hints = match (model.visible_dialog(), &model.layer) {
        (Some(_), _) => model.dialogs.hints(model.shared()),
        (None, Some(layer)) => layer.hints(model.shared()),
        (None, None) => Vec::new(),
    };
    let below = model.layer.take();
    model.open_layer(Box::new(HelpLayer::for_action(action, &hints, below)));
}

/// Opens the questions of servers that wait for this: those asked without a running turn, and those
/// still unanswered when a turn ended.
fn answer_servers(model: &mut UiModel) {
    if model.dialogs.open_waiting(model.now) {
        return;
    }
    let text = match model.visible_dialog() {
        Some(_) => "Answer the open question first.",
        None => "No server is asking you anything.",
    };
    model.notify(Notice::info(text));
}

fn use_server_content(model: &mut UiModel, action: Action, argument: &str) {
    model.with_context(|cx| match action {
        Action::ServerPrompt => server_content::run_prompt_command(argument, cx),
        _ => server_content::run_resource_command(argument, cx),
    });
}

fn start_session(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    model.composer.queue.pause();
    effects.push(UiEffect::Send(Command::NewSession));
}

fn run_session_action(model: &mut UiModel, action: Action, argument: &str) {
    let title = model.conversation.title.clone();
    model.with_context(|cx| match action {
        Action::Sessions => sessions::layer::open(argument, cx),
        Action::Export => sessions::commands::export(&title, argument, cx),
        _ => conversation::undo_delete(cx),
    });
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

fn toggle_mouse(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    model.screen.captures_mouse = !model.screen.captures_mouse;
    model.notify(Notice::info(if model.screen.captures_mouse {
        "Mouse capture on: drag selects and copies, the wheel scrolls."
    } else {
        "Mouse capture off: select text as usual."
    }));
    effects.push(UiEffect::CaptureMouse(model.screen.captures_mouse));
}

fn toggle_raw_text(model: &mut UiModel) {
    model.chat.shows_raw_text = !model.chat.shows_raw_text;
    model.notify(Notice::info(if model.chat.shows_raw_text {
        "Showing raw answers."
    } else {
        "Showing rendered answers."
    }));
}
