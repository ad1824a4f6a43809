//! The tool `summarize_notes`: summarizes one note, or the parts of all notes that mention a topic.

use super::super::arguments::{reject_unknown, text};
use super::super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use super::{PATH_CHARS_MAX, TOPIC_CHARS_MAX, note_request, required, vault_path_schema};
use crate::domain::{BuiltInSettings, SummarySource};
use futures::future::BoxFuture;
use rmcp::model::Tool;
use serde_json::{Value, json};

const NAME: &str = "summarize_notes";
const KEYS: &[&str] = &["vault_path", "mode", "note_path", "topic"];
const CURRENT_NOTE: &str = "current_note";
const TOPIC: &str = "topic";

pub(in super::super) struct SummarizeNotes;

impl BuiltInTool for SummarizeNotes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema = json!({
            "type": "object",
            "properties": {
                "vault_path": vault_path_schema(),
                "mode": {
                    "type": "string",
                    "enum": [CURRENT_NOTE, TOPIC],
                    "description": "`current_note` summarizes `note_path`; `topic` summarizes what the notes say about `topic`",
                },
                "note_path": { "type": "string", "description": "Path of a note in the folder" },
                "topic": { "type": "string" },
            },
            "required": ["vault_path", "mode"],
            "additionalProperties": false,
        });
        let output_schema = json!({
            "type": "object",
            "properties": {
                "title": { "type": "string" },
                "summary": { "type": "string" },
                "sourceFiles": { "type": "array", "items": { "type": "string" } },
                "remarks": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["title", "summary", "sourceFiles", "remarks"],
        });
        definition(ToolDescription {
            name: NAME,
            title: "Summarize notes",
            description: "Lets the configured language model summarize one note, or the parts of all notes \
                 that mention a topic.",
            input_schema,
            output_schema,
            is_read_only: true,
            is_idempotent: false,
            is_open_world: false,
        })
    }

    fn is_usable(&self, settings: &BuiltInSettings) -> bool {
        !settings.notes.vaults.is_empty()
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(summarize(call))
    }
}

async fn summarize(call: ToolInvocation<'_>) -> Result<Value, String> {
    reject_unknown(call.arguments, NAME, KEYS)?;
    let request = note_request(&call).await?;
    let source = match required(&call, "mode", TOPIC, TOPIC_CHARS_MAX)? {
        CURRENT_NOTE => {
            let note = required(&call, "note_path", "ideas/router.md", PATH_CHARS_MAX)?;
            SummarySource::Note(note.to_owned())
        }
        TOPIC => {
            let topic = required(&call, "topic", "routers", TOPIC_CHARS_MAX)?;
            SummarySource::Topic(topic.to_owned())
        }
        _ => {
            let given = text(call.arguments, "mode", TOPIC, TOPIC_CHARS_MAX)?.unwrap_or_default();
            return Err(format!(
                "`mode` is \"{given}\", expected \"{CURRENT_NOTE}\" or \"{TOPIC}\"."
            ));
        }
    };
    let summary = call.services.notes.summarize(request, source).await;
    let summary = summary.map_err(|notice| notice.summary())?;
    let sources = summary
        .sources
        .iter()
        .map(|path| path.display().to_string());
    Ok(json!({
        "title": summary.title,
        "summary": summary.summary,
        "sourceFiles": sources.collect::<Vec<_>>(),
        "remarks": summary.remarks,
    }))
}
