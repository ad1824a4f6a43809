//! The hint line: a notice, or the keys that are useful now.

use crate::domain::{EntryBody, ServerStatus, Severity, ToolCall, ToolState};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::markdown::BlockKind;
use crate::tui::advice;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, key_label, layers};
use crate::tui::layer::Layer;
use crate::tui::layout::{SIDEBAR_FROM, ScreenLayout};
use crate::tui::models::view::pull_progress;
use crate::tui::panes::Focus;
use crate::tui::servers::state::{ServersPaneRow, failure_headline};
use crate::tui::ui_model::UiModel;
use crate::tui::update::{calls, selection};
use crate::tui::view::notice_area::{fits_hint_line, stop_hint};
use crate::tui::widgets::editor::Edit;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Minimum width for describing in words how to return to the first-run choice.
const FIRST_RUN_HINTS_FROM: u16 = 64;

pub fn draw(model: &UiModel, layout: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = layout.hints else { return };
    let x = area.x + 1.min(area.width);
    let columns = area.width.saturating_sub(2);
    if let Some(notice) = model.notices.current() {
        let sentence = advice::notice_line(notice);
        if fits_hint_line(&sentence, model, area.width) {
            return draw_notice(
                model,
                notice.severity,
                &Clean::single_line(&sentence),
                area,
                pen,
            );
        }
    }
    let (mut contextual, mut always) = hints(model);
    if layout.rule.is_some() && layer_hints(model).is_some() {
        contextual.clear();
    }
    if let Some(pull) = &model.engine.pull
        && !model.is_layer_open(Action::Models)
    {
        let progress = pull_progress(pull, pen, area.width >= 120);
        always = vec![Clean::single_line(&progress).as_str().to_owned()];
    }
    let separator = format!(" {} ", pen.glyphs.dot);
    let right = always.join(&separator);
    // Reserve columns for a running pull. Without one, the hints on the left come first.
    let reserved = match &model.engine.pull {
        Some(_) => width(&right) + 3,
        None => 0,
    };
    let left = fitting_hints(
        contextual,
        usize::from(columns).saturating_sub(reserved),
        pen,
    );
    let used = pen.put_truncated(x, area.y, &left, pen.theme.dim, columns);
    if usize::from(used) + 3 + width(&right) <= usize::from(columns) {
        pen.put_right(
            area.right().saturating_sub(1),
            area.y,
            &right,
            pen.theme.dim,
        );
    }
}

/// Draws a notice on the left. On the right, draws the hint that no notice may hide, or else
/// the hints that always apply, if they fit.
fn draw_notice(model: &UiModel, severity: Severity, text: &Clean, area: Rect, pen: &mut Painter) {
    let columns = width(text.as_str()) as u16;
    let plain = pen.theme.plain;
    if columns + 4 > area.width {
        pen.put_truncated(area.x, area.y, text.as_str(), plain, area.width);
        return;
    }
    let (mark, style) = match severity {
        Severity::Failure => (pen.glyphs.failed, pen.theme.failure),
        Severity::Warning => ("!", pen.theme.attention),
        Severity::Info => (pen.glyphs.dot, pen.theme.accent),
    };
    pen.put(area.x + 1, area.y, mark, style, 1);
    pen.put(area.x + 3, area.y, text.as_str(), plain, columns);
    let separator = format!(" {} ", pen.glyphs.dot);
    let right = stop_hint(model).unwrap_or_else(|| hints(model).1.join(&separator));
    if usize::from(columns) + width(&right) + 7 <= usize::from(area.width) {
        pen.put_right(area.right() - 1, area.y, &right, pen.theme.dim);
    }
}

/// Joins the hints that fit. The least important one is last and is dropped first.
fn fitting_hints(mut hints: Vec<String>, columns: usize, pen: &Painter) -> String {
    let between = format!(" {} ", pen.glyphs.dot);
    while hints.len() > 1 && width(&hints.join(&between)) > columns {
        hints.pop();
    }
    hints.join(&between)
}

/// The keys of the open layer or completion list, which the rule below it names.
pub fn layer_keys(model: &UiModel, columns: usize, pen: &Painter) -> Option<String> {
    let mut hints = layer_hints(model)?;
    // The hint that closes the layer is last. It is never dropped.
    let between = width(pen.glyphs.dot) + 2;
    let is_too_wide = |hints: &[String]| {
        let words: usize = hints.iter().map(|hint| width(hint) + between).sum();
        words > columns + between
    };
    while hints.len() > 2 && is_too_wide(&hints) {
        hints.remove(hints.len() - 2);
    }
    Some(fitting_hints(hints, columns, pen))
}

