//! Runs every action of the keymap, with the argument of its command.

use crate::domain::Notice;
use crate::protocol::Command;
use crate::tui::help::HelpLayer;
use crate::tui::history_search::HistorySearch;
use crate::tui::keymap::Action;
use crate::tui::log::state as log;
use crate::tui::model::Model;
use crate::tui::models::select;
use crate::tui::msg::Effect;
use crate::tui::palette::Palette;
use crate::tui::panes::Focus;
use crate::tui::servers::{commands as servers, stderr_log};
use crate::tui::trust::layer::TrustLayer;
use crate::tui::update::{branches, calls, composer, interrupt, navigation, submit};
use crate::tui::{models, sessions, settings};

pub fn run(model: &mut Model, action: Action, argument: &str, effects: &mut Vec<Effect>) {
    if branches::run(model, action, argument, effects) {
        return;
    }
    match action {
        Action::Send => composer::send(model, effects),
        Action::Interrupt => interrupt::interrupt(model, effects),
        Action::Leave => interrupt::leave(model, effects),
        Action::Edit(edit) => composer::edit(model, edit),
        Action::Continue => submit::go_on(model, effects),
        Action::Compact => submit::compact(model, effects),
        Action::Probe => submit::when_idle(model, Command::Probe, effects),
        Action::NewSession => {
            model.composer.queue.pause();
            effects.push(Effect::Send(Command::NewSession));
        }
        Action::Sessions => model.cx(sessions::layer::open),
        Action::SetModel => model.cx(|cx| select::set_model(argument, cx)),
        Action::Models => model.cx(|cx| models::layer::run(argument, cx)),
        Action::Think => model.cx(|cx| select::think(argument, cx)),
        Action::SetToolMode => model.cx(|cx| settings::set_tool_mode(argument, cx)),
        Action::SetPersona => model.cx(|cx| settings::set_persona(argument, cx)),
        Action::SystemPrompt => model.cx(|cx| settings::replace_system_prompt(argument, cx)),
        Action::Reload => effects.push(Effect::Send(Command::Reload)),
        Action::Trust => model.cx(|cx| cx.open(TrustLayer::default())),
        Action::Mcp
        | Action::ToggleServer
        | Action::Reconnect
        | Action::Stderr
        | Action::Instructions
        | Action::Withheld => server(model, action, argument),
        Action::CancelCall => calls::cancel(model, argument, effects),
        Action::OpenCall => calls::open(model),
        Action::Commands => model.cx(|cx| cx.open(Palette::default())),
        Action::Help => model.cx(|cx| cx.open(HelpLayer::default())),
        Action::Log => model.cx(|cx| log::open(argument, cx)),
        Action::Recall => model.cx(|cx| cx.open(HistorySearch::default())),
        Action::Raw => show_raw(model),
        Action::CopyAnswer => calls::copy(model, argument),
        Action::EditOutside => effects.push(Effect::EditText(model.composer.editor.text())),
        Action::Mouse => {
            model.screen.takes_mouse = !model.screen.takes_mouse;
            model.notify(Notice::info(if model.screen.takes_mouse {
                "Mouse capture on: it scrolls and selects panes."
            } else {
                "Mouse capture off: select text as usual."
            }));
            effects.push(Effect::CaptureMouse(model.screen.takes_mouse));
        }
        Action::Redraw => effects.push(Effect::Repaint),
        Action::Suspend => effects.push(Effect::Suspend),
        other => navigation::run(model, other, effects),
    }
}

fn server(model: &mut Model, action: Action, argument: &str) {
    let in_pane = argument.is_empty() && model.panes.focus == Focus::Servers;
    model.with_servers(|sidebar, cx| {
        match action {
            Action::Mcp => return servers::command(sidebar, argument, cx),
            Action::ToggleServer if in_pane => return servers::toggle_chosen(sidebar, cx),
            Action::ToggleServer => return servers::toggle_command(sidebar, argument, cx),
            Action::Withheld => return servers::review(sidebar, cx),
            _ => {}
        }
        let Some(id) = sidebar.chosen_server().map(|server| server.id.clone()) else {
            return;
        };
        match action {
            Action::Reconnect => servers::reconnect(sidebar, &id, cx),
            Action::Instructions => servers::ask_instructions(sidebar, &id, cx),
            _ => stderr_log::open(&id, cx),
        }
    });
}

fn show_raw(model: &mut Model) {
    model.chat.raw = !model.chat.raw;
    model.notify(Notice::info(if model.chat.raw {
        "Showing raw answers."
    } else {
        "Showing rendered answers."
    }));
}
