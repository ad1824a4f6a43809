//! Paths that a terminal pastes when files are dropped on it: quoted, with escaped spaces, or as
//! `file://` URLs. Pure; whether the files exist is checked elsewhere.

use crate::domain::attachment::ATTACHMENTS_MAX;
use std::path::Path;
use url::Url;

/// Longer pastes are treated as text.
const PASTE_BYTES_MAX: usize = 16 * 1024;
const IMAGE_EXTENSIONS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The paths, if the paste consists only of absolute file paths. Paths on several lines are text
/// unless all are images, because they are more often the output of a command than a drop.
pub fn dropped_paths(paste: &str) -> Option<Vec<String>> {
    if paste.len() > PASTE_BYTES_MAX {
        return None;
    }
    let paste = paste.trim();
    let whole = [paste.to_owned()];
    let is_one_line = !paste.contains('\n');
    let is_dropped = |word: &String| is_image_path(word) || is_one_line && is_file_path(word);
    // A single path may contain unescaped spaces.
    let paths = split_words(paste)
        .filter(|words| words.iter().all(is_dropped))
        .or_else(|| is_path_with_extension(paste).then(|| whole.to_vec()))?;
    let count = paths.len();
    (1..=ATTACHMENTS_MAX).contains(&count).then(|| {
        let decoded = paths
            .into_iter()
            .map(|path| decode_url(&path).unwrap_or(path));
        decoded.collect()
    })
}

/// As a shell does; `None` if a quotation mark is not closed.
fn split_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            // A Windows path loses its backslashes here, but it is never a drop, because it begins
            // with a letter.
            ('\\', None) => word.get_or_insert_default().push(chars.next()?),
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (quote.is_none() && !words.is_empty()).then_some(words)
}

fn is_absolute(word: &str) -> bool {
    let is_absolute = word.starts_with(['/', '~']) || word.starts_with("file://");
    is_absolute && !word.contains('\n')
}

fn is_image_path(word: &str) -> bool {
    let extension = Path::new(word).extension();
    let extension = extension.and_then(|extension| extension.to_str());
    let is_image = extension
        .is_some_and(|extension| IMAGE_EXTENSIONS.contains(&extension.to_lowercase().as_str()));
    is_absolute(word) && is_image
}

/// Whether a word may be the path of a file. A single name after a slash is a command, unless it has
/// an extension.
fn is_file_path(word: &str) -> bool {
    is_absolute(word) && word.matches('/').count() > 1 || is_path_with_extension(word)
}

/// Whether a text is an absolute path with an extension. A path followed by prose does not count,
/// because the text after its last dot contains blanks.
fn is_path_with_extension(text: &str) -> bool {
    let extension = Path::new(text).extension();
    let extension = extension.and_then(|extension| extension.to_str());
    let is_plain = |extension: &str| extension.chars().all(|c| c.is_ascii_alphanumeric());
    is_absolute(text) && extension.is_some_and(is_plain)
}

/// The path of a `file://` URL on this machine.
fn decode_url(word: &str) -> Option<String> {
    let url = Url::parse(word).ok().filter(|url| url.scheme() == "file")?;
    let path = url.to_file_path().ok()?;
    path.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paste: &str) -> Vec<String> {
        dropped_paths(paste).unwrap_or_default()
    }

    #[test]
    fn dropped_paths_may_be_plain_quoted_escaped_or_urls() {
        for (paste, expected) in [
            ("/a/b.png", "/a/b.png"),
            ("/a/My\\ Cat.PNG ", "/a/My Cat.PNG"),
            ("'/a/My Cat.png'\n", "/a/My Cat.png"),
            ("\"/a/My Cat.png\"", "/a/My Cat.png"),
            ("/a/My Cat.png", "/a/My Cat.png"),
            ("file:///a/My%20Cat.png", "/a/My Cat.png"),
            ("/사진/고양이.jpg", "/사진/고양이.jpg"),
            ("~/cat.webp", "~/cat.webp"),
            ("/a/b.txt", "/a/b.txt"),
            ("'/a/My Notes.md' ", "/a/My Notes.md"),
            ("/a/My Notes.md", "/a/My Notes.md"),
            ("/etc/hosts", "/etc/hosts"),
            ("file:///a/%EB%82%A0.txt", "/a/날.txt"),
        ] {
            assert_eq!(paths(paste), [expected], "{paste}");
        }
        assert_eq!(paths("'/a/1.png' /b/2.gif"), ["/a/1.png", "/b/2.gif"]);
    }

    #[test]
    fn pastes_other_than_dropped_paths_are_text() {
        for paste in [
            "",
            "hello",
            "cat.png",
            "/help",
            "/export md",
            "/a/1.txt\n/a/2.txt",
            "/a/b.txt has an error. Explain it",
            "see /a/b.png",
            "/a/b.png is a cat",
            "'/a/b.png",
            "/a/b.png\nand more",
            "https://example.com/cat.png",
        ] {
            assert_eq!(paths(paste), Vec::<String>::new(), "{paste}");
        }
        assert_eq!(paths(&"/a.png ".repeat(11)), Vec::<String>::new());
        assert_eq!(
            paths(&format!("/{}.png", "a".repeat(20_000))),
            Vec::<String>::new()
        );
    }
}
