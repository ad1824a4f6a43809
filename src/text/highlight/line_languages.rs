//! Lexes line-oriented languages: diffs, INI files, makefiles, shell sessions.

use super::Token;
use super::code;
use super::language::CodeSyntax;
use super::line_cursor::{LineCursor, is_blank, is_word};
use super::state::{LexMode, LexState};

/// Bytes of a line searched for a prompt.
const PROMPT_BYTES_MAX: usize = 80;

pub(super) fn diff(state: &mut LexState, cursor: &mut LineCursor<'_>) {
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
    // Inside a hunk, three signs may be a changed line that starts with two, as in SQL.
    let file = ["--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null"];
    let outside = state.mode != LexMode::Hunk;
    let token = match cursor.peek() {
        Some(b'@') if cursor.starts_with("@@") => {
            state.mode = LexMode::Hunk;
            Token::Heading
        }
        _ if file.iter().any(|start| cursor.starts_with(start))
            || outside && (cursor.starts_with("--- ") || cursor.starts_with("+++ ")) =>
        {
            state.mode = LexMode::Start;
            Token::Heading
        }
        Some(b'+' | b'>') => Token::Added,
        Some(b'-' | b'<') => Token::Removed,
        Some(b'\\') => Token::Comment,
        _ if names.iter().any(|name| cursor.starts_with(name)) => {
            state.mode = LexMode::Start;
            Token::Comment
        }
        _ => Token::Plain,
    };
    cursor.paint_rest(token);
}

pub(super) fn ini(cursor: &mut LineCursor<'_>) {
    cursor.paint_blanks();
    match cursor.peek() {
        Some(b'#' | b';' | b'!') => cursor.paint_rest(Token::Comment),
        Some(b'[') => {
            let close = cursor.run_end(cursor.position, |byte| byte != b']');
            cursor.paint_to((close + 1).min(cursor.end), Token::Heading);
        }
        _ => {
            let sign = cursor.run_end(cursor.position, |byte| byte != b'=' && byte != b':');
            if cursor.byte_at(sign).is_some() {
                if cursor.starts_with("export ") {
                    cursor.paint_bytes(6, Token::Keyword);
                    cursor.paint_blanks();
                }
                let key = cursor.bytes()[..sign].trim_ascii_end().len();
                cursor.paint_to(key, Token::Key);
                cursor.paint_to(sign + 1, Token::Plain);
                cursor.paint_blanks();
            }
        }
    }
    value(cursor);
}

/// The rest of an INI line: a value, and a comment after a blank.
fn value(cursor: &mut LineCursor<'_>) {
    let start = cursor.position;
    let bytes = cursor.bytes();
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
        Some(b'"' | b'\'') => Token::String,
        Some(_) if is_number || is_constant => Token::Number,
        _ => Token::Plain,
    };
    cursor.paint_to(start + text.len(), token);
    cursor.paint_to(end, Token::Plain);
    cursor.paint_rest(Token::Comment);
}

pub(super) fn make(shell: &CodeSyntax, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let recipe = cursor.starts_with("\t") || cursor.starts_with("  ");
    if recipe || state.mode != LexMode::Start {
        if state.mode == LexMode::Start {
            let end = cursor.run_end(cursor.position, |byte| {
                is_blank(byte) || matches!(byte, b'@' | b'-')
            });
            cursor.paint_to(end, Token::Plain);
        }
        code::lex(shell, state, cursor);
        return;
    }
    let word = cursor.run_end(cursor.position, |byte| is_word(byte) || byte == b'-');
    let keywords = [
        "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "define",
        "endef", "export", "override", "unexport", "vpath", "set", "alias", "import",
    ];
    let known = |known: &&str| known.as_bytes() == &cursor.bytes()[cursor.position..word];
    if keywords.iter().any(known) {
        cursor.paint_to(word, Token::Keyword);
    }
    let sign = cursor.run_end(cursor.position, |byte| !matches!(byte, b':' | b'=' | b'#'));
    let bytes = cursor.bytes();
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
        cursor.paint_blanks();
        cursor.paint_to(name.trim_ascii_end().len(), token);
        cursor.paint_to(sign + 1, Token::Plain);
    }
    variables(cursor);
}

/// Paints `$(NAME)` and comments in the rest of the line.
fn variables(cursor: &mut LineCursor<'_>) {
    while let Some(byte) = cursor.peek() {
        match byte {
            b'#' => cursor.paint_rest(Token::Comment),
            b'$' => {
                let open = matches!(cursor.byte_at(cursor.position + 1), Some(b'(' | b'{'));
                let end = match open {
                    true => {
                        cursor.run_end(cursor.position + 2, |byte| !matches!(byte, b')' | b'}')) + 1
                    }
                    false => cursor.run_end(cursor.position + 1, is_word),
                };
                cursor.paint_to(end.min(cursor.end), Token::Key);
            }
            _ => cursor.paint_to(
                cursor.run_end(cursor.position, |byte| byte != b'#' && byte != b'$'),
                Token::Plain,
            ),
        }
    }
}

/// `$ cargo test` and `me@host:~$ ls` are commands; their output is plain.
pub(super) fn session(shell: &CodeSyntax, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    if state.mode == LexMode::Start {
        let Some(prompt) = prompt_end(cursor) else {
            let comment = cursor.starts_with("# ");
            cursor.paint_rest(if comment {
                Token::Comment
            } else {
                Token::Plain
            });
            return;
        };
        cursor.paint_to(prompt, Token::Comment);
    }
    code::lex(shell, state, cursor);
}

fn prompt_end(cursor: &LineCursor<'_>) -> Option<usize> {
    let bytes = &cursor.bytes()[..cursor.end.min(PROMPT_BYTES_MAX)];
    let sign = |pair: &[u8]| matches!(pair[0], b'$' | b'%' | b'>' | b'#') && pair[1] == b' ';
    let at = bytes.windows(2).position(sign)?;
    let before = &bytes[..at];
    let named = before.contains(&b'@') || before.starts_with(b"PS ") || before.starts_with(b"(");
    let bare = before.is_empty() && bytes[0] != b'#';
    (bare || named && !before.ends_with(b" ") || before.ends_with(b") ")).then_some(at + 2)
}
