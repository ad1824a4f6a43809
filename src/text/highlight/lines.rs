//! Reads what is decided line by line: diffs, settings, makefiles, sessions.

use super::Token;
use super::code;
use super::pen::{Pen, is_blank, is_word};
use super::state::{Mode, State};
use super::table::Code;

/// As far into a line as a prompt is looked for, in bytes.
const PROMPT_BYTES_MAX: usize = 80;

pub(super) fn diff(state: &mut State, pen: &mut Pen<'_>) {
    let names = [
        "diff ",
        "index ",
        "Index: ",
        "new file ",
        "deleted file ",
        "rename ",
        "similarity ",
        "old mode ",
        "new mode ",
        "Binary files ",
    ];
    // Inside a hunk three signs are a line that starts with two: of SQL, say.
    let file = ["--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null"];
    let outside = state.mode != Mode::Hunk;
    let token = match pen.peek() {
        Some(b'@') if pen.starts_with("@@") => {
            state.mode = Mode::Hunk;
            Token::Heading
        }
        _ if file.iter().any(|start| pen.starts_with(start))
            || outside && (pen.starts_with("--- ") || pen.starts_with("+++ ")) =>
        {
            state.mode = Mode::Start;
            Token::Heading
        }
        Some(b'+' | b'>') => Token::Added,
        Some(b'-' | b'<') => Token::Removed,
        Some(b'\\') => Token::Comment,
        _ if names.iter().any(|name| pen.starts_with(name)) => {
            state.mode = Mode::Start;
            Token::Comment
        }
        _ => Token::Plain,
    };
    pen.all(token);
}

pub(super) fn ini(pen: &mut Pen<'_>) {
    pen.blanks();
    match pen.peek() {
        Some(b'#' | b';' | b'!') => pen.all(Token::Comment),
        Some(b'[') => {
            let close = pen.run(pen.at, |byte| byte != b']');
            pen.to((close + 1).min(pen.end), Token::Heading);
        }
        _ => {
            let sign = pen.run(pen.at, |byte| byte != b'=' && byte != b':');
            if pen.byte_at(sign).is_some() {
                if pen.starts_with("export ") {
                    pen.take(6, Token::Keyword);
                    pen.blanks();
                }
                let key = pen.bytes()[..sign].trim_ascii_end().len();
                pen.to(key, Token::Key);
                pen.to(sign + 1, Token::Plain);
                pen.blanks();
            }
        }
    }
    value(pen);
}

/// The rest of a line of settings: a value, and a comment behind a blank.
fn value(pen: &mut Pen<'_>) {
    let start = pen.at;
    let bytes = pen.bytes();
    let mut quote = None;
    let mut end = start;
    while let Some(&byte) = bytes.get(end) {
        let comments = matches!(byte, b'#' | b';') && end > 0 && is_blank(bytes[end - 1]);
        match quote {
            None if comments => break,
            None if end == start && matches!(byte, b'"' | b'\'') => quote = Some(byte),
            Some(open) if open == byte => quote = None,
            _ => {}
        }
        end += 1;
    }
    let text = bytes[start..end].trim_ascii_end();
    let constants = ["true", "false", "yes", "no", "on", "off", "none", "null"];
    let numeric = |byte: &u8| byte.is_ascii_digit() || b"._-".contains(byte);
    let is_number = text.iter().all(numeric) && text.iter().any(u8::is_ascii_digit);
    let is_constant = constants
        .iter()
        .any(|c| text.eq_ignore_ascii_case(c.as_bytes()));
    let token = match text.first() {
        Some(b'"' | b'\'') => Token::Text,
        Some(_) if is_number || is_constant => Token::Number,
        _ => Token::Plain,
    };
    pen.to(start + text.len(), token);
    pen.to(end, Token::Plain);
    pen.all(Token::Comment);
}

pub(super) fn make(shell: &Code, state: &mut State, pen: &mut Pen<'_>) {
    let recipe = pen.starts_with("\t") || pen.starts_with("  ");
    if recipe || state.mode != Mode::Start {
        if state.mode == Mode::Start {
            let end = pen.run(pen.at, |byte| is_blank(byte) || matches!(byte, b'@' | b'-'));
            pen.to(end, Token::Plain);
        }
        code::lex(shell, state, pen);
        return;
    }
    let word = pen.run(pen.at, |byte| is_word(byte) || byte == b'-');
    let keywords = [
        "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "define",
        "endef", "export", "override", "unexport", "vpath", "set", "alias", "import",
    ];
    let known = |known: &&str| known.as_bytes() == &pen.bytes()[pen.at..word];
    if keywords.iter().any(known) {
        pen.to(word, Token::Keyword);
    }
    let sign = pen.run(pen.at, |byte| !matches!(byte, b':' | b'=' | b'#'));
    let bytes = pen.bytes();
    let name = bytes[..sign].trim_ascii_end();
    let token = match (bytes.get(sign), bytes.get(sign + 1)) {
        (Some(b'='), _) | (Some(b':'), Some(b'=')) => Some(Token::Key),
        (Some(b':'), _) => Some(Token::Function),
        _ => None,
    };
    if let Some(token) = token {
        let name = name
            .strip_suffix(b"?")
            .or(name.strip_suffix(b"+"))
            .unwrap_or(name);
        pen.blanks();
        pen.to(name.trim_ascii_end().len(), token);
        pen.to(sign + 1, Token::Plain);
    }
    variables(pen);
}

/// `$(NAME)` and comments in what is left of the line.
fn variables(pen: &mut Pen<'_>) {
    while let Some(byte) = pen.peek() {
        match byte {
            b'#' => pen.all(Token::Comment),
            b'$' => {
                let open = matches!(pen.byte_at(pen.at + 1), Some(b'(' | b'{'));
                let end = match open {
                    true => pen.run(pen.at + 2, |byte| !matches!(byte, b')' | b'}')) + 1,
                    false => pen.run(pen.at + 1, is_word),
                };
                pen.to(end.min(pen.end), Token::Key);
            }
            _ => pen.to(
                pen.run(pen.at, |byte| byte != b'#' && byte != b'$'),
                Token::Plain,
            ),
        }
    }
}

/// `$ cargo test` and `me@host:~$ ls` are commands, what they print is plain.
pub(super) fn session(shell: &Code, state: &mut State, pen: &mut Pen<'_>) {
    if state.mode == Mode::Start {
        let Some(prompt) = prompt_end(pen) else {
            let comment = pen.starts_with("# ");
            pen.all(if comment {
                Token::Comment
            } else {
                Token::Plain
            });
            return;
        };
        pen.to(prompt, Token::Comment);
    }
    code::lex(shell, state, pen);
}

fn prompt_end(pen: &Pen<'_>) -> Option<usize> {
    let bytes = &pen.bytes()[..pen.end.min(PROMPT_BYTES_MAX)];
    let sign = |pair: &[u8]| matches!(pair[0], b'$' | b'%' | b'>' | b'#') && pair[1] == b' ';
    let at = bytes.windows(2).position(sign)?;
    let before = &bytes[..at];
    let named = before.contains(&b'@') || before.starts_with(b"PS ") || before.starts_with(b"(");
    let bare = before.is_empty() && bytes[0] != b'#';
    (bare || named && !before.ends_with(b" ") || before.ends_with(b") ")).then_some(at + 2)
}
