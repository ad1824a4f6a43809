//! Actions on calls in the chat: cancel a running one, open or copy a finished one.

use crate::domain::{CallId, Notice, ToolCall};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::chat::entry_rows::call_in_full;
use crate::tui::layer::Picked;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::panes::Focus;
use crate::tui::widgets::picker::Picker;
use crate::tui::widgets::text_viewer::TextViewer;

/// The selected call, if the chat has the focus.
pub fn selected(model: &Model) -> Option<&ToolCall> {
    let has_focus = model.panes.focus == Focus::Chat;
    model.chat.selected_call().filter(|_| has_focus)
}

/// `/cancel`: cancels the selected call, the only running one, or one from a list.
pub fn cancel(model: &mut Model, argument: &str, effects: &mut Vec<Effect>) {
    if argument.is_empty()
        && let Some(call) = selected(model).map(|call| call.id)
    {
        return cancel_one(model, call, effects);
    }
    let rows: Vec<(Picked, String)> = model
        .chat
        .running_calls()
        .map(|call| (Picked::Call(call.id), names_of(call)))
        .collect();
    let by_name = model
        .chat
        .running_calls()
        .find(|call| call.tool == argument);
    match (rows.as_slice(), by_name) {
        ([], _) => model.notify(Notice::info("No call is running.")),
        (_, Some(call)) => {
            let call = call.id;
            cancel_one(model, call, effects);
        }
        ([(Picked::Call(only), _)], None) if argument.is_empty() => {
            let only = *only;
            cancel_one(model, only, effects);
        }
        (_, None) if !argument.is_empty() && argument.parse::<usize>().is_err() => {
            let notice = Notice::warning(format!("No call of `{argument}` is running."));
            model.notify(notice.advise("/cancel lists the running calls."));
        }
        _ => {
            let picker = Picker::new("Running calls", "Cancel none", rows);
            model.cx(|cx| picker.open(argument, cx));
        }
    }
}

/// Cancels one call if it is still running; other calls and the turn continue.
pub fn cancel_one(model: &mut Model, id: CallId, effects: &mut Vec<Effect>) {
    let runs = model.chat.running_calls().any(|call| call.id == id);
    if runs {
        effects.push(Effect::Send(Command::CancelCall(id)));
    } else {
        model.notify(Notice::info("That call is no longer running."));
    }
}

fn names_of(call: &ToolCall) -> String {
    let (tool, server) = (Clean::name(&call.tool), Clean::name(call.server.as_str()));
    format!("{tool}  {server}")
}

/// Opens a viewer with the selected call's full arguments and result.
pub fn open(model: &mut Model) {
    let Some(call) = selected(model) else { return };
    let title = names_of(call);
    let (text, result) = call_in_full(call);
    let viewer = TextViewer::new(title, text).copying_from(result);
    model.cx(|cx| cx.open(viewer));
}

/// Copies the selected call's raw result, or else the last answer. `/copy call` copies the
/// latest result of any call.
pub fn copy(model: &mut Model, argument: &str) {
    let call = match argument {
        "" => selected(model),
        "call" => model.chat.last_result(),
        _ => return model.notify(Notice::warning("Usage: /copy [call]")),
    };
    let text = match call {
        Some(call) => {
            let (text, result) = call_in_full(call);
            Some(text[result..].to_owned())
        }
        None if argument.is_empty() => model.chat.last_answer().map(str::to_owned),
        None => None,
    };
    match text {
        Some(text) => model.cx(|cx| cx.copy(text)),
        None if argument.is_empty() => {
            model.notify(Notice::info("No answer to copy yet."));
        }
        None => model.notify(Notice::info("No result to copy yet.")),
    }
}
