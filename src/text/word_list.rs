//! Lists of words, which are files in `assets/words/`: one word or phrase a line. A line that starts
//! with `#` is a comment, and `[name]` begins a section.

use std::ops::Deref;
use std::sync::OnceLock;

/// The words of a section in the order of the file, read at the first use.
#[derive(Debug)]
pub struct WordList {
    file: &'static str,
    section: &'static str,
    words: OnceLock<Vec<&'static str>>,
}

/// The words of `assets/words/FILE.txt`, or of one of its sections.
macro_rules! word_list {
    ($file:literal) => {
        $crate::text::word_list!($file, "")
    };
    ($file:literal, $section:literal) => {
        $crate::text::WordList::new(
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/assets/words/",
                $file,
                ".txt"
            )),
            $section,
        )
    };
}
pub(crate) use word_list;

impl WordList {
    /// For `word_list!`. The section before the first heading has an empty name.
    pub const fn new(file: &'static str, section: &'static str) -> Self {
        let words = OnceLock::new();
        Self {
            file,
            section,
            words,
        }
    }
}

impl Deref for WordList {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.words.get_or_init(|| {
            let mut section = "";
            let mut words = Vec::new();
            for line in self.file.lines() {
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                match heading(line) {
                    Some(name) => section = name,
                    None if section == self.section => words.push(line),
                    None => {}
                }
            }
            words
        })
    }
}

/// The name in `[name]`. Names are in lower case, unlike markers such as `[/TOOL_CALLS]`.
fn heading(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    let is_name = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b' '));
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::WordList;

    #[test]
    fn a_list_has_the_words_of_its_section() {
        const FILE: &str = "# Greetings\n\nhi\n[/A]\n\n[last words]\n# In order.\nso long\nbye\n";
        assert_eq!(WordList::new(FILE, "")[..], ["hi", "[/A]"]);
        assert_eq!(WordList::new(FILE, "last words")[..], ["so long", "bye"]);
        assert_eq!(WordList::new(FILE, "other")[..], [""; 0]);
    }
}
