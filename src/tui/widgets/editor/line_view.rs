//! The view of a one-line field: it scrolls sideways instead of wrapping.

use crate::text::Clean;
use crate::text::grapheme::{clusters, clusters_forward, width};
use crate::tui::widgets::editor::{Editor, EditorSpan, EditorView, SpanKind, TextPosition};

impl Editor {
    /// The visible part of the cursor's line as one row, in `columns` columns. It scrolls only as
    /// far as the cursor needs, and shows no gap at the end.
    pub fn line_view(&mut self, columns: u16) -> EditorView {
        // The cursor after the last character needs a column, too.
        let room = usize::from(columns.saturating_sub(1));
        let TextPosition { line, byte } = self.cursor;
        let raw = self.lines[line].raw.as_str();
        let earliest = fitting_suffix_start(&raw[..byte], room);
        let last_page = fitting_suffix_start(raw, room);
        let left = self.left.min(last_page).clamp(earliest, byte);
        self.left = raw.floor_char_boundary(left);
        let selection = self.selected_range();
        let mut selected = None;
        let mut at = self.left;
        let mut shown = String::new();
        let mut used = 0;
        for cluster in clusters_forward(&raw[self.left..]) {
            let is_selected = selection.contains(&TextPosition { line, byte: at });
            at += cluster.len();
            let cluster = shown_cluster(cluster);
            let column = used;
            used += width(&cluster);
            if used > usize::from(columns) {
                break;
            }
            shown.push_str(&cluster);
            if is_selected {
                let span = selected.get_or_insert_with(|| EditorSpan {
                    row: 0,
                    column: column as u16,
                    text: String::new(),
                    kind: SpanKind::Selected,
                });
                span.text.push_str(&cluster);
            }
        }
        let before = clusters_forward(&raw[self.left..byte]);
        let cursor: usize = before.map(|cluster| width(&shown_cluster(cluster))).sum();
        EditorView {
            rows: vec![shown],
            cursor: (cursor.min(room) as u16, 0),
            spans: selected.into_iter().collect(),
        }
    }
}

/// The byte from which the end of `text` fits into `columns` columns.
fn fitting_suffix_start(text: &str, columns: usize) -> usize {
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
    use crate::tui::widgets::editor::{Edit, Motion};
    use proptest::prelude::*;

    fn shown(field: &mut Editor, columns: u16) -> (String, u16) {
        let mut view = field.line_view(columns);
        (view.rows.remove(0), view.cursor.0)
    }

    #[test]
    fn korean_text_scrolls_sideways_with_the_cursor() {
        let mut field = Editor::new("서울 날씨와 옷차림");
        assert_eq!(shown(&mut field, 10), ("와 옷차림".to_owned(), 9));
        field.edit(Edit::Move(Motion::Left));
        let expected = ("와 옷차림".to_owned(), 7);
        assert_eq!(shown(&mut field, 10), expected, "only the cursor moves");
        field.edit(Edit::Move(Motion::LineStart));
        assert_eq!(shown(&mut field, 10), ("서울 날씨".to_owned(), 0));
    }

    #[test]
    fn selection_is_marked_where_it_is_visible() {
        let mut field = Editor::new("서울 날씨와 옷차림");
        field.edit(Edit::SelectAll);
        let view = field.line_view(10);
        assert_eq!(
            (view.spans[0].column, &view.spans[0].text),
            (0, &view.rows[0])
        );
        field.edit(Edit::Move(Motion::Right));
        field.edit(Edit::Select(Motion::Left));
        let view = field.line_view(10);
        assert_eq!(
            (view.spans[0].column, view.spans[0].text.as_str()),
            (7, "림")
        );
    }

    proptest! {
        #[test]
        fn cursor_stays_in_the_view(
            text in "[a-c 가漢🇰🇷e\u{301}\u{202e}\t]{0,40}",
            moves in prop::collection::vec(0u8..7, 0..30),
            columns in 0u16..14,
        ) {
            let mut field = Editor::new(&text);
            for step in moves {
                match step {
                    0 => field.edit(Edit::Move(Motion::Left)),
                    1 => field.edit(Edit::Move(Motion::Right)),
                    2 => field.edit(Edit::Move(Motion::LineStart)),
                    3 => field.edit(Edit::Backspace),
                    4 => field.edit(Edit::KillWordLeft),
                    5 => field.edit(Edit::Select(Motion::WordLeft)),
                    _ => { field.insert("나"); true }
                };
                let (shown, cursor) = shown(&mut field, columns);
                prop_assert!(width(&shown) <= usize::from(columns));
                prop_assert!(cursor < columns.max(1));
            }
        }
    }
}
