//! Actions on tool calls in the chat: open a call, attach a resource that it links to.

use crate::commands::{CommandCx, PickRow, Wanted};
use crate::domain::resource_link::links_in;
use crate::domain::{Notice, ToolCall, ToolOutcome, ToolState};
use crate::front_end::call_text::full_call_text;
use crate::text::Clean;
use crate::tui::keymap::Action;
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
            model.with_context(|cx| cx.ask_for(Wanted::resource(server, uri)));
        }
        _ => {
            let rows = links.into_iter().map(|link| {
                let (uri, details) = (Clean::name(&link.uri), Clean::single_line(&link.details));
                let wanted = Wanted::resource(server.clone(), link.uri);
                let item = PickRow::asking(wanted, uri.as_str(), details.as_str());
                PickerRow::from(item)
            });
            let picker = Picker::new("Linked resources", "Attach none", rows);
            model.with_context(|cx| picker.pick_or_open("", cx));
        }
    }
}
