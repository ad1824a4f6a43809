//! The tool `ollama_chat`: one answer from a local model.

use super::arguments::{reject_unknown, text};
use super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use crate::domain::{ModelConfig, OllamaTarget};
use crate::ports::CompletionRequest;
use futures::future::BoxFuture;
use rmcp::model::Tool;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

const NAME: &str = "ollama_chat";
const PROMPT_CHARS_MAX: usize = 200_000;
const MODEL_CHARS_MAX: usize = 200;
/// Time limit of a call. Local models on small machines are slow.
const TIMEOUT: Duration = Duration::from_secs(900);

pub(super) struct OllamaChat;

impl BuiltInTool for OllamaChat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema = json!({
            "type": "object",
            "properties": {
                "prompt": {
                    "type": "string",
                    "description": "The whole question: the model sees nothing else",
                },
                "model": {
                    "type": "string",
                    "description": "Name of an Ollama model such as `qwen3:4b`; default: the configured model",
                },
            },
            "required": ["prompt"],
            "additionalProperties": false,
        });
        let output_schema = json!({
            "type": "object",
            "properties": {
                "model": { "type": "string" },
                "answer": { "type": "string" },
                "cutOff": {
                    "type": "boolean",
                    "description": "Whether the answer reached a token limit",
                },
            },
            "required": ["model", "answer", "cutOff"],
        });
        definition(ToolDescription {
            name: NAME,
            title: "Ask Ollama",
            description: "Asks a model on the configured Ollama server one question and returns its answer.",
            input_schema,
            output_schema,
            is_read_only: true,
            is_idempotent: false,
            is_open_world: true,
        })
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(ask(call))
    }
}

async fn ask(call: ToolInvocation<'_>) -> Result<Value, String> {
    let arguments = call.arguments;
    reject_unknown(arguments, NAME, &["prompt", "model"])?;
    let prompt = text(
        arguments,
        "prompt",
        "Why is the sky blue?",
        PROMPT_CHARS_MAX,
    )?;
    let prompt = prompt.ok_or("`prompt` is missing: pass the question as a string.")?;
    let model = text(arguments, "model", "qwen3:4b", MODEL_CHARS_MAX)?;
    let model = select_model(&call.settings.ollama, model)?;
    let name = model.model.clone();
    call.progress
        .report(0.0, None, &format!("Waiting for {name}"));
    let (progress, shown_name) = (call.progress.clone(), name.clone());
    let request = CompletionRequest {
        model,
        prompt: prompt.to_owned(),
        on_progress: Box::new(move |chars| {
            let message = format!("{shown_name}: {chars} characters");
            progress.report(chars as f64, None, &message);
        }),
    };
    let completed = timeout(TIMEOUT, call.services.completion.complete(request)).await;
    match completed {
        Ok(Ok(completed)) => Ok(json!({
            "model": name,
            "answer": completed.text,
            "cutOff": completed.is_cut_off,
        })),
        Ok(Err(notice)) => {
            let summary = notice.summary();
            Err(format!("The model `{name}` gave no answer. {summary}"))
        }
        Err(_) => Err(format!(
            "The model `{name}` took longer than {} minutes. Ask a shorter question or a smaller \
             model.",
            TIMEOUT.as_secs() / 60
        )),
    }
}

fn select_model(target: &OllamaTarget, name: Option<&str>) -> Result<ModelConfig, String> {
    match (target, name) {
        (OllamaTarget::Unconfigured, _) => Err(
            "No Ollama server is configured. The user can add an Ollama model to `models` in \
             config.json, or set `builtIn.ollamaUrl` there."
                .to_owned(),
        ),
        (OllamaTarget::Model(model), None) => Ok(ModelConfig::clone(model)),
        (OllamaTarget::Model(model), Some(name)) if model.model == name || model.name == name => {
            Ok(ModelConfig::clone(model))
        }
        (OllamaTarget::Model(server) | OllamaTarget::Server(server), Some(name)) => {
            Ok(server.with_model(name))
        }
        (OllamaTarget::Server(_), None) => Err(
            "No model is configured for this tool: pass `model`, or the user can set \
             `builtIn.ollamaModel` in config.json."
                .to_owned(),
        ),
    }
}
