//! Detects a model that repeats itself: the same block again and again at the end of its text.
//! The user may have asked for that, so eight repeats only lead to a notice; far more mean
//! that the model will not end by itself.

/// Repeats that lead to a notice.
const REPEATS_NOTED_MIN: usize = 8;
/// Repeats, and their total bytes, that stop the model.
const REPEATS_STOPPED_MIN: usize = 64;
const REPEATED_BYTES_STOPPED_MIN: usize = 16 << 10;
/// Bytes between two checks, to keep the cost per byte low.
const CHECK_INTERVAL_BYTES: usize = 512;
/// The part at the end that is searched. The longest detected block is an eighth of it.
const WINDOW_BYTES: usize = 16 * 1024;
/// A block of several words and at least this length counts from its eighth repeat.
const BLOCK_BYTES_MIN: usize = 20;
/// Shorter or simpler blocks, such as `0, ` or `ha `, count from this total length.
const SHORT_BLOCK_BYTES_MIN: usize = 1_024;
/// The same for rules and rows of dots, which have no letters or digits.
const SYMBOL_BLOCK_BYTES_MIN: usize = 4_096;

/// Whether a text ends in repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Repetition {
    None,
    /// Worth a notice.
    Noted,
    /// So long that the model must be stopped.
    Endless {
        times: usize,
    },
}

/// The progress of checking a growing text.
#[derive(Debug, Default)]
pub(super) struct LoopDetector {
    checked_bytes: usize,
    repeating_block: Option<RepeatingBlock>,
}

/// A block that repeats up to `checked_bytes`.
#[derive(Debug, Clone, Copy)]
struct RepeatingBlock {
    start: usize,
    period: usize,
}

impl LoopDetector {
    /// Checks `text`, which must extend the text of the last check. O(1) per byte, however
    /// long the text and the repetition are.
    pub(super) fn check(&mut self, text: &str) -> Repetition {
        if text.len() < self.checked_bytes + CHECK_INTERVAL_BYTES {
            return Repetition::None;
        }
        let bytes = text.as_bytes();
        let new = std::mem::replace(&mut self.checked_bytes, text.len())..text.len();
        let still_repeats = |run: &RepeatingBlock| {
            bytes[new.clone()] == bytes[new.start - run.period..new.end - run.period]
        };
        // A known run is only extended, because a new search would cost its whole length.
        self.repeating_block = self
            .repeating_block
            .filter(still_repeats)
            .or_else(|| RepeatingBlock::find(bytes));
        let Some(run) = self.repeating_block else {
            return Repetition::None;
        };
        let length = text.len() - run.start;
        let times = length / run.period;
        if times >= REPEATS_STOPPED_MIN && length >= REPEATED_BYTES_STOPPED_MIN {
            Repetition::Endless { times }
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

/// The length of the block that repeats often enough at the end of `window`: the shortest
/// period of a suffix, by the Knuth-Morris-Pratt failure function from the end.
fn repeating_period(window: &[u8]) -> Option<usize> {
    let from_end = |at: usize| window[window.len() - 1 - at];
    let mut failure = vec![0usize; window.len()];
    for at in 1..window.len() {
        let mut border = failure[at - 1];
        while border > 0 && from_end(border) != from_end(at) {
            border = failure[border - 1];
        }
        failure[at] = border + usize::from(from_end(border) == from_end(at));
        let (length, period) = (at + 1, at + 1 - failure[at]);
        if length >= REPEATS_NOTED_MIN * period
            && length >= repeated_bytes_min(&window[window.len() - period..])
        {
            return Some(period);
        }
    }
    None
}

/// Total bytes of repetition from which `block` counts.
fn repeated_bytes_min(block: &[u8]) -> usize {
    let text = String::from_utf8_lossy(block);
    if !text.chars().any(char::is_alphanumeric) {
        return SYMBOL_BLOCK_BYTES_MIN;
    }
    let wide = text
        .chars()
        .filter(|c| c.is_alphanumeric() && !c.is_ascii());
    let is_prose = text.split_whitespace().count() >= 3 || wide.count() >= 6;
    if is_prose && block.len() >= BLOCK_BYTES_MIN {
        REPEATS_NOTED_MIN * block.len()
    } else {
        SHORT_BLOCK_BYTES_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` in chunks of seven bytes. Returns the lengths at which the notice and the
    /// stop occur.
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
        let asked_for = format!("Well. {}Done.", block.repeat(300));
        assert_eq!(detection_offsets(&asked_for).1, None);
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
    fn count_restarts_when_repetition_ends() {
        let block = "The same line of text again.\n";
        let verse = format!("{}And now another one.\n", block.repeat(400));
        assert!(verse.len() < REPEATED_BYTES_STOPPED_MIN);
        let (noted, stopped) = detection_offsets(&verse.repeat(5));
        assert!(noted.is_some());
        assert_eq!(stopped, None);
    }

    #[test]
    fn single_repeated_word_is_detected_later() {
        assert_eq!(detection_offsets(&"no ".repeat(120)), (None, None));
        let (noted, stopped) = detection_offsets(&"no ".repeat(9_000));
        assert!(noted.is_some() && stopped.is_some());
    }

    #[test]
    fn similar_but_varied_text_is_not_flagged() {
        let rule = "-".repeat(1_500);
        let table: String = (0..200).map(|n| format!("| {n} | a row | 0 |\n")).collect();
        let seven = "A refrain that comes seven times.\n".repeat(7);
        let zeros = "0, ".repeat(300);
        for text in [rule, table, format!("{seven}{}", "x y z ".repeat(2)), zeros] {
            assert_eq!(detection_offsets(&text), (None, None), "{}", &text[..40]);
        }
    }
}
