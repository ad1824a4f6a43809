//! The tool `create_note`: the model writes a note into the folder of notes.

use super::super::arguments::reject_unknown;
use super::super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use super::{TOPIC_CHARS_MAX, note_request, required, vault_path_schema};
use crate::domain::BuiltInSettings;
use futures::future::BoxFuture;
use rmcp::model::Tool;
use serde_json::{Value, json};

const NAME: &str = "create_note";
const PREVIEW_CHARS_MAX: usize = 200;

pub(in super::super) struct CreateNote;

impl BuiltInTool for CreateNote {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema = json!({
            "type": "object",
            "properties": {
                "vault_path": vault_path_schema(),
                "topic": { "type": "string", "description": "What the note is about" },
            },
            "required": ["vault_path", "topic"],
            "additionalProperties": false,
        });
        let output_schema = json!({
            "type": "object",
            "properties": {
                "filePath": { "type": "string" },
                "title": { "type": "string" },
                "text": { "type": "string", "description": "The whole note" },
            },
            "required": ["filePath", "title", "text"],
        });
        definition(ToolDescription {
            name: NAME,
            title: "Create note",
            description: "Lets the configured language model write a short Markdown note about a topic, and \
                 saves it as a new file in the folder of notes. Changes no existing note.",
            input_schema,
            output_schema,
            is_read_only: false,
            is_idempotent: false,
            is_open_world: false,
        })
    }

    fn is_usable(&self, settings: &BuiltInSettings) -> bool {
        !settings.notes.vaults.is_empty()
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(create(call))
    }
}

async fn create(call: ToolInvocation<'_>) -> Result<Value, String> {
    reject_unknown(call.arguments, NAME, &["vault_path", "topic"])?;
    let request = note_request(&call).await?;
    let topic = required(&call, "topic", "machine learning", TOPIC_CHARS_MAX)?;
    let created = call.services.notes.create(request, topic.to_owned()).await;
    let created =
        created.map_err(|notice| format!("The note was not created. {}", notice.summary()))?;
    // The definition does not list `preview`: users' grants are pinned to it, and a change would ask
    // each of them again. Its output schema allows further fields.
    Ok(json!({
        "filePath": created.path.display().to_string(),
        "title": created.title,
        "preview": preview(&created.text),
        "text": created.text,
    }))
}

/// The beginning of a note without its headings, on one line.
fn preview(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    match line.char_indices().nth(PREVIEW_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
