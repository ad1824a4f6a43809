//! Calls in the chat: one that runs is cancelled alone, one that ended is read whole
//! or copied.

use crate::domain::{CallId, Notice, ToolCall};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::chat::entry_rows::full_call_text;
use crate::tui::layer::PickedItem;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::widgets::picker::Picker;
use crate::tui::widgets::text_viewer::TextViewer;

/// The call whose line is selected in the chat, while the chat has the focus.
pub fn selected_call(model: &UiModel) -> Option<&ToolCall> {
    let has_focus = model.panes.focus == Focus::Chat;
    model.chat.selected_call().filter(|_| has_focus)
}

/// `/cancel`: the selected call, the only one, or one of a list.
pub fn cancel_command(model: &mut UiModel, argument: &str, effects: &mut Vec<UiEffect>) {
    if argument.is_empty()
        && let Some(call) = selected_call(model).map(|call| call.id)
    {
        return cancel_if_running(model, call, effects);
    }
    let rows: Vec<(PickedItem, String)> = model
        .chat
        .running_calls()
        .map(|call| (PickedItem::Call(call.id), call_label(call)))
        .collect();
    let by_name = model
        .chat
        .running_calls()
        .find(|call| call.tool == argument);
    match (rows.as_slice(), by_name) {
        ([], _) => model.notify(Notice::info("No call is running.")),
        (_, Some(call)) => {
            let call = call.id;
            cancel_if_running(model, call, effects);
        }
        ([(PickedItem::Call(only), _)], None) if argument.is_empty() => {
            let only = *only;
            cancel_if_running(model, only, effects);
        }
        (_, None) if !argument.is_empty() && argument.parse::<usize>().is_err() => {
            let notice = Notice::warning(format!("No call of `{argument}` is running."));
            model.notify(notice.with_advice("/cancel lists those that are."));
        }
        _ => {
            let picker = Picker::new("Running calls", "Let all of them go on", rows);
            model.with_context(|cx| picker.pick_or_open(argument, cx));
        }
    }
}

/// Cancels this call if it still runs; the others and the turn go on.
pub fn cancel_if_running(model: &mut UiModel, id: CallId, effects: &mut Vec<UiEffect>) {
    let runs = model.chat.running_calls().any(|call| call.id == id);
    if runs {
        effects.push(UiEffect::Send(Command::CancelCall(id)));
    } else {
        model.notify(Notice::info("That call does not run any more."));
    }
}

fn call_label(call: &ToolCall) -> String {
    let (tool, server) = (Clean::name(&call.tool), Clean::name(call.server.as_str()));
    format!("{tool}  {server}")
}

/// The selected call, with all of its arguments and its result.
pub fn open_selected_call(model: &mut UiModel) {
    let Some(call) = selected_call(model) else {
        return;
    };
    let title = call_label(call);
    let (text, result) = full_call_text(call);
    let viewer = TextViewer::new(title, text).copying_from(result);
    model.with_context(|cx| cx.open(viewer));
}

/// The selected call's result, raw; else the last answer. `/copy call` is the result
/// of the last call that has one.
pub fn copy_answer_or_result(model: &mut UiModel, argument: &str) {
    let call = match argument {
        "" => selected_call(model),
        "call" => model.chat.last_result(),
        _ => return model.notify(Notice::warning("It is `/copy` or `/copy call`.")),
    };
    let text = match call {
        Some(call) => {
            let (text, result) = full_call_text(call);
            Some(text[result..].to_owned())
        }
        None if argument.is_empty() => model.chat.last_answer().map(str::to_owned),
        None => None,
    };
    match text {
        Some(text) => model.with_context(|cx| cx.copy(text)),
        None if argument.is_empty() => {
            model.notify(Notice::info("There is no answer to copy yet."));
        }
        None => model.notify(Notice::info("There is no result to copy yet.")),
    }
}
