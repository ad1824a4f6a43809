//! Writes frames to the terminal. Each frame is a single write inside a synchronized update
//! (mode 2026); an unchanged frame writes nothing.

use crate::tui::terminal::diff_encoder::encode;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::ResetColor;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use std::io::{self, Stdout, Write};

pub struct FrameWriter<W: Write = Stdout> {
    out: W,
    /// The contents of the terminal, unless `is_stale`.
    current: Buffer,
    next: Buffer,
    /// Whether the contents of the terminal are unknown. The next frame then clears the terminal
    /// first.
    is_stale: bool,
    is_cursor_visible: Option<bool>,
    cursor: Option<Position>,
    /// The bytes of a frame; kept only to reuse the allocation.
    frame: Vec<u8>,
}

impl FrameWriter {
    pub fn new() -> Self {
        Self::with_output(io::stdout())
    }
}

impl<W: Write> FrameWriter<W> {
    /// Creates a writer for a screen of unknown size and contents.
    pub fn with_output(out: W) -> Self {
        Self {
            out,
            current: Buffer::default(),
            next: Buffer::default(),
            is_stale: true,
            is_cursor_visible: None,
            cursor: None,
            frame: Vec::new(),
        }
    }

    /// Makes the next frame redraw everything.
    pub fn invalidate(&mut self) {
        self.is_stale = true;
    }

    /// Draws a frame of this size. `paint` gets a blank buffer and returns the cursor
    /// position if the cursor is visible.
    ///
    /// # Errors
    /// Fails if writing to the terminal fails; the next frame then redraws everything.
    pub fn draw(
        &mut self,
        size: Size,
        paint: impl FnOnce(&mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        let area = Rect::from((Position::ORIGIN, size));
        if self.next.area == area {
            self.next.reset();
        } else {
            self.next = Buffer::empty(area);
            self.is_stale = true;
        }
        let cursor = paint(&mut self.next);
        let result = self.write_frame(cursor);
        // After a failed write the contents of the terminal are unknown.
        self.is_stale = result.is_err();
        std::mem::swap(&mut self.current, &mut self.next);
        result
    }

    fn write_frame(&mut self, cursor: Option<Position>) -> io::Result<()> {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        queue!(frame, BeginSynchronizedUpdate)?;
        let header_bytes = frame.len();
        if self.is_stale {
            queue!(frame, ResetColor, Clear(ClearType::All))?;
            self.current = Buffer::empty(self.next.area);
            (self.cursor, self.is_cursor_visible) = (None, None);
        }
        self.cursor = encode(&self.current, &self.next, self.cursor, &mut frame);
        self.place_cursor(cursor, &mut frame)?;
        if frame.len() > header_bytes {
            queue!(frame, EndSynchronizedUpdate)?;
            self.out.write_all(&frame)?;
            self.out.flush()?;
        }
        self.frame = frame;
        Ok(())
    }

    fn place_cursor(&mut self, cursor: Option<Position>, frame: &mut Vec<u8>) -> io::Result<()> {
        if let Some(cursor) = cursor.filter(|cursor| self.cursor != Some(*cursor)) {
            queue!(frame, MoveTo(cursor.x, cursor.y))?;
            self.cursor = Some(cursor);
        }
        let is_visible = Some(cursor.is_some());
        if std::mem::replace(&mut self.is_cursor_visible, is_visible) != is_visible {
            match cursor {
                Some(_) => queue!(frame, Show)?,
                None => queue!(frame, Hide)?,
            }
        }
        Ok(())
    }

    /// Writes a control sequence that does not affect the screen contents or the cursor.
    ///
    /// # Errors
    /// Fails if writing to the terminal fails.
    pub fn write_sequence(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.out.write_all(sequence)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Default)]
    struct SharedOutput(Rc<RefCell<Vec<u8>>>);

    impl Write for SharedOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const SIZE: Size = Size::new(10, 3);

    fn draw(screen: &mut FrameWriter<SharedOutput>, text: &str) {
        let paint = |buffer: &mut Buffer| {
            buffer.set_string(0, 0, text, Style::new());
            Some(Position::new(3, 2))
        };
        screen
            .draw(SIZE, paint)
            .expect("writing to a vector cannot fail");
    }

    fn take_output(output: &SharedOutput) -> String {
        String::from_utf8(std::mem::take(&mut *output.0.borrow_mut())).expect("UTF-8")
    }

    #[test]
    fn unchanged_frame_writes_nothing() {
        let output = SharedOutput::default();
        let mut screen = FrameWriter::with_output(output.clone());
        draw(&mut screen, "a");
        assert_ne!(take_output(&output), "");
        draw(&mut screen, "a");
        assert_eq!(take_output(&output), "");
    }

    #[test]
    fn frame_is_one_synchronized_update() {
        let output = SharedOutput::default();
        let mut screen = FrameWriter::with_output(output.clone());
        draw(&mut screen, "a");
        let text = take_output(&output);
        assert!(
            text.starts_with("\u{1b}[?2026h") && text.ends_with("\u{1b}[?2026l"),
            "{text:?}"
        );
    }

    #[test]
    fn invalidated_screen_is_redrawn_once() {
        let output = SharedOutput::default();
        let mut screen = FrameWriter::with_output(output.clone());
        draw(&mut screen, "word");
        take_output(&output);
        screen.invalidate();
        draw(&mut screen, "word");
        let text = take_output(&output);
        assert!(
            text.contains("\u{1b}[2J") && text.contains("word"),
            "{text:?}"
        );
        draw(&mut screen, "word");
        assert_eq!(take_output(&output), "");
    }

    #[test]
    fn one_new_letter_writes_only_that_letter() {
        let output = SharedOutput::default();
        let mut screen = FrameWriter::with_output(output.clone());
        draw(&mut screen, "lette");
        take_output(&output);
        draw(&mut screen, "letter");
        let frame = "\u{1b}[?2026h\u{1b}[1;6Hr\u{1b}[3;4H\u{1b}[?2026l";
        assert_eq!(take_output(&output), frame);
    }
}
