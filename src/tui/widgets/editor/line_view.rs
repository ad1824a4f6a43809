//! The view of a one-line field: it scrolls sideways instead of wrapping.

use crate::text::Clean;
use crate::text::grapheme::{clusters, clusters_forward, width};
use crate::tui::widgets::editor::Editor;

impl Editor {
    /// The visible part of the cursor's line and the cursor's column in it, in `columns`
    /// columns. It scrolls only as far as the cursor needs, and shows no gap at the end.
    pub fn line_view(&mut self, columns: u16) -> (String, u16) {
        // The cursor after the last character needs a column, too.
        let room = usize::from(columns.saturating_sub(1));
        let raw = self.lines[self.line].raw.as_str();
        let earliest = start_of_last(&raw[..self.byte], room);
        let last_page = start_of_last(raw, room);
        let left = self.left.min(last_page).clamp(earliest, self.byte);
        self.left = raw.floor_char_boundary(left);
        let mut shown = String::new();
        let mut used = 0;
        for cluster in clusters_forward(&raw[self.left..]) {
            let cluster = shown_cluster(cluster);
            used += width(&cluster);
            if used > usize::from(columns) {
                break;
            }
            shown.push_str(&cluster);
        }
        let before = clusters_forward(&raw[self.left..self.byte]);
        let cursor: usize = before.map(|cluster| width(&shown_cluster(cluster))).sum();
        (shown, cursor.min(room) as u16)
    }
}

/// The byte from which the end of `text` fits into `columns` columns.
fn start_of_last(text: &str, columns: usize) -> usize {
    let (mut start, mut used) = (text.len(), 0);
    for cluster in clusters(text).rev() {
        used += width(&shown_cluster(cluster));
        if used > columns {
            break;
        }
        start -= cluster.len();
    }
    start
}

fn shown_cluster(cluster: &str) -> String {
    match cluster {
        "\t" => " ".to_owned(),
        other => Clean::escaped(other).as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::editor::Edit;
    use proptest::prelude::*;

    #[test]
    fn korean_text_scrolls_sideways_with_the_cursor() {
        let mut field = Editor::new("서울 날씨와 옷차림");
        assert_eq!(field.line_view(10), ("와 옷차림".to_owned(), 9));
        field.edit(Edit::Left);
        let (shown, cursor) = field.line_view(10);
        assert_eq!(
            (shown.as_str(), cursor),
            ("와 옷차림", 7),
            "only the cursor moves"
        );
        field.edit(Edit::LineStart);
        assert_eq!(field.line_view(10), ("서울 날씨".to_owned(), 0));
    }

    proptest! {
        #[test]
        fn cursor_stays_in_the_view(
            text in "[a-c 가漢🇰🇷e\u{301}\u{202e}\t]{0,40}",
            moves in prop::collection::vec(0u8..6, 0..30),
            columns in 0u16..14,
        ) {
            let mut field = Editor::new(&text);
            for step in moves {
                match step {
                    0 => field.edit(Edit::Left),
                    1 => field.edit(Edit::Right),
                    2 => field.edit(Edit::LineStart),
                    3 => field.edit(Edit::Backspace),
                    4 => field.edit(Edit::DeleteWordLeft),
                    _ => { field.insert("나"); true }
                };
                let (shown, cursor) = field.line_view(columns);
                prop_assert!(width(&shown) <= usize::from(columns));
                prop_assert!(cursor < columns.max(1));
            }
        }
    }
}
