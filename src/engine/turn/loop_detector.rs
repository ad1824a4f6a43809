//! Detects a model that repeats the same block of text again and again. The user may have asked
//! for that, so eight repeats only lead to a notice. After many more, the model must be
//! stopped, because it would not stop by itself.

/// Minimum number of repeats that leads to a notice.
const REPEATS_NOTED_MIN: usize = 8;
/// Minimum number of repeats, and their minimum total bytes, that stop the model.
const REPEATS_STOPPED_MIN: usize = 64;
const REPEATED_BYTES_STOPPED_MIN: usize = 16 << 10;
/// Bytes between two checks, to keep the cost per byte low.
const CHECK_INTERVAL_BYTES: usize = 512;
/// Bytes at the end of the text that are searched. The longest detected block has an eighth of
/// this size.
const WINDOW_BYTES: usize = 16 * 1024;
/// Minimum length of a block of several words. Such a block is reported at its eighth repeat.
const BLOCK_BYTES_MIN: usize = 20;
/// Minimum total length at which shorter or simpler blocks, such as `0, ` or `ha `, are reported.
const SHORT_BLOCK_TOTAL_BYTES_MIN: usize = 1_024;
/// Minimum total length at which blocks without letters or digits are reported, such as rules and
/// rows of dots.
const SYMBOL_BLOCK_TOTAL_BYTES_MIN: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Repetition {
    None,
    /// The user should be notified.
    Noted,
    /// The model must be stopped.
    Endless {
        repeats: usize,
    },
}

/// Finds repetition at the end of a growing text.
#[derive(Debug, Default)]
pub(super) struct LoopDetector {
    checked_bytes: usize,
    repeating_block: Option<RepeatingBlock>,
}

/// A block that repeats from `start` to the end of the checked text.
#[derive(Debug, Clone, Copy)]
struct RepeatingBlock {
    start: usize,
    period: usize,
}

impl LoopDetector {
    /// Checks `text`, which must extend the text of the last check. Reports nothing while less than
    /// [`CHECK_INTERVAL_BYTES`] of it is new. Takes O(1) time per new byte, however long the text and
    /// the repetition are.
    pub(super) fn check(&mut self, text: &str) -> Repetition {
        if text.len() < self.checked_bytes + CHECK_INTERVAL_BYTES {
            return Repetition::None;
        }
        let bytes = text.as_bytes();
        let new_range = std::mem::replace(&mut self.checked_bytes, text.len())..text.len();
        let still_repeats = |block: &RepeatingBlock| {
            bytes[new_range.clone()]
                == bytes[new_range.start - block.period..new_range.end - block.period]
        };
        // A known repetition is only extended, because a new search would read all of it.
        self.repeating_block = self
            .repeating_block
            .filter(still_repeats)
            .or_else(|| RepeatingBlock::find(bytes));
        let Some(block) = self.repeating_block else {
            return Repetition::None;
        };
        let length = text.len() - block.start;
        let repeats = length / block.period;
        if repeats >= REPEATS_STOPPED_MIN && length >= REPEATED_BYTES_STOPPED_MIN {
            Repetition::Endless { repeats }
        } else {
            Repetition::Noted
        }
    }
}

impl RepeatingBlock {
    fn find(bytes: &[u8]) -> Option<Self> {
        let period = repeating_period(&bytes[bytes.len().saturating_sub(WINDOW_BYTES)..])?;
        let mut start = bytes.len() - period;
        while start > 0 && bytes[start - 1] == bytes[start - 1 + period] {
            start -= 1;
        }
        Some(Self { start, period })
    }
}

/// The length of a block that repeats often enough at the end of `window`. This is the shortest
/// period of a suffix, found with the Knuth-Morris-Pratt failure function of the reversed window.
fn repeating_period(window: &[u8]) -> Option<usize> {
    let from_end = |index: usize| window[window.len() - 1 - index];
    let mut failure = vec![0usize; window.len()];
    for index in 1..window.len() {
        let mut border = failure[index - 1];
        while border > 0 && from_end(border) != from_end(index) {
            border = failure[border - 1];
        }
        failure[index] = border + usize::from(from_end(border) == from_end(index));
        let (length, period) = (index + 1, index + 1 - failure[index]);
        if length >= REPEATS_NOTED_MIN * period
            && length >= repeated_bytes_min(&window[window.len() - period..])
        {
            return Some(period);
        }
    }
    None
}

