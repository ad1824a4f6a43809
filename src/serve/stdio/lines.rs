//! Reads lines of bounded length. The last line need not end with a line break.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

pub struct Lines<R> {
    input: BufReader<R>,
    bytes_max: usize,
}

#[derive(Debug, PartialEq)]
pub enum InputLine {
    /// Without the line break.
    Whole(Vec<u8>),
    /// Longer than the maximum; the line was skipped.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(input: R, bytes_max: usize) -> Self {
        Self {
            input: BufReader::new(input),
            bytes_max,
        }
    }

    /// The next line; `None` at the end of the input. Dropping the future loses a partial line.
    ///
    /// # Errors
    /// The input cannot be read.
    pub async fn next(&mut self) -> io::Result<Option<InputLine>> {
        let (mut line, mut is_too_long) = (Vec::new(), false);
        loop {
            let available = self.input.fill_buf().await?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let is_end_of_input = available.is_empty();
            let part = &available[..end.unwrap_or(available.len())];
            if line.len() + part.len() > self.bytes_max {
                is_too_long = true;
                line = Vec::new();
            }
            if !is_too_long {
                line.extend_from_slice(part);
            }
            let consumed = part.len() + usize::from(end.is_some());
            self.input.consume(consumed);
            if end.is_some() || is_end_of_input {
                return Ok(match is_too_long {
                    true => Some(InputLine::TooLong),
                    false if is_end_of_input && line.is_empty() => None,
                    false => Some(InputLine::Whole(line)),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8], bytes_max: usize) -> Vec<InputLine> {
        let mut lines = Lines::new(input, bytes_max);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.expect("memory") {
            found.push(line);
        }
        found
    }

    fn whole(text: &str) -> InputLine {
        InputLine::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn the_last_line_needs_no_line_break() {
        assert_eq!(all(b"a\n\nb", 9).await, [whole("a"), whole(""), whole("b")]);
        assert_eq!(all(b"a\n", 9).await, [whole("a")]);
        assert_eq!(all(b"", 9).await, []);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_to_its_end() {
        assert_eq!(
            all(b"12345\n1234\n123456789", 4).await,
            [InputLine::TooLong, whole("1234"), InputLine::TooLong]
        );
        // Longer than the buffer of the reader.
        let mut input = vec![b'x'; 100_000];
        input.extend_from_slice(b"\nab");
        assert_eq!(all(&input, 4).await, [InputLine::TooLong, whole("ab")]);
    }
}
