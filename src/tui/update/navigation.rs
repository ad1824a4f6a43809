//! Pane focus, scrolling, line selection and the mouse.

use crate::domain::Notice;
use crate::tui::chat::entry_rows::is_foldable;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::stops::Stop;
use crate::tui::chat::viewport::Viewport;
use crate::tui::keymap::{Action, Keymap};
use crate::tui::layer::Layer;
use crate::tui::layout::{SMALL_HEIGHT, ScreenLayout, fits_sidebar};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::servers::commands as servers;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{find, interrupt, line_selection, probe, selection};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

/// Rows per wheel step.
const WHEEL_ROWS: isize = 3;

pub fn run_action(model: &mut UiModel, action: Action, effects: &mut Vec<UiEffect>) {
    match action {
        Action::Back if stop_at_rest(model, effects) => {}
        Action::Back => return_to_message(model),
        Action::NextPane => step_focus(model, 1),
        Action::PreviousPane => step_focus(model, -1),
        Action::PageUp => page(model, -1),
        Action::PageDown => page(model, 1),
        Action::PreviousPrompt => step_prompt(model, -1),
        Action::NextPrompt => step_prompt(model, 1),
        Action::ScrollToStart | Action::ScrollToEnd if model.panes.focus == Focus::Servers => {
            let all_rows = model.servers_pane.rows().len() as isize;
            model.servers_pane.scroll(if action == Action::ScrollToEnd {
                all_rows
            } else {
                -all_rows
            });
        }
        Action::ScrollToStart => with_viewport(model, |viewport, input, height| {
            viewport.scroll_to_start(input, height)
        }),
        Action::ScrollToEnd => with_viewport(model, |viewport, _, _| viewport.follows_end = true),
        Action::PreviousLine => step_line(model, -1),
        Action::NextLine => step_line(model, 1),
        Action::ToggleFold => toggle_selected_fold(model),
        Action::FoldServer => model.servers_pane.fold_selected_server(),
        Action::UnfoldServerRow => model.servers_pane.unfold_selected(),
        _ => {}
    }
}

/// Stops the running turn or probe when Esc has nothing to close and nowhere to return from.
fn stop_at_rest(model: &mut UiModel, effects: &mut Vec<UiEffect>) -> bool {
    let is_at_rest = model.panes.over_chat.is_none() && model.panes.focus == Focus::Message;
    if !is_at_rest || !model.chat.viewport.follows_end {
        return false;
    }
    // A question that does not accept keys yet is still open.
    let has_question = model.dialogs.current().is_some();
    if model.running_turn().is_none() || has_question {
        return probe::stop_probe(model, effects);
    }
    if !model.interrupt.is_stopping {
        interrupt::interrupt(model, effects);
    }
    true
}

fn return_to_message(model: &mut UiModel) {
    if model.panes.over_chat.take().is_none() && model.panes.focus == Focus::Message {
        let followed_end = std::mem::replace(&mut model.chat.viewport.follows_end, true);
        if followed_end {
            model.notices.hide_banners(&model.engine.banners);
        }
    }
    model.panes.focus = Focus::Message;
    model.chat.viewport.stop = None;
}

/// The visible panes in Tab order.
fn visible_panes(model: &mut UiModel) -> Vec<Focus> {
    let layout = ScreenLayout::compute(model);
    let mut order = vec![Focus::Message];
    if layout.chat.width > 0 {
        order.push(Focus::Chat);
    }
    order.extend(layout.servers.map(|_| Focus::Servers));
    order.extend(layout.thinking.map(|_| Focus::Thinking));
    order
}

/// After a resize, closes a pane over the chat if the sidebar fits again, and moves the focus away
/// from a pane that is no longer visible.
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
    let current = order
        .iter()
        .position(|focus| *focus == model.panes.focus)
        .unwrap_or(0);
    let next = (current as isize + step).rem_euclid(order.len() as isize) as usize;
    model.panes.focus = order[next];
    find::close_unless_focused(model);
    if model.panes.focus != Focus::Chat {
        model.chat.viewport.stop = None;
    }
}

