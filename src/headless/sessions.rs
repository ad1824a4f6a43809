//! The output of `humble sessions`. Text from conversations is sanitized here, except in JSON.

use super::lines::clean_line;
use crate::domain::SessionSummary;
use crate::domain::date::format_date;
use crate::text::columns::Columns;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Maximum number of conversations listed if a name matches several.
const MATCHES_MAX: usize = 20;

pub struct FoundSession {
    pub summary: SessionSummary,
    /// The text around the first match.
    pub excerpt: Option<String>,
}

pub fn list_text(sessions: &[SessionSummary], now: Timestamp) -> String {
    if sessions.is_empty() {
        return "No saved conversations yet.\n".to_owned();
    }
    let rows: Vec<_> = sessions.iter().map(|session| row(session, now)).collect();
    let columns = Columns::fit(&rows);
    let lines = rows.iter().map(|row| columns.format_row(row) + "\n");
    lines.collect()
}

/// The conversations that a search found, each with the text around its first match.
pub fn search_text(found: &[FoundSession], now: Timestamp) -> String {
    if found.is_empty() {
        return "No conversation matches.\n".to_owned();
    }
    let rows: Vec<_> = found.iter().map(|found| row(&found.summary, now)).collect();
    let columns = Columns::fit(&rows);
    let mut out = String::new();
    for (row, found) in rows.iter().zip(found) {
        out += &format!("{}\n", columns.format_row(row));
        if let Some(excerpt) = &found.excerpt {
            out += &format!("    {}\n", clean_line(excerpt));
        }
    }
    out
}

/// The error for a name that matches several conversations: lists them with their file names, and a
/// `command` that chooses the first.
pub fn ambiguous_name_text(
    wanted: &str,
    matches: &[SessionSummary],
    command: &str,
    now: Timestamp,
) -> String {
    let rows = matches.iter().take(MATCHES_MAX).map(|session| {
        let [date, _, _, file, title] = row(session, now);
        [format!("  {date}"), file, title]
    });
    let rows: Vec<_> = rows.collect();
    let columns = Columns::fit(&rows);
    let lines: String = rows
        .iter()
        .map(|row| columns.format_row(row) + "\n")
        .collect();
    let more = match matches.len().saturating_sub(MATCHES_MAX) {
        0 => String::new(),
        more => format!("  … and {more} more\n"),
    };
    let wanted = clean_line(wanted);
    let first = matches.first().map_or("FILE", |first| first.id.as_str());
    let example = clean_line(&format!("humble {command} {first}"));
    format!(
        "`{wanted}` matches several conversations. Choose one by its file name:\n{lines}{more}\
         For example: {example}\n"
    )
}

fn row(session: &SessionSummary, now: Timestamp) -> [String; 5] {
    let messages = session.message_count;
    let messages = match session.open_error {
        None => format!("{messages:>4}"),
        Some(_) => String::new(),
    };
    [
        format_date(session.changed_at, now),
        clean_line(&session.model),
        messages,
        clean_line(session.id.as_str()),
        match &session.open_error {
            Some(why) => clean_line(&format!("broken: {why}")),
            None => clean_line(&session.title),
        },
    ]
}

/// All conversations as one JSON object, not sanitized.
pub fn list_json(sessions: &[SessionSummary]) -> Value {
    let sessions: Vec<Value> = sessions.iter().map(summary_json).collect();
    json!({ "sessions": sessions })
}

/// The conversations that a search found as one JSON object, not sanitized.
pub fn search_json(found: &[FoundSession]) -> Value {
    let sessions = found.iter().map(|found| {
        let mut value = summary_json(&found.summary);
        if let Some(excerpt) = &found.excerpt {
            value["excerpt"] = json!(excerpt);
        }
        value
    });
    let sessions: Vec<Value> = sessions.collect();
    json!({ "sessions": sessions })
}

fn summary_json(session: &SessionSummary) -> Value {
    let mut value = json!({
        "file": session.id,
        "title": session.title,
        "model": session.model,
        "started_at": session.started_at.map(|at| at.to_string()),
        "changed_at": session.changed_at.to_string(),
        "messages": session.message_count,
    });
    if let Some(why) = &session.open_error {
        value["error"] = json!(why);
    }
    value
}
