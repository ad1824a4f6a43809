//! Reads markup: tags, attributes, comments; scripts, styles and the code of pages
//! are read by their own languages until their end tag, as a browser does.

use super::Token;
use super::pen::{Pen, is_blank, is_word, is_word_start, looked};
use super::state::{Guest, GuestEnd, Mode, Raw, State};
use super::table::Language;
use super::tables::{CSS, JAVASCRIPT};

/// Paints what `pen` has left of the line. `code` is what stands behind `<?`.
pub(super) fn lex(
    code: Option<&'static Language>,
    state: &mut State,
    guest: &mut Option<Guest>,
    pen: &mut Pen<'_>,
) {
    loop {
        if !guest_ended(guest, pen) {
            return;
        }
        let Some(byte) = pen.peek() else {
            return;
        };
        looked(1);
        if let Some(language) = code
            && pen.starts_with("<?")
        {
            // A page may break off anywhere, also within a tag or a value.
            pen.take(2, Token::Keyword);
            let word = if pen.starts_with("php") { 3 } else { 0 };
            let word = if pen.starts_with("=") { 1 } else { word };
            pen.take(word, Token::Keyword);
            *guest = begin(language, GuestEnd::Page);
            continue;
        }
        match state.mode {
            Mode::MarkupComment => until("-->", Token::Comment, state, pen),
            Mode::Cdata => until("]]>", Token::Text, state, pen),
            Mode::Tag { raw } => tag(byte, raw, state, guest, pen),
            Mode::Attribute { quote, raw } => attribute(quote, raw, code.is_some(), state, pen),
            _ => text(byte, state, pen),
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
fn guest_ended(guest: &mut Option<Guest>, pen: &mut Pen<'_>) -> bool {
    let Some(inner) = guest else {
        return true;
    };
    if inner.end == GuestEnd::PageStart {
        match pen.next_solid(pen.at) {
            None => {
                pen.blanks();
                return false;
            }
            // A fence of a page's language holds the code alone, or a whole page.
            Some(b'<') => {
                pen.blanks();
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
    let found = pen.find(pen.at, end);
    let line_end = pen.end;
    pen.end = found.unwrap_or(line_end);
    super::plain_family(inner.language.family, &mut inner.state, pen);
    pen.end = line_end;
    if found.is_some() && inner.end == GuestEnd::Page {
        pen.take(end.len(), Token::Keyword);
    }
    if found.is_some() {
        *guest = None;
    }
    found.is_some()
}

fn until(end: &str, token: Token, state: &mut State, pen: &mut Pen<'_>) {
    match pen.find(pen.at, end) {
        Some(at) => {
            pen.to(at + end.len(), token);
            state.mode = Mode::Start;
        }
        None => pen.all(token),
    }
}

/// Outside of tags.
fn text(byte: u8, state: &mut State, pen: &mut Pen<'_>) {
    if byte == b'&' {
        let name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
        let end = pen.run(pen.at + 1, name);
        match pen.byte_at(end) {
            Some(b';') => pen.to(end + 1, Token::Number),
            _ => pen.to(end, Token::Plain),
        }
    } else if byte != b'<' {
        let end = pen.run(pen.at, |byte| byte != b'<' && byte != b'&');
        pen.to(end, Token::Plain);
    } else if pen.starts_with("<!--") {
        pen.take(4, Token::Comment);
        state.mode = Mode::MarkupComment;
    } else if pen.starts_with("<![CDATA[") {
        pen.take(9, Token::Text);
        state.mode = Mode::Cdata;
    } else {
        let sign = pen.byte_at(pen.at + 1);
        let name = pen.at + 1 + usize::from(matches!(sign, Some(b'/' | b'!' | b'?')));
        if !pen.byte_at(name).is_some_and(is_word_start) {
            pen.take(1, Token::Plain);
            return;
        }
        let end = pen.run(name, is_name);
        let raw = match &pen.bytes()[pen.at + 1..end] {
            name if name.eq_ignore_ascii_case(b"script") => Raw::Script,
            name if name.eq_ignore_ascii_case(b"style") => Raw::Style,
            _ => Raw::Markup,
        };
        pen.to(end, Token::Keyword);
        state.mode = Mode::Tag { raw };
    }
}

/// Between a tag's name and its `>`.
fn tag(byte: u8, raw: Raw, state: &mut State, guest: &mut Option<Guest>, pen: &mut Pen<'_>) {
    let value = pen.before() == Some(b'=');
    match byte {
        b'>' => {
            pen.take(1, Token::Keyword);
            state.mode = Mode::Start;
            *guest = match raw {
                Raw::Markup => None,
                Raw::Script => begin(&JAVASCRIPT, GuestEnd::Script),
                Raw::Style => begin(&CSS, GuestEnd::Style),
            };
        }
        b'/' | b'?' if pen.byte_at(pen.at + 1) == Some(b'>') => {
            pen.take(2, Token::Keyword);
            state.mode = Mode::Start;
        }
        // A tag that was never closed.
        b'<' => state.mode = Mode::Start,
        b'"' | b'\'' => {
            pen.take(1, Token::Text);
            state.mode = Mode::Attribute { quote: byte, raw };
        }
        // Svelte and JSX write code in braces; `>` may stand in it.
        b'{' => {
            let end = pen.run(pen.at, |byte| byte != b'}');
            pen.to((end + 1).min(pen.end), Token::Text);
        }
        _ if is_blank(byte) => pen.blanks(),
        _ if value => {
            let end = pen.run(pen.at, |byte| !is_blank(byte) && byte != b'>');
            pen.to(end, Token::Text);
        }
        _ if is_word_start(byte) || matches!(byte, b'@' | b':' | b'#' | b'*' | b'(' | b'[') => {
            let end = pen.run(pen.at + 1, |byte| {
                is_name(byte) || b"()[]@#".contains(&byte)
            });
            pen.to(end, Token::Key);
        }
        _ => pen.take(1, Token::Plain),
    }
}

fn attribute(quote: u8, raw: Raw, breaks: bool, state: &mut State, pen: &mut Pen<'_>) {
    let end = pen.run(pen.at, |byte| byte != quote && (byte != b'<' || !breaks));
    if pen.byte_at(end) == Some(quote) {
        pen.to(end + 1, Token::Text);
        state.mode = Mode::Tag { raw };
    } else {
        // A lone `<` is the value's; `<?` was seen before.
        let lone = pen.byte_at(end) == Some(b'<') && end == pen.at;
        pen.to(end + usize::from(lone), Token::Text);
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b':' | b'.')
}