/// Toggles a pane beside the chat, or over the chat on narrow screens. The first press shows
/// and focuses the pane, the next one hides it.
pub fn toggle_pane(model: &mut UiModel, pane: Focus) {
    if !fits_sidebar(model.screen.size) {
        let was_open = model.panes.over_chat == Some(pane);
        model.panes.over_chat = (!was_open).then_some(pane);
        model.panes.focus = if was_open { Focus::Message } else { pane };
        return;
    }
    let had_focus = model.panes.focus == pane;
    match pane {
        Focus::Servers => {
            model.panes.shows_servers = !had_focus;
            model.panes.wants_servers = !had_focus;
        }
        _ => model.panes.shows_thinking = !had_focus,
    }
    model.panes.focus = if had_focus { Focus::Message } else { pane };
}

/// Shows or hides a section of the sidebar next to an open dialog, which keeps the keyboard focus.
/// Returns false if the sidebar does not fit or has no such section.
pub fn toggle_beside_dialog(model: &mut UiModel, pane: Focus) -> bool {
    if !fits_sidebar(model.screen.size) {
        return false;
    }
    let has_content = model.servers_pane.has_content();
    let panes = &mut model.panes;
    match pane {
        Focus::Servers if !model.servers_pane.servers.is_empty() => {
            let is_shown = panes.shows_servers && (panes.wants_servers || has_content);
            panes.shows_servers = !is_shown;
            panes.wants_servers = !is_shown;
        }
        Focus::Thinking if model.chat.has_recent_thinking() => {
            panes.shows_thinking = !panes.shows_thinking;
        }
        _ => return false,
    }
    if model.panes.focus == pane {
        model.panes.focus = Focus::Message;
    }
    true
}

pub fn hide_servers(model: &mut UiModel) {
    model.panes.shows_servers = false;
    model.panes.wants_servers = false;
    if model.panes.over_chat == Some(Focus::Servers) {
        model.panes.over_chat = None;
    }
}

/// Calls `act` with the viewport that scrolling keys apply to (the thinking if that pane has
/// the focus, else the chat), its layout input and its height.
fn with_viewport(model: &mut UiModel, act: impl FnOnce(&mut Viewport, &LayoutInput, usize)) {
    let focus = model.panes.focus;
    selection::with_pane(model, focus, |view| {
        let height = view.height();
        act(view.viewport, view.input, height);
    });
}

fn page(model: &mut UiModel, direction: isize) {
    if line_selection::is_extending(model) {
        return line_selection::extend_page(model, direction);
    }
    if model.panes.focus == Focus::Servers {
        // Keep two rows of overlap between pages.
        let rows = servers_height(model).saturating_sub(2).max(1) as isize;
        return model.servers_pane.scroll(direction * rows);
    }
    with_viewport(model, |viewport, input, height| {
        let rows = height.saturating_sub(2).max(1) as isize;
        viewport.scroll(input, height, rows * direction);
    });
}

fn servers_height(model: &mut UiModel) -> usize {
    let layout = ScreenLayout::compute(model);
    layout.servers.map_or(1, |pane| pane.inner.height.into())
}

fn step_line(model: &mut UiModel, step: isize) {
    if model.panes.focus == Focus::Servers {
        let height = servers_height(model);
        return model.servers_pane.select_next(step, height);
    }
    selection::step(model, step);
}

/// Selects the user's previous or next message in the chat. After the last one, goes back to the
/// message that is being typed.
fn step_prompt(model: &mut UiModel, step: isize) {
    let found = selection::with_pane(model, Focus::Chat, |view| {
        let (height, input) = (view.height(), view.input);
        let prompt = view.viewport.next_prompt(input, height, step)?;
        view.viewport.go_to_top(input, height, prompt);
        Some(())
    });
    match found {
        Some(()) => model.panes.focus = Focus::Chat,
        None if step > 0 => {
            model.chat.viewport.follows_end = true;
            model.chat.viewport.stop = None;
            model.panes.focus = Focus::Message;
        }
        None => {}
    }
}

