//! Cuts a streamed text into whole lines and sentences, because a screen reader reads each printed
//! part at once. Pure.

/// A longer text is printed up to its last whitespace, even if no sentence ends there.
const HELD_BYTES_MAX: usize = 4_096;

/// The part of a text that does not end a line or sentence yet.
#[derive(Debug, Default)]
pub struct SentenceBuffer {
    rest: String,
    /// No line or sentence ends before this offset in `rest`, so it is not scanned again.
    scanned: usize,
}

impl SentenceBuffer {
    /// Returns the text up to the end of the last complete line or sentence.
    pub fn push(&mut self, text: &str) -> String {
        self.rest.push_str(text);
        let mut end = self.complete_end();
        if self.rest.len() - end > HELD_BYTES_MAX {
            end = self.forced_end();
        }
        self.scanned = self.rest.len() - end;
        let rest = self.rest.split_off(end);
        std::mem::replace(&mut self.rest, rest)
    }

    /// Returns the rest.
    pub fn finish(&mut self) -> String {
        self.scanned = 0;
        std::mem::take(&mut self.rest)
    }

    fn complete_end(&self) -> usize {
        let mut end = 0;
        let mut previous = self.rest[..self.scanned].chars().next_back().unwrap_or(' ');
        for (at, c) in self.rest[self.scanned..].char_indices() {
            let after = self.scanned + at + c.len_utf8();
            let ends_sentence = matches!(previous, '.' | '!' | '?') && c.is_whitespace();
            if c == '\n' || ends_sentence || matches!(c, '。' | '！' | '？') {
                end = after;
            }
            previous = c;
        }
        end
    }

    fn forced_end(&self) -> usize {
        self.rest
            .rfind(char::is_whitespace)
            .map_or(self.rest.len(), |blank| {
                self.rest.ceil_char_boundary(blank + 1)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_sentences_and_lines_are_returned() {
        let mut buffer = SentenceBuffer::default();
        assert_eq!(buffer.push("The sum is 4"), "");
        assert_eq!(buffer.push("2.5. And"), "The sum is 42.5. ");
        assert_eq!(buffer.push(" so on\n- 한 줄"), "And so on\n");
        assert_eq!(buffer.push("입니다. 다음"), "- 한 줄입니다. ");
        assert_eq!(buffer.push("です。次"), "다음です。");
        assert_eq!(buffer.finish(), "次");
        assert_eq!(buffer.finish(), "");
    }

    #[test]
    fn no_text_is_lost_however_it_is_cut() {
        let text = "A. B!\n\n```\nx = 1.5\n```\nWhy? 왜? 끝";
        for size in 1..=text.len() {
            let mut buffer = SentenceBuffer::default();
            let mut printed = String::new();
            let mut start = 0;
            while start < text.len() {
                let end = text
                    .floor_char_boundary((start + size).min(text.len()))
                    .max(text.ceil_char_boundary(start + 1));
                printed.push_str(&buffer.push(&text[start..end]));
                start = end;
            }
            printed.push_str(&buffer.finish());
            assert_eq!(printed, text);
        }
    }

    #[test]
    fn a_text_without_sentences_is_printed_in_parts_and_scanned_once() {
        let started_at = std::time::Instant::now();
        let mut buffer = SentenceBuffer::default();
        let mut printed = String::new();
        for _ in 0..200_000 {
            printed.push_str(&buffer.push("낱말 "));
            assert!(buffer.rest.len() <= HELD_BYTES_MAX);
        }
        for _ in 0..20_000 {
            printed.push_str(&buffer.push("x"));
        }
        assert!(buffer.rest.len() <= HELD_BYTES_MAX, "even without blanks");
        printed.push_str(&buffer.finish());
        assert_eq!(printed.len(), 200_000 * "낱말 ".len() + 20_000);
        assert!(started_at.elapsed().as_secs() < 10);
    }
}
