//! The tool `search_notes`.

use super::super::arguments::{reject_unknown, shortened, whole_number};
use super::super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use super::{TOPIC_CHARS_MAX, note_request, required, vault_path_schema};
use crate::domain::BuiltInSettings;
use futures::future::BoxFuture;
use rmcp::model::JsonObject;
use rmcp::model::Tool;
use serde_json::{Value, json};

const NAME: &str = "search_notes";
const LIMIT_DEFAULT: u64 = 20;
const LIMIT_MAX: u64 = 100;

pub(in super::super) struct SearchNotes;

impl BuiltInTool for SearchNotes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema = json!({
            "type": "object",
            "properties": {
                "vault_path": vault_path_schema(),
                "query": { "type": "string", "description": "Words or a question" },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": LIMIT_MAX,
                    "default": LIMIT_DEFAULT,
                    "description": "Maximum number of notes",
                },
            },
            "required": ["vault_path", "query"],
            "additionalProperties": false,
        });
        let output_schema = json!({
            "type": "object",
            "properties": {
                "results": {
                    "type": "array",
                    "description": "Best match first",
                    "items": {
                        "type": "object",
                        "properties": {
                            "filePath": { "type": "string" },
                            "title": { "type": "string" },
                            "snippet": { "type": "string" },
                            "score": { "type": "number", "minimum": 0, "maximum": 1 },
                        },
                        "required": ["filePath", "title", "snippet", "score"],
                    },
                },
                "remarks": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["results", "remarks"],
        });
        definition(ToolDescription {
            name: NAME,
            title: "Search notes",
            description: "Finds notes by words and, if an embedding model is configured, by meaning.",
            input_schema,
            output_schema,
            is_read_only: true,
            is_idempotent: true,
            is_open_world: false,
        })
    }

    fn is_usable(&self, settings: &BuiltInSettings) -> bool {
        !settings.notes.vaults.is_empty()
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(search(call))
    }
}

async fn search(call: ToolInvocation<'_>) -> Result<Value, String> {
    reject_unknown(call.arguments, NAME, &["vault_path", "query", "limit"])?;
    let request = note_request(&call).await?;
    let query = required(&call, "query", "router password", TOPIC_CHARS_MAX)?;
    let limit = limit(call.arguments)?;
    let found = call
        .services
        .notes
        .search(request, query.to_owned(), limit)
        .await;
    let found = found.map_err(|notice| notice.summary())?;
    let results = found.notes.iter().map(|note| {
        json!({
            "filePath": note.path.display().to_string(),
            "title": note.title,
            "snippet": note.snippet,
            "score": (f64::from(note.score) * 1000.0).round() / 1000.0,
        })
    });
    Ok(json!({ "results": results.collect::<Vec<_>>(), "remarks": found.remarks }))
}

fn limit(arguments: &JsonObject) -> Result<usize, String> {
    let given = match arguments.get("limit") {
        None | Some(Value::Null) => return Ok(LIMIT_DEFAULT as usize),
        Some(given) => given,
    };
    match whole_number(given) {
        Some(limit @ 1..=LIMIT_MAX) => Ok(limit as usize),
        _ => Err(format!(
            "`limit` must be a whole number from 1 to {LIMIT_MAX}, not {}.",
            shortened(given)
        )),
    }
}
