//! The path that is being typed, after `@` in a message or as the argument of `/attach`, and the
//! paths that a message mentions. Pure.

use std::ops::Range;

/// Longer text after `@` is not a path.
const PATH_BYTES_MAX: usize = 4_096;
/// The command whose argument is a path.
const ATTACH_COMMAND: &str = "/attach ";

/// A path before the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedPath {
    /// Length of the text to replace, which ends at the cursor, in bytes.
    pub replaced_bytes: usize,
    /// The path typed so far, without quotation marks.
    pub fragment: String,
    /// Whether this is the argument of `/attach`, not a mention.
    pub is_argument: bool,
}

/// The path in the text before the cursor, if there is one. An `@` begins a path at the start of
/// a word; a path with spaces is quoted: `@"My Notes.md"`.
pub fn typed_path(before_cursor: &str, is_first_line: bool) -> Option<TypedPath> {
    if is_first_line && let Some(argument) = before_cursor.strip_prefix(ATTACH_COMMAND) {
        let argument = argument.trim_start();
        return Some(TypedPath {
            replaced_bytes: argument.len(),
            fragment: argument.trim_start_matches('"').to_owned(),
            is_argument: true,
        });
    }
    let mut marks = before_cursor.rmatch_indices('@').map(|(index, _)| index);
    let start = marks.find(|index| starts_word(before_cursor, *index))?;
    let typed = &before_cursor[start + 1..];
    let fragment = match typed.strip_prefix('"') {
        Some(quoted) if quoted.contains('"') => return None,
        Some(quoted) => quoted,
        None if typed.contains(char::is_whitespace) => return None,
        None => typed,
    };
    Some(TypedPath {
        replaced_bytes: before_cursor.len() - start,
        fragment: fragment.to_owned(),
        is_argument: false,
    })
}

impl TypedPath {
    /// The text that replaces the typed path. After a folder, the mention stays open for the rest of
    /// the path.
    pub fn completed(&self, path: &str, is_folder: bool) -> String {
        if self.is_argument {
            return path.to_owned();
        }
        let needs_quotes = path.contains(char::is_whitespace);
        match (needs_quotes, is_folder) {
            (true, true) => format!("@\"{path}"),
            (true, false) => format!("@\"{path}\" "),
            (false, true) => format!("@{path}"),
            (false, false) => format!("@{path} "),
        }
    }
}

/// Whether an `@` at this byte is at the start of a word, so that it begins a path.
fn starts_word(text: &str, index: usize) -> bool {
    let before = text[..index].chars().next_back();
    before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | ','))
}

/// A path after `@` in a line of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention<'a> {
    /// Offset of the `@`.
    start: usize,
    /// Offset of the path, which follows a quotation mark if it is quoted.
    path_start: usize,
    path: &'a str,
    is_quoted: bool,
}

/// The mentions in a line, in order. A path without quotation marks ends at the first blank.
pub fn mentions(line: &str) -> impl Iterator<Item = Mention<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + line[from..].find('@')?;
            from = start + 1;
            if !starts_word(line, start) {
                continue;
            }
            let (path_start, path) = match line[from..].strip_prefix('"') {
                Some(quoted) => match quoted.split_once('"') {
                    Some((path, _)) => (from + 1, path),
                    None => continue,
                },
                None => {
                    let path = line[from..].split(char::is_whitespace).next();
                    (from, path.unwrap_or_default())
                }
            };
            from = path_start + path.len();
            if !path.is_empty() && path.len() <= PATH_BYTES_MAX {
                let is_quoted = path_start > start + 1;
                return Some(Mention {
                    start,
                    path_start,
                    path,
                    is_quoted,
                });
            }
        }
    })
}

impl<'a> Mention<'a> {
    /// The possible paths, longest first: the sentence may continue directly after the path, with
    /// punctuation or a Korean particle.
    pub fn spellings(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let ends_sentence = |c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']');
        let bare = self.path.trim_end_matches(ends_sentence);
        let without_particle = bare.trim_end_matches(is_hangul);
        let spellings = match self.is_quoted {
            true => vec![self.path],
            false => vec![self.path, bare, without_particle],
        };
        let mut shortest = usize::MAX;
        spellings.into_iter().filter(move |path| {
            let is_new = !path.is_empty() && path.len() < shortest;
            shortest = path.len();
            is_new
        })
    }

    /// The bytes of the line to remove with a mention of `path`, including a space after it that
    /// would be left over. `None` if another path is mentioned.
    fn removed_bytes(&self, path: &str, line: &str) -> Option<Range<usize>> {
        let spelling = self.spellings().find(|spelling| *spelling == path)?;
        let end = self.path_start + spelling.len() + usize::from(self.is_quoted);
        let follows_space = self.start == 0 || line[..self.start].ends_with(' ');
        let removes_space = follows_space && line[end..].starts_with(' ');
        Some(self.start..end + usize::from(removes_space))
    }
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7A3}')
}

