//! Hints while the chat, the thinking pane or the servers pane has the focus.

use crate::domain::{EntryBody, ServerStatus, ToolCall, ToolState};
use crate::front_end::server_text::failure_headline;
use crate::text::markdown::BlockKind;
use crate::tui::chat::entry_rows::is_long_prompt;
use crate::tui::keymap::Action;
use crate::tui::panes::Focus;
use crate::tui::servers::state::ServersPaneRow;
use crate::tui::ui_model::UiModel;
use crate::tui::update::line_selection;

const MOVE: [Action; 2] = [Action::PreviousLine, Action::NextLine];

/// Hints for the focused pane, most important first. Actions without a key have none.
pub fn pane_hints(model: &UiModel) -> Vec<String> {
    let keymap = &model.keymap;
    let covers_chat = model.panes.over_chat.is_some();
    let back = keymap.hint(Action::Back, if covers_chat { "back" } else { "message" });
    let hints = match model.panes.focus {
        Focus::Thinking => {
            let scroll = match covers_chat {
                true => [Action::PageUp, Action::PageDown],
                false => MOVE,
            };
            vec![keymap.pair_hint(scroll, "scroll"), back]
        }
        Focus::Chat => chat_hints(model, back),
        Focus::Servers => server_hints(model, back),
        Focus::Message => Vec::new(),
    };
    hints.into_iter().flatten().collect()
}

/// Hints for the keys that act on the selected stop of the chat, if any.
pub fn selected_stop_hints(model: &UiModel) -> Vec<Option<String>> {
    if model.chat.viewport.stop.is_none() {
        return Vec::new();
    }
    let select = model.keymap.pair_hint(MOVE, "select");
    let mut hints = chat_hints(model, None);
    hints.retain(|hint| *hint != select);
    hints
}

fn chat_hints(model: &UiModel, back: Option<String>) -> Vec<Option<String>> {
    let hint = |action, effect| model.keymap.hint(action, effect);
    if line_selection::is_extending(model) {
        return vec![
            model.keymap.pair_hint(MOVE, "extend"),
            hint(Action::CopySelected, "copy"),
            hint(Action::CopyAsShown, "as shown"),
            hint(Action::Back, "end"),
            model
                .keymap
                .pair_hint([Action::LinesToStart, Action::LinesToEnd], "to the ends"),
        ];
    }
    let select = model.keymap.pair_hint(MOVE, "select");
    let Some(stop) = model.chat.viewport.stop else {
        return vec![select, back, mouse_hint(model)];
    };
    let copied = match model.chat.viewport.block_kind(stop) {
        Some(BlockKind::Code) => Some("copy the code"),
        Some(BlockKind::Table) => Some("copy the table"),
        None => None,
    };
    let lines = hint(Action::SelectLines, "lines");
    if let Some(copied) = copied {
        return vec![hint(Action::CopySelected, copied), back, lines, select];
    }
    let copy = hint(Action::CopySelected, "copy");
    let entry = model.chat.transcript.entries().get(stop.index);
    match entry.map(|entry| &entry.body) {
        Some(EntryBody::Tool(_)) => vec![
            call_hint(model),
            back,
            hint(Action::OpenCall, "full text"),
            copy,
            select,
        ],
        Some(body @ (EntryBody::Prompt { .. } | EntryBody::Text { .. })) => {
            let branches = hint(Action::MessageBranches, "branches");
            let branches = branches.filter(|_| model.conversation.has_branches);
            let edited = match body {
                EntryBody::Prompt { .. } => "edit your message",
                _ => "edit the answer",
            };
            let is_editable = !model.is_busy() && model.chat.transcript.is_editable(stop.index);
            let edit = hint(Action::EditMessage, edited).filter(|_| is_editable);
            let drop = hint(Action::DropStopped, "drop the turn");
            let drop = drop.filter(|_| model.chat.transcript.is_in_stopped_turn(stop.index));
            let is_long = entry.is_some_and(is_long_prompt);
            let fold = fold_hint(model).filter(|_| is_long);
            vec![fold, drop, copy, edit, back, branches, lines, select]
        }
        Some(EntryBody::Thinking { .. }) => vec![fold_hint(model), back, copy, select],
        _ => vec![copy, back, select],
    }
}

fn mouse_hint(model: &UiModel) -> Option<String> {
    if !model.screen.captures_mouse {
        return model.keymap.hint(Action::MOUSE, "mouse");
    }
    Some(match model.keymap.key_name(Action::MOUSE) {
        Some(key) => format!("drag copies ({key}: terminal selection)"),
        None => "drag copies".to_owned(),
    })
}

fn fold_hint(model: &UiModel) -> Option<String> {
    let viewport = &model.chat.viewport;
    let is_unfolded = viewport
        .stop
        .is_some_and(|stop| viewport.is_unfolded(stop.index));
    let effect = if is_unfolded { "fold" } else { "unfold" };
    match model.chat.find.is_some() {
        // Enter goes to the next match.
        true => model.keymap.field_hint(Action::ToggleFold, effect),
        false => model.keymap.hint(Action::ToggleFold, effect),
    }
}

fn call_hint(model: &UiModel) -> Option<String> {
    let is_running = |call: &ToolCall| matches!(call.state, ToolState::Running { .. });
    match model.selected_call().is_some_and(is_running) {
        true => model.keymap.hint(Action::CancelCall, "cancel this call"),
        false => fold_hint(model),
    }
}

fn server_hints(model: &UiModel, back: Option<String>) -> Vec<Option<String>> {
    let hint = |action, effect| model.keymap.hint(action, effect);
    let pane = &model.servers_pane;
    let Some(server) = pane.selected_server() else {
        return vec![back];
    };
    if matches!(pane.selected_row(), Some(ServersPaneRow::More { .. })) {
        return vec![hint(Action::ToggleFold, "read all"), back];
    }
    let toggle = hint(Action::ToggleServer, "on/off");
    if let Some((server, tool)) = pane.selected_tool() {
        let unfold = match pane.is_tool_unfolded(&server.id, &tool.name) {
            true => "fold",
            false => "details",
        };
        let mut hints = vec![hint(Action::ToggleFold, unfold), back, toggle];
        if server.withheld_tools.contains(&tool.name) {
            hints.insert(0, hint(Action::Withheld, "changes"));
        }
        return hints;
    }
    let unfold = match failure_headline(server) {
        _ if pane.is_unfolded(&server.id) => "fold",
        Some(_) => "error",
        None if server.tools.is_empty() => "details",
        None => "tools",
    };
    let mut hints = vec![hint(Action::ToggleFold, unfold), back, toggle];
    if server.enabled {
        // Reading the instructions replaces the rarely used retry: there is no room for both.
        let is_connected = server.status == ServerStatus::Connected;
        hints.push(match server.instructions.is_some() && is_connected {
            true => hint(Action::Instructions, "instructions"),
            false => hint(Action::Reconnect, "retry"),
        });
        hints.push(hint(Action::Stderr, "stderr"));
    }
    hints
}
