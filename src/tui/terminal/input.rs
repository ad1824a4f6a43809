//! Reads the terminal. No thread reads ahead: while the event loop does not read, all input is left
//! to other programs, such as the user's editor.

use crate::tui::input::sequences::{TerminalReport, decode};
use crate::tui::input::tokenizer::Tokenizer;
use rustix::io::{Errno, ioctl_fionread};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

const READ_BYTES_MAX: usize = 16 * 1_024;
/// Maximum number of reads and about as many tokens before input is processed and drawn.
const BATCH_READS_MAX: usize = 256;
const BATCH_TOKENS_MAX: usize = 8_192;

pub struct TerminalInput {
    tty: AsyncFd<File>,
    tokenizer: Tokenizer,
    buffer: Vec<u8>,
}

impl TerminalInput {
    /// Reads the terminal of stdin.
    ///
    /// # Errors
    /// Fails if stdin cannot be watched, because it is no terminal.
    pub fn open() -> io::Result<Self> {
        let tty = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        #[expect(
            deprecated,
            reason = "the replacement is unsafe; an owned descriptor meets its requirements anyway"
        )]
        let tty = AsyncFd::with_interest(tty, Interest::READABLE)?;
        Ok(Self {
            tty,
            tokenizer: new_tokenizer(),
            buffer: vec![0; READ_BYTES_MAX],
        })
    }

    /// Drops an incomplete sequence. The kitty protocol counts as off until the terminal confirms
    /// it again.
    pub fn reset(&mut self) {
        self.tokenizer = new_tokenizer();
    }

    /// Returns when there is something to read.
    ///
    /// # Errors
    /// Fails once the terminal hangs up.
    pub async fn ready(&self) -> io::Result<()> {
        loop {
            let mut guard = self.tty.readable().await?;
            if guard.ready().is_read_closed() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.unread_len()? > 0 {
                return Ok(());
            }
            guard.clear_ready();
        }
    }

    /// When [`Self::read`] must be called even if there is nothing to read.
    pub fn wake_at(&self) -> Option<Duration> {
        self.tokenizer.wake_at()
    }

    /// Reads everything that is ready, within limits, and returns it.
    ///
    /// # Errors
    /// Fails if the terminal is lost.
    pub fn read(&mut self, now: Duration) -> io::Result<Vec<TerminalReport>> {
        let mut tokens = Vec::new();
        for _ in 0..BATCH_READS_MAX {
            // The descriptor blocks, because other programs share its mode: read only what is
            // there.
            let unread_len = self.unread_len()?;
            if unread_len == 0 {
                self.tokenizer.expire(now, &mut tokens);
                break;
            }
            let buffer = &mut self.buffer[..unread_len.min(READ_BYTES_MAX)];
            let count = match self.tty.get_ref().read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.tokenizer.feed(&self.buffer[..count], now, &mut tokens);
            if tokens.len() >= BATCH_TOKENS_MAX {
                break;
            }
        }
        let mut reports = Vec::with_capacity(tokens.len());
        for token in tokens {
            decode(token, &mut reports);
        }
        reports.retain(|report| match report {
            TerminalReport::KittyKeys(is_on) => {
                self.tokenizer.set_kitty_keys(*is_on);
                false
            }
            _ => true,
        });
        Ok(reports)
    }

    fn unread_len(&self) -> Result<usize, Errno> {
        let len = ioctl_fionread(self.tty.get_ref())?;
        Ok(usize::try_from(len).unwrap_or(usize::MAX))
    }
}

fn new_tokenizer() -> Tokenizer {
    Tokenizer::new(std::env::var_os("SSH_CONNECTION").is_some())
}
