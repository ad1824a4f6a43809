//! Reads markup: tags, attributes, comments; scripts, styles and the code of pages
//! are read by their own languages until their end tag, as a browser does.

use super::Token;
use super::language::Language;
use super::languages::{CSS, JAVASCRIPT};
use super::line_cursor::{LineCursor, is_blank, is_word, is_word_start, looked};
use super::state::{Guest, GuestEnd, Mode, Raw, State};

/// Paints what `pen` has left of the line. `code` is what stands behind `<?`.
pub(super) fn lex(
    code: Option<&'static Language>,
    state: &mut State,
    guest: &mut Option<Guest>,
    cursor: &mut LineCursor<'_>,
) {
    loop {
        if !guest_ended(guest, cursor) {
            return;
        }
        let Some(byte) = cursor.peek() else {
            return;
        };
        looked(1);
        if let Some(language) = code
            && cursor.starts_with("<?")
        {
            // A page may break off anywhere, also within a tag or a value.
            cursor.take(2, Token::Keyword);
            let word = if cursor.starts_with("php") { 3 } else { 0 };
            let word = if cursor.starts_with("=") { 1 } else { word };
            cursor.take(word, Token::Keyword);
            *guest = begin(language, GuestEnd::Page);
            continue;
        }
        match state.mode {
            Mode::MarkupComment => until("-->", Token::Comment, state, cursor),
            Mode::Cdata => until("]]>", Token::Text, state, cursor),
            Mode::Tag { raw } => tag(byte, raw, state, guest, cursor),
            Mode::Attribute { quote, raw } => attribute(quote, raw, code.is_some(), state, cursor),
            _ => text(byte, state, cursor),
        }
    }
}

fn begin(language: &'static Language, end: GuestEnd) -> Option<Guest> {
    let state = State::default();
    Some(Guest {
        language,
        state,
        end,
    })
}

/// Lets the guest paint its part; false where it has the rest of the line.
fn guest_ended(guest: &mut Option<Guest>, cursor: &mut LineCursor<'_>) -> bool {
    let Some(inner) = guest else {
        return true;
    };
    if inner.end == GuestEnd::PageStart {
        match cursor.next_solid(cursor.at) {
            None => {
                cursor.blanks();
                return false;
            }
            // A fence of a page's language holds the code alone, or a whole page.
            Some(b'<') => {
                cursor.blanks();
                *guest = None;
                return true;
            }
            Some(_) => inner.end = GuestEnd::Page,
        }
    }
    let end = match inner.end {
        GuestEnd::Script => "</script",
        GuestEnd::Style => "</style",
        _ => "?>",
    };
    let found = cursor.find(cursor.at, end);
    let line_end = cursor.end;
    cursor.end = found.unwrap_or(line_end);
    super::plain_family(inner.language.family, &mut inner.state, cursor);
    cursor.end = line_end;
    if found.is_some() && inner.end == GuestEnd::Page {
        cursor.take(end.len(), Token::Keyword);
    }
    if found.is_some() {
        *guest = None;
    }
    found.is_some()
}

fn until(end: &str, token: Token, state: &mut State, cursor: &mut LineCursor<'_>) {
    match cursor.find(cursor.at, end) {
        Some(at) => {
            cursor.to(at + end.len(), token);
            state.mode = Mode::Start;
        }
        None => cursor.all(token),
    }
}

/// Outside of tags.
fn text(byte: u8, state: &mut State, cursor: &mut LineCursor<'_>) {
    if byte == b'&' {
        let name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
        let end = cursor.run(cursor.at + 1, name);
        match cursor.byte_at(end) {
            Some(b';') => cursor.to(end + 1, Token::Number),
            _ => cursor.to(end, Token::Plain),
        }
    } else if byte != b'<' {
        let end = cursor.run(cursor.at, |byte| byte != b'<' && byte != b'&');
        cursor.to(end, Token::Plain);
    } else if cursor.starts_with("<!--") {
        cursor.take(4, Token::Comment);
        state.mode = Mode::MarkupComment;
    } else if cursor.starts_with("<![CDATA[") {
        cursor.take(9, Token::Text);
        state.mode = Mode::Cdata;
    } else {
        let sign = cursor.byte_at(cursor.at + 1);
        let name = cursor.at + 1 + usize::from(matches!(sign, Some(b'/' | b'!' | b'?')));
        if !cursor.byte_at(name).is_some_and(is_word_start) {
            cursor.take(1, Token::Plain);
            return;
        }
        let end = cursor.run(name, is_name);
        let raw = match &cursor.bytes()[cursor.at + 1..end] {
            name if name.eq_ignore_ascii_case(b"script") => Raw::Script,
            name if name.eq_ignore_ascii_case(b"style") => Raw::Style,
            _ => Raw::Markup,
        };
        cursor.to(end, Token::Keyword);
        state.mode = Mode::Tag { raw };
    }
}

/// Between a tag's name and its `>`.
fn tag(
    byte: u8,
    raw: Raw,
    state: &mut State,
    guest: &mut Option<Guest>,
    cursor: &mut LineCursor<'_>,
) {
    let value = cursor.before() == Some(b'=');
    match byte {
        b'>' => {
            cursor.take(1, Token::Keyword);
            state.mode = Mode::Start;
            *guest = match raw {
                Raw::Markup => None,
                Raw::Script => begin(&JAVASCRIPT, GuestEnd::Script),
                Raw::Style => begin(&CSS, GuestEnd::Style),
            };
        }
        b'/' | b'?' if cursor.byte_at(cursor.at + 1) == Some(b'>') => {
            cursor.take(2, Token::Keyword);
            state.mode = Mode::Start;
        }
        // A tag that was never closed.
        b'<' => state.mode = Mode::Start,
        b'"' | b'\'' => {
            cursor.take(1, Token::Text);
            state.mode = Mode::Attribute { quote: byte, raw };
        }
        // Svelte and JSX write code in braces; `>` may stand in it.
        b'{' => {
            let end = cursor.run(cursor.at, |byte| byte != b'}');
            cursor.to((end + 1).min(cursor.end), Token::Text);
        }
        _ if is_blank(byte) => cursor.blanks(),
        _ if value => {
            let end = cursor.run(cursor.at, |byte| !is_blank(byte) && byte != b'>');
            cursor.to(end, Token::Text);
        }
        _ if is_word_start(byte) || matches!(byte, b'@' | b':' | b'#' | b'*' | b'(' | b'[') => {
            let end = cursor.run(cursor.at + 1, |byte| {
                is_name(byte) || b"()[]@#".contains(&byte)
            });
            cursor.to(end, Token::Key);
        }
        _ => cursor.take(1, Token::Plain),
    }
}

fn attribute(quote: u8, raw: Raw, breaks: bool, state: &mut State, cursor: &mut LineCursor<'_>) {
    let end = cursor.run(cursor.at, |byte| byte != quote && (byte != b'<' || !breaks));
    if cursor.byte_at(end) == Some(quote) {
        cursor.to(end + 1, Token::Text);
        state.mode = Mode::Tag { raw };
    } else {
        // A lone `<` is the value's; `<?` was seen before.
        let lone = cursor.byte_at(end) == Some(b'<') && end == cursor.at;
        cursor.to(end + usize::from(lone), Token::Text);
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b':' | b'.')
}
