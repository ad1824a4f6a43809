//! Pane focus, scrolling, line selection and the mouse.

use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::viewport::Viewport;
use crate::tui::keymap::Action;
use crate::tui::layer::Layer;
use crate::tui::layout::{ScreenLayout, fits_sidebar};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::servers::commands as servers;
use crate::tui::ui_model::UiModel;
use crate::tui::update::probe;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

/// Rows per wheel step.
const WHEEL_ROWS: isize = 3;

pub fn run_action(model: &mut UiModel, action: Action, effects: &mut Vec<UiEffect>) {
    match action {
        Action::Back if stop_probe_at_rest(model, effects) => {}
        Action::Back => back(model),
        Action::NextPane => step_focus(model, 1),
        Action::PreviousPane => step_focus(model, -1),
        Action::Servers => show_or_hide(model, Focus::Servers),
        Action::Thinking => show_or_hide(model, Focus::Thinking),
        Action::PageUp => page(model, -1),
        Action::PageDown => page(model, 1),
        Action::ScrollToStart | Action::ScrollToEnd if model.panes.focus == Focus::Servers => {
            let far = model.servers_pane.rows().len() as isize;
            model.servers_pane.scroll(if action == Action::ScrollToEnd {
                far
            } else {
                -far
            });
        }
        Action::ScrollToStart => with_viewport(model, |flow, source, height| {
            flow.scroll_to_start(source, height)
        }),
        Action::ScrollToEnd => with_viewport(model, |flow, _, _| flow.follows_end = true),
        Action::PreviousLine => step_line(model, -1),
        Action::NextLine => step_line(model, 1),
        Action::Unfold => toggle_selected_fold(model),
        Action::FoldServer => model.servers_pane.fold_selected_server(),
        Action::UnfoldRow => model.servers_pane.unfold_selected(),
        _ => {}
    }
}

/// Esc stops a probe once there is nothing left to close.
fn stop_probe_at_rest(model: &mut UiModel, effects: &mut Vec<UiEffect>) -> bool {
    let at_rest = model.panes.over_chat.is_none() && model.panes.focus == Focus::Message;
    at_rest && model.chat.viewport.follows_end && probe::stop_probe(model, effects)
}

fn back(model: &mut UiModel) {
    if model.panes.over_chat.take().is_none() && model.panes.focus == Focus::Message {
        model.chat.viewport.follows_end = true;
    }
    model.panes.focus = Focus::Message;
    model.chat.viewport.selected = None;
}

/// The visible panes in Tab order.
fn visible_panes(model: &mut UiModel) -> Vec<Focus> {
    let panes = ScreenLayout::compute(model);
    let mut order = vec![Focus::Message];
    if panes.chat.width > 0 {
        order.push(Focus::Chat);
    }
    order.extend(panes.servers.map(|_| Focus::Servers));
    order.extend(panes.thinking.map(|_| Focus::Thinking));
    order
}

/// After a resize, moves the focus away from a pane that is no longer visible.
pub fn refocus(model: &mut UiModel) {
    if fits_sidebar(model.screen.size) && model.panes.over_chat.take().is_some() {
        model.panes.focus = Focus::Message;
    }
    if !visible_panes(model).contains(&model.panes.focus) {
        model.panes.focus = Focus::Message;
    }
}

fn step_focus(model: &mut UiModel, step: isize) {
    let order = visible_panes(model);
    let at = order
        .iter()
        .position(|focus| *focus == model.panes.focus)
        .unwrap_or(0);
    let next = (at as isize + step).rem_euclid(order.len() as isize) as usize;
    model.panes.focus = order[next];
    if model.panes.focus != Focus::Chat {
        model.chat.viewport.selected = None;
    }
}

/// Toggles a side pane beside the chat, or over it on narrow screens. The first press shows
/// and focuses the pane, the next one hides it.
fn show_or_hide(model: &mut UiModel, pane: Focus) {
    if !fits_sidebar(model.screen.size) {
        let open = model.panes.over_chat == Some(pane);
        model.panes.over_chat = (!open).then_some(pane);
        model.panes.focus = if open { Focus::Message } else { pane };
        return;
    }
    let leave = model.panes.focus == pane;
    match pane {
        Focus::Servers => model.panes.show_servers = !leave,
        _ => model.panes.show_thinking = !leave,
    }
    model.panes.focus = if leave { Focus::Message } else { pane };
}

/// Shows or hides a section of the sidebar beside an open dialog, which keeps the keys. Returns
/// false if there is no such section.
pub fn toggle_beside_dialog(model: &mut UiModel, pane: Focus) -> bool {
    if !fits_sidebar(model.screen.size) {
        return false;
    }
    let panes = &mut model.panes;
    match pane {
        Focus::Servers if !model.servers_pane.servers.is_empty() => {
            panes.show_servers = !panes.show_servers;
        }
        Focus::Thinking if model.chat.has_recent_thinking() => {
            panes.show_thinking = !panes.show_thinking;
        }
        _ => return false,
    }
    if model.panes.focus == pane {
        model.panes.focus = Focus::Message;
    }
    true
}

