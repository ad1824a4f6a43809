//! Assertions about an emulated screen and the terminal modes.

use vt100::{MouseProtocolMode, Screen};

/// Whether the screen contains the text, in one row or wrapped.
pub fn contains_text(screen: &Screen, text: &str) -> bool {
    screen.contents().contains(text)
}

/// The row that contains this text, and its first column.
pub fn find_text(screen: &Screen, text: &str) -> Option<(u16, u16)> {
    let (_, columns) = screen.size();
    let rows = screen.rows(0, columns.get()).enumerate();
    for (row, line) in rows {
        let Some(byte) = line.find(text) else {
            continue;
        };
        let row = u16::try_from(row).expect("a row");
        let mut passed = 0;
        for column in 0..columns.get() {
            if passed == byte {
                return Some((row, column));
            }
            let cell = screen.cell(row, column).expect("inside");
            // An empty cell counts as a space.
            passed += match cell.contents() {
                "" if cell.is_wide_continuation() => 0,
                "" => 1,
                text => text.len(),
            };
        }
    }
    None
}

/// The framed screen for failure messages.
pub fn screen_with_border(screen: &Screen) -> String {
    let (_, columns) = screen.size();
    let edge = "-".repeat(usize::from(columns.get()));
    let (row, column) = screen.cursor_position();
    let rows: Vec<String> = screen
        .rows(0, columns.get())
        .map(|line| format!("|{line}"))
        .collect();
    format!(
        "+{edge}\n{}\n+{edge}\ncursor at row {row}, column {column}",
        rows.join("\n")
    )
}

/// Asserts that the main screen is back and that no terminal mode is left on.
pub fn assert_restored(screen: &Screen, raw: &[u8]) {
    assert!(!screen.alternate_screen(), "the main screen is active");
    assert!(!screen.hide_cursor(), "the cursor is visible");
    assert!(!screen.bracketed_paste(), "pastes are plain again");
    assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
    for mode in [1000, 1002, 1003, 1004, 1006, 1015, 2004, 2026] {
        assert!(!is_on(raw, mode), "mode {mode} is off");
    }
    assert!(is_on(raw, 7), "lines wrap at the edge again");
    let (pushed, popped) = (key_modes(raw, b'>'), key_modes(raw, b'<'));
    assert_eq!(
        pushed, popped,
        "enhanced keys are disabled as often as they were enabled"
    );
}

fn is_on(raw: &[u8], mode: u16) -> bool {
    let last = |end: char| {
        let sequence = format!("\x1b[?{mode}{end}");
        let mut windows = raw.windows(sequence.len());
        windows.rposition(|window| window == sequence.as_bytes())
    };
    last('h') > last('l')
}

/// How often enhanced keys were enabled (`CSI > 1 u`) or disabled (`CSI < 1 u`).
pub fn key_modes(raw: &[u8], direction: u8) -> usize {
    let windows = raw.windows(5);
    let is_one = |window: &&[u8]| {
        window.starts_with(&[0x1b, b'[', direction])
            && window[3].is_ascii_digit()
            && window[4] == b'u'
    };
    windows.filter(is_one).count()
}
