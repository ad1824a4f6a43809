//! Prompts for the model. Short, because small models follow short prompts best.

use crate::search::Hit;

/// How much of the notes a summary is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummarySize {
    pub chunks_max: usize,
    /// Maximum number of words of each chunk.
    pub words_max: usize,
}

/// From the largest on: a small context gets fewer and shorter chunks.
pub const SUMMARY_SIZES: [SummarySize; 4] = [
    SummarySize::new(6, 800),
    SummarySize::new(5, 600),
    SummarySize::new(4, 450),
    SummarySize::new(3, 300),
];
/// Maximum number of characters of each chunk for every two of its words, for
/// languages without spaces between words.
const CHARS_PER_TWO_WORDS: usize = 15;

/// A longer line before the note is not taken for an introduction.
const INTRODUCTION_CHARS_MAX: usize = 200;
/// The beginnings of a code block around a note.
const FENCES: [&str; 3] = ["```markdown\n", "```md\n", "```\n"];

/// Asks for a note. `style` describes how to write, in the user's words; it may be empty.
pub fn note_prompt(topic: &str, style: &str) -> String {
    let request = match style {
        "" => format!("Write a short note in Markdown about: {topic}\n\n"),
        style => format!("Write a note in Markdown about: {topic}\nStyle: {style}\n\n"),
    };
    let language = match style {
        "" => "Use the language of the topic.",
        _ => "Use the language of the topic, or the one that the style names.",
    };
    format!(
        "{request}{language} Begin with a heading of level 1. Answer with the note alone.\n\nNote:\n"
    )
}

fn style_line(style: &str) -> String {
    match style {
        "" => String::new(),
        style => format!("Style: {style}\n"),
    }
}

impl SummarySize {
    const fn new(chunks_max: usize, words_max: usize) -> Self {
        Self {
            chunks_max,
            words_max,
        }
    }

    /// The beginning of a chunk.
    fn of_chunk(self, body: &str) -> &str {
        let chars_max = self.words_max * CHARS_PER_TWO_WORDS / 2;
        body[..prefix_length(body, self.words_max, chars_max)].trim_end()
    }

    /// The beginning of a note that is summarized alone.
    fn of_note(self, text: &str) -> &str {
        let words_max = self.chunks_max * self.words_max;
        &text[..prefix_length(text, words_max, words_max * CHARS_PER_TWO_WORDS / 2)]
    }
}

/// Asks for a summary of the chunks about a topic.
pub fn topic_prompt(topic: &str, style: &str, chunks: &[Hit], size: SummarySize) -> String {
    let style = style_line(style);
    let mut prompt = format!("Summarize the following notes about {topic}.\n{style}\n");
    for chunk in &chunks[..chunks.len().min(size.chunks_max)] {
        prompt.push_str(&chunk_heading(chunk));
        prompt.push_str(size.of_chunk(&chunk.body));
        prompt.push_str("\n\n");
    }
    prompt.push_str("Summary:");
    prompt
}

/// Asks for a summary of one note, given its text.
pub fn single_note_prompt(text: &str, style: &str, size: SummarySize) -> String {
    let style = style_line(style);
    format!(
        "Summarize the following note.\n{style}\n{}\n\nSummary:",
        size.of_note(text).trim()
    )
}

/// Whether [`single_note_prompt`] leaves out the end of a note.
pub fn is_too_long(text: &str, size: SummarySize) -> bool {
    size.of_note(text).len() < text.len()
}

fn chunk_heading(chunk: &Hit) -> String {
    match chunk.heading.as_str() {
        "" => format!("# {}\n", chunk.title),
        heading => format!("# {}: {heading}\n", chunk.title),
    }
}

/// The length in bytes of the longest prefix within both limits.
fn prefix_length(text: &str, words_max: usize, chars_max: usize) -> usize {
    let mut words = 0;
    let mut is_in_word = false;
    for (count, (at, c)) in text.char_indices().enumerate() {
        let starts_word = !is_in_word && !c.is_whitespace();
        if count == chars_max || (starts_word && words == words_max) {
            return at;
        }
        words += usize::from(starts_word);
        is_in_word = !c.is_whitespace();
    }
    text.len()
}

/// The answer without a line such as "Here is your note:" before its heading.
fn without_introduction(answer: &str) -> &str {
    let Some((first, rest)) = answer.split_once('\n') else {
        return answer;
    };
    let (first, rest) = (first.trim_end(), rest.trim_start());
    let is_introduction = first.ends_with([':', '：'])
        && !first.starts_with(['#', '-', '*', '`'])
        && first.chars().count() <= INTRODUCTION_CHARS_MAX;
    let is_note = rest.starts_with("# ")
        || FENCES.iter().any(|fence| {
            let inner = rest.strip_prefix(fence);
            inner.is_some_and(|inner| inner.trim_start().starts_with("# "))
        });
    match is_introduction && is_note {
        true => rest,
        false => answer,
    }
}