pub fn hide_servers(model: &mut UiModel) {
    model.panes.show_servers = false;
    if model.panes.over_chat == Some(Focus::Servers) {
        model.panes.over_chat = None;
    }
}

/// Calls `act` with the viewport that scrolling keys apply to, its layout input and its
/// height.
fn with_viewport(model: &mut UiModel, act: impl FnOnce(&mut Viewport, &LayoutInput, usize)) {
    let panes = ScreenLayout::compute(model);
    let thinking = panes
        .thinking
        .filter(|_| model.panes.focus == Focus::Thinking);
    if let Some(pane) = thinking {
        let mut flow = std::mem::take(&mut model.chat.thinking);
        act(
            &mut flow,
            &model
                .chat
                .thinking_layout_input(pane.inner.width, model.screen.markdown_glyphs()),
            pane.inner.height.into(),
        );
        model.chat.thinking = flow;
    } else {
        let mut flow = std::mem::take(&mut model.chat.viewport);
        act(
            &mut flow,
            &model.chat.layout_input(
                panes.chat_inner.width,
                panes.has_thinking_aside(model),
                model.screen.markdown_glyphs(),
            ),
            panes.chat_inner.height.into(),
        );
        model.chat.viewport = flow;
    }
}

fn page(model: &mut UiModel, direction: isize) {
    if model.panes.focus == Focus::Servers {
        // Keep two rows of overlap between pages.
        let rows = servers_height(model).saturating_sub(2).max(1) as isize;
        return model.servers_pane.scroll(direction * rows);
    }
    with_viewport(model, |flow, source, height| {
        let rows = height.saturating_sub(2).max(1) as isize;
        flow.scroll(source, height, rows * direction);
    });
}

/// Height of the servers pane in rows.
fn servers_height(model: &mut UiModel) -> usize {
    let panes = ScreenLayout::compute(model);
    panes.servers.map_or(1, |pane| pane.inner.height.into())
}

fn step_line(model: &mut UiModel, step: isize) {
    if model.panes.focus == Focus::Servers {
        let height = servers_height(model);
        return model.servers_pane.select_next(step, height);
    }
    with_viewport(model, |flow, source, height| {
        let from = flow.selected;
        let next = flow.next_fold(source, from, if from.is_none() { -1 } else { step });
        match next {
            Some(index) if !source.is_thinking_pane() => {
                flow.selected = Some(index);
                flow.reveal(source, height, index);
            }
            _ => flow.scroll(source, height, step),
        }
    });
}

fn toggle_selected_fold(model: &mut UiModel) {
    if model.panes.focus != Focus::Servers {
        with_viewport(model, |flow, source, height| {
            if let Some(index) = flow.selected {
                flow.pin_position(source, height);
                flow.toggle_fold(index);
                flow.reveal(source, height, index);
            }
        });
        return;
    }
    model.with_servers_pane(servers::activate_selected);
}

pub fn handle_mouse(model: &mut UiModel, mouse: MouseEvent) {
    let rows = match mouse.kind {
        MouseEventKind::ScrollUp => -WHEEL_ROWS,
        MouseEventKind::ScrollDown => WHEEL_ROWS,
        MouseEventKind::Down(MouseButton::Left) => return click(model, mouse),
        _ => return,
    };
    let at = Position::new(mouse.column, mouse.row);
    if model.visible_dialog().is_some() {
        model.with_dialogs(|dialogs, cx| dialogs.scroll(rows, cx.shared));
    } else if model.layer.is_some() {
        model.scroll_layer(rows);
    } else if is_over_servers(model, at) {
        model.servers_pane.scroll(rows);
    } else {
        let panes = ScreenLayout::compute(model);
        let focus = model.panes.focus;
        let over_thinking = panes.thinking.is_some_and(|pane| pane.outer.contains(at));
        model.panes.focus = if over_thinking {
            Focus::Thinking
        } else {
            Focus::Chat
        };
        with_viewport(model, |flow, source, height| {
            flow.scroll(source, height, rows)
        });
        model.panes.focus = focus;
    }
}

fn is_over_servers(model: &mut UiModel, at: Position) -> bool {
    let panes = ScreenLayout::compute(model);
    panes.servers.is_some_and(|pane| pane.outer.contains(at))
}

fn click(model: &mut UiModel, mouse: MouseEvent) {
    if model.layer.is_some() || model.dialogs.current().is_some() {
        return;
    }
    let panes = ScreenLayout::compute(model);
    let at = Position::new(mouse.column, mouse.row);
    if panes.message.contains(at) {
        model.panes.focus = Focus::Message;
    } else if panes.servers.is_some_and(|pane| pane.outer.contains(at)) {
        model.panes.focus = Focus::Servers;
    } else if panes.thinking.is_some_and(|pane| pane.outer.contains(at)) {
        model.panes.focus = Focus::Thinking;
    } else if panes.chat.contains(at) {
        model.panes.focus = Focus::Chat;
    }
}
