//! Selecting with the mouse: by cells, words and lines, at the edge, and while text streams in.

use super::*;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

const LEFT: MouseButton = MouseButton::Left;

impl ChatHarness {
    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> &mut Self {
        let modifiers = KeyModifiers::NONE;
        self.input(UiInput::Mouse(MouseEvent {
            kind,
            column,
            row,
            modifiers,
        }))
    }

    fn drag(&mut self, from: (u16, u16), to: (u16, u16)) -> &mut Self {
        self.mouse(MouseEventKind::Down(LEFT), from.0, from.1);
        self.mouse(MouseEventKind::Drag(LEFT), to.0, to.1);
        self.mouse(MouseEventKind::Up(LEFT), to.0, to.1)
    }

    fn click(&mut self, at: (u16, u16)) -> &mut Self {
        self.mouse(MouseEventKind::Down(LEFT), at.0, at.1);
        self.mouse(MouseEventKind::Up(LEFT), at.0, at.1)
    }

    /// The column and row at which a text starts on the screen.
    fn find(&mut self, text: &str) -> (u16, u16) {
        let screen = self.screen();
        let (y, line) = screen
            .lines()
            .enumerate()
            .find(|(_, line)| line.contains(text))
            .unwrap_or_else(|| panic!("{text} is not in\n{screen}"));
        // The second cell of a wide cluster is a blank.
        let x = line[..line.find(text).expect("found")].chars().count();
        (x as u16, y as u16)
    }

    fn buffer(&mut self) -> Buffer {
        let (width, height) = self.model.screen.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        crate::tui::view::paint(&mut self.model, &mut buffer);
        buffer
    }

    /// The highlighted text, row by row, without blanks at the end of a row.
    fn highlighted(&mut self) -> String {
        let buffer = self.buffer();
        let (width, height) = self.model.screen.size;
        let mut rows = Vec::new();
        for y in 0..height {
            let mut row = String::new();
            let mut x = 0;
            let mut is_marked = false;
            while x < width {
                let cell = &buffer[(x, y)];
                let columns = crate::text::grapheme::cluster_width(cell.symbol()).max(1);
                if cell.modifier.contains(Modifier::REVERSED) {
                    row.push_str(cell.symbol());
                    is_marked = true;
                }
                x += columns as u16;
            }
            if is_marked || !rows.is_empty() {
                rows.push(row.trim_end().to_owned());
            }
        }
        rows.join("\n").trim_end().to_owned()
    }
}

const ANSWER: &str = "서울의 **날씨는** 맑음, see https://a.b/c.\n\n- one\n- two\n\n\
    ```sh\nls -l | wc\n```\n\nA paragraph that is long enough to be wrapped at the edge of a \
    screen with eighty columns. End.";

fn with_answer() -> ChatHarness {
    let mut chat = chat();
    chat.keys("one<Enter>").model_answers(ANSWER).wait(2_000);
    chat.sent.clear();
    chat
}

#[test]
fn drag_selects_whole_clusters_and_copies_on_release() {
    let mut chat = with_answer();
    let (x, y) = chat.find("서 울 의");
    // From the right half of the first syllable to the left half of the third.
    chat.drag((x + 1, y), (x + 4, y));
    assert_eq!(chat.copied().as_deref(), Some("서울의"));
    assert_eq!(chat.highlighted(), "서울의");
    assert_eq!(chat.model.panes.focus, Focus::Message, "typing goes on");
    chat.drag((x + 4, y), (x, y));
    assert_eq!(chat.copied().as_deref(), Some("서울의"), "backwards");
    chat.keys("x");
    assert_eq!(
        (chat.highlighted().as_str(), chat.message().as_str()),
        ("", "x")
    );
}

#[test]
fn blank_rows_and_padding_around_the_text_are_not_copied() {
    let mut chat = with_answer();
    let (_, end) = chat.find("eighty columns. End.");
    let (x, _) = chat.find("A paragraph");
    chat.drag((x, end - 1), (79, end + 2));
    let copied = chat.copied().expect("a copy");
    assert!(copied.ends_with("End."), "{copied:?}");
    let (_, y) = chat.find("• one");
    chat.drag((0, y - 1), (79, y + 2));
    assert_eq!(chat.copied().as_deref(), Some("- one\n- two"));
}

#[test]
fn a_code_block_is_copied_as_shown_without_its_label() {
    let mut chat = with_answer();
    let at = chat.find("ls -l");
    chat.click(at).keys("Y");
    assert_eq!(chat.copied().as_deref(), Some("ls -l | wc"));
}

#[test]
fn whole_lines_are_copied_as_source_without_bars_and_wraps() {
    let mut chat = with_answer();
    let (x, y) = chat.find("• one");
    chat.drag((x, y), (79, y + 1));
    assert_eq!(chat.copied().as_deref(), Some("- one\n- two"));
    let (_, y) = chat.find("ls -l");
    chat.drag((0, y), (79, y));
    assert_eq!(chat.copied().as_deref(), Some("ls -l | wc"));
    let (_, y) = chat.find("A paragraph");
    chat.drag((0, y), (79, y + 1));
    let paragraph = ANSWER.rsplit("\n\n").next();
    assert_eq!(chat.copied().as_deref(), paragraph);
}