fn layer_hints(model: &UiModel) -> Option<Vec<String>> {
    if model.visible_dialog().is_some() {
        return None;
    }
    match &model.layer {
        Some(layer) => Some(layer.hints(model.shared())),
        None => model
            .completions()
            .map(|list| completion_hints(list.confirm_hint)),
    }
}

fn to_strings(hints: &[&str]) -> Vec<String> {
    hints.iter().map(|hint| (*hint).to_owned()).collect()
}

/// At most five contextual hints, and the hints that always apply.
fn hints(model: &UiModel) -> (Vec<String>, Vec<String>) {
    let hint = |action, word: &str| format!("{} {word}", key_label(action));
    let always = vec![
        hint(Action::Commands, "commands"),
        hint(Action::Help, "help"),
    ];
    if let Some(dialog) = model.visible_dialog() {
        let effect = match model.running_turn() {
            Some(_) => "stop the turn",
            None => "dismiss",
        };
        let stop = dialog.accepts_keys.then(|| hint(Action::Interrupt, effect));
        return (model.dialogs.hints(model.shared()), Vec::from_iter(stop));
    }
    let back = if model.panes.over_chat.is_some() {
        "Esc back"
    } else {
        "Esc message"
    };
    if let Some(hints) = layer_hints(model) {
        return (hints, Vec::new());
    }
    if let Some(find) = &model.chat.find
        && (find.is_typing || model.panes.focus == Focus::Chat)
    {
        return (find_hints(find.is_typing), Vec::new());
    }
    let contextual = match model.panes.focus {
        Focus::Thinking if model.panes.over_chat.is_some() => {
            to_strings(&["PgUp/PgDn scroll", back])
        }
        Focus::Chat => chat_hints(model, back),
        Focus::Thinking => to_strings(&["Up/Down scroll", back]),
        Focus::Servers => server_hints(model, back),
        Focus::Message => return (message_hints(model), always),
    };
    (contextual, Vec::new())
}

fn completion_hints(confirm_hint: &str) -> Vec<String> {
    let hint = |key, word| layers::hint(KeyContext::Completions, key, word);
    vec![
        hint(LayerKey::Complete, "complete"),
        hint(LayerKey::Confirm, confirm_hint),
        hint(LayerKey::Back, "close"),
    ]
}

/// What Enter does with the selected line of the chat.
fn fold_hint(model: &UiModel) -> &'static str {
    let viewport = &model.chat.viewport;
    match viewport
        .stop
        .is_some_and(|stop| viewport.is_unfolded(stop.index))
    {
        true => "Enter fold",
        false => "Enter unfold",
    }
}

fn find_hints(is_typing: bool) -> Vec<String> {
    if !is_typing {
        let change = format!("{} change the text", key_label(Action::Find));
        let mut hints = to_strings(&["n next", "Shift+N previous", "Esc back"]);
        hints.push(change);
        return hints;
    }
    let hint = |key, word| layers::hint(KeyContext::Find, key, word);
    vec![
        hint(LayerKey::Confirm, "next (then n and N)"),
        hint(LayerKey::Up, "previous"),
        hint(LayerKey::Down, "next"),
        hint(LayerKey::Back, "back"),
    ]
}

/// Hints for what is selected in the chat.
fn chat_hints(model: &UiModel, back: &str) -> Vec<String> {
    if selection::is_extending(model) {
        return to_strings(&["Up/Down extend", "y copy", "Shift+Y as shown", "Esc end"]);
    }
    let Some(stop) = model.chat.viewport.stop else {
        let mouse = match model.screen.captures_mouse {
            true => "drag copies (Alt+M: by the terminal)",
            false => "Alt+M mouse",
        };
        return to_strings(&["Up/Down select", back, mouse]);
    };
    match model.chat.viewport.block_kind(stop) {
        Some(BlockKind::Code) => {
            return to_strings(&["y copy the code", back, "v lines", "Up/Down select"]);
        }
        Some(BlockKind::Table) => {
            return to_strings(&["y copy the table", back, "v lines", "Up/Down select"]);
        }
        None => {}
    }
    let entry = model.chat.transcript.entries().get(stop.index);
    match entry.map(|entry| &entry.body) {
        Some(EntryBody::Tool(_)) => call_hints(model, back),
        Some(EntryBody::Prompt { .. } | EntryBody::Text { .. }) => to_strings(&[
            "y copy",
            "e edit",
            back,
            "b versions",
            "v lines",
            "Up/Down select",
        ]),
        Some(EntryBody::Thinking { .. }) => {
            to_strings(&[fold_hint(model), back, "y copy", "Up/Down select"])
        }
        _ => to_strings(&["y copy", back, "Up/Down select"]),
    }
}

