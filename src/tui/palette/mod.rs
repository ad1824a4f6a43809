//! The command palette: all commands and prompt templates, filtered as the user types.

mod matching;

use crate::text::grapheme::width;
use crate::tui::attachments::choice;
use crate::tui::keymap::{Action, BindingScope};
use crate::tui::layer::{Handled, SharedUiState, UiContext, UiRequest};
use crate::tui::panes::Focus;
use crate::tui::templates;
use crate::tui::widgets::list::ListRow;
use crate::tui::widgets::list_layer::{ListKind, ListSource};
use crate::tui::widgets::painter::Painter;
use matching::{PaletteEntry, entry_count, matching_entries};

/// Width of the key column, which is shown in lists of at least `KEY_LIST_COLUMNS_MIN` columns.
const KEY_COLUMNS: u16 = 9;
const KEY_LIST_COLUMNS_MIN: u16 = 72;
/// Width of the command column, which is shown in lists of at least `COMMAND_LIST_COLUMNS_MIN`
/// columns.
const COMMAND_COLUMNS: u16 = 16;
const COMMAND_LIST_COLUMNS_MIN: u16 = 48;

#[derive(Debug)]
pub struct Palette;

impl ListSource for Palette {
    type Row<'a> = PaletteEntry<'a>;

    fn kind(&self) -> ListKind {
        ListKind {
            action: Some(Action::Commands),
            title: "Commands",
            enter: "run",
        }
    }

    fn rows<'a>(&self, words: &[&str], shared: SharedUiState<'a>) -> Vec<PaletteEntry<'a>> {
        matching_entries(words, shared)
    }

    fn total(&self, shared: SharedUiState) -> usize {
        entry_count(shared)
    }

    /// Draws description, command and key, as far as the width allows. The selected row omits the
    /// command rather than truncate its description.
    fn draw_row(
        &self,
        entry: &PaletteEntry,
        row: &ListRow,
        shared: SharedUiState,
        pen: &mut Painter,
    ) {
        let (area, dim) = (row.text_area(), pen.theme.dim);
        let description = entry.description();
        let mut end = area.right();
        let fits_before =
            |end: u16| usize::from(end.saturating_sub(area.x)) > width(description.as_str());
        if area.width >= KEY_LIST_COLUMNS_MIN {
            end -= KEY_COLUMNS;
            let key = match *entry {
                // A key of the panes does something else in the message.
                PaletteEntry::Binding(binding)
                    if binding.scope == BindingScope::Pane && shared.focus == Focus::Message =>
                {
                    None
                }
                PaletteEntry::Binding(binding) => shared.keymap.key_name(binding.action),
                PaletteEntry::Template(_) => None,
            };
            pen.put(end, area.y, &key.unwrap_or_default(), dim, KEY_COLUMNS);
        }
        if area.width >= COMMAND_LIST_COLUMNS_MIN
            && (!row.is_selected || fits_before(end - COMMAND_COLUMNS))
        {
            end -= COMMAND_COLUMNS;
            let command = entry.command();
            pen.put_truncated(end, area.y, command.as_str(), dim, COMMAND_COLUMNS - 1);
            end -= 1;
        }
        let columns = end.saturating_sub(area.x);
        pen.put_words(area.x, area.y, description.as_str(), row.style, columns);
    }

    fn choose(&mut self, entry: PaletteEntry, cx: &mut UiContext) -> Handled {
        cx.request(UiRequest::RememberCommand(entry.recent_name()));
        match entry {
            PaletteEntry::Binding(binding)
                if binding.action == Action::DETACH && cx.shared.attached_files.len() > 1 =>
            {
                choice::choose_file(cx);
            }
            PaletteEntry::Binding(binding) => {
                cx.request(UiRequest::RunAction(binding.action));
            }
            PaletteEntry::Template(template) => {
                templates::use_template(template, "", cx);
            }
        }
        Handled::Closed
    }
}
