//! Carries out the requests of features: commands to the engine, notices, new layers.

use crate::commands::{conversation, screen};
use crate::domain::Notice;
use crate::domain::attachment::{ATTACHMENTS_MAX, ReadAttachment};
use crate::protocol::Command;
use crate::tui::keymap::Action;
use crate::tui::layer::{PickedItem, UiRequest};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{actions, composer, messages, themes, unsent, wanted};

/// Carries out all requests in order.
pub fn run_requests(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    while let Some(request) = model.requests.pop_front() {
        match request {
            UiRequest::Send(command) => {
                // Prompts for this conversation must not go to another one.
                if matches!(command, Command::NewSession | Command::OpenSession(_)) {
                    model.composer.queue.pause();
                }
                effects.push(UiEffect::Send(command));
            }
            UiRequest::Notify(notice) => model.notify(notice),
            UiRequest::NotifyAboutKey(notice) => model.notify_about_key(notice),
            UiRequest::NotifyAboutActivity(notice) => {
                model.notices.show_about_activity(notice, model.now);
            }
            UiRequest::NotifyAboutMessage(notice) => {
                model.notices.show_about_message(notice, model.now);
            }
            UiRequest::Copy(request) => effects.push(UiEffect::Copy(request)),
            UiRequest::EditExternally(text) => effects.push(UiEffect::OpenEditor(text)),
            UiRequest::OpenBrowser(address) => effects.push(UiEffect::OpenBrowser(address)),
            UiRequest::StartDemo => effects.push(UiEffect::StartDemo),
            UiRequest::Open(layer) => model.open_layer(layer),
            UiRequest::CloseLayer => model.close_layer(),
            UiRequest::RunAction(action) => run_global_action(model, action, effects),
            // The first row of the palette at the next start must not be the one that quits.
            UiRequest::RememberCommand(name) if name == screen::EXIT.binding => {}
            UiRequest::RememberCommand(name) => {
                model.recent_commands.remember(name.clone());
                effects.push(UiEffect::Send(Command::RememberCommand(name)));
            }
            UiRequest::RunCommand(row, argument) => {
                actions::run_command(model, row, &argument, effects);
            }
            UiRequest::CarryOut(wanted) => wanted::carry_out(model, wanted, effects),
            UiRequest::TypeCommand(command) => {
                unsent::clear_to_history(model);
                let argument = argument_to_edit(model, command);
                model.composer.editor.set(&format!("{command} {argument}"));
                model.panes.focus = Focus::Message;
            }
            UiRequest::RecordUndrawnRows(call, rows) => model.chat.record_undrawn_rows(call, rows),
            UiRequest::Pick(picked) => apply_pick(model, picked, effects),
            UiRequest::AwaitServer(server) => {
                model.servers_pane.awaited_outcomes.insert(server);
            }
            UiRequest::SubmitPrompt(text) => composer::submit_prompt(model, text, effects),
            UiRequest::SetMessage(prompt) => {
                model.composer.replace_message(&prompt);
                model.panes.focus = Focus::Message;
            }
            UiRequest::RecallPrompt(prompt) => {
                model.composer.recall_message(&prompt);
                model.panes.focus = Focus::Message;
            }
            UiRequest::FindWhenOpened(session, text) => {
                model.conversation.find_when_opened = Some((session, text));
            }
            UiRequest::TakeServerPrompt {
                text,
                files,
                is_sent,
            } => take_server_prompt(model, text, files, is_sent, effects),
        }
    }
}

/// Runs an action as if the message had the focus, which only the action may change.
fn run_global_action(model: &mut UiModel, action: Action, effects: &mut Vec<UiEffect>) {
    let focus = std::mem::replace(&mut model.panes.focus, Focus::Message);
    actions::run_action(model, action, effects);
    run_requests(model, effects);
    if model.layer.is_none() && model.panes.focus == Focus::Message {
        model.panes.focus = focus;
    }
}

/// Sends a server prompt, or adds it to the message. While a file of the message is still being
/// read, always adds it. Files of the message stay attached. With too many files, only shows a
/// notice.
fn take_server_prompt(
    model: &mut UiModel,
    text: String,
    files: Vec<ReadAttachment>,
    is_sent: bool,
    effects: &mut Vec<UiEffect>,
) {
    model.panes.focus = Focus::Message;
    if !model.attachments.add_read(files) {
        let text = format!("At most {ATTACHMENTS_MAX} files can be attached.");
        return model.notify(Notice::warning(text));
    }
    if is_sent && model.attachments.unread_name().is_none() {
        return composer::submit_prompt(model, text, effects);
    }
    model.composer.forget_replaced_message();
    model.composer.editor.insert(&text);
}

/// The text to put after a command in the message: for `/rename`, the current title, which the user
/// can change; for other commands, none.
fn argument_to_edit(model: &UiModel, command: &str) -> String {
    match command == conversation::RENAME.name {
        true => model.conversation.title.clone(),
        false => String::new(),
    }
}

fn apply_pick(model: &mut UiModel, picked: PickedItem, effects: &mut Vec<UiEffect>) {
    let command = match picked {
        PickedItem::Row(row) => return model.with_context(|cx| row.pick(cx)),
        PickedItem::Theme(choice) => return themes::choose(model, choice, effects),
        PickedItem::Branch(branch) => {
            messages::keep_selected(model);
            Command::SwitchBranch(branch)
        }
    };
    effects.push(UiEffect::Send(command));
}
