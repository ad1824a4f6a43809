//! The path that is being typed: after `@` in a message, or as the argument of `/attach`. Pure.

/// The command whose argument is a path.
const ATTACH_COMMAND: &str = "/attach ";

/// A path before the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedPath {
    /// Length of the text to replace, which ends at the cursor, in bytes.
    pub replaced_bytes: usize,
    /// The path typed so far, without quotation marks.
    pub fragment: String,
    pub is_argument: bool,
}

/// The path in the text before the cursor, if there is one. An `@` begins a path at the start of
/// a word; a path with spaces is between quotation marks: `@"My Notes.md"`.
pub fn typed_path(before_cursor: &str, is_first_line: bool) -> Option<TypedPath> {
    if is_first_line && let Some(argument) = before_cursor.strip_prefix(ATTACH_COMMAND) {
        let argument = argument.trim_start();
        return Some(TypedPath {
            replaced_bytes: argument.len(),
            fragment: argument.trim_start_matches('"').to_owned(),
            is_argument: true,
        });
    }
    let starts_word = |index: usize| {
        let before = before_cursor[..index].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | ','))
    };
    let mut marks = before_cursor.rmatch_indices('@').map(|(index, _)| index);
    let start = marks.find(|index| starts_word(*index))?;
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
    /// The text that replaces the typed path. The end of a folder stays open.
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn completion_replaces_what_was_typed() {
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
