//! Assembles messages from typed lines. A line that ends in `\` continues, lines between two lines of
//! `"""` belong together, and pasted lines wait until the user presses Enter.

use crate::headless::tty_reader::{PASTE_GAP, TtyReader, Typed};
use tokio::time::timeout;

/// A longer paste is taken in several parts, which belong together all the same.
const PASTED_LINES_MAX: usize = 100_000;
const BLOCK_MARK: &str = "\"\"\"";

/// Lines or the end of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum TypedInput {
    /// Several lines were pasted.
    Lines(Vec<String>),
    /// Ctrl+D on an empty line.
    EndOfInput,
}

/// Collects the lines that arrive together. Cancel-safe.
#[derive(Debug, Default)]
pub struct LineInput {
    lines: Vec<String>,
    is_at_end: bool,
}

impl LineInput {
    /// Waits for a line, and takes those that arrive together with it. `None` if the terminal is gone.
    pub async fn next(&mut self, tty: &TtyReader) -> Option<TypedInput> {
        loop {
            let next: Option<Typed> = match self.lines.is_empty() {
                true if self.is_at_end => None,
                true => Some(tty.next_line().await?),
                false if self.lines.len() >= PASTED_LINES_MAX => None,
                // A lost terminal is noticed by the next call.
                false => timeout(PASTE_GAP, tty.next_line()).await.ok().flatten(),
            };
            match next {
                Some(Some(line)) => self.lines.push(line),
                Some(None) => self.is_at_end = true,
                None if self.lines.is_empty() => {
                    self.is_at_end = false;
                    return Some(TypedInput::EndOfInput);
                }
                None => return Some(TypedInput::Lines(std::mem::take(&mut self.lines))),
            }
            if self.is_at_end && !self.lines.is_empty() {
                return Some(TypedInput::Lines(std::mem::take(&mut self.lines)));
            }
        }
    }
}

/// The lines of a message that is not complete yet.
#[derive(Debug, Default)]
pub struct MessageAssembler {
    lines: Vec<String>,
    state: AssemblerState,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum AssemblerState {
    #[default]
    Empty,
    /// The last line ended in a backslash.
    Continued,
    /// Between two lines of `"""`.
    Block,
    /// Lines were pasted, and Enter sends them.
    Pasted,
}

impl MessageAssembler {
    pub fn is_empty(&self) -> bool {
        self.state == AssemblerState::Empty
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The number of lines so far.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Whether the lines were pasted and wait for Enter.
    pub fn is_pasted(&self) -> bool {
        self.state == AssemblerState::Pasted
    }

    /// Adds lines that arrived together. Returns the message once it is complete.
    pub fn push(&mut self, lines: Vec<String>) -> Option<String> {
        let is_paste = lines.len() > 1;
        let mut lines = lines.into_iter();
        while let Some(line) = lines.next() {
            let is_mark = line.trim() == BLOCK_MARK;
            match self.state {
                AssemblerState::Empty | AssemblerState::Continued if is_mark => {
                    self.state = AssemblerState::Block;
                }
                AssemblerState::Block if is_mark => {
                    self.state = AssemblerState::Pasted;
                    let is_last = lines.len() == 0;
                    if is_last {
                        return Some(self.take());
                    }
                }
                AssemblerState::Block => self.lines.push(line),
                AssemblerState::Pasted if !is_paste => {
                    // The rest of the last pasted line, or nothing.
                    self.lines
                        .extend(Some(line).filter(|line| !line.is_empty()));
                    return Some(self.take());
                }
                _ if is_paste => {
                    self.lines.push(line);
                    self.state = AssemblerState::Pasted;
                }
                _ => match line.strip_suffix('\\') {
                    Some(start) => {
                        self.lines.push(start.to_owned());
                        self.state = AssemblerState::Continued;
                    }
                    None => {
                        self.lines.push(line);
                        return Some(self.take());
                    }
                },
            }
        }
        None
    }

    fn take(&mut self) -> String {
        self.state = AssemblerState::Empty;
        std::mem::take(&mut self.lines).join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(assembler: &mut MessageAssembler, lines: &[&str]) -> Option<String> {
        assembler.push(lines.iter().map(|&line| line.to_owned()).collect())
    }

    #[test]
    fn typed_lines_are_messages_unless_they_continue() {
        let mut assembler = MessageAssembler::default();
        assert_eq!(pushed(&mut assembler, &["hello"]).as_deref(), Some("hello"));
        assert_eq!(pushed(&mut assembler, &["one \\"]), None);
        assert_eq!(
            pushed(&mut assembler, &["two"]).as_deref(),
            Some("one \ntwo")
        );
        assert!(assembler.is_empty());
    }

    #[test]
    fn lines_between_two_marks_belong_together() {
        let mut assembler = MessageAssembler::default();
        for line in ["\"\"\"", "한 줄", "", "/help \\"] {
            assert_eq!(pushed(&mut assembler, &[line]), None);
        }
        assert_eq!(
            pushed(&mut assembler, &["\"\"\""]).as_deref(),
            Some("한 줄\n\n/help \\")
        );
        let pasted = ["\"\"\"", "a", "b", "\"\"\""];
        assert_eq!(pushed(&mut assembler, &pasted).as_deref(), Some("a\nb"));
    }

    #[test]
    fn pasted_lines_wait_for_enter() {
        let mut assembler = MessageAssembler::default();
        assert_eq!(pushed(&mut assembler, &["rm -rf", "/exit"]), None);
        assert!(assembler.is_pasted());
        assert_eq!(pushed(&mut assembler, &["more", "lines"]), None);
        assert_eq!(
            pushed(&mut assembler, &["rest"]).as_deref(),
            Some("rm -rf\n/exit\nmore\nlines\nrest")
        );
        assert_eq!(pushed(&mut assembler, &["a", "b"]), None);
        assert_eq!(pushed(&mut assembler, &[""]).as_deref(), Some("a\nb"));
    }
}
