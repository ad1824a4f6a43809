//! What the select loop waits for besides its channels, each safe to drop while it
//! waits.

use super::actor::Running;
use super::quotes::Quote;
use crate::domain::{ModelFacts, SchemaCheck};
use crate::protocol::{Event, LogLine};
use crate::provider::{Fault, StreamPart};
use std::sync::Arc;
use tokio::sync::mpsc::{self, error::SendError};
use tokio::time::Instant;

/// Room for one more event, from a moment on.
pub(super) async fn room(
    events: &mpsc::Sender<Event>,
    from: Option<Instant>,
) -> Result<mpsc::Permit<'_, Event>, SendError<()>> {
    if let Some(from) = from {
        tokio::time::sleep_until(from).await;
    }
    events.reserve().await
}

pub(super) async fn next_line(lines: &mut Option<mpsc::Receiver<LogLine>>) -> LogLine {
    if let Some(receiver) = lines
        && let Some(line) = receiver.recv().await
    {
        return line;
    }
    *lines = None;
    std::future::pending().await
}

pub(super) enum Heard {
    Part(Option<Result<StreamPart, Fault>>),
    /// Has the server loaded the model? None: it does not say.
    Loaded(Option<bool>),
    /// What the server says of its model.
    Facts(Option<ModelFacts>),
    /// What came with the prompt, read for calls.
    Read(Arc<Quote>),
    Silence,
    /// What the check of arguments showed.
    Checked(Vec<SchemaCheck>),
    /// The pause before another attempt is over.
    RetryDue,
}

/// The next thing about the open request, if there is one.
pub(super) async fn hear(running: Option<&mut Running>) -> Heard {
    let Some(running) = running else {
        return std::future::pending().await;
    };
    if let Some(at) = running.retry_at {
        tokio::time::sleep_until(at).await;
        running.retry_at = None;
        return Heard::RetryDue;
    }
    if let Some(reading) = &mut running.reading {
        let quote = reading.await;
        running.reading = None;
        return Heard::Read(quote);
    }
    if let Some(checking) = &mut running.checking {
        let results = checking.await;
        running.checking = None;
        return Heard::Checked(results);
    }
    if let Some(asked) = &mut running.facts {
        let facts = asked.await;
        running.facts = None;
        return Heard::Facts(facts);
    }
    let Running {
        reply: Some(reply),
        loading,
        idle_at,
        ..
    } = running
    else {
        return std::future::pending().await;
    };
    let silence = async {
        match *idle_at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    };
    let loaded = async {
        match loading.as_mut() {
            Some(asked) => asked.await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        part = reply.next() => Heard::Part(part),
        answer = loaded => {
            *loading = None;
            Heard::Loaded(answer)
        }
        () = silence => Heard::Silence,
    }
}
