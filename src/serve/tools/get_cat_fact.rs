//! The tool `get_cat_fact`: a random fact about cats.

use super::arguments::reject_unknown;
use super::http_service::{ServiceName, get_json};
use super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use futures::future::BoxFuture;
use rmcp::model::Tool;
use serde_json::{Value, json};

const NAME: &str = "get_cat_fact";
const SERVICE: ServiceName = ServiceName {
    subject: "The cat fact service",
    setting: "builtIn.catFactUrl",
};
const FACT_CHARS_MAX: usize = 2_000;

pub(super) struct GetCatFact;

impl BuiltInTool for GetCatFact {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema =
            json!({ "type": "object", "properties": {}, "additionalProperties": false });
        let output_schema = json!({
            "type": "object",
            "properties": { "fact": { "type": "string" } },
            "required": ["fact"],
        });
        definition(ToolDescription {
            name: NAME,
            title: "Cat fact",
            description: "A random fact about cats, from catfact.ninja. It takes no arguments.",
            input_schema,
            output_schema,
            is_read_only: true,
            is_idempotent: false,
            is_open_world: true,
        })
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            reject_unknown(call.arguments, NAME, &[])?;
            let url = &call.settings.cat_fact_url;
            let document = get_json(&call.services.http, SERVICE, url).await?;
            let fact = document.get("fact").and_then(Value::as_str);
            match fact.map(str::trim).filter(|fact| !fact.is_empty()) {
                Some(fact) => {
                    let fact: String = fact.chars().take(FACT_CHARS_MAX).collect();
                    Ok(json!({ "fact": fact }))
                }
                None => Err(
                    "The cat fact service sent an answer without a fact. Tell the user that the \
                     service failed; they can check `builtIn.catFactUrl` in config.json."
                        .to_owned(),
                ),
            }
        })
    }
}
