//! The JSON of the results of note agents in a turn.

use crate::domain::AgentResult;
use serde_json::{Value, json};

pub(super) fn to_json(result: &AgentResult) -> Value {
    match result {
        AgentResult::NoteCreated {
            note,
            title,
            path,
            sha256,
        } => {
            let mut entry = json!({ "did": "created", "note": note, "title": title, "path": path });
            if let Some(sha256) = sha256 {
                entry["sha256"] = sha256.as_str().into();
            }
            entry
        }
        AgentResult::NotesFound {
            query,
            notes,
            remarks,
        } => with_remarks(
            json!({ "did": "found", "query": query, "notes": notes }),
            remarks,
        ),
        AgentResult::NoteSummarized {
            title,
            sources,
            remarks,
        } => {
            let entry = json!({ "did": "summarized", "title": title, "notes": sources });
            with_remarks(entry, remarks)
        }
        AgentResult::NotesConsulted { sources, remarks } => {
            with_remarks(json!({ "did": "consulted", "notes": sources }), remarks)
        }
    }
}

fn with_remarks(mut entry: Value, remarks: &[String]) -> Value {
    if !remarks.is_empty() {
        entry["remarks"] = remarks.into();
    }
    entry
}

/// `None` if the shape is unknown.
pub(super) fn from_json(entry: &Value) -> Option<AgentResult> {
    let text = |key: &str| Some(entry.get(key)?.as_str()?.to_owned());
    let texts = |key: &str| {
        let texts = entry
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let texts = texts.filter_map(Value::as_str).map(str::to_owned);
        texts.collect::<Vec<_>>()
    };
    Some(match entry.get("did")?.as_str()? {
        "created" => AgentResult::NoteCreated {
            note: text("note")?,
            title: text("title").unwrap_or_default(),
            path: text("path").unwrap_or_default(),
            sha256: text("sha256"),
        },
        "found" => AgentResult::NotesFound {
            query: text("query").unwrap_or_default(),
            notes: texts("notes"),
            remarks: texts("remarks"),
        },
        "summarized" => AgentResult::NoteSummarized {
            title: text("title").unwrap_or_default(),
            sources: texts("notes"),
            remarks: texts("remarks"),
        },
        "consulted" => AgentResult::NotesConsulted {
            sources: texts("notes"),
            remarks: texts("remarks"),
        },
        _ => return None,
    })
}