/// Whether a text mentions this path.
pub fn mentions_path(text: &str, path: &str) -> bool {
    let mut mentions = text.lines().flat_map(mentions);
    mentions.any(|mention| mention.spellings().any(|spelling| spelling == path))
}

/// The bytes to remove from a line so that it no longer mentions `path`, last first.
pub fn mentions_to_remove(line: &str, path: &str) -> Vec<Range<usize>> {
    let removed = mentions(line).filter_map(|mention| mention.removed_bytes(path, line));
    let mut removed: Vec<_> = removed.collect();
    removed.reverse();
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(line: &str) -> Vec<Vec<&str>> {
        let mentions = mentions(line);
        mentions
            .map(|mention| mention.spellings().collect())
            .collect()
    }

    #[test]
    fn mentions_end_before_a_blank_or_at_a_quotation_mark() {
        assert_eq!(
            spellings("@a.txt and (@b/c.md)"),
            [vec!["a.txt"], vec!["b/c.md)", "b/c.md"]]
        );
        assert_eq!(spellings("see @a.txt."), [["a.txt.", "a.txt"]]);
        assert_eq!(spellings("@메모.txt를 요약"), [["메모.txt를", "메모.txt"]]);
        assert_eq!(spellings("@메모"), [["메모"]]);
        assert_eq!(spellings("@\"My Notes.md\", @\"open"), [["My Notes.md"]]);
        assert_eq!(spellings("me@example.com @ x @"), Vec::<Vec<&str>>::new());
        let long = format!("@{}", "a".repeat(PATH_BYTES_MAX + 1));
        assert_eq!(spellings(&long), Vec::<Vec<&str>>::new());
        assert!(mentions_path("one\n@a.txt, two", "a.txt"));
        assert!(!mentions_path("@a.txt2", "a.txt"));
    }

    #[test]
    fn removing_a_mention_leaves_one_space() {
        let without = |line: &str| {
            let mut text = line.to_owned();
            for bytes in mentions_to_remove(line, "a b.txt") {
                text.replace_range(bytes, "");
            }
            text
        };
        let quoted = "@\"a b.txt\"";
        assert_eq!(without(&format!("see {quoted} now")), "see now");
        assert_eq!(without(&format!("{quoted} now {quoted}")), "now ");
        assert_eq!(without(&format!("({quoted})")), "()");
        assert_eq!(without("@a.txt"), "@a.txt");
    }

    fn fragment(text: &str) -> Option<String> {
        typed_path(text, true).map(|typed| typed.fragment)
    }

    #[test]
    fn a_path_begins_with_an_at_sign_at_the_start_of_a_word() {
        for (text, expected) in [
            ("@", Some("")),
            ("@src/ma", Some("src/ma")),
            ("see @문서", Some("문서")),
            ("(@a", Some("a")),
            ("@\"My No", Some("My No")),
            ("@@types/no", Some("@types/no")),
            ("@a b", None),
            ("@\"a b\" ", None),
            ("mail@example.com", None),
            ("no", None),
            ("/attach My No", Some("My No")),
            ("/attach  \"a", Some("a")),
            ("/attach", None),
        ] {
            assert_eq!(fragment(text).as_deref(), expected, "{text}");
        }
        assert_eq!(typed_path("/attach x", false), None, "not a command");
    }

    #[test]
    fn completion_replaces_the_typed_path() {
        let complete = |text: &str, path: &str, is_folder: bool| {
            let typed = typed_path(text, true).expect("a path");
            let kept = &text[..text.len() - typed.replaced_bytes];
            format!("{kept}{}", typed.completed(path, is_folder))
        };
        assert_eq!(
            complete("see @ma", "src/main.rs", false),
            "see @src/main.rs "
        );
        assert_eq!(complete("@sr", "src/", true), "@src/");
        assert_eq!(complete("@My", "My Notes.md", false), "@\"My Notes.md\" ");
        assert_eq!(complete("@\"My", "My Files/", true), "@\"My Files/");
        assert_eq!(complete("/attach m", "a b.txt", false), "/attach a b.txt");
    }
}
