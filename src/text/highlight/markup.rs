//! Lexes markup: tags, attributes, comments. Scripts, styles and page code are lexed by their own
//! language up to their end tag, as in a browser.

use super::Token;
use super::language::Language;
use super::languages::{CSS, JAVASCRIPT};
use super::line_cursor::{LineCursor, count_examined, is_blank, is_word, is_word_start};
use super::state::{EmbeddedEnd, EmbeddedLanguage, LexMode, LexState, TagContent};

/// Paints the rest of the line. `code` is the language after `<?`.
pub(super) fn lex(
    code: Option<&'static Language>,
    state: &mut LexState,
    embedded: &mut Option<EmbeddedLanguage>,
    cursor: &mut LineCursor<'_>,
) {
    loop {
        if !lex_embedded(embedded, cursor) {
            return;
        }
        let Some(byte) = cursor.peek() else {
            return;
        };
        count_examined(1);
        if let Some(language) = code
            && cursor.starts_with("<?")
        {
            // Code may start anywhere in a page, even in a tag or a value.
            cursor.paint_bytes(2, Token::Keyword);
            let word = if cursor.starts_with("php") { 3 } else { 0 };
            let word = if cursor.starts_with("=") { 1 } else { word };
            cursor.paint_bytes(word, Token::Keyword);
            *embedded = embed(language, EmbeddedEnd::Page);
            continue;
        }
        match state.mode {
            LexMode::MarkupComment => paint_through("-->", Token::Comment, state, cursor),
            LexMode::Cdata => paint_through("]]>", Token::String, state, cursor),
            LexMode::Tag { raw } => tag(byte, raw, state, embedded, cursor),
            LexMode::Attribute { quote, raw } => {
                attribute(quote, raw, code.is_some(), state, cursor)
            }
            _ => text(byte, state, cursor),
        }
    }
}

fn embed(language: &'static Language, end: EmbeddedEnd) -> Option<EmbeddedLanguage> {
    let state = LexState::default();
    Some(EmbeddedLanguage {
        language,
        state,
        end,
    })
}

/// Paints the embedded language; false if it extends to the end of the line.
fn lex_embedded(embedded: &mut Option<EmbeddedLanguage>, cursor: &mut LineCursor<'_>) -> bool {
    let Some(inner) = embedded else {
        return true;
    };
    if inner.end == EmbeddedEnd::PageStart {
        match cursor.next_non_blank(cursor.position) {
            None => {
                cursor.paint_blanks();
                return false;
            }
            // The block may contain code alone, or a whole page.
            Some(b'<') => {
                cursor.paint_blanks();
                *embedded = None;
                return true;
            }
            Some(_) => inner.end = EmbeddedEnd::Page,
        }
    }
    let end = match inner.end {
        EmbeddedEnd::Script => "</script",
        EmbeddedEnd::Style => "</style",
        _ => "?>",
    };
    let found = cursor.find(cursor.position, end);
    let line_end = cursor.end;
    cursor.end = found.unwrap_or(line_end);
    super::lex_single_language(inner.language.family, &mut inner.state, cursor);
    cursor.end = line_end;
    if found.is_some() && inner.end == EmbeddedEnd::Page {
        cursor.paint_bytes(end.len(), Token::Keyword);
    }
    if found.is_some() {
        *embedded = None;
    }
    found.is_some()
}

fn paint_through(end: &str, token: Token, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    match cursor.find(cursor.position, end) {
        Some(at) => {
            cursor.paint_to(at + end.len(), token);
            state.mode = LexMode::Start;
        }
        None => cursor.paint_rest(token),
    }
}

