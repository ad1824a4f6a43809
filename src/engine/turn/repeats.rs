//! Sees whether a model runs in circles: the same block eight times in a row at the
//! end of what it has written (S5.11).

/// How often a block may come in a row.
const TIMES: usize = 8;
/// Bytes between two looks: the cost of one look is that of reading the window.
const STEP: usize = 512;
/// The end of the text that is looked at; an eighth of it is the longest block.
const WINDOW: usize = 16 * 1024;
/// A block of so many bytes that says something counts as it stands.
const BLOCK_BYTES_MIN: usize = 20;
/// What is too short or too poor to be a block, such as `0, ` or `ha `, may be meant:
/// it is a circle only once so much of it has come.
const POOR_BYTES: usize = 1_024;
/// Rules and rows of dots, without a letter or a digit.
const BLANK_BYTES: usize = 4_096;

/// Remembers how far a growing text was looked at.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: usize,
}

impl Repeats {
    /// Where the text is to be cut, so that one of the repeated blocks is left.
    /// O(1) a byte, however long the text is.
    pub(super) fn look(&mut self, text: &str) -> Option<usize> {
        if text.len() < self.seen + STEP {
            return None;
        }
        self.seen = text.len();
        let bytes = text.as_bytes();
        let period = period(&bytes[text.len().saturating_sub(WINDOW)..])?;
        let mut start = text.len() - period;
        while start > 0 && bytes[start - 1] == bytes[start - 1 + period] {
            start -= 1;
        }
        let mut end = start + period;
        while !text.is_char_boundary(end) {
            end += 1;
        }
        Some(end)
    }
}

/// The length of the block that the end of `window` consists of, where that came
/// often enough. By the failure function of Knuth, Morris and Pratt over the bytes
/// from the end: the shortest period of each suffix.
fn period(window: &[u8]) -> Option<usize> {
    let from_end = |at: usize| window[window.len() - 1 - at];
    let mut failure = vec![0usize; window.len()];
    for at in 1..window.len() {
        let mut border = failure[at - 1];
        while border > 0 && from_end(border) != from_end(at) {
            border = failure[border - 1];
        }
        failure[at] = border + usize::from(from_end(border) == from_end(at));
        let (length, period) = (at + 1, at + 1 - failure[at]);
        if length >= TIMES * period && length >= needed(&window[window.len() - period..]) {
            return Some(period);
        }
    }
    None
}

/// Bytes of repetition from which a block is a circle.
fn needed(block: &[u8]) -> usize {
    let text = String::from_utf8_lossy(block);
    if !text.chars().any(char::is_alphanumeric) {
        return BLANK_BYTES;
    }
    let wide = text
        .chars()
        .filter(|c| c.is_alphanumeric() && !c.is_ascii());
    let says_something = text.split_whitespace().count() >= 3 || wide.count() >= 6;
    if says_something && block.len() >= BLOCK_BYTES_MIN {
        TIMES * block.len()
    } else {
        POOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` in small pieces; where it would be cut, and after how many bytes
    /// that was seen.
    fn cut(text: &str) -> Option<(usize, usize)> {
        let mut repeats = Repeats::default();
        let ends = (1..=text.len()).filter(|end| text.is_char_boundary(*end));
        ends.filter(|end| end % 7 == 0 || *end == text.len())
            .find_map(|end| Some((repeats.look(&text[..end])?, end)))
    }

    #[test]
    fn a_block_that_comes_eight_times_is_cut_to_one() {
        let block = "The answer is that it depends on the case.\n";
        let text = format!("Well. {}", block.repeat(40));
        let (end, seen) = cut(&text).expect("a circle");
        assert_eq!(&text[..end], format!("Well. {block}"));
        assert!(seen <= 6 + 8 * block.len() + STEP + 7, "{seen}");
    }

    #[test]
    fn a_block_of_wide_letters_is_cut_between_two_of_them() {
        let block = "같은 말을 되풀이합니다. ";
        let text = format!("음, {}", block.repeat(60));
        let (end, _) = cut(&text).expect("a circle");
        // The space before the first block belongs to the circle as well.
        assert_eq!(&text[..end], format!("음, {block}").trim_end());
    }

    #[test]
    fn a_block_of_two_kilobytes_is_seen() {
        let lines: Vec<String> = (0..60)
            .map(|n| format!("line {n} of a long block\n"))
            .collect();
        let block = lines.concat();
        let text = block.repeat(10);
        let (end, _) = cut(&text).expect("a circle");
        assert_eq!(end, block.len());
    }

    #[test]
    fn one_word_for_ever_is_seen_later() {
        assert_eq!(cut(&"no ".repeat(120)), None);
        assert!(cut(&"no ".repeat(900)).is_some());
    }

    #[test]
    fn what_merely_looks_alike_goes_on() {
        let rule = "-".repeat(1_500);
        let table: String = (0..200).map(|n| format!("| {n} | a row | 0 |\n")).collect();
        let seven = "A refrain that comes seven times.\n".repeat(7);
        let zeros = "0, ".repeat(300);
        for text in [rule, table, format!("{seven}{}", "x y z ".repeat(2)), zeros] {
            assert_eq!(cut(&text), None, "{}", &text[..40]);
        }
    }
}
