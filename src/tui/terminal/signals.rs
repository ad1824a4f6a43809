//! Signals, and whether the terminal may be queried.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether control sequences that query the terminal may be sent. Some terminals print unknown
/// sequences as text.
pub fn may_query_terminal() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    !matches!(term.as_str(), "" | "dumb" | "linux")
}

pub struct TerminalSignals(Vec<(i32, Signal)>);

impl TerminalSignals {
    pub fn install() -> io::Result<Self> {
        let kinds = [
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::interrupt(),
            SignalKind::quit(),
        ];
        let listen = |kind: SignalKind| Ok((kind.as_raw_value(), signal(kind)?));
        kinds
            .into_iter()
            .map(listen)
            .collect::<io::Result<_>>()
            .map(Self)
    }

    pub async fn next(&mut self) -> i32 {
        let next_signals = self.0.iter_mut().map(|(number, signal)| {
            let number = *number;
            Box::pin(async move {
                signal.recv().await;
                number
            })
        });
        futures::future::select_all(next_signals).await.0
    }

    /// Waits for a signal that ends `humble` even while another program owns the terminal.
    /// SIGINT and SIGQUIT are meant for that program.
    pub async fn next_fatal(&mut self) -> i32 {
        let fatal_kinds = [SignalKind::terminate(), SignalKind::hangup()];
        loop {
            let number = self.next().await;
            if fatal_kinds.iter().any(|kind| kind.as_raw_value() == number) {
                return number;
            }
        }
    }
}
