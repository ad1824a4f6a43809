//! Selecting lines of the chat with the keyboard.

use crate::domain::Notice;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::selection::geometry::PaneView;
use crate::tui::chat::selection::{SelectionUnit, TextSelection};
use crate::tui::chat::stops::Stop;
use crate::tui::chat::viewport::RowPosition;
use crate::tui::keymap::Action;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::selection::with_pane;

/// Whether a selection is being extended with the keyboard.
pub fn is_extending(model: &UiModel) -> bool {
    let selection = &model.chat.viewport.selection;
    selection.is_some_and(|selection| selection.is_from_keyboard)
}

/// Whether an action extends the selected lines, or only scrolls or covers them.
pub fn keeps_lines(action: Action) -> bool {
    matches!(
        action,
        Action::PreviousLine
            | Action::NextLine
            | Action::PageUp
            | Action::PageDown
            | Action::LinesToStart
            | Action::LinesToEnd
            | Action::ScrollToStart
            | Action::ScrollToEnd
    ) || action == Action::HELP
}

/// Runs an action that selects lines or extends the selection. Returns false for any other action.
pub fn run_action(model: &mut UiModel, action: Action) -> bool {
    let is_extending = is_extending(model);
    match action {
        Action::SelectLines => select_lines(model),
        Action::LinesToStart => extend_far(model, -1, false),
        Action::LinesToEnd => extend_far(model, 1, false),
        Action::ScrollToStart if is_extending => extend_far(model, -1, true),
        Action::ScrollToEnd if is_extending => extend_far(model, 1, true),
        _ => return false,
    }
    true
}

/// Starts a selection at the first line of the stop. If that is not in view but a part of the stop
/// is, starts where the user is reading: at the first line in view, or at the last one if the view
/// shows the end of the chat.
fn select_lines(model: &mut UiModel) {
    let has_started = with_pane(model, Focus::Chat, |view| {
        let stop = view.viewport.stop?;
        let first = view.viewport.first_text_row(view.input, stop)?;
        let row = row_in_view(view, stop, first).unwrap_or(first);
        let position = RowPosition {
            index: stop.index,
            row,
        };
        let line = view.unit_in_row(position, 0, SelectionUnit::Line);
        let mut selection = TextSelection::new(SelectionUnit::Line, line);
        selection.is_from_keyboard = true;
        view.viewport.selection = Some(selection);
        reveal(view, position);
        Some(())
    });
    if has_started.is_some() {
        let keymap = &model.keymap;
        let keys = [
            keymap.pair_hint([Action::PreviousLine, Action::NextLine], "extend"),
            keymap.hint(Action::CopySelected, "copies"),
            keymap.hint(Action::Back, "ends"),
        ];
        let keys: Vec<String> = keys.into_iter().flatten().collect();
        let text = format!("Selecting lines: {}.", keys.join(", "));
        model.notify_about_key(Notice::info(text));
    }
}

/// For a stop whose first row is above the view, the row at which the user is reading.
fn row_in_view(view: &mut PaneView, stop: Stop, first: usize) -> Option<usize> {
    let (height, input) = (view.height(), view.input);
    let rows = view.viewport.stop_rows(input, stop)?;
    let top = view.viewport.top_position(input, height);
    let shows_end = top >= view.viewport.bottom_position(input, height);
    let visible = view.viewport.visible_rows(input, top, height);
    let mut of_stop = visible
        .iter()
        .filter(|position| position.index == stop.index && rows.contains(&position.row))
        .map(|position| position.row);
    let first_visible = of_stop.next()?;
    match shows_end {
        _ if first_visible <= first => None,
        true => Some(of_stop.next_back().unwrap_or(first_visible)),
        false => Some(first_visible),
    }
}

pub fn extend_lines(model: &mut UiModel, step: isize) {
    with_pane(model, Focus::Chat, |view| {
        let from = head_row(view, step)?;
        let row = view.viewport.neighbor_row(view.input, from, step)?;
        move_head(view, row)
    });
}

/// Extends the selection by a page, or to the first or the last line of the chat.
pub fn extend_page(model: &mut UiModel, step: isize) {
    with_pane(model, Focus::Chat, |view| {
        // Keep two rows of overlap between pages, as when scrolling.
        let rows = view.height().saturating_sub(2).max(1);
        let mut row = head_row(view, step)?;
        for _ in 0..rows {
            let Some(next) = view.viewport.neighbor_row(view.input, row, step) else {
                break;
            };
            row = next;
        }
        move_head(view, row)
    });
}

/// Extends the selection to the start or the end of the message that contains its last line, or of
/// the chat if the line is already there or `passes_messages` is true.
fn extend_far(model: &mut UiModel, step: isize, passes_messages: bool) {
    with_pane(model, Focus::Chat, |view| {
        let from = head_row(view, step)?;
        let input = view.input;
        let edge_of_message = edge_row(view, input, from.index, step)?;
        let row = match passes_messages || from == edge_of_message {
            false => edge_of_message,
            true => {
                let mut indices = 0..input.count();
                let is_shown = |index: &usize| view.viewport.height_of(input, *index) > 0;
                let index = match step > 0 {
                    true => indices.rfind(is_shown),
                    false => indices.find(is_shown),
                };
                edge_row(view, input, index?, step)?
            }
        };
        move_head(view, row)
    });
}

/// The first or the last row of an entry.
fn edge_row(
    view: &mut PaneView,
    input: &LayoutInput,
    index: usize,
    step: isize,
) -> Option<RowPosition> {
    let rows = view.viewport.stop_rows(input, Stop::at_entry(index))?;
    let row = match step > 0 {
        true => *rows.end(),
        false => *rows.start(),
    };
    Some(RowPosition { index, row })
}

/// The row at which the selection ends, on the side to which it is extended.
fn head_row(view: &mut PaneView, step: isize) -> Option<RowPosition> {
    let head = view.viewport.selection?.head;
    let place = match step > 0 {
        true => head.end,
        false => head.start,
    };
    Some(view.viewport.lay_out_place(view.input, place).position)
}

/// Extends the selection to the line in this row.
fn move_head(view: &mut PaneView, row: RowPosition) -> Option<()> {
    let head = view.unit_in_row(row, 0, SelectionUnit::Line);
    view.viewport.selection.as_mut()?.head = head;
    reveal(view, row);
    Some(())
}

fn reveal(view: &mut PaneView, row: RowPosition) {
    let (height, input) = (view.height(), view.input);
    view.viewport
        .reveal(input, height, row.index, row.row..=row.row);
}