/// The model's note, without an introduction or a code fence around it, and with a heading added
/// unless it begins with one.
pub fn clean_note(answer: &str, topic: &str) -> String {
    let answer = without_introduction(answer.trim());
    let mut fences = FENCES.iter();
    let inner = fences
        .find_map(|fence| answer.strip_prefix(fence))
        .and_then(|rest| rest.strip_suffix("```"));
    let text = without_introduction(inner.unwrap_or(answer).trim());
    if text.starts_with("# ") {
        format!("{text}\n")
    } else {
        let heading = topic.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("# {heading}\n\n{text}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_chunks_are_truncated_at_their_word_and_character_limits() {
        let chunk = |body: String| Hit {
            key: "a.md".to_owned(),
            title: "Title".to_owned(),
            heading: "Part".to_owned(),
            body,
            score: 1.0,
            similarity: 0.0,
        };
        let prompt = topic_prompt(
            "cats",
            "",
            &[chunk("w ".repeat(900)), chunk("가".repeat(9_000))],
            SUMMARY_SIZES[0],
        );
        let start = "Summarize the following notes about cats.\n\n# Title: Part\nw w ";
        assert!(prompt.starts_with(start), "{prompt}");
        assert!(prompt.ends_with("가\n\nSummary:"));
        assert_eq!(
            prompt.matches('w').count(),
            800 + "following".matches('w').count()
        );
        assert_eq!(prompt.matches('가').count(), 6_000);
    }

    #[test]
    fn the_smallest_summary_has_three_chunks_of_300_words() {
        let chunk = Hit {
            key: "a.md".to_owned(),
            title: "Title".to_owned(),
            heading: String::new(),
            body: "xyz ".repeat(700),
            score: 1.0,
            similarity: 0.0,
        };
        let chunks = vec![chunk; 6];
        let counts = SUMMARY_SIZES.map(|size| {
            let prompt = topic_prompt("cats", "", &chunks, size);
            (
                prompt.matches("# Title").count(),
                prompt.matches("xyz").count(),
            )
        });
        assert_eq!(counts, [(6, 4_200), (5, 3_000), (4, 1_800), (3, 900)]);
    }

    #[test]
    fn a_style_is_part_of_every_prompt_about_notes() {
        let style = "detailed, in French";
        let note = note_prompt("tea", style);
        assert!(
            note.starts_with("Write a note in Markdown about: tea\nStyle: detailed, in French\n\n")
        );
        let topic = topic_prompt("tea", style, &[], SUMMARY_SIZES[0]);
        let start = "Summarize the following notes about tea.\n";
        assert_eq!(topic, format!("{start}Style: {style}\n\nSummary:"));
        let single = single_note_prompt("Tea.", style, SUMMARY_SIZES[0]);
        let start = "Summarize the following note.\n";
        assert_eq!(single, format!("{start}Style: {style}\n\nTea.\n\nSummary:"));
        assert_eq!(
            single_note_prompt("Tea.", "", SUMMARY_SIZES[0]),
            format!("{start}\nTea.\n\nSummary:")
        );
    }

    #[test]
    fn a_fence_around_a_note_is_removed_and_a_heading_added() {
        assert_eq!(clean_note("```markdown\n# A\n\nb\n```", "x"), "# A\n\nb\n");
        assert_eq!(clean_note("text", " two\nlines "), "# two lines\n\ntext\n");
        let with_code = "# A\n```\ncode\n```";
        assert_eq!(clean_note(with_code, "x"), format!("{with_code}\n"));
    }

    #[test]
    fn an_introduction_before_the_heading_is_removed() {
        for answer in [
            "Sure! Here is your note:\n\n# Tea\n\nHot.",
            "물론입니다! 노트입니다：\n# Tea\n\nHot.",
            "Here is your note:\n\n```markdown\n# Tea\n\nHot.\n```",
            "```\nHere it is:\n# Tea\n\nHot.\n```",
        ] {
            assert_eq!(clean_note(answer, "x"), "# Tea\n\nHot.\n", "{answer}");
        }
        for text in [
            "Ingredients:\n- leaves\n\n# Steps",
            "Tea is hot.\n\n# Steps",
            "Run this:\n\n```\nmake\n```",
        ] {
            assert_eq!(clean_note(text, "x"), format!("# x\n\n{text}\n"));
        }
    }
}
