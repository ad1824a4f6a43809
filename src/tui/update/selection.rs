//! Selecting text and stops in the chat, and copying them.

use crate::domain::EntryBody;
use crate::text::markdown::BlockKind;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_context::RowContext;
use crate::tui::chat::selection::geometry::PaneView;
use crate::tui::chat::selection::row_painter::RowPainter;
use crate::tui::chat::selection::{SelectionUnit, TextSelection};
use crate::tui::chat::stops::Stop;
use crate::tui::keymap::Action;
use crate::tui::layout::ScreenLayout;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::line_selection::{self, extend_lines, is_extending};
use ratatui::layout::{Position, Rect};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyForm {
    Source,
    AsShown,
}

/// Calls `act` with the chat, or with the thinking pane if `pane` names it and it is visible.
pub fn with_pane<T>(model: &mut UiModel, pane: Focus, act: impl FnOnce(&mut PaneView) -> T) -> T {
    let layout = ScreenLayout::compute(model);
    with_pane_in(model, &layout, pane, act)
}

/// Like [`with_pane`], with a layout that was already computed.
pub fn with_pane_in<T>(
    model: &mut UiModel,
    layout: &ScreenLayout,
    pane: Focus,
    act: impl FnOnce(&mut PaneView) -> T,
) -> T {
    let glyphs = model.screen.markdown_glyphs();
    let thinking = layout.thinking.filter(|_| pane == Focus::Thinking);
    let mut viewport = match thinking {
        Some(_) => std::mem::take(&mut model.chat.thinking),
        None => std::mem::take(&mut model.chat.viewport),
    };
    let input: LayoutInput = match thinking {
        Some(pane) => model.chat.thinking_layout_input(pane.inner.width, glyphs),
        None => model.chat.layout_input(
            layout.chat_inner.width,
            layout.has_thinking_aside(model),
            glyphs,
        ),
    };
    let ask_again_key = model.keymap.key_name(Action::RETRY);
    let continue_key = model.keymap.key_name(Action::CONTINUE);
    let drop_key = model.keymap.key_name(Action::DropStopped);
    let context = RowContext {
        now: model.now,
        timing: &model.chat.timing,
        undrawn_rows: model.chat.undrawn_rows(),
        asked_call: None,
        decided_calls: &[],
        ask_again_key: ask_again_key.as_deref(),
        continue_key: continue_key.as_deref(),
        drop_key: drop_key.as_deref(),
        marks_stop: false,
    };
    let result = act(&mut PaneView {
        viewport: &mut viewport,
        input: &input,
        painter: RowPainter {
            context,
            theme: model.screen.theme,
            glyphs: model.screen.glyphs,
        },
        area: thinking.map_or(layout.chat_inner, |pane| pane.inner),
    });
    match thinking {
        Some(_) => model.chat.thinking = viewport,
        None => model.chat.viewport = viewport,
    }
    result
}

/// Whether text is selected in the chat or in the thinking pane.
pub fn has_selection(model: &UiModel) -> bool {
    model.chat.viewport.selection.is_some() || model.chat.thinking.selection.is_some()
}

pub fn clear_selection(model: &mut UiModel) {
    model.chat.viewport.selection = None;
    model.chat.thinking.selection = None;
}

/// Clears the selection before a key acts, unless the key acts on it. Returns true if the key has
/// no further effect.
pub fn clear_before_key(model: &mut UiModel, action: Option<Action>) -> bool {
    if !has_selection(model) || model.chat.mouse.drag.is_some() {
        return false;
    }
    let keeps_any = matches!(
        action,
        Some(Action::CopySelected | Action::CopyAsShown | Action::Redraw)
    ) || action == Some(Action::MOUSE);
    let keeps_lines = is_extending(model) && action.is_some_and(line_selection::keeps_lines);
    // The help covers the lines only for a while.
    let is_over_lines = is_extending(model) && model.layer.is_some();
    if keeps_any || keeps_lines || is_over_lines {
        return false;
    }
    clear_selection(model);
    action == Some(Action::Back) && !model.dialog_has_keys() && model.layer.is_none()
}

/// Runs an action on the selected text or stop. Returns false for any other action.
pub fn run_action(model: &mut UiModel, action: Action) -> bool {
    match action {
        Action::CopySelected => copy_selected(model, CopyForm::Source),
        Action::CopyAsShown => copy_selected(model, CopyForm::AsShown),
        _ => return line_selection::run_action(model, action),
    }
    true
}

fn copy_selected(model: &mut UiModel, form: CopyForm) {
    for pane in [Focus::Chat, Focus::Thinking] {
        let text = with_pane(model, pane, |view| match form {
            CopyForm::Source => view.selected_source(),
            CopyForm::AsShown => view.selected_as_shown(),
        });
        if let Some(text) = text {
            return copy(model, "the selection", text);
        }
    }
    let Some(stop) = model.chat.viewport.stop else {
        return;
    };
    let name = stop_name(model, stop);
    let text = with_pane(model, Focus::Chat, |view| match form {
        CopyForm::Source => view.stop_source(stop),
        CopyForm::AsShown => view.stop_as_shown(stop),
    });
    copy(model, name, text.unwrap_or_default());
}

fn copy(model: &mut UiModel, name: &str, text: String) {
    model.with_context(|cx| cx.copy(name, text));
}

/// For example `the code`.
fn stop_name(model: &UiModel, stop: Stop) -> &'static str {
    match model.chat.viewport.block_kind(stop) {
        Some(BlockKind::Code) => return "the code",
        Some(BlockKind::Table) => return "the table",
        None => {}
    }
    let entry = model.chat.transcript.entries().get(stop.index);
    match entry.map(|entry| &entry.body) {
        Some(EntryBody::Prompt { .. }) => "your message",
        Some(EntryBody::Text { .. }) => "the answer",
        Some(EntryBody::Thinking { .. }) => "the thinking",
        Some(EntryBody::Tool(_)) => "the call",
        _ => "the notice",
    }
}

