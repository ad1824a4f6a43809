//! Looks in a server's stderr output for the reason why it exited.

use crate::text::{WordList, word_list};
/// The module that an error from Python or Node.js names as missing. Ignores names that are too long
/// to be real.
pub fn missing_module(line: &str) -> Option<&str> {
    const PHRASES: [&str; 4] = [
        "No module named ",
        "no module named ",
        "Cannot find module ",
        "Cannot find package ",
    ];
    const CHARS_MAX: usize = 100;
    let text_after = |phrase: &str| {
        Some(
            line.split_once(phrase)?
                .1
                .trim_start_matches(['\'', '"', '`']),
        )
    };
    let rest = PHRASES.into_iter().find_map(text_after)?;
    let ends_name = |c: char| c.is_whitespace() || ['\'', '"', '`', ',', ';', ')'].contains(&c);
    let name = rest.split(ends_name).next()?.trim_end_matches('.');
    let is_name = !name.is_empty() && name.chars().count() <= CHARS_MAX;
    is_name.then_some(name)
}

/// Whether an error mentions an environment variable, key or token.
pub fn mentions_variable(line: &str) -> bool {
    static WORDS: WordList = word_list!("variable_hints");
    let line = line.to_lowercase();
    WORDS.iter().any(|word| line.contains(word))
}