fn toggle_selected_fold(model: &mut UiModel) {
    let is_in_chat = matches!(model.panes.focus, Focus::Chat | Focus::Message);
    if is_in_chat && model.chat.viewport.stop.is_none() {
        return model.notify(how_to_fold(&model.keymap));
    }
    if model.panes.focus != Focus::Servers {
        with_viewport(model, |viewport, input, height| {
            let stop = viewport.stop.filter(|stop| stop.block.is_none());
            let index = stop.map(|stop| stop.index);
            if let Some(index) = index.filter(|index| is_foldable(input, *index)) {
                viewport.pin_position(input, height);
                viewport.toggle_fold(index);
                let rows = viewport.stop_rows(input, Stop::at_entry(index));
                let row = rows.map_or(0, |rows| *rows.start());
                viewport.reveal(input, height, index, row..=row);
            }
        });
        return;
    }
    model.with_servers_pane(servers::activate_selected);
}

/// Says what to select first.
fn how_to_fold(keymap: &Keymap) -> Notice {
    let keys = [Action::NextPane, Action::PreviousLine].map(|action| keymap.key_name(action));
    let keys: Vec<String> = keys.into_iter().flatten().collect();
    let text = "Select a call, thinking or a long message in the chat first";
    match keys.is_empty() {
        true => Notice::info(format!("{text}.")),
        false => Notice::info(format!("{text}: {}.", keys.join(", then "))),
    }
}

pub fn handle_mouse(model: &mut UiModel, mouse: MouseEvent) {
    let position = Position::new(mouse.column, mouse.row);
    let rows = match mouse.kind {
        MouseEventKind::ScrollUp => -WHEEL_ROWS,
        MouseEventKind::ScrollDown => WHEEL_ROWS,
        MouseEventKind::Down(MouseButton::Left) => return click(model, position),
        MouseEventKind::Drag(MouseButton::Left) => return selection::drag_to(model, position),
        MouseEventKind::Up(MouseButton::Left) => return selection::release(model, position),
        _ => return,
    };
    if model.visible_dialog().is_some() {
        model.with_dialogs(|dialogs, cx| dialogs.scroll(rows, cx.shared));
    } else if model.layer.is_some() && is_over_layer(model, position) {
        model.scroll_layer(rows);
    } else if is_over_servers(model, position) {
        model.servers_pane.scroll(rows);
    } else {
        let layout = ScreenLayout::compute(model);
        let focus = model.panes.focus;
        let is_over_thinking = layout
            .thinking
            .is_some_and(|pane| pane.outer.contains(position));
        model.panes.focus = if is_over_thinking {
            Focus::Thinking
        } else {
            Focus::Chat
        };
        with_viewport(model, |viewport, input, height| {
            viewport.scroll(input, height, rows)
        });
        model.panes.focus = focus;
    }
}

/// Whether the open layer covers this position. A layer without a popup covers everything.
fn is_over_layer(model: &mut UiModel, position: Position) -> bool {
    let popup = ScreenLayout::compute(model).popup;
    popup.is_none_or(|area| model.screen.size.1 < SMALL_HEIGHT || area.contains(position))
}

fn is_over_servers(model: &mut UiModel, position: Position) -> bool {
    let layout = ScreenLayout::compute(model);
    layout
        .servers
        .is_some_and(|pane| pane.outer.contains(position))
}

fn click(model: &mut UiModel, position: Position) {
    let focus_before = model.panes.focus;
    focus_clicked_pane(model, position);
    match selection::selectable_pane(model, position) {
        Some(pane) => selection::press(model, pane, focus_before, position),
        None => selection::clear_selection(model),
    }
}

fn focus_clicked_pane(model: &mut UiModel, position: Position) {
    if model.dialogs.current().is_some() {
        return;
    }
    if model.layer.is_some() {
        model.with_layer(|layer, cx| layer.click(position, cx));
        return;
    }
    let layout = ScreenLayout::compute(model);
    if layout.message.contains(position) {
        model.panes.focus = Focus::Message;
    } else if layout
        .servers
        .is_some_and(|pane| pane.outer.contains(position))
    {
        model.panes.focus = Focus::Servers;
    } else if layout
        .thinking
        .is_some_and(|pane| pane.outer.contains(position))
    {
        model.panes.focus = Focus::Thinking;
    } else if layout.chat.contains(position) {
        model.panes.focus = Focus::Chat;
    }
}
