//! Carries out the requests of layers: commands to the engine, notices, and other layers.

use crate::domain::Notice;
use crate::protocol::Command;
use crate::tui::layer::{Picked, Request};
use crate::tui::model::Model;
use crate::tui::models::select;
use crate::tui::msg::Effect;
use crate::tui::panes::Focus;
use crate::tui::servers::commands as servers;
use crate::tui::update::{actions, calls, navigation};

/// Carries out all requests in order.
pub fn carry_out(model: &mut Model, effects: &mut Vec<Effect>) {
    while let Some(request) = model.requests.pop_front() {
        match request {
            Request::Send(command) => effects.push(Effect::Send(command)),
            Request::Notify(notice) => model.notify(notice),
            Request::Copy(text) => effects.push(Effect::Copy(text)),
            Request::StartDemo => effects.push(Effect::StartDemo),
            Request::Open(layer) => model.layer = Some(layer),
            Request::Run(action) => {
                let focus = std::mem::replace(&mut model.panes.focus, Focus::Message);
                actions::run(model, action, "", effects);
                carry_out(model, effects);
                if model.layer.is_none() && model.panes.focus == Focus::Message {
                    model.panes.focus = focus;
                }
            }
            Request::Command(action, argument) => {
                actions::run(model, action, &argument, effects);
            }
            Request::RanUnread(call, rows) => model.chat.ran_unread(call, rows),
            Request::Pick(picked) => pick(model, picked, effects),
            Request::SetMessage(prompt) => {
                model.composer.editor.set(&prompt);
                model.panes.focus = Focus::Message;
            }
            Request::HoldQueue => model.composer.queue.pause(),
            Request::ShowServers => navigation::show_servers(model),
            Request::HideServers => navigation::hide_servers(model),
        }
    }
}

/// Applies the picked row.
fn pick(model: &mut Model, picked: Picked, effects: &mut Vec<Effect>) {
    let command = match picked {
        Picked::Model(chosen) => {
            model.notify(Notice::info(format!("Using {}.", chosen.name)));
            Command::SelectModel(chosen)
        }
        Picked::Server(server) => {
            return model.with_servers(|sidebar, cx| servers::toggle(sidebar, &server, cx));
        }
        Picked::Call(call) => return calls::cancel_one(model, call, effects),
        Picked::Persona(name) => Command::SelectPersona(name),
        Picked::Mode(mode) => Command::SetToolMode(mode),
        Picked::Think(think) => return model.cx(|cx| select::set_think(think, cx)),
        Picked::Branch(branch) => Command::SwitchBranch(branch),
    };
    effects.push(Effect::Send(command));
}
