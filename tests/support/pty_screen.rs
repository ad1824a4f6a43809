//! Assertions about an emulated screen and the terminal modes.

use portable_pty::MasterPty;
use std::num::NonZeroU16;
use vt100::{MouseProtocolMode, Screen};

/// Whether the screen contains the text, in one row or wrapped by the terminal.
pub fn contains_text(screen: &Screen, text: &str) -> bool {
    screen.contents().contains(text)
}

/// The row and the column at which this text starts. Only finds text within one row.
pub fn find_text(screen: &Screen, text: &str) -> Option<(u16, u16)> {
    let (_, columns) = screen.size();
    let rows = screen.rows(0, columns.get()).enumerate();
    for (row, line) in rows {
        let Some(text_start) = line.find(text) else {
            continue;
        };
        let row = u16::try_from(row).expect("a row");
        let mut byte_offset = 0;
        for column in 0..columns.get() {
            if byte_offset == text_start {
                return Some((row, column));
            }
            let cell = screen.cell(row, column).expect("the cell is on the screen");
            // An empty cell counts as a space.
            byte_offset += match cell.contents() {
                "" if cell.is_wide_continuation() => 0,
                "" => 1,
                text => text.len(),
            };
        }
    }
    None
}

/// The screen with a border, for failure messages.
pub fn screen_with_border(screen: &Screen) -> String {
    let (_, columns) = screen.size();
    let border = "-".repeat(usize::from(columns.get()));
    let (row, column) = screen.cursor_position();
    let rows: Vec<String> = screen
        .rows(0, columns.get())
        .map(|line| format!("|{line}"))
        .collect();
    format!(
        "+{border}\n{}\n+{border}\ncursor at row {row}, column {column}",
        rows.join("\n")
    )
}

/// Asserts that the main screen is back and that no terminal mode is left on.
pub fn assert_restored(screen: &Screen, raw: &[u8]) {
    assert!(
        !screen.alternate_screen(),
        "the alternate screen is still active"
    );
    assert!(!screen.hide_cursor(), "the cursor is still hidden");
    assert!(!screen.bracketed_paste(), "bracketed paste is still on");
    assert_eq!(screen.mouse_protocol_mode(), MouseProtocolMode::None);
    for mode in [1000, 1002, 1003, 1004, 1006, 1015, 2004, 2026] {
        assert!(!is_mode_on(raw, mode), "mode {mode} is still on");
    }
    assert!(is_mode_on(raw, 7), "line wrapping is still off");
    let (pushed, popped) = (
        count_keyboard_mode_changes(raw, b'>'),
        count_keyboard_mode_changes(raw, b'<'),
    );
    assert_eq!(
        pushed, popped,
        "enhanced keys were not disabled as often as they were enabled"
    );
}

/// Whether a mode was last turned on rather than off.
fn is_mode_on(raw: &[u8], mode: u16) -> bool {
    let last_index = |final_char: char| {
        let sequence = format!("\x1b[?{mode}{final_char}");
        let mut windows = raw.windows(sequence.len());
        windows.rposition(|window| window == sequence.as_bytes())
    };
    last_index('h') > last_index('l')
}

/// How often enhanced keys were enabled (`CSI > 1 u`) or disabled (`CSI < 1 u`).
pub fn count_keyboard_mode_changes(raw: &[u8], direction: u8) -> usize {
    let windows = raw.windows(5);
    let is_sequence = |window: &&[u8]| {
        window.starts_with(&[0x1b, b'[', direction])
            && window[3].is_ascii_digit()
            && window[4] == b'u'
    };
    windows.filter(is_sequence).count()
}

/// The size of the emulator, which needs at least one cell even if the program sees none.
pub(super) fn cells_of(columns: u16, rows: u16) -> (NonZeroU16, NonZeroU16) {
    let at_least_one = |cells: u16| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
    (at_least_one(rows), at_least_one(columns))
}

/// Whether the first visible row of the message contains text.
pub(super) fn has_message(screen: &Screen) -> bool {
    let text = |row: &str| row.trim_start().strip_prefix('›').map(str::to_owned);
    let contents = screen.contents();
    let mut messages = contents.lines().filter_map(text);
    messages.any(|text| !text.trim().is_empty())
}

/// The terminal settings (cooked or raw, echo, special keys) in comparable form.
pub fn settings(master: &dyn MasterPty) -> String {
    format!(
        "{:?}",
        master.get_termios().expect("a terminal has settings")
    )
}
