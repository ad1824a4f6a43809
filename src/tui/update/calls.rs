//! Actions on tool calls in the chat: cancel or leave a running call, open a call, copy its result,
//! attach a resource that it links to.

use crate::domain::resource_link::links_in;
use crate::domain::{CallId, Notice, ToolCall, ToolOutcome, ToolState};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::chat::call_text::{copied_section, full_call_text};
use crate::tui::keymap::Action;
use crate::tui::layer::{PickedItem, UiRequest};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::picker::{Picker, PickerRow};
use crate::tui::widgets::text_viewer::TextViewer;

/// The selected call, if the chat has the focus.
pub fn selected_call(model: &UiModel) -> Option<&ToolCall> {
    let has_focus = model.panes.focus == Focus::Chat;
    model.chat.selected_call().filter(|_| has_focus)
}

/// A command about one running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCommand {
    Cancel,
    /// `/leave`: stops waiting for a call that its server runs as a task.
    Leave,
}

impl CallCommand {
    fn applies_to(self, call: &ToolCall) -> bool {
        self == Self::Cancel || call.task.is_some()
    }

    fn for_engine(self, call: CallId) -> Command {
        match self {
            Self::Cancel => Command::CancelCall(call),
            Self::Leave => Command::LeaveCall(call),
        }
    }

    fn nothing_to_do(self) -> Notice {
        match self {
            Self::Cancel => Notice::info("No call is running."),
            Self::Leave => Notice::info("No call runs as a task on its server.")
                .with_advice("Only a call that runs as a task can be left running."),
        }
    }
}

/// `/cancel` and `/leave`, with a tool or a number: acts on the call that the argument names. Without
/// an argument, acts on the selected call or the only one, or opens a list of the calls.
pub fn run(model: &mut UiModel, action: Action, argument: &str, effects: &mut Vec<UiEffect>) {
    let command = match action {
        Action::LeaveCall => CallCommand::Leave,
        _ => CallCommand::Cancel,
    };
    if argument.is_empty()
        && let Some(call) = selected_call(model).map(|call| call.id)
    {
        return act_if_running(model, call, command, effects);
    }
    let running = model.shared().running_calls();
    let running: Vec<&ToolCall> = running.filter(|call| command.applies_to(call)).collect();
    let by_name = running.iter().find(|call| call.tool == argument);
    match (running.as_slice(), by_name) {
        ([], _) => model.notify(command.nothing_to_do()),
        (_, Some(call)) => {
            let call = call.id;
            act_if_running(model, call, command, effects);
        }
        ([only_call], None) if argument.is_empty() => {
            let only_call = only_call.id;
            act_if_running(model, only_call, command, effects);
        }
        (_, None) if !argument.is_empty() && argument.parse::<usize>().is_err() => {
            let notice = Notice::warning(format!("No call to `{argument}` is running."));
            let advice = match command {
                CallCommand::Cancel => "/cancel lists the running calls.",
                CallCommand::Leave => "/leave lists the calls that can be left.",
            };
            model.notify(notice.with_advice(advice));
        }
        _ => {
            let rows = running.into_iter().map(|call| {
                let (tool, server) = (&call.tool, call.server.as_str());
                let item = match command {
                    CallCommand::Cancel => PickedItem::Call(call.id),
                    CallCommand::Leave => PickedItem::LeftCall(call.id),
                };
                let (tool, server) = (Clean::name(tool), Clean::name(server));
                PickerRow::new(item, tool.as_str(), server.as_str())
            });
            let (title, none) = match command {
                CallCommand::Cancel => ("Running calls", "Cancel none"),
                CallCommand::Leave => ("Running tasks", "Leave none"),
            };
            let picker = Picker::new(title, none, rows);
            model.with_context(|cx| picker.pick_or_open(argument, cx));
        }
    }
}

/// Cancels or leaves one call if it is still running. The other calls and the turn continue.
pub fn act_if_running(
    model: &mut UiModel,
    id: CallId,
    command: CallCommand,
    effects: &mut Vec<UiEffect>,
) {
    let mut running = model.chat.running_calls();
    let applies = running
        .find(|call| call.id == id)
        .map(|call| command.applies_to(call));
    drop(running);
    match applies {
        Some(true) => effects.push(UiEffect::Send(command.for_engine(id))),
        Some(false) => model.notify(Notice::info(
            "The server does not run this call as a task, so it cannot be left running.",
        )),
        None => model.notify(Notice::info("That call is no longer running.")),
    }
}

fn call_label(call: &ToolCall) -> String {
    let (tool, server) = (Clean::name(&call.tool), Clean::name(call.server.as_str()));
    format!("{tool}  {server}")
}

pub fn use_selected_call(model: &mut UiModel, action: Action) {
    match action {
        Action::AttachLink => attach_linked_resource(model),
        _ => open_selected_call(model),
    }
}

/// Opens a viewer with the selected call's full arguments and result.
fn open_selected_call(model: &mut UiModel) {
    let Some(call) = selected_call(model) else {
        return;
    };
    let title = call_label(call);
    let (text, result_start) = full_call_text(call);
    let viewer = TextViewer::new(title, text).copying_from(result_start);
    model.with_context(|cx| cx.open(viewer));
}

/// Attaches a resource that the result of the selected call links to; with several, a list asks
/// which one.
fn attach_linked_resource(model: &mut UiModel) {
    let Some(call) = selected_call(model) else {
        return;
    };
    let text = match &call.state {
        ToolState::Done(ToolOutcome::Succeeded { text, .. }) => text.as_str(),
        _ => "",
    };
    let server = call.server.clone();
    let links = links_in(text);
    match links.as_slice() {
        [] => model.notify(Notice::info("This result has no link to a resource.")),
        [only] => {
            let (server, uri) = (server, only.uri.clone());
            model.with_context(|cx| cx.request(UiRequest::AttachResource { server, uri }));
        }
        _ => {
            let rows = links.into_iter().map(|link| {
                let (uri, details) = (Clean::name(&link.uri), Clean::single_line(&link.details));
                let item = PickedItem::Resource {
                    server: server.clone(),
                    uri: link.uri,
                };
                PickerRow::new(item, uri.as_str(), details.as_str())
            });
            let picker = Picker::new("Linked resources", "Attach none", rows);
            model.with_context(|cx| picker.pick_or_open("", cx));
        }
    }
}

/// `/copy`: copies the selected call's result, or the last answer if no call is selected.
/// `/copy call` copies the result of the latest call that ran.
pub fn copy_answer_or_result(model: &mut UiModel, argument: &str) {
    let call = match argument {
        "" => selected_call(model),
        "call" => model.chat.last_run_call(),
        _ => return model.notify(Notice::warning("Usage: /copy [call]")),
    };
    let copied = match call {
        Some(call) => {
            let (heading, text) = copied_section(call);
            let name = format!("the {heading} of {}", Clean::name(&call.tool));
            Some((name, text.into_owned()))
        }
        None if argument.is_empty() => {
            let answer = model.chat.last_answer();
            answer.map(|answer| ("the last answer".to_owned(), answer.to_owned()))
        }
        None => None,
    };
    match copied {
        Some((name, text)) => model.with_context(|cx| cx.copy(&name, text)),
        None if argument.is_empty() => {
            model.notify(Notice::info("No answer to copy yet."));
        }
        None => model.notify(Notice::info("No result to copy yet.")),
    }
}
