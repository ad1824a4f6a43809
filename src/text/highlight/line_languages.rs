//! Lexes line-oriented languages: diffs, INI files, makefiles, shell sessions.

use super::Token;
use super::code;
use super::language::CodeSyntax;
use super::line_cursor::{LineCursor, is_blank, is_word};
use super::state::{LexMode, LexState};

/// Maximum number of bytes of a line searched for a prompt.
const PROMPT_BYTES_MAX: usize = 80;

pub(super) fn lex_diff(state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let metadata = "diff |index |Index: |new file |deleted file |rename |similarity |old mode |\
                    new mode |Binary files ";
    // In a hunk, `---` may be a removed line that starts with `--`, such as a comment in SQL.
    let file_headers = ["--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null"];
    let is_outside_hunk = state.mode != LexMode::Hunk;
    let token = match cursor.peek() {
        Some(b'@') if cursor.starts_with("@@") => {
            state.mode = LexMode::Hunk;
            Token::Heading
        }
        _ if file_headers.iter().any(|start| cursor.starts_with(start))
            || is_outside_hunk && (cursor.starts_with("--- ") || cursor.starts_with("+++ ")) =>
        {
            state.mode = LexMode::Start;
            Token::Heading
        }
        Some(b'+' | b'>') => Token::Added,
        Some(b'-' | b'<') => Token::Removed,
        Some(b'\\') => Token::Comment,
        _ if metadata.split('|').any(|start| cursor.starts_with(start)) => {
            state.mode = LexMode::Start;
            Token::Comment
        }
        _ => Token::Plain,
    };
    cursor.paint_rest(token);
}

pub(super) fn lex_ini(cursor: &mut LineCursor<'_>) {
    cursor.paint_blanks();
    match cursor.peek() {
        Some(b'#' | b';' | b'!') => cursor.paint_rest(Token::Comment),
        Some(b'[') => {
            let close = cursor.run_end(cursor.position, |byte| byte != b']');
            cursor.paint_to((close + 1).min(cursor.end), Token::Heading);
        }
        _ => {
            let separator = cursor.run_end(cursor.position, |byte| byte != b'=' && byte != b':');
            if cursor.byte_at(separator).is_some() {
                if cursor.starts_with("export ") {
                    cursor.paint_bytes(6, Token::Keyword);
                    cursor.paint_blanks();
                }
                let key_end = cursor.bytes()[..separator].trim_ascii_end().len();
                cursor.paint_to(key_end, Token::Key);
                cursor.paint_to(separator + 1, Token::Plain);
                cursor.paint_blanks();
            }
        }
    }
    lex_ini_value(cursor);
}

/// Lexes the rest of an INI line: a value, and a comment if a blank precedes it.
fn lex_ini_value(cursor: &mut LineCursor<'_>) {
    let start = cursor.position;
    let bytes = cursor.bytes();
    let mut quote = None;
    let mut end = start;
    while let Some(&byte) = bytes.get(end) {
        let starts_comment = matches!(byte, b'#' | b';') && end > 0 && is_blank(bytes[end - 1]);
        match quote {
            None if starts_comment => break,
            None if end == start && matches!(byte, b'"' | b'\'') => quote = Some(byte),
            Some(open) if open == byte => quote = None,
            _ => {}
        }
        end += 1;
    }
    let text = bytes[start..end].trim_ascii_end();
    let constants = ["true", "false", "yes", "no", "on", "off", "none", "null"];
    let is_numeric = |byte: &u8| byte.is_ascii_digit() || b"._-".contains(byte);
    let is_number = text.iter().all(is_numeric) && text.iter().any(u8::is_ascii_digit);
    let is_constant = constants
        .iter()
        .any(|constant| text.eq_ignore_ascii_case(constant.as_bytes()));
    let token = match text.first() {
        Some(b'"' | b'\'') => Token::String,
        Some(_) if is_number || is_constant => Token::Number,
        _ => Token::Plain,
    };
    cursor.paint_to(start + text.len(), token);
    cursor.paint_to(end, Token::Plain);
    cursor.paint_rest(Token::Comment);
}

pub(super) fn lex_make(shell: &CodeSyntax, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let is_recipe = cursor.starts_with("\t") || cursor.starts_with("  ");
    if is_recipe || state.mode != LexMode::Start {
        if state.mode == LexMode::Start {
            let end = cursor.run_end(cursor.position, |byte| {
                is_blank(byte) || matches!(byte, b'@' | b'-')
            });
            cursor.paint_to(end, Token::Plain);
        }
        code::lex(shell, state, cursor);
        return;
    }
    let word_end = cursor.run_end(cursor.position, |byte| is_word(byte) || byte == b'-');
    let keywords = [
        "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "define",
        "endef", "export", "override", "unexport", "vpath", "set", "alias", "import",
    ];
    let word = &cursor.bytes()[cursor.position..word_end];
    if keywords.iter().any(|keyword| keyword.as_bytes() == word) {
        cursor.paint_to(word_end, Token::Keyword);
    }
    let separator = cursor.run_end(cursor.position, |byte| !matches!(byte, b':' | b'=' | b'#'));
    let bytes = cursor.bytes();
    let name = bytes[..separator].trim_ascii_end();
    let token = match (bytes.get(separator), bytes.get(separator + 1)) {
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
        cursor.paint_to(separator + 1, Token::Plain);
    }
    lex_make_variables(cursor);
}

/// Lexes variables such as `$(NAME)`, and comments, in the rest of the line.
fn lex_make_variables(cursor: &mut LineCursor<'_>) {
    while let Some(byte) = cursor.peek() {
        match byte {
            b'#' => cursor.paint_rest(Token::Comment),
            b'$' => {
                let has_bracket = matches!(cursor.byte_at(cursor.position + 1), Some(b'(' | b'{'));
                let end = match has_bracket {
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

/// Lexes a shell session. Lines such as `$ cargo test` and `me@host:~$ ls` are commands; other lines
/// are plain output, or comments after `# `.
pub(super) fn lex_session(shell: &CodeSyntax, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    if state.mode == LexMode::Start {
        let Some(end) = prompt_end(cursor) else {
            let is_comment = cursor.starts_with("# ");
            cursor.paint_rest(if is_comment {
                Token::Comment
            } else {
                Token::Plain
            });
            return;
        };
        cursor.paint_to(end, Token::Comment);
    }
    code::lex(shell, state, cursor);
}

fn prompt_end(cursor: &LineCursor<'_>) -> Option<usize> {
    let bytes = &cursor.bytes()[..cursor.end.min(PROMPT_BYTES_MAX)];
    let is_marker = |pair: &[u8]| matches!(pair[0], b'$' | b'%' | b'>' | b'#') && pair[1] == b' ';
    let marker = bytes.windows(2).position(is_marker)?;
    let name = &bytes[..marker];
    let is_bare = name.is_empty() && bytes[0] != b'#';
    let is_named = name.contains(&b'@') || name.starts_with(b"PS ") || name.starts_with(b"(");
    let is_prompt = is_bare || is_named && !name.ends_with(b" ") || name.ends_with(b") ");
    is_prompt.then_some(marker + 2)
}
