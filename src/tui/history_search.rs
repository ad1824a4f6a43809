//! Search in earlier prompts (Ctrl+R).

use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::LayerKey;
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext, UiRequest};
use crate::tui::widgets::list::{ListKey, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;

const RESULTS_MAX: usize = 200;
const ROWS_MAX: usize = 12;

#[derive(Debug, Default)]
pub struct HistorySearch(SearchList);

/// The prompts that contain every word of `filter`, newest first.
fn matching_prompts<'a>(prompts: &'a [String], filter: &str) -> Vec<&'a str> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let contains_all_words = |prompt: &&String| {
        let prompt = prompt.to_lowercase();
        words.iter().all(|word| prompt.contains(word))
    };
    prompts
        .iter()
        .rev()
        .filter(contains_all_words)
        .take(RESULTS_MAX)
        .map(String::as_str)
        .collect()
}

impl Layer for HistorySearch {
    fn action(&self) -> Option<Action> {
        Some(Action::SearchHistory)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let matches = matching_prompts(cx.shared.prompts, &self.0.filter());
        let handled = self.0.key(key, matches.len(), None, cx.shared.keymap);
        if handled != ListKey::Unhandled(LayerKey::Confirm) {
            return handled.handled();
        }
        let Some(prompt) = matches.get(self.0.selected(matches.len())) else {
            return Handled::Consumed;
        };
        cx.request(UiRequest::RecallPrompt((*prompt).to_owned()));
        Handled::Closed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.0.paste(text);
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        let count = matching_prompts(shared.prompts, &self.0.filter()).len();
        self.0.step(rows, count);
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self.0.click(at, cx.shared.keymap) {
            Some(enter) => self.handle_key(enter, cx),
            None => Handled::Consumed,
        }
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        Some((shared.prompts.len().min(ROWS_MAX) as u16).max(1) + 1)
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let matches = matching_prompts(shared.prompts, &self.0.filter());
        let title = ListTitle {
            title: "Prompt history",
            total: shared.prompts.len().min(RESULTS_MAX),
            empty: "No earlier prompts.",
            shows_empty_when_filtered: false,
        };
        self.0
            .draw(area.popup, &title, &matches, pen, |prompt, row, pen| {
                let area = row.text_area();
                let start = truncate_to_width(prompt, 2 * usize::from(area.width));
                let preview = Clean::single_line(start);
                pen.put_words(area.x, area.y, preview.as_str(), row.style, area.width);
            })
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let count = matching_prompts(shared.prompts, &self.0.filter()).len();
        self.0.hints(count, "use", Vec::new(), shared.keymap)
    }
}
