//! The part of a text that shows why it was found.

use super::terms::SearchTerms;
use std::ops::Range;

/// An excerpt on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    /// Byte ranges of the found terms in `text`.
    pub matches: Vec<Range<usize>>,
}

/// At most `chars_max` characters of `text` around the first occurrence of a term, with white
/// space collapsed. Begins at the start of the text if no term occurs literally.
pub fn snippet(text: &str, terms: &SearchTerms, chars_max: usize) -> Snippet {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = occurrences(&line, terms)
        .first()
        .map_or(0, |range| range.start);
    let start = start_of_excerpt(&line, first, chars_max / 4);
    let rest = &line[start..];
    let end = rest
        .char_indices()
        .nth(chars_max)
        .map_or(rest.len(), |(at, _)| at);
    let mut excerpt = without_partial_word(rest, end).trim_end().to_owned();
    if start > 0 {
        excerpt.insert(0, '…');
    }
    if end < rest.len() {
        excerpt.push('…');
    }
    let matches = occurrences(&excerpt, terms);
    Snippet {
        text: excerpt,
        matches,
    }
}

/// The text up to `end`. If `end` is inside a word, that word is left out, unless less than half of
/// the text would remain.
fn without_partial_word(text: &str, end: usize) -> &str {
    let (kept, cut) = text.split_at(end);
    let is_inside_word = !cut.is_empty() && !cut.starts_with(' ');
    match kept
        .rfind(' ')
        .filter(|space| is_inside_word && space * 2 > end)
    {
        Some(space) => &kept[..space],
        None => kept,
    }
}

/// The start of a word at most `chars_before` characters before `offset`.
fn start_of_excerpt(line: &str, offset: usize, chars_before: usize) -> usize {
    let before = &line[..offset];
    let earliest = before.char_indices().rev().nth(chars_before);
    let Some((earliest, _)) = earliest else {
        return 0;
    };
    before[earliest..]
        .find(' ')
        .map_or(earliest, |space| earliest + space + 1)
}

/// Byte ranges of all terms in `text`, in order and without overlap. Ignores case; offsets in the
/// lowercase text, which may differ in length, are mapped back to `text`.
fn occurrences(text: &str, terms: &SearchTerms) -> Vec<Range<usize>> {
    let mut lowercase = String::with_capacity(text.len());
    // For each byte of `lowercase`, the offset of its letter in `text`.
    let mut offsets = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices() {
        lowercase.extend(c.to_lowercase());
        offsets.resize(lowercase.len(), at);
    }
    offsets.push(text.len());
    let mut ranges: Vec<Range<usize>> = terms
        .texts()
        .flat_map(|term| {
            lowercase
                .match_indices(term)
                .map(|(at, found)| offsets[at]..offsets[at + found.len()])
                .collect::<Vec<_>>()
        })
        .filter(|range| !range.is_empty())
        .collect();
    ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    ranges.dedup_by(|later, earlier| later.start < earlier.end);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, query: &str, chars_max: usize) -> String {
        let found = snippet(text, &SearchTerms::parse(query), chars_max);
        let mut out = found.text.clone();
        for range in found.matches.iter().rev() {
            out.insert(range.end, ']');
            out.insert(range.start, '[');
        }
        out
    }

    #[test]
    fn a_snippet_surrounds_the_first_match_and_marks_all_matches() {
        let text =
            "One two three four five six.\n\nThe ROUTER is here; routers are fun, and so on.";
        assert_eq!(
            marked(text, "router", 30),
            "…The [ROUTER] is here; [router]s…"
        );
        assert_eq!(
            marked("설정은 라우터에서 한다", "라우터", 40),
            "설정은 [라우터]에서 한다"
        );
        assert_eq!(
            marked("İstanbul is ISTANBUL", "istanbul", 40),
            "…is [ISTANBUL]"
        );
    }

    #[test]
    fn without_a_literal_match_the_snippet_is_the_beginning() {
        assert_eq!(marked("alpha beta gamma", "zeta", 10), "alpha beta…");
        assert_eq!(marked("", "zeta", 10), "");
    }
}
