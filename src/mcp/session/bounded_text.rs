//! Bounds texts of a server that are shown in a sentence. Pure.

/// Maximum number of characters of one text.
const TEXT_CHARS_MAX: usize = 2_000;

/// The text, or its beginning and a mark that names the size of the rest.
pub fn bounded_text(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(TEXT_CHARS_MAX) else {
        return text.to_owned();
    };
    let (shown, rest) = text.split_at(end);
    let count = rest.chars().count();
    let unit = if count == 1 {
        "character"
    } else {
        "characters"
    };
    format!("{shown}… [{count} more {unit}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_text_is_cut_and_marked() {
        let fits = "엉".repeat(TEXT_CHARS_MAX);
        assert_eq!(bounded_text(&fits), fits);
        let one_more = bounded_text(&format!("{fits}x"));
        assert_eq!(one_more, format!("{fits}… [1 more character]"));
        let long = bounded_text(&"x".repeat(2_000_000));
        assert!(long.ends_with("x… [1998000 more characters]"), "{long}");
    }
}
