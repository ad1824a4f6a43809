//! Actions on tool calls in the chat: open a call, copy its result, attach a resource that it links to.

use crate::domain::resource_link::links_in;
use crate::domain::{Notice, ToolCall, ToolOutcome, ToolState};
use crate::text::Clean;
use crate::tui::chat::call_text::{copied_section, full_call_text};
use crate::tui::keymap::Action;
use crate::tui::layer::{PickedItem, UiRequest};
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::picker::{Picker, PickerRow};
use crate::tui::widgets::text_viewer::TextViewer;

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
    let Some(call) = model.selected_call() else {
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
    let Some(call) = model.selected_call() else {
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
        "" => model.selected_call(),
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
