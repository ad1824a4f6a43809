//! Reads Markdown as a source: headings, fences with their own language, list
//! marks, code, the targets of links. Emphasis stays plain.

use super::Token;
use super::pen::{Pen, is_blank, looked};
use super::state::{Guest, GuestEnd, Mode, State};
use super::table::Family;

/// Paints what `pen` has left of the line.
pub(super) fn lex(state: &mut State, guest: &mut Option<Guest>, pen: &mut Pen<'_>) {
    let (mark, length) = fence(pen);
    if let Some(inner) = guest {
        let closes = matches!(inner.end, GuestEnd::Fence { mark: open, count }
            if closes(pen, mark, length, open, count));
        if closes {
            *guest = None;
            pen.all(Token::Comment);
        } else {
            super::plain_family(inner.language.family, &mut inner.state, pen);
        }
        return;
    }
    if let Mode::Fence { mark: open, count } = state.mode {
        if closes(pen, mark, length, open, count) {
            state.mode = Mode::Start;
            pen.all(Token::Comment);
        } else {
            pen.all(Token::Text);
        }
        return;
    }
    if state.mode == Mode::Start && length >= 3 {
        open(mark, length, state, guest, pen);
        return;
    }
    if state.mode == Mode::Start {
        start(pen);
    }
    inline(state, pen);
}

/// The sign that the line starts with and how often, where it may be a fence.
fn fence(pen: &Pen<'_>) -> (u8, usize) {
    let start = pen.run(pen.at, is_blank);
    match pen.byte_at(start) {
        Some(mark @ (b'`' | b'~')) => (mark, pen.run(start, |byte| byte == mark) - start),
        _ => (0, 0),
    }
}

fn closes(pen: &Pen<'_>, mark: u8, length: usize, open: u8, count: u8) -> bool {
    let start = pen.run(pen.at, is_blank);
    mark == open && length >= usize::from(count) && pen.next_solid(start + length).is_none()
}

fn open(mark: u8, length: usize, state: &mut State, guest: &mut Option<Guest>, pen: &mut Pen<'_>) {
    let start = pen.run(pen.at, is_blank) + length;
    let info = &pen.line[start..pen.end];
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
    pen.all(Token::Comment);
}

/// What only the start of a line can be.
fn start(pen: &mut Pen<'_>) {
    pen.blanks();
    let hashes = pen.run(pen.at, |byte| byte == b'#') - pen.at;
    let behind = pen.byte_at(pen.at + hashes);
    if (1..=6).contains(&hashes) && behind.is_none_or(is_blank) {
        pen.all(Token::Heading);
        return;
    }
    while pen.peek() == Some(b'>') {
        pen.take(1, Token::Comment);
        pen.blanks();
    }
    let digits = pen.run(pen.at, |byte| byte.is_ascii_digit());
    let mark = match pen.byte_at(digits) {
        Some(b'-' | b'*' | b'+') if digits == pen.at => digits + 1,
        Some(b'.' | b')') if digits > pen.at => digits + 1,
        _ => return,
    };
    if pen.byte_at(mark).is_none_or(is_blank) {
        pen.to(mark, Token::Keyword);
    }
}

fn inline(state: &mut State, pen: &mut Pen<'_>) {
    // What did not close once on this line will not close later.
    let mut unclosed = false;
    while let Some(byte) = pen.peek() {
        looked(1);
        if state.mode == Mode::MarkupComment {
            let end = pen.find(pen.at, "-->").map(|at| at + 3);
            pen.to(end.unwrap_or(pen.end), Token::Comment);
            state.mode = if end.is_some() {
                Mode::Start
            } else {
                state.mode
            };
            continue;
        }
        match byte {
            b'`' if !unclosed => {
                let end = code_end(pen);
                unclosed = end.is_none();
                pen.to(end.unwrap_or(pen.at), Token::Text);
            }
            b'\\' => pen.to(pen.after_char(pen.at + 1), Token::Plain),
            b']' if pen.starts_with("](") => {
                pen.take(2, Token::Plain);
                let end = pen.run(pen.at, |byte| byte != b')' && !is_blank(byte));
                pen.to(end, Token::Key);
            }
            b'<' if pen.starts_with("<!--") => {
                pen.take(4, Token::Comment);
                state.mode = Mode::MarkupComment;
            }
            _ => {
                let sign = |byte: u8| matches!(byte, b'`' | b'\\' | b']' | b'<');
                pen.to(pen.run(pen.at + 1, |byte| !sign(byte)), Token::Plain);
            }
        }
    }
}

/// The end of the code that opens here: as many backticks as it opened with.
fn code_end(pen: &Pen<'_>) -> Option<usize> {
    let open = pen.run(pen.at, |byte| byte == b'`');
    let mut at = open;
    while at < pen.end {
        let start = pen.run(at, |byte| byte != b'`');
        let end = pen.run(start, |byte| byte == b'`');
        if end > start && end - start == open - pen.at {
            return Some(end);
        }
        at = end;
    }
    None
}
