//! Ctrl+C and other termination signals, as exit statuses.

use super::EXIT_INTERRUPTED;
use std::io;

pub struct ExitSignals {
    /// Each signal with its exit status.
    #[cfg(unix)]
    signals: [(tokio::signal::unix::Signal, u8); 4],
}

#[cfg(unix)]
impl ExitSignals {
    pub fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let handler = |kind, code| signal(kind).map(|signal| (signal, code));
        let signals = [
            handler(SignalKind::interrupt(), EXIT_INTERRUPTED)?,
            handler(SignalKind::terminate(), 128 + 15)?,
            handler(SignalKind::hangup(), 128 + 1)?,
            // By default, Ctrl+\ would leave the server processes running.
            handler(SignalKind::quit(), 128 + 3)?,
        ];
        Ok(Self { signals })
    }

    /// Waits for the next signal and returns its exit status.
    pub async fn next(&mut self) -> u8 {
        let [a, b, c, d] = &mut self.signals;
        tokio::select! {
            _ = a.0.recv() => a.1,
            _ = b.0.recv() => b.1,
            _ = c.0.recv() => c.1,
            _ = d.0.recv() => d.1,
        }
    }
}

#[cfg(not(unix))]
impl ExitSignals {
    pub fn install() -> io::Result<Self> {
        Ok(Self {})
    }

    pub async fn next(&mut self) -> u8 {
        let _ = tokio::signal::ctrl_c().await;
        EXIT_INTERRUPTED
    }
}