fn call_hints(model: &UiModel, back: &str) -> Vec<String> {
    let is_running = |call: &ToolCall| matches!(call.state, ToolState::Running { .. });
    let first = if calls::selected_call(model).is_some_and(is_running) {
        "c cancel this call"
    } else {
        fold_hint(model)
    };
    to_strings(&[first, back, "o full text", "y copy", "Up/Down select"])
}

/// Hints for the selected row of the servers pane.
fn server_hints(model: &UiModel, back: &str) -> Vec<String> {
    let pane = &model.servers_pane;
    let Some(server) = pane.selected_server() else {
        return to_strings(&[back]);
    };
    if matches!(pane.selected_row(), Some(ServersPaneRow::More { .. })) {
        return to_strings(&["Enter read all", back]);
    }
    if let Some((server, tool)) = pane.selected_tool() {
        let is_unfolded = pane.is_tool_unfolded(&server.id, &tool.name);
        let enter_hint = if is_unfolded {
            "Enter fold"
        } else {
            "Enter details"
        };
        let mut hints = to_strings(&[enter_hint, back, "Space on/off"]);
        if server.withheld_tools.contains(&tool.name) {
            hints.insert(0, "w changes".to_owned());
        }
        return hints;
    }
    let enter_hint = match failure_headline(server) {
        _ if pane.is_unfolded(&server.id) => "Enter fold",
        Some(_) => "Enter error",
        None if server.tools.is_empty() => "Enter details",
        None => "Enter tools",
    };
    let mut hints = to_strings(&[enter_hint, back, "Space on/off"]);
    if server.enabled {
        hints.extend(to_strings(&["r retry", "l stderr"]));
    }
    // Reading the instructions replaces the rarely used retry: there is no room for both.
    let is_connected = server.status == ServerStatus::Connected;
    if server.instructions.is_some() && is_connected && hints.len() > 3 {
        hints[3] = "i instructions".to_owned();
    }
    hints
}

/// Hints while a queued prompt is selected or edited.
fn queue_hints(model: &UiModel) -> Option<Vec<String>> {
    let hint = |key, word| layers::hint(KeyContext::Queue, key, word);
    let queue = &model.composer.queue;
    if queue.selected().is_some() {
        return Some(vec![
            hint(LayerKey::Confirm, "edit"),
            hint(LayerKey::Delete, "delete"),
            hint(LayerKey::MoveUp, "move"),
            hint(LayerKey::Back, "message"),
        ]);
    }
    queue.edited().map(|_| {
        vec![
            hint(LayerKey::Confirm, "back to the queue"),
            hint(LayerKey::Back, "discard edit"),
        ]
    })
}

fn message_hints(model: &UiModel) -> Vec<String> {
    let hint = |action, word: &str| format!("{} {word}", key_label(action));
    if model.first_run_takes_keys() {
        let later = match model.screen.size.0 {
            FIRST_RUN_HINTS_FROM.. => "Esc later (/models brings this back)",
            _ => "Esc later (/models)",
        };
        return to_strings(&["Enter choose", "Up/Down", later]);
    }
    if model.interrupt.is_stopping && model.running_turn().is_some() {
        return vec!["Stopping".to_owned()];
    }
    if let Some(hints) = queue_hints(model) {
        return hints;
    }
    if model.composer.editor.has_selection() {
        return vec![
            hint(Action::Edit(Edit::Copy), "copy"),
            hint(Action::Edit(Edit::Cut), "cut"),
            hint(Action::Edit(Edit::Backspace), "delete"),
        ];
    }
    let mut hints = Vec::new();
    if model.running_turn().is_some() || model.active_probe().is_some() {
        hints.push(hint(Action::Interrupt, "stop"));
        hints.push(hint(Action::Send, "queue"));
        if model.chat.running_calls().next().is_some() {
            hints.push("/cancel one call".to_owned());
        }
    } else if model.composer.text_before_edit().is_some() {
        hints.push(hint(Action::Send, "resend"));
        hints.push(hint(Action::Back, "discard edit"));
    } else if model.composer.queue.paused && model.composer.editor.is_blank() {
        hints.push(hint(Action::Send, "resume the queue"));
    } else {
        hints.push(hint(Action::Send, "send"));
        if model.conversation.is_last_answer_truncated {
            hints.push(hint(Action::Continue, "continue the answer"));
        }
        hints.push(hint(Action::Edit(Edit::Newline), "newline"));
    }
    if model.composer.editor.has_chip() {
        hints.insert(1, hint(Action::Edit(Edit::Unfold), "unfold the paste"));
    }
    if !model.attachments.is_empty() {
        hints.push(hint(Action::Detach, "remove file"));
    }
    let is_calling = model.chat.running_calls().next().is_some();
    if model.screen.size.0 < SIDEBAR_FROM && !is_calling {
        hints.push(hint(Action::Servers, "servers"));
    }
    hints
}
