//! Search in earlier prompts (Ctrl+R).

use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::tui::keymap::Action;
use crate::tui::layer::{Handled, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::ListRow;
use crate::tui::widgets::list_layer::{ListKind, ListSource};
use crate::tui::widgets::painter::Painter;

const RESULTS_MAX: usize = 200;
const ROWS_MAX: usize = 12;

#[derive(Debug)]
pub struct HistorySearch;

impl ListSource for HistorySearch {
    type Row<'a> = &'a str;

    fn kind(&self) -> ListKind {
        ListKind {
            action: Some(Action::SearchHistory),
            title: "Prompt history",
            enter: "use",
        }
    }

    /// Newest first.
    fn rows<'a>(&self, words: &[&str], shared: SharedUiState<'a>) -> Vec<&'a str> {
        let contains_all_words = |prompt: &&String| {
            let prompt = prompt.to_lowercase();
            words.iter().all(|word| prompt.contains(word))
        };
        let prompts = shared.prompts.iter().rev().filter(contains_all_words);
        prompts.take(RESULTS_MAX).map(String::as_str).collect()
    }

    fn total(&self, shared: SharedUiState) -> usize {
        shared.prompts.len().min(RESULTS_MAX)
    }

    fn height(&self, shared: SharedUiState) -> usize {
        shared.prompts.len().clamp(1, ROWS_MAX)
    }

    fn empty(&self, _: SharedUiState) -> &'static str {
        "No earlier prompts."
    }

    fn draw_row(&self, prompt: &&str, row: &ListRow, _: SharedUiState, pen: &mut Painter) {
        let area = row.text_area();
        let start = truncate_to_width(prompt, 2 * usize::from(area.width));
        let preview = Clean::single_line(start);
        pen.put_words(area.x, area.y, preview.as_str(), row.style, area.width);
    }

    fn choose(&mut self, prompt: &str, cx: &mut UiContext) -> Handled {
        cx.request(UiRequest::RecallPrompt(prompt.to_owned()));
        Handled::Closed
    }
}
