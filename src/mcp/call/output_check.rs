//! Compares the structured content of a result with the tool's output schema. A mismatch is only
//! reported: the result may be useful all the same.

use crate::domain::schema::SCHEMA_BYTES_MAX;
use crate::domain::{SchemaCheck, Tool, check_value};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for a check. It cannot be cancelled, but its number of steps is limited.
const CHECK_TIME_MAX: Duration = Duration::from_millis(250);

/// The line about structured content that does not match the schema.
pub async fn output_mismatch(tool: Option<&Tool>, result: Option<&Value>) -> Option<String> {
    let schema = tool?.extra.get("outputSchema")?.clone();
    // Some servers send null instead of nothing.
    let content = result?
        .get("structuredContent")
        .filter(|content| !content.is_null())?
        .clone();
    let checking = tokio::task::spawn_blocking(move || {
        let schema_bytes = serde_json::to_string(&schema).map_or(0, |text| text.len());
        match schema_bytes > SCHEMA_BYTES_MAX {
            true => SchemaCheck::Unchecked,
            false => check_value(&schema, &content),
        }
    });
    match timeout(CHECK_TIME_MAX, checking).await {
        Ok(Ok(SchemaCheck::Invalid(why))) => Some(mismatch_line(&why)),
        _ => None,
    }
}

fn mismatch_line(why: &str) -> String {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("[the structured content does not match the tool's output schema: {why}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    async fn mismatch(schema: Value, result: Value) -> Option<String> {
        let definition =
            json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
        let tool = Tool::from_definition(&definition).expect("a valid tool");
        output_mismatch(Some(&tool), Some(&result)).await
    }

    #[tokio::test]
    async fn only_structured_content_that_breaks_the_schema_is_reported() {
        let schema = || json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
        let content = |content: Value| json!({ "structuredContent": content });
        assert_eq!(
            mismatch(schema(), content(json!({ "x": "not\nint" })))
                .await
                .as_deref(),
            Some(
                "[the structured content does not match the tool's output schema: \"not\\nint\" is \
                 not of type \"integer\" at /x]"
            )
        );
        for fine in [
            content(json!({ "x": 1 })),
            content(json!({})),
            content(json!(null)),
            json!({ "content": [] }),
        ] {
            assert_eq!(mismatch(schema(), fine.clone()).await, None, "{fine}");
        }
        assert_eq!(mismatch(json!(7), content(json!(1))).await, None);
        let remote = json!({ "$ref": "https://example.com/schema.json" });
        assert_eq!(mismatch(remote, content(json!(1))).await, None);
    }

    #[tokio::test]
    async fn the_line_about_output_that_violates_its_schema_is_bounded() {
        let schema = json!({ "type": "integer" });
        let long = json!({ "structuredContent": "엉".repeat(1 << 20) });
        let line = mismatch(schema, long).await.expect("a mismatch");
        assert!(line.chars().count() < 1_000, "{}", line.len());
    }
}