/// If there is a keyboard selection, extends it by a line. Otherwise moves to the next stop in this
/// direction, or scrolls if there is no further stop. If no stop is selected, selects the last one
/// in view.
pub fn step(model: &mut UiModel, step: isize) {
    if is_extending(model) {
        return extend_lines(model, step);
    }
    let focus = model.panes.focus;
    with_pane(model, focus, |view| {
        let (height, input) = (view.height(), view.input);
        if input.is_thinking_pane() {
            return view.viewport.scroll(input, height, step);
        }
        let Some(stop) = view.viewport.stop else {
            view.viewport.stop = view.viewport.last_stop_in_view(input, height);
            return;
        };
        match view.viewport.next_stop(input, stop, step) {
            Some(next) => view.viewport.go_to_stop(input, height, next),
            None => view.viewport.scroll(input, height, step),
        }
    });
}

/// The pane with selectable text at a position.
pub fn selectable_pane(model: &mut UiModel, at: Position) -> Option<Focus> {
    if model.layer.is_some() {
        return None;
    }
    let layout = ScreenLayout::compute(model);
    let is_in = |area: Rect| area.contains(at);
    if layout.dialog.is_some_and(is_in) || layout.servers.is_some_and(|pane| is_in(pane.outer)) {
        return None;
    }
    if layout.thinking.is_some_and(|pane| is_in(pane.outer)) {
        return Some(Focus::Thinking);
    }
    let is_over_sidebar = layout.sidebar.is_some_and(is_in);
    (is_in(layout.chat) && !is_over_sidebar).then_some(Focus::Chat)
}

/// Handles a press of the left button in a pane with text.
pub fn press(model: &mut UiModel, pane: Focus, focus_before: Focus, at: Position) {
    clear_selection(model);
    let now = model.now;
    model.chat.mouse.press(pane, focus_before, at, now);
    let unit = model.chat.mouse.drag.as_ref().map(|drag| drag.unit);
    if let Some(unit) = unit.filter(|unit| *unit != SelectionUnit::Cluster) {
        model.chat.viewport.stop = None;
        with_pane(model, pane, |view| {
            let range = view.unit_at(at, unit);
            view.viewport.selection = range.map(|range| TextSelection::new(unit, range));
        });
    }
}

/// Handles a movement of the pointer with the button held.
pub fn drag_to(model: &mut UiModel, at: Position) {
    let Some(mut drag) = model.chat.mouse.drag.take() else {
        return;
    };
    let had_moved = drag.has_moved;
    let now = model.now;
    with_pane(model, drag.pane, |view| {
        let height = view.height();
        drag.move_to(at, view.area, now);
        if !drag.has_moved {
            return;
        }
        if !had_moved {
            // Text that streams in must not move under the pointer.
            drag.resumes_following = view.viewport.follows_end;
            view.viewport.pin_position(view.input, height);
            view.viewport.stop = None;
        }
        if view.viewport.selection.is_none() {
            let anchor = view.unit_at(drag.press_position, drag.unit);
            view.viewport.selection = anchor.map(|range| TextSelection::new(drag.unit, range));
        }
        extend_to(view, at, drag.unit);
    });
    if drag.has_moved && !had_moved && model.dialogs.current().is_none() {
        // Selecting with the mouse must not change the keyboard focus.
        model.panes.focus = drag.focus_before;
    }
    model.chat.mouse.drag = Some(drag);
}

fn extend_to(view: &mut PaneView, at: Position, unit: SelectionUnit) {
    let head = view.unit_at(at, unit);
    if let (Some(selection), Some(head)) = (&mut view.viewport.selection, head) {
        selection.head = head;
    }
}

/// Scrolls while the button is held at the edge of the pane.
pub fn scroll_while_dragging(model: &mut UiModel) {
    let due = model.chat.mouse.scroll_due_at();
    if due.is_none_or(|due| model.now < due) {
        return;
    }
    let Some(mut drag) = model.chat.mouse.drag.take() else {
        return;
    };
    let now = model.now;
    with_pane(model, drag.pane, |view| {
        let rows = drag.due_rows(view.area, now);
        let height = view.height();
        if rows != 0 {
            view.viewport.scroll(view.input, height, rows);
            drag.resumes_following = view.viewport.follows_end;
            view.viewport.pin_position(view.input, height);
            extend_to(view, drag.pointer, drag.unit);
        }
    });
    model.chat.mouse.drag = Some(drag);
}

/// Handles the release of the button: copies the selected text. A click selects the stop under the
/// pointer. On the row that says how much of a long prompt is hidden, it also unfolds the prompt.
pub fn release(model: &mut UiModel, at: Position) {
    drag_to(model, at);
    let Some(drag) = model.chat.mouse.drag.take() else {
        return;
    };
    if !drag.has_moved && drag.unit == SelectionUnit::Cluster {
        if drag.pane == Focus::Chat && model.dialogs.current().is_none() {
            with_pane(model, Focus::Chat, |view| {
                let row = view.drawn_row_at(at);
                view.viewport.stop = row.and_then(|row| view.viewport.stop_at(row));
                if let Some(row) = row.filter(|row| view.viewport.is_fold_row(*row)) {
                    let (height, input) = (view.height(), view.input);
                    view.viewport.pin_position(input, height);
                    view.viewport.toggle_fold(row.index);
                }
            });
        }
        return;
    }
    let text = with_pane(model, drag.pane, |view| {
        if drag.resumes_following {
            view.viewport.follows_end = true;
        }
        view.selected_source()
    });
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        copy(model, "the selection", text);
    }
}
