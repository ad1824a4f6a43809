//! Lexes Markdown source: headings, fences with their own language, list markers, code and link
//! targets. Emphasis is plain.

use super::Token;
use super::language::LexerKind;
use super::line_cursor::{LineCursor, count_examined, is_blank};
use super::state::{EmbeddedEnd, EmbeddedLanguage, LexMode, LexState};

pub(super) fn lex(
    state: &mut LexState,
    embedded: &mut Option<EmbeddedLanguage>,
    cursor: &mut LineCursor<'_>,
) {
    let (delimiter, length) = opening_run(cursor);
    if let Some(inner) = embedded {
        let is_closed = matches!(inner.end, EmbeddedEnd::Fence { delimiter: open_delimiter, count }
            if closes_fence(cursor, delimiter, length, open_delimiter, count));
        if is_closed {
            *embedded = None;
            cursor.paint_rest(Token::Comment);
        } else {
            super::lex_single_language(inner.language.lexer, &mut inner.state, cursor);
        }
        return;
    }
    if let LexMode::Fence {
        delimiter: open_delimiter,
        count,
    } = state.mode
    {
        if closes_fence(cursor, delimiter, length, open_delimiter, count) {
            state.mode = LexMode::Start;
            cursor.paint_rest(Token::Comment);
        } else {
            cursor.paint_rest(Token::String);
        }
        return;
    }
    if state.mode == LexMode::Start && length >= 3 {
        open_fence(delimiter, length, state, embedded, cursor);
        return;
    }
    if state.mode == LexMode::Start {
        lex_line_start(cursor);
    }
    lex_inline(state, cursor);
}

/// The run of fence characters at the start of the line: the character and its count, or zeros.
fn opening_run(cursor: &LineCursor<'_>) -> (u8, usize) {
    let start = cursor.run_end(cursor.position, is_blank);
    match cursor.byte_at(start) {
        Some(delimiter @ (b'`' | b'~')) => (
            delimiter,
            cursor.run_end(start, |byte| byte == delimiter) - start,
        ),
        _ => (0, 0),
    }
}

fn closes_fence(
    cursor: &LineCursor<'_>,
    delimiter: u8,
    length: usize,
    open_delimiter: u8,
    count: u8,
) -> bool {
    let start = cursor.run_end(cursor.position, is_blank);
    delimiter == open_delimiter
        && length >= usize::from(count)
        && cursor.next_non_blank(start + length).is_none()
}

fn open_fence(
    delimiter: u8,
    length: usize,
    state: &mut LexState,
    embedded: &mut Option<EmbeddedLanguage>,
    cursor: &mut LineCursor<'_>,
) {
    let start = cursor.run_end(cursor.position, is_blank) + length;
    let info = &cursor.line[start..cursor.end];
    let count = u8::try_from(length).unwrap_or(u8::MAX);
    let language = super::Highlighter::new(info).map(|highlighter| highlighter.language);
    match language {
        Some(language) => {
            let language = match language.lexer {
                LexerKind::Page(page_language) => page_language,
                _ => language,
            };
            *embedded = Some(EmbeddedLanguage {
                language,
                state: LexState::default(),
                end: EmbeddedEnd::Fence { delimiter, count },
            });
        }
        None => state.mode = LexMode::Fence { delimiter, count },
    }
    cursor.paint_rest(Token::Comment);
}

fn lex_line_start(cursor: &mut LineCursor<'_>) {
    cursor.paint_blanks();
    let hashes = cursor.run_end(cursor.position, |byte| byte == b'#') - cursor.position;
    let after_hashes = cursor.byte_at(cursor.position + hashes);
    if (1..=6).contains(&hashes) && after_hashes.is_none_or(is_blank) {
        cursor.paint_rest(Token::Heading);
        return;
    }
    while cursor.peek() == Some(b'>') {
        cursor.paint_bytes(1, Token::Comment);
        cursor.paint_blanks();
    }
    let digits_end = cursor.run_end(cursor.position, |byte| byte.is_ascii_digit());
    let marker_end = match cursor.byte_at(digits_end) {
        Some(b'-' | b'*' | b'+') if digits_end == cursor.position => digits_end + 1,
        Some(b'.' | b')') if digits_end > cursor.position => digits_end + 1,
        _ => return,
    };
    if cursor.byte_at(marker_end).is_none_or(is_blank) {
        cursor.paint_to(marker_end, Token::Keyword);
    }
}

fn lex_inline(state: &mut LexState, cursor: &mut LineCursor<'_>) {
    // Once a code span has no end, this line is not searched for other code spans.
    let mut has_unclosed_span = false;
    while let Some(byte) = cursor.peek() {
        count_examined(1);
        if state.mode == LexMode::MarkupComment {
            let end = cursor.find(cursor.position, "-->").map(|start| start + 3);
            cursor.paint_to(end.unwrap_or(cursor.end), Token::Comment);
            state.mode = if end.is_some() {
                LexMode::Start
            } else {
                state.mode
            };
            continue;
        }
        match byte {
            b'`' if !has_unclosed_span => {
                let end = code_span_end(cursor);
                has_unclosed_span = end.is_none();
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
                let is_plain = |byte: u8| !matches!(byte, b'`' | b'\\' | b']' | b'<');
                let end = cursor.run_end(cursor.position + 1, is_plain);
                cursor.paint_to(end, Token::Plain);
            }
        }
    }
}

/// The end of the code span that opens here and is closed by the same number of backticks.
fn code_span_end(cursor: &LineCursor<'_>) -> Option<usize> {
    let opening_end = cursor.run_end(cursor.position, |byte| byte == b'`');
    let mut position = opening_end;
    while position < cursor.end {
        let start = cursor.run_end(position, |byte| byte != b'`');
        let end = cursor.run_end(start, |byte| byte == b'`');
        if end > start && end - start == opening_end - cursor.position {
            return Some(end);
        }
        position = end;
    }
    None
}
