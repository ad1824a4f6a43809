//! Replays recorded streams of real servers, if `HUMBLE_RECORDINGS` names a folder with
//! recordings and an `expected.json`.

use crate::providers::decoding::{DecodedReply, decode_every_way};
use humble::domain::{ProviderKind, Usage};
use humble::provider::{EndReason, FailureCause};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

#[test]
fn recorded_streams_decode_as_expected() {
    let Some(folder) = std::env::var_os("HUMBLE_RECORDINGS") else {
        eprintln!("skipped: HUMBLE_RECORDINGS is not set");
        return;
    };
    let folder = Path::new(&folder);
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    let mut replayed = 0;
    for entry in expected {
        let provider = match entry["protocol"].as_str() {
            Some("ollama") => ProviderKind::Ollama,
            Some("openai") => ProviderKind::OpenAi,
            Some("mistral") => ProviderKind::Mistral,
            Some("anthropic") => ProviderKind::Anthropic,
            other => panic!("unknown protocol: {other:?}"),
        };
        let file = entry["file"].as_str().unwrap().to_owned();
        let bytes = std::fs::read(folder.join(&file)).unwrap();
        let decoded = decode_every_way(provider, &bytes);
        assert_eq!(describe(&file, provider, &decoded), entry);
        replayed += 1;
    }
    assert!(replayed > 0, "expected.json lists no streams");
    eprintln!("replayed {replayed} streams");
}

/// Describes a decoded stream in the format of `expected.json`.
fn describe(file: &str, provider: ProviderKind, decoded: &DecodedReply) -> Value {
    let calls: Vec<_> = decoded
        .calls
        .iter()
        .map(|call| json!({"name": call.name, "arguments": call.arguments.as_ref().ok()}))
        .collect();
    let (end, error) = match &decoded.failed {
        None => ("complete", None),
        Some(FailureCause::ReplyCutOff) => ("cut", None),
        Some(
            FailureCause::ErrorInReply { message }
            | FailureCause::Overloaded { message }
            | FailureCause::ContextOverflow { message, .. },
        ) => ("failed", Some(message.clone())),
        Some(other) => ("failed", Some(format!("{other:?}"))),
    };
    // For Anthropic, `expected.json` always has counts, even unknown ones.
    let unknown = (provider == ProviderKind::Anthropic).then(Usage::default);
    let usage = decoded.usage.or(unknown);
    json!({
        "file": file,
        "protocol": provider.name(),
        "end": end,
        "reason": decoded.end.as_ref().map(|end| reason_name(provider, end)),
        "error": error,
        "text": fingerprint(&decoded.text),
        "thinking": fingerprint(&decoded.thinking),
        "calls": calls,
        "usage": usage.map(|Usage { input, output, .. }| [input, output]),
    })
}

/// The protocol's name for this end reason.
fn reason_name(provider: ProviderKind, end: &EndReason) -> &str {
    let is_anthropic = provider == ProviderKind::Anthropic;
    match end {
        EndReason::Stop if is_anthropic => "end_turn",
        EndReason::ToolCalls if is_anthropic => "tool_use",
        EndReason::Length if is_anthropic => "max_tokens",
        EndReason::Stop => "stop",
        EndReason::ToolCalls => "tool_calls",
        EndReason::Length => "length",
        EndReason::Refused { .. } => "refusal",
        EndReason::ContentFilter => "content_filter",
        EndReason::ContextFull => "model_length",
        EndReason::Paused => "pause_turn",
        EndReason::StopSequence => "stop_sequence",
        EndReason::OutOfResources => "insufficient_system_resource",
        EndReason::Other(other) => other,
    }
}

fn fingerprint(text: &str) -> Value {
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    json!({"bytes": text.len(), "sha256": hex})
}
