//! Does what commands ask of the screen as a whole: turns, the message and its files, and the parts of
//! the screen.

use crate::commands::{ScreenPart, Wanted};
use crate::domain::Notice;
use crate::domain::attachment::AttachmentSource;
use crate::front_end::conversation_state::BranchRequest;
use crate::tui::composer::state::MessageTarget;
use crate::tui::help::HelpTopic;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{
    actions, attachments, branches, find, interrupt, messages, navigation, submit,
};

pub fn carry_out(model: &mut UiModel, wanted: Wanted, effects: &mut Vec<UiEffect>) {
    match wanted {
        Wanted::Turn(prompt) => submit::submit(model, prompt, effects),
        Wanted::ChatPrompt(text) => submit::submit_bypassing_agents(model, &text, effects),
        Wanted::Summary => submit::compact(model),
        Wanted::EditedPrompt { text, files } => {
            messages::load(model, MessageTarget::LastPrompt, &text, files);
        }
        Wanted::Undo => branches::undo_last_turn(model, effects),
        Wanted::Branch(argument) => {
            branches::list_branches(model, BranchRequest::Any(argument), None, effects);
        }
        Wanted::PrivateMode(is_on) => branches::set_private(model, is_on, effects),
        Wanted::File(AttachmentSource::Clipboard) => attachments::attach_clipboard(model),
        Wanted::File(AttachmentSource::Path(path)) => attachments::attach_file(model, &path),
        Wanted::File(AttachmentSource::Resource { server, uri }) => {
            attachments::attach_resource(model, server, uri);
        }
        Wanted::File(AttachmentSource::Dropped(path)) => attachments::attach_file(model, &path),
        Wanted::Detachment(file) => attachments::detach(model, &file),
        Wanted::Exit => interrupt::quit(model, effects),
        Wanted::Part(part) => switch_part(model, part, effects),
        // The context of a command does these.
        Wanted::Row(_)
        | Wanted::Argument { .. }
        | Wanted::Deletion { .. }
        | Wanted::Copy { .. }
        | Wanted::Export { .. }
        | Wanted::View(_) => {}
    }
}

fn switch_part(model: &mut UiModel, part: ScreenPart, effects: &mut Vec<UiEffect>) {
    match part {
        ScreenPart::Help(word) => actions::show_help(model, HelpTopic::Everything, &word),
        ScreenPart::ChangingKeys => actions::show_help(model, HelpTopic::ChangingKeys, ""),
        ScreenPart::HideServers => navigation::hide_servers(model),
        ScreenPart::Question => answer_servers(model),
        ScreenPart::Find(text) => find::open(model, &text),
        ScreenPart::Sidebar => navigation::toggle_pane(model, Focus::Servers),
        ScreenPart::Thinking => navigation::toggle_pane(model, Focus::Thinking),
        ScreenPart::RawAnswers => toggle_raw_text(model),
        ScreenPart::MouseCapture => toggle_mouse(model, effects),
    }
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
