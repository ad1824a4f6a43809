//! The terminal as ratatui's backend. A frame goes out in one write, inside
//! synchronized output (mode 2026); a frame that changes nothing writes no byte.

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, EndSynchronizedUpdate};
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use std::io::{self, Stdout, Write};

/// Gathers a frame until it is flushed.
struct Sink<W: Write> {
    frame: Vec<u8>,
    out: W,
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        let mut whole = Vec::with_capacity(self.frame.len() + 16);
        queue!(whole, BeginSynchronizedUpdate)?;
        whole.append(&mut self.frame);
        queue!(whole, EndSynchronizedUpdate)?;
        self.out.write_all(&whole)?;
        self.out.flush()
    }
}

pub struct Screen<W: Write = Stdout> {
    inner: CrosstermBackend<Sink<W>>,
    /// What the terminal's cursor is known to be; None after it moved.
    shown: Option<bool>,
    at: Option<Position>,
}

impl Screen {
    pub fn new() -> Self {
        Self::with_output(io::stdout())
    }
}

impl<W: Write> Screen<W> {
    pub fn with_output(out: W) -> Self {
        let frame = Vec::new();
        Self {
            inner: CrosstermBackend::new(Sink { frame, out }),
            shown: None,
            at: None,
        }
    }

    /// Writes a sequence that moves nothing on the screen.
    pub fn send(&mut self, sequence: &[u8]) -> io::Result<()> {
        self.inner.write_all(sequence)?;
        Write::flush(&mut self.inner)
    }
}

impl<W: Write> Backend for Screen<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut content = content.peekable();
        if content.peek().is_none() {
            return Ok(());
        }
        self.at = None;
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if self.shown == Some(false) {
            return Ok(());
        }
        self.shown = Some(false);
        queue!(self.inner, Hide)
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if self.shown == Some(true) {
            return Ok(());
        }
        self.shown = Some(true);
        queue!(self.inner, Show)
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.at.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.at == Some(position) {
            return Ok(());
        }
        self.at = Some(position);
        queue!(self.inner, MoveTo(position.x, position.y))
    }

    fn clear(&mut self) -> io::Result<()> {
        self.at = None;
        self.shown = None;
        queue!(self.inner, Clear(crossterm::terminal::ClearType::All))
    }

    fn clear_region(&mut self, _region: ClearType) -> io::Result<()> {
        // The whole screen is ours: clearing more than was asked for is made good
        // by the frame that follows.
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        self.inner.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Default)]
    struct Written(Rc<RefCell<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn frame(screen: &mut Screen<Written>, cells: &[(u16, u16, &Cell)]) {
        screen
            .draw(cells.iter().copied())
            .expect("a vector takes all");
        screen.show_cursor().expect("a vector takes all");
        screen
            .set_cursor_position((3, 4))
            .expect("a vector takes all");
        Backend::flush(screen).expect("a vector takes all");
    }

    #[test]
    fn a_frame_that_changes_nothing_writes_no_byte() {
        let written = Written::default();
        let mut screen = Screen::with_output(written.clone());
        frame(&mut screen, &[(0, 0, &Cell::new("a"))]);
        let first = written.0.borrow().len();
        frame(&mut screen, &[]);
        assert_eq!(written.0.borrow().len(), first);
    }

    #[test]
    fn a_frame_is_one_synchronized_update() {
        let written = Written::default();
        let mut screen = Screen::with_output(written.clone());
        frame(&mut screen, &[(0, 0, &Cell::new("a"))]);
        let text = String::from_utf8(written.0.borrow().clone()).expect("UTF-8");
        assert!(
            text.starts_with("\u{1b}[?2026h") && text.ends_with("\u{1b}[?2026l"),
            "{text:?}"
        );
    }
}