/// Outside of tags.
fn text(byte: u8, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    if byte == b'&' {
        let name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
        let end = cursor.run_end(cursor.position + 1, name);
        match cursor.byte_at(end) {
            Some(b';') => cursor.paint_to(end + 1, Token::Number),
            _ => cursor.paint_to(end, Token::Plain),
        }
    } else if byte != b'<' {
        let end = cursor.run_end(cursor.position, |byte| byte != b'<' && byte != b'&');
        cursor.paint_to(end, Token::Plain);
    } else if cursor.starts_with("<!--") {
        cursor.paint_bytes(4, Token::Comment);
        state.mode = LexMode::MarkupComment;
    } else if cursor.starts_with("<![CDATA[") {
        cursor.paint_bytes(9, Token::String);
        state.mode = LexMode::Cdata;
    } else {
        let sign = cursor.byte_at(cursor.position + 1);
        let name = cursor.position + 1 + usize::from(matches!(sign, Some(b'/' | b'!' | b'?')));
        if !cursor.byte_at(name).is_some_and(is_word_start) {
            cursor.paint_bytes(1, Token::Plain);
            return;
        }
        let end = cursor.run_end(name, is_name);
        let raw = match &cursor.bytes()[cursor.position + 1..end] {
            name if name.eq_ignore_ascii_case(b"script") => TagContent::Script,
            name if name.eq_ignore_ascii_case(b"style") => TagContent::Style,
            _ => TagContent::Markup,
        };
        cursor.paint_to(end, Token::Keyword);
        state.mode = LexMode::Tag { raw };
    }
}

/// Between a tag's name and its `>`.
fn tag(
    byte: u8,
    raw: TagContent,
    state: &mut LexState,
    embedded: &mut Option<EmbeddedLanguage>,
    cursor: &mut LineCursor<'_>,
) {
    let value = cursor.previous_byte() == Some(b'=');
    match byte {
        b'>' => {
            cursor.paint_bytes(1, Token::Keyword);
            state.mode = LexMode::Start;
            *embedded = match raw {
                TagContent::Markup => None,
                TagContent::Script => embed(&JAVASCRIPT, EmbeddedEnd::Script),
                TagContent::Style => embed(&CSS, EmbeddedEnd::Style),
            };
        }
        b'/' | b'?' if cursor.byte_at(cursor.position + 1) == Some(b'>') => {
            cursor.paint_bytes(2, Token::Keyword);
            state.mode = LexMode::Start;
        }
        // An unclosed tag.
        b'<' => state.mode = LexMode::Start,
        b'"' | b'\'' => {
            cursor.paint_bytes(1, Token::String);
            state.mode = LexMode::Attribute { quote: byte, raw };
        }
        // Svelte and JSX have code in braces, which may contain `>`.
        b'{' => {
            let end = cursor.run_end(cursor.position, |byte| byte != b'}');
            cursor.paint_to((end + 1).min(cursor.end), Token::String);
        }
        _ if is_blank(byte) => cursor.paint_blanks(),
        _ if value => {
            let end = cursor.run_end(cursor.position, |byte| !is_blank(byte) && byte != b'>');
            cursor.paint_to(end, Token::String);
        }
        _ if is_word_start(byte) || matches!(byte, b'@' | b':' | b'#' | b'*' | b'(' | b'[') => {
            let end = cursor.run_end(cursor.position + 1, |byte| {
                is_name(byte) || b"()[]@#".contains(&byte)
            });
            cursor.paint_to(end, Token::Key);
        }
        _ => cursor.paint_bytes(1, Token::Plain),
    }
}

fn attribute(
    quote: u8,
    raw: TagContent,
    breaks: bool,
    state: &mut LexState,
    cursor: &mut LineCursor<'_>,
) {
    let end = cursor.run_end(cursor.position, |byte| {
        byte != quote && (byte != b'<' || !breaks)
    });
    if cursor.byte_at(end) == Some(quote) {
        cursor.paint_to(end + 1, Token::String);
        state.mode = LexMode::Tag { raw };
    } else {
        // A lone `<` is part of the value; `<?` was handled before.
        let lone = cursor.byte_at(end) == Some(b'<') && end == cursor.position;
        cursor.paint_to(end + usize::from(lone), Token::String);
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b':' | b'.')
}