fn repeated_bytes_min(block: &[u8]) -> usize {
    let text = String::from_utf8_lossy(block);
    if !text.chars().any(char::is_alphanumeric) {
        return SYMBOL_BLOCK_TOTAL_BYTES_MIN;
    }
    let wide_chars = text
        .chars()
        .filter(|c| c.is_alphanumeric() && !c.is_ascii());
    let is_prose = text.split_whitespace().count() >= 3 || wide_chars.count() >= 6;
    if is_prose && block.len() >= BLOCK_BYTES_MIN {
        REPEATS_NOTED_MIN * block.len()
    } else {
        SHORT_BLOCK_TOTAL_BYTES_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` in chunks of about seven bytes. Returns the lengths at which the notice and
    /// the stop occur.
    fn detection_offsets(text: &str) -> (Option<usize>, Option<usize>) {
        let (mut detector, mut noted) = (LoopDetector::default(), None);
        let ends = (1..=text.len()).filter(|end| text.is_char_boundary(*end));
        for end in ends.filter(|end| end % 7 == 0 || *end == text.len()) {
            match detector.check(&text[..end]) {
                Repetition::None => {}
                Repetition::Noted => noted = noted.or(Some(end)),
                Repetition::Endless { .. } => return (noted, Some(end)),
            }
        }
        (noted, None)
    }

    #[test]
    fn block_is_noted_after_eight_repeats_and_stopped_only_after_16_kb() {
        let block = "The answer is that it depends on the case.\n";
        let (noted, stopped) = detection_offsets(&format!("Well. {}", block.repeat(1_000)));
        let (noted, stopped) = (noted.expect("noted"), stopped.expect("stopped"));
        assert!(
            noted <= 6 + 8 * block.len() + CHECK_INTERVAL_BYTES + 7,
            "{noted}"
        );
        assert!(
            (6 + REPEATED_BYTES_STOPPED_MIN
                ..=6 + REPEATED_BYTES_STOPPED_MIN + CHECK_INTERVAL_BYTES + 7)
                .contains(&stopped),
            "{stopped}"
        );
        let shorter = format!("Well. {}Done.", block.repeat(300));
        assert_eq!(detection_offsets(&shorter).1, None);
    }

    #[test]
    fn block_of_a_kilobyte_is_stopped_only_after_64_repeats() {
        let lines = (0..50).map(|n| format!("line {n} of a long block\n"));
        let block = lines.collect::<String>();
        assert!((1_000..2_000).contains(&block.len()));
        assert_eq!(detection_offsets(&block.repeat(60)).1, None);
        let (noted, stopped) = detection_offsets(&block.repeat(70));
        assert!(noted.expect("noted") <= 9 * block.len());
        let stopped = stopped.expect("stopped");
        assert!(
            (64 * block.len()..65 * block.len()).contains(&stopped),
            "{stopped}"
        );
    }

    #[test]
    fn repeated_multibyte_text_is_detected_at_any_offset() {
        let block = "같은 말을 되풀이합니다. ";
        let (noted, stopped) = detection_offsets(&format!("음, {}", block.repeat(700)));
        assert!(noted.is_some() && stopped.is_some());
    }

    #[test]
    fn count_of_repeats_restarts_when_repetition_ends() {
        let block = "The same line of text again.\n";
        let verse = format!("{}And now another one.\n", block.repeat(400));
        assert!(verse.len() < REPEATED_BYTES_STOPPED_MIN);
        let (noted, stopped) = detection_offsets(&verse.repeat(5));
        assert!(noted.is_some());
        assert_eq!(stopped, None);
    }

    #[test]
    fn single_repeated_word_is_detected_only_after_many_repeats() {
        assert_eq!(detection_offsets(&"no ".repeat(120)), (None, None));
        let (noted, stopped) = detection_offsets(&"no ".repeat(9_000));
        assert!(noted.is_some() && stopped.is_some());
    }

    #[test]
    fn varied_text_and_short_repetition_are_not_flagged() {
        let rule = "-".repeat(1_500);
        let table: String = (0..200).map(|n| format!("| {n} | a row | 0 |\n")).collect();
        let seven = "A refrain that comes seven times.\n".repeat(7);
        let zeros = "0, ".repeat(300);
        for text in [rule, table, format!("{seven}{}", "x y z ".repeat(2)), zeros] {
            assert_eq!(detection_offsets(&text), (None, None), "{}", &text[..40]);
        }
    }
}
