//! Lexes Markdown source: headings, fences with their own language, list markers, code, link
//! targets. Emphasis stays plain.

use super::Token;
use super::language::Family;
use super::line_cursor::{LineCursor, count_examined, is_blank};
use super::state::{EmbeddedEnd, EmbeddedLanguage, LexMode, LexState};

/// Paints the rest of the line.
pub(super) fn lex(
    state: &mut LexState,
    embedded: &mut Option<EmbeddedLanguage>,
    cursor: &mut LineCursor<'_>,
) {
    let (mark, length) = opening_run(cursor);
    if let Some(inner) = embedded {
        let closes = matches!(inner.end, EmbeddedEnd::Fence { mark: open, count }
            if closes_fence(cursor, mark, length, open, count));
        if closes {
            *embedded = None;
            cursor.paint_rest(Token::Comment);
        } else {
            super::lex_single_language(inner.language.family, &mut inner.state, cursor);
        }
        return;
    }
    if let LexMode::Fence { mark: open, count } = state.mode {
        if closes_fence(cursor, mark, length, open, count) {
            state.mode = LexMode::Start;
            cursor.paint_rest(Token::Comment);
        } else {
            cursor.paint_rest(Token::String);
        }
        return;
    }
    if state.mode == LexMode::Start && length >= 3 {
        open_fence(mark, length, state, embedded, cursor);
        return;
    }
    if state.mode == LexMode::Start {
        line_start(cursor);
    }
    inline(state, cursor);
}

/// The fence character at the start of the line and its count, if any.
fn opening_run(cursor: &LineCursor<'_>) -> (u8, usize) {
    let start = cursor.run_end(cursor.position, is_blank);
    match cursor.byte_at(start) {
        Some(mark @ (b'`' | b'~')) => (mark, cursor.run_end(start, |byte| byte == mark) - start),
        _ => (0, 0),
    }
}

fn closes_fence(cursor: &LineCursor<'_>, mark: u8, length: usize, open: u8, count: u8) -> bool {
    let start = cursor.run_end(cursor.position, is_blank);
    mark == open && length >= usize::from(count) && cursor.next_non_blank(start + length).is_none()
}

fn open_fence(
    mark: u8,
    length: usize,
    state: &mut LexState,
    embedded: &mut Option<EmbeddedLanguage>,
    cursor: &mut LineCursor<'_>,
) {
    let start = cursor.run_end(cursor.position, is_blank) + length;
    let info = &cursor.line[start..cursor.end];
    let count = u8::try_from(length).unwrap_or(u8::MAX);
    let known = super::Highlighter::new(info).map(|inner| inner.language);
    match known {
        Some(language) => {
            let language = match language.family {
                Family::Page(code) => code,
                _ => language,
            };
            *embedded = Some(EmbeddedLanguage {
                language,
                state: LexState::default(),
                end: EmbeddedEnd::Fence { mark, count },
            });
        }
        None => state.mode = LexMode::Fence { mark, count },
    }
    cursor.paint_rest(Token::Comment);
}

/// Paints constructs that occur only at the start of a line.
fn line_start(cursor: &mut LineCursor<'_>) {
    cursor.paint_blanks();
    let hashes = cursor.run_end(cursor.position, |byte| byte == b'#') - cursor.position;
    let behind = cursor.byte_at(cursor.position + hashes);
    if (1..=6).contains(&hashes) && behind.is_none_or(is_blank) {
        cursor.paint_rest(Token::Heading);
        return;
    }
    while cursor.peek() == Some(b'>') {
        cursor.paint_bytes(1, Token::Comment);
        cursor.paint_blanks();
    }
    let digits = cursor.run_end(cursor.position, |byte| byte.is_ascii_digit());
    let mark = match cursor.byte_at(digits) {
        Some(b'-' | b'*' | b'+') if digits == cursor.position => digits + 1,
        Some(b'.' | b')') if digits > cursor.position => digits + 1,
        _ => return,
    };
    if cursor.byte_at(mark).is_none_or(is_blank) {
        cursor.paint_to(mark, Token::Keyword);
    }
}

fn inline(state: &mut LexState, cursor: &mut LineCursor<'_>) {
    // Whatever is unclosed here stays unclosed on this line.
    let mut unclosed = false;
    while let Some(byte) = cursor.peek() {
        count_examined(1);
        if state.mode == LexMode::MarkupComment {
            let end = cursor.find(cursor.position, "-->").map(|at| at + 3);
            cursor.paint_to(end.unwrap_or(cursor.end), Token::Comment);
            state.mode = if end.is_some() {
                LexMode::Start
            } else {
                state.mode
            };
            continue;
        }
        match byte {
            b'`' if !unclosed => {
                let end = code_span_end(cursor);
                unclosed = end.is_none();
                cursor.paint_to(end.unwrap_or(cursor.position), Token::String);
            }
            b'\\' => cursor.paint_to(cursor.char_end(cursor.position + 1), Token::Plain),
            b']' if cursor.starts_with("](") => {
                cursor.paint_bytes(2, Token::Plain);
                let end = cursor.run_end(cursor.position, |byte| byte != b')' && !is_blank(byte));
                cursor.paint_to(end, Token::Key);
            }
            b'<' if cursor.starts_with("<!--") => {
                cursor.paint_bytes(4, Token::Comment);
                state.mode = LexMode::MarkupComment;
            }
            _ => {
                let sign = |byte: u8| matches!(byte, b'`' | b'\\' | b']' | b'<');
                cursor.paint_to(
                    cursor.run_end(cursor.position + 1, |byte| !sign(byte)),
                    Token::Plain,
                );
            }
        }
    }
}

/// The end of the code span that opens here, closed by as many backticks.
fn code_span_end(cursor: &LineCursor<'_>) -> Option<usize> {
    let open = cursor.run_end(cursor.position, |byte| byte == b'`');
    let mut at = open;
    while at < cursor.end {
        let start = cursor.run_end(at, |byte| byte != b'`');
        let end = cursor.run_end(start, |byte| byte == b'`');
        if end > start && end - start == open - cursor.position {
            return Some(end);
        }
        at = end;
    }
    None
}
