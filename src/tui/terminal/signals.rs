//! What reaches the screen from outside the terminal's keys: signals, a terminal
//! that is gone, and the person's own editor.

use crate::domain::Notice;
use crate::protocol::Command;
use crate::tui::event_loop::{Exit, TuiError};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A terminal that prints what it does not know must not be asked.
pub fn answers_questions() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    !matches!(term.as_str(), "" | "dumb" | "linux")
}

/// Stdin once more, to notice when the terminal behind it is gone: reading would
/// only report an end of input again and again.
pub fn watched_tty() -> Option<AsyncFd<OwnedFd>> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return None;
    }
    let fd = stdin.as_fd().try_clone_to_owned().ok()?;
    #[expect(
        deprecated,
        reason = "its successor is unsafe; an owned fd keeps its promise anyway"
    )]
    AsyncFd::with_interest(fd, Interest::READABLE).ok()
}

pub async fn hung_up(tty: Option<&AsyncFd<OwnedFd>>) {
    let Some(tty) = tty else {
        return std::future::pending().await;
    };
    while let Ok(mut guard) = tty.readable().await {
        if guard.ready().is_read_closed() {
            return;
        }
        guard.clear_ready();
    }
    std::future::pending().await
}

/// How the engine is told to end. Only a user who leaves gives the turn under way up.
pub fn farewell(outcome: &Result<Exit, TuiError>) -> Command {
    match outcome {
        Ok(Exit::Left | Exit::Demo) => Command::Shutdown,
        _ => Command::Abandon,
    }
}

pub struct Signals(Vec<(i32, Signal)>);

impl Signals {
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
        let waits = self.0.iter_mut().map(|(number, signal)| {
            let number = *number;
            Box::pin(async move {
                signal.recv().await;
                number
            })
        });
        futures::future::select_all(waits).await.0
    }
}

impl Signals {
    /// The next signal that ends the program even while another one has the terminal: an
    /// interrupt or a quit there is meant for that one.
    pub async fn next_fatal(&mut self) -> i32 {
        let fatal = [SignalKind::terminate(), SignalKind::hangup()];
        loop {
            let number = self.next().await;
            if fatal.iter().any(|kind| kind.as_raw_value() == number) {
                return number;
            }
        }
    }
}

/// Runs `$VISUAL` or `$EDITOR` on a file that holds `text`.
pub async fn run_editor(text: &str) -> Result<String, Notice> {
    let failed = |fault: io::Error| {
        Notice::failure("The editor could not be used.").because(format!("{fault}."))
    };
    let set = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.trim().is_empty())
    };
    let editor = set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    let file = tempfile::Builder::new()
        .prefix("humble-")
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    std::fs::write(file.path(), text).map_err(failed)?;
    // The variable is a command line, such as `code --wait`.
    let status = tokio::process::Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .kill_on_drop(true)
        .status()
        .await
        .map_err(failed)?;
    if !status.success() {
        return Err(Notice::failure(format!("The editor ended with {status}."))
            .advise("The message stays as it was."));
    }
    std::fs::read_to_string(file.path()).map_err(failed)
}