#[test]
fn double_click_takes_a_word_and_triple_click_a_line() {
    let mut chat = with_answer();
    let (x, y) = chat.find("날 씨 는");
    chat.click((x + 2, y)).wait(100).click((x + 2, y));
    assert_eq!(chat.copied().as_deref(), Some("날씨는"));
    chat.wait(100).click((x + 2, y));
    let line = "서울의 **날씨는** 맑음, see https://a.b/c.";
    assert_eq!(chat.copied().as_deref(), Some(line));
    let (x, y) = chat.find("https");
    chat.wait(1_000).click((x + 9, y)).click((x + 9, y));
    assert_eq!(chat.copied().as_deref(), Some("https://a.b/c"));
    let (x, y) = chat.find("paragraph");
    chat.wait(1_000).click((x, y)).click((x, y)).click((x, y));
    assert_eq!(
        chat.copied().as_deref(),
        ANSWER.rsplit("\n\n").next(),
        "joined"
    );
}

#[test]
fn a_click_selects_the_block_under_the_pointer() {
    let mut chat = with_answer();
    let at = chat.find("ls -l");
    chat.click(at).keys("y");
    assert_eq!(chat.copied().as_deref(), Some("ls -l | wc"));
}

fn with_lines(count: usize) -> ChatHarness {
    let mut chat = chat();
    let lines: Vec<String> = (0..count).map(|line| format!("line {line}")).collect();
    chat.keys("one<Enter>")
        .model_answers(&lines.join("\n"))
        .wait(2_000);
    chat.sent.clear();
    chat
}

#[test]
fn holding_the_button_beyond_the_edge_scrolls_on() {
    let mut chat = with_lines(100);
    let (x, y) = chat.find("line 95");
    chat.mouse(MouseEventKind::Down(LEFT), x + 6, y);
    chat.mouse(MouseEventKind::Drag(LEFT), x, 0);
    assert!(
        chat.model.next_wake().is_some(),
        "the next step is scheduled"
    );
    for _ in 0..40 {
        chat.wait(50);
    }
    chat.mouse(MouseEventKind::Up(LEFT), x, 0);
    let copied = chat.copied().expect("a copy");
    let lines: Vec<&str> = copied.lines().collect();
    assert!(lines.len() > 50, "{}", lines.len());
    let last = lines.last().expect("a line");
    assert_eq!(*last, "line 95");
    let first: usize = lines[0]
        .trim_start_matches("line ")
        .parse()
        .expect("a number");
    assert_eq!(lines.len(), 96 - first, "no line is missing");
    assert_eq!(chat.model.chat.mouse.scroll_due_at(), None);
}

#[test]
fn selection_stays_on_its_text_while_text_streams_in() {
    let mut chat = with_lines(30);
    chat.keys("two<Enter>").model_says("first words");
    let (x, y) = chat.find("line 29");
    chat.mouse(MouseEventKind::Down(LEFT), x, y);
    chat.mouse(MouseEventKind::Drag(LEFT), x + 6, y);
    chat.model_says("\n\nmore\n\nand more\n\n```\ncode\n");
    assert_eq!(
        chat.find("line 29"),
        (x, y),
        "nothing moves under the pointer"
    );
    assert_eq!(chat.highlighted(), "line 29");
    chat.mouse(MouseEventKind::Up(LEFT), x + 6, y);
    assert_eq!(chat.copied().as_deref(), Some("line 29"));
    chat.model_says("\nlast");
    assert_ne!(chat.find("line 29"), (x, y), "the view follows again");
    assert_eq!(chat.highlighted(), "line 29");
    chat.size(60, 24);
    assert_eq!(chat.highlighted(), "line 29", "after a resize");
}

#[test]
fn selection_in_growing_text_stays_on_its_words() {
    let mut chat = chat();
    chat.keys("one<Enter>")
        .model_says("Some **bold words and | more");
    let (x, y) = chat.find("words");
    chat.drag((x, y), (x + 4, y));
    assert_eq!(chat.highlighted(), "words");
    chat.model_says(" text** that goes on and on until the row is full and wraps.\n\nNext.");
    assert_eq!(chat.highlighted(), "words");
}

fn random_answer() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "word ",
        "한국어 ",
        "👩‍👩‍👧 ",
        "**bold** ",
        "`code` ",
        "\n\n",
        "\n- item ",
        "\n> quote ",
        "\n1. ",
        "e\u{301}",
        "\n\n```rust\nlet x = \"긴 줄\";\n    y();\n```\n\n",
        "\n\n| a | 표 |\n|---|---|\n| 1 | 2 |\n\n",
        "a long line of words that has to be wrapped because it does not fit ",
        "漢字かな",
    ]);
    prop::collection::vec(part, 1..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn text_copied_as_shown_equals_the_highlighted_text(
        answer in random_answer(),
        width in 24u16..90,
        from in (0u16..90, 0u16..24),
        to in (0u16..90, 0u16..24),
    ) {
        let mut chat = chat();
        chat.size(width, 24).keys("질문<Enter>").model_answers(&answer).wait(2_000);
        chat.drag(from, to);
        // On a narrow screen, the notice takes rows of the chat.
        chat.model.notices.clear();
        let shown = selection::with_pane(&mut chat.model, Focus::Chat, |view| view.selected_as_shown());
        let highlighted = chat.highlighted();
        let shown = shown.unwrap_or_default();
        // The selection of an empty row at either end has no cells.
        prop_assert_eq!(shown.trim_end().trim_start_matches('\n'), highlighted.trim_start_matches('\n'));
    }
}
