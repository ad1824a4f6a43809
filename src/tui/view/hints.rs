//! The hint line: a notice, or the keys that are useful now.

use crate::domain::{ServerStatus, Severity, ToolCall, ToolState};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::advice;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, key_label, layers};
use crate::tui::layer::Layer;
use crate::tui::layout;
use crate::tui::layout::ScreenLayout;
use crate::tui::models::view::pull_words;
use crate::tui::panes::Focus;
use crate::tui::servers::state::ServersPaneRow;
use crate::tui::ui_model::UiModel;
use crate::tui::update::calls;
use crate::tui::view::notice_area::{fits_hint_line, stop_hint};
use crate::tui::widgets::editor::Edit;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

pub fn draw(model: &UiModel, panes: &ScreenLayout, pen: &mut Painter) {
    let Some(area) = panes.hints else { return };
    let x = area.x + 1.min(area.width);
    let room = area.width.saturating_sub(2);
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
    let (near, mut far) = hints(model);
    if let Some(pull) = &model.engine.pull
        && !model.is_layer_open(Action::Models)
    {
        let words = pull_words(pull, pen, area.width >= 120);
        far = vec![Clean::single_line(&words).as_str().to_owned()];
    }
    let between = format!(" {} ", pen.glyphs.dot);
    let join = |hints: &[String]| hints.join(&between);
    let right = join(&far);
    let mut left = near;
    // A running pull stays visible if possible; without one, key hints come first.
    let kept = match &model.engine.pull {
        Some(_) => width(&right) + 3,
        None => 0,
    };
    // The least important hint is last and is dropped first.
    while left.len() > 1 && width(&join(&left)) + kept > usize::from(room) {
        left.pop();
    }
    let left = join(&left);
    let used = pen.put_truncated(x, area.y, &left, pen.theme.dim, room);
    if usize::from(used) + 3 + width(&right) <= usize::from(room) {
        pen.put_right(
            area.right().saturating_sub(1),
            area.y,
            &right,
            pen.theme.dim,
        );
    }
}

/// Draws a notice on the left; on the right, the hint that it must not hide and any others
/// that fit.
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
    let between = format!(" {} ", pen.glyphs.dot);
    let right = stop_hint(model).unwrap_or_else(|| hints(model).1.join(&between));
    if usize::from(columns) + width(&right) + 7 <= usize::from(area.width) {
        pen.put_right(area.right() - 1, area.y, &right, pen.theme.dim);
    }
}

fn to_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// At most five hints: contextual ones, and those that always apply.
fn hints(model: &UiModel) -> (Vec<String>, Vec<String>) {
    let hint = |action, word: &str| format!("{} {word}", key_label(action));
    let always = vec![
        hint(Action::Commands, "commands"),
        hint(Action::Help, "help"),
    ];
    if let Some(ask) = model.visible_dialog() {
        let effect = match model.running_turn() {
            Some(_) => "stop the turn",
            None => "dismiss",
        };
        let stop = ask.accepts_keys.then(|| hint(Action::Interrupt, effect));
        return (model.dialogs.hints(model.shared()), Vec::from_iter(stop));
    }
    let back = if model.panes.over_chat.is_some() {
        "Esc back"
    } else {
        "Esc message"
    };
    let contextual = match (&model.layer, model.panes.focus) {
        (Some(layer), _) => layer.hints(model.shared()),
        (None, Focus::Thinking) if model.panes.over_chat.is_some() => {
            to_strings(&["PgUp/PgDn scroll", back])
        }
        (None, Focus::Chat) if calls::selected_call(model).is_some() => call_hints(model, back),
        (None, Focus::Chat | Focus::Thinking) => {
            to_strings(&["Up/Down select", "Enter unfold", back])
        }
        (None, Focus::Servers) => server_hints(model, back),
        (None, Focus::Message) if model.completions().is_some() => completion_hints(),
        (None, Focus::Message) => return (message_hints(model), always),
    };
    (contextual, Vec::new())
}

fn completion_hints() -> Vec<String> {
    let hint = |key, word| layers::hint(KeyContext::Completions, key, word);
    vec![
        hint(LayerKey::Complete, "complete"),
        hint(LayerKey::Confirm, "run"),
        hint(LayerKey::Back, "close"),
    ]
}

fn call_hints(model: &UiModel, back: &str) -> Vec<String> {
    let runs = |call: &ToolCall| matches!(call.state, ToolState::Running { .. });
    let first = if calls::selected_call(model).is_some_and(runs) {
        "c cancel this call"
    } else {
        "Enter unfold"
    };
    to_strings(&[first, back, "o full text", "Up/Down select"])
}

/// Hints for the selected row of the servers pane.
fn server_hints(model: &UiModel, back: &str) -> Vec<String> {
    let sidebar = &model.servers_pane;
    let Some(server) = sidebar.selected_server() else {
        return to_strings(&[back]);
    };
    if matches!(sidebar.selected_row(), Some(ServersPaneRow::More { .. })) {
        return to_strings(&["Enter read all", back]);
    }
    if let Some((server, tool)) = sidebar.selected_tool() {
        let unfolded = sidebar.is_tool_unfolded(&server.id, &tool.name);
        let enter = if unfolded {
            "Enter fold"
        } else {
            "Enter details"
        };
        let mut hints = to_strings(&[enter, back, "Space on/off"]);
        if server.withheld_tools.contains(&tool.name) {
            hints.insert(0, "w changes".to_owned());
        }
        return hints;
    }
    let enter = if sidebar.is_unfolded(&server.id) {
        "Enter fold"
    } else {
        "Enter tools"
    };
    let mut hints = to_strings(&[enter, back, "Space on/off"]);
    if server.enabled {
        hints.extend(to_strings(&["r retry", "l stderr"]));
    }
    // At most five hints: viewing comes before rarely used actions.
    let is_connected = server.status == ServerStatus::Connected;
    if server.instructions.is_some() && is_connected && hints.len() > 3 {
        hints[3] = "i instructions".to_owned();
    }
    hints
}

fn message_hints(model: &UiModel) -> Vec<String> {
    let hint = |action, word: &str| format!("{} {word}", key_label(action));
    if model.first_run_takes_keys() {
        return to_strings(&[
            "Enter choose",
            "Up/Down",
            "Esc later (/models brings this back)",
        ]);
    }
    if model.interrupt.is_stopping && model.running_turn().is_some() {
        return vec!["Stopping".to_owned()];
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
        if model.conversation.cut {
            hints.push(hint(Action::Continue, "continue the answer"));
        }
        hints.push(hint(Action::Edit(Edit::Newline), "newline"));
    }
    let is_calling = model.chat.running_calls().next().is_some();
    if model.screen.size.0 < layout::SIDEBAR_FROM && !is_calling {
        hints.push(hint(Action::Servers, "servers"));
    }
    hints
}
