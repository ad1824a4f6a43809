//! Reads Markdown as a source: headings, fences with their own language, list
//! marks, code, the targets of links. Emphasis stays plain.

use super::Token;
use super::language::Family;
use super::line_cursor::{LineCursor, is_blank, looked};
use super::state::{Guest, GuestEnd, Mode, State};

/// Paints what `pen` has left of the line.
pub(super) fn lex(state: &mut State, guest: &mut Option<Guest>, cursor: &mut LineCursor<'_>) {
    let (mark, length) = fence(cursor);
    if let Some(inner) = guest {
        let closes = matches!(inner.end, GuestEnd::Fence { mark: open, count }
            if closes(cursor, mark, length, open, count));
        if closes {
            *guest = None;
            cursor.all(Token::Comment);
        } else {
            super::plain_family(inner.language.family, &mut inner.state, cursor);
        }
        return;
    }
    if let Mode::Fence { mark: open, count } = state.mode {
        if closes(cursor, mark, length, open, count) {
            state.mode = Mode::Start;
            cursor.all(Token::Comment);
        } else {
            cursor.all(Token::Text);
        }
        return;
    }
    if state.mode == Mode::Start && length >= 3 {
        open(mark, length, state, guest, cursor);
        return;
    }
    if state.mode == Mode::Start {
        start(cursor);
    }
    inline(state, cursor);
}

/// The sign that the line starts with and how often, where it may be a fence.
fn fence(cursor: &LineCursor<'_>) -> (u8, usize) {
    let start = cursor.run(cursor.at, is_blank);
    match cursor.byte_at(start) {
        Some(mark @ (b'`' | b'~')) => (mark, cursor.run(start, |byte| byte == mark) - start),
        _ => (0, 0),
    }
}

fn closes(cursor: &LineCursor<'_>, mark: u8, length: usize, open: u8, count: u8) -> bool {
    let start = cursor.run(cursor.at, is_blank);
    mark == open && length >= usize::from(count) && cursor.next_solid(start + length).is_none()
}

fn open(
    mark: u8,
    length: usize,
    state: &mut State,
    guest: &mut Option<Guest>,
    cursor: &mut LineCursor<'_>,
) {
    let start = cursor.run(cursor.at, is_blank) + length;
    let info = &cursor.line[start..cursor.end];
    let count = u8::try_from(length).unwrap_or(u8::MAX);
    let known = super::Highlighter::new(info).map(|inner| inner.language);
    match known {
        Some(language) => {
            let language = match language.family {
                Family::Page(code) => code,
                _ => language,
            };
            *guest = Some(Guest {
                language,
                state: State::default(),
                end: GuestEnd::Fence { mark, count },
            });
        }
        None => state.mode = Mode::Fence { mark, count },
    }
    cursor.all(Token::Comment);
}

/// What only the start of a line can be.
fn start(cursor: &mut LineCursor<'_>) {
    cursor.blanks();
    let hashes = cursor.run(cursor.at, |byte| byte == b'#') - cursor.at;
    let behind = cursor.byte_at(cursor.at + hashes);
    if (1..=6).contains(&hashes) && behind.is_none_or(is_blank) {
        cursor.all(Token::Heading);
        return;
    }
    while cursor.peek() == Some(b'>') {
        cursor.take(1, Token::Comment);
        cursor.blanks();
    }
    let digits = cursor.run(cursor.at, |byte| byte.is_ascii_digit());
    let mark = match cursor.byte_at(digits) {
        Some(b'-' | b'*' | b'+') if digits == cursor.at => digits + 1,
        Some(b'.' | b')') if digits > cursor.at => digits + 1,
        _ => return,
    };
    if cursor.byte_at(mark).is_none_or(is_blank) {
        cursor.to(mark, Token::Keyword);
    }
}

fn inline(state: &mut State, cursor: &mut LineCursor<'_>) {
    // What did not close once on this line will not close later.
    let mut unclosed = false;
    while let Some(byte) = cursor.peek() {
        looked(1);
        if state.mode == Mode::MarkupComment {
            let end = cursor.find(cursor.at, "-->").map(|at| at + 3);
            cursor.to(end.unwrap_or(cursor.end), Token::Comment);
            state.mode = if end.is_some() {
                Mode::Start
            } else {
                state.mode
            };
            continue;
        }
        match byte {
            b'`' if !unclosed => {
                let end = code_end(cursor);
                unclosed = end.is_none();
                cursor.to(end.unwrap_or(cursor.at), Token::Text);
            }
            b'\\' => cursor.to(cursor.after_char(cursor.at + 1), Token::Plain),
            b']' if cursor.starts_with("](") => {
                cursor.take(2, Token::Plain);
                let end = cursor.run(cursor.at, |byte| byte != b')' && !is_blank(byte));
                cursor.to(end, Token::Key);
            }
            b'<' if cursor.starts_with("<!--") => {
                cursor.take(4, Token::Comment);
                state.mode = Mode::MarkupComment;
            }
            _ => {
                let sign = |byte: u8| matches!(byte, b'`' | b'\\' | b']' | b'<');
                cursor.to(cursor.run(cursor.at + 1, |byte| !sign(byte)), Token::Plain);
            }
        }
    }
}

/// The end of the code that opens here: as many backticks as it opened with.
fn code_end(cursor: &LineCursor<'_>) -> Option<usize> {
    let open = cursor.run(cursor.at, |byte| byte == b'`');
    let mut at = open;
    while at < cursor.end {
        let start = cursor.run(at, |byte| byte != b'`');
        let end = cursor.run(start, |byte| byte == b'`');
        if end > start && end - start == open - cursor.at {
            return Some(end);
        }
        at = end;
    }
    None
}
