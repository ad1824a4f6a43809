//! The summary of a session as the index stores it.

use crate::domain::{SessionId, SessionSummary};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct SummaryRecord {
    title: String,
    model: String,
    started: Option<(i64, i32)>,
    changed: (i64, i32),
    messages: usize,
    error: Option<String>,
}

/// Seconds since 1970, and nanoseconds within the last second.
fn parts(time: Timestamp) -> (i64, i32) {
    (time.as_second(), time.subsec_nanosecond())
}

fn from_parts((seconds, nanoseconds): (i64, i32)) -> Option<Timestamp> {
    Timestamp::new(seconds, nanoseconds).ok()
}

pub(super) fn serialize(summary: &SessionSummary) -> String {
    let record = SummaryRecord {
        title: summary.title.clone(),
        model: summary.model.clone(),
        started: summary.started_at.map(parts),
        changed: parts(summary.changed_at),
        messages: summary.message_count,
        error: summary.open_error.clone(),
    };
    serde_json::to_string(&record).expect("all keys are strings")
}

/// `None` if another version wrote the record, or if it is empty because the file must be
/// read again.
pub(super) fn parse(text: &str, id: &SessionId) -> Option<SessionSummary> {
    let record: SummaryRecord = serde_json::from_str(text).ok()?;
    Some(SessionSummary {
        id: id.clone(),
        title: record.title,
        model: record.model,
        started_at: record.started.and_then(from_parts),
        changed_at: from_parts(record.changed)?,
        message_count: record.messages,
        open_error: record.error,
    })
}
