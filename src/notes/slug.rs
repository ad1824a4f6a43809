//! File names for new notes.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Maximum number of characters of a name without its extension.
const CHARS_MAX: usize = 60;

/// `machine-learning-basics` for `Machine Learning: Basics`. Keeps the letters of all scripts.
/// `note` if nothing is left.
pub fn slug(topic: &str) -> String {
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(topic);
    let mut slug = String::new();
    let mut count = 0;
    for c in composed.chars().flat_map(char::to_lowercase) {
        if count == CHARS_MAX {
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
            count += 1;
        } else if !slug.is_empty() && !slug.ends_with('-') && !matches!(c, '\'' | '’') {
            slug.push('-');
            count += 1;
        }
    }
    let slug = slug.trim_end_matches('-');
    // Windows reserves some names, with any extension.
    match slug {
        "" => "note".to_owned(),
        "con" | "prn" | "aux" | "nul" => format!("{slug}-note"),
        _ => slug.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_become_file_names() {
        for (topic, expected) in [
            ("Machine Learning: Basics", "machine-learning-basics"),
            ("양자 역학", "양자-역학"),
            ("量子力学（入门）", "量子力学-入门"),
            ("\u{1106}\u{1166}\u{1106}\u{1169}", "메모"),
            ("../../etc/passwd", "etc-passwd"),
            ("Don't panic", "dont-panic"),
            ("  --  ", "note"),
            ("CON", "con-note"),
            ("🎉", "note"),
        ] {
            assert_eq!(slug(topic), expected, "{topic}");
        }
        assert_eq!(slug(&"가".repeat(200)).chars().count(), 60);
    }
}
