//! Lexes markup: tags, attributes and comments. Scripts, styles and page code are lexed in their
//! own language up to the first end tag, as in a browser.

use super::Token;
use super::language::Language;
use super::languages::{CSS, JAVASCRIPT};
use super::line_cursor::{LineCursor, count_examined, is_blank, is_word, is_word_start};
use super::state::{EmbeddedEnd, EmbeddedLanguage, LexMode, LexState, TagContent};

/// Paints the rest of the line. `page_language` is the language after `<?`.
pub(super) fn lex(
    page_language: Option<&'static Language>,
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
        if let Some(language) = page_language
            && cursor.starts_with("<?")
        {
            // Code may start anywhere in a page, even in a tag or an attribute value.
            cursor.paint_bytes(2, Token::Keyword);
            if cursor.starts_with("php") {
                cursor.paint_bytes(3, Token::Keyword);
            } else if cursor.starts_with("=") {
                cursor.paint_bytes(1, Token::Keyword);
            }
            *embedded = embed(language, EmbeddedEnd::Page);
            continue;
        }
        match state.mode {
            LexMode::MarkupComment => paint_through("-->", Token::Comment, state, cursor),
            LexMode::Cdata => paint_through("]]>", Token::String, state, cursor),
            LexMode::Tag { content } => lex_tag(byte, content, state, embedded, cursor),
            LexMode::Attribute { quote, content } => {
                lex_attribute_value(quote, content, page_language.is_some(), state, cursor)
            }
            _ => lex_text(byte, state, cursor),
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

/// Paints text in the embedded language, if any. Returns false if it extends to the end of the
/// line.
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
            // The text is a page, not code alone.
            Some(b'<') => {
                cursor.paint_blanks();
                *embedded = None;
                return true;
            }
            Some(_) => inner.end = EmbeddedEnd::Page,
        }
    }
    let end_tag = match inner.end {
        EmbeddedEnd::Script => "</script",
        EmbeddedEnd::Style => "</style",
        _ => "?>",
    };
    let end_position = cursor.find(cursor.position, end_tag);
    let line_end = cursor.end;
    cursor.end = end_position.unwrap_or(line_end);
    super::lex_single_language(inner.language.lexer, &mut inner.state, cursor);
    cursor.end = line_end;
    let has_ended = end_position.is_some();
    if has_ended && inner.end == EmbeddedEnd::Page {
        cursor.paint_bytes(end_tag.len(), Token::Keyword);
    }
    if has_ended {
        *embedded = None;
    }
    has_ended
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

/// Lexes text outside of tags, or the start of a tag.
fn lex_text(byte: u8, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    if byte == b'&' {
        let is_reference = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
        let end = cursor.run_end(cursor.position + 1, is_reference);
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
        let next = cursor.byte_at(cursor.position + 1);
        let has_prefix = matches!(next, Some(b'/' | b'!' | b'?'));
        let name_start = cursor.position + 1 + usize::from(has_prefix);
        if !cursor.byte_at(name_start).is_some_and(is_word_start) {
            cursor.paint_bytes(1, Token::Plain);
            return;
        }
        let end = cursor.run_end(name_start, is_name);
        let content = match &cursor.bytes()[cursor.position + 1..end] {
            name if name.eq_ignore_ascii_case(b"script") => TagContent::Script,
            name if name.eq_ignore_ascii_case(b"style") => TagContent::Style,
            _ => TagContent::Markup,
        };
        cursor.paint_to(end, Token::Keyword);
        state.mode = LexMode::Tag { content };
    }
}

/// Lexes a tag after its name, up to its `>`.
fn lex_tag(
    byte: u8,
    content: TagContent,
    state: &mut LexState,
    embedded: &mut Option<EmbeddedLanguage>,
    cursor: &mut LineCursor<'_>,
) {
    let is_value = cursor.previous_byte() == Some(b'=');
    match byte {
        b'>' => {
            cursor.paint_bytes(1, Token::Keyword);
            state.mode = LexMode::Start;
            *embedded = match content {
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
            state.mode = LexMode::Attribute {
                quote: byte,
                content,
            };
        }
        // Svelte and JSX have code in braces, which may contain `>`.
        b'{' => {
            let end = cursor.run_end(cursor.position, |byte| byte != b'}');
            cursor.paint_to((end + 1).min(cursor.end), Token::String);
        }
        _ if is_blank(byte) => cursor.paint_blanks(),
        _ if is_value => {
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

/// Lexes a quoted attribute value. With `may_contain_code`, `<?` interrupts it.
fn lex_attribute_value(
    quote: u8,
    content: TagContent,
    may_contain_code: bool,
    state: &mut LexState,
    cursor: &mut LineCursor<'_>,
) {
    let end = cursor.run_end(cursor.position, |byte| {
        byte != quote && (byte != b'<' || !may_contain_code)
    });
    if cursor.byte_at(end) == Some(quote) {
        cursor.paint_to(end + 1, Token::String);
        state.mode = LexMode::Tag { content };
    } else {
        // `<` alone is part of the value; `<?` was handled before.
        let is_part = cursor.byte_at(end) == Some(b'<') && end == cursor.position;
        cursor.paint_to(end + usize::from(is_part), Token::String);
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b':' | b'.')
}
