//! Reasoning that must be sent back to the model, as it is collected from a stream. Also token
//! counts in a text event, and a repeated finish reason.

use crate::providers::decoding::{DecodedReply, decode_every_way, decode_reasoning_echo, usage};
use crate::providers::model_server::{mistral_thinking, ollama_done, ollama_line, openai_event};
use humble::domain::ProviderKind::{self, Mistral, Ollama, OpenAi};
use humble::domain::ReasoningEcho;
use humble::provider::EndReason;
use serde_json::{Value, json};

const DONE: &str = "data: [DONE]\n\n";

fn completions(deltas: &[Value]) -> String {
    let events = deltas.iter().map(|delta| openai_event(delta, None));
    events.collect::<String>() + &openai_event(&json!({}), Some("tool_calls")) + DONE
}

fn reasoning_echo(provider: ProviderKind, value: Value) -> Option<ReasoningEcho> {
    Some(ReasoningEcho { provider, value })
}

#[test]
fn reasoning_keeps_the_key_it_arrived_under() {
    for name in ["reasoning_content", "reasoning"] {
        let stream = completions(&[
            json!({ name: "무엇을" }),
            json!({ name: " 물었나", "content": "" }),
        ]);
        let expected = json!({ name: "무엇을 물었나" });
        assert_eq!(
            decode_reasoning_echo(OpenAi, &stream),
            reasoning_echo(OpenAi, expected)
        );
        let decoded = decode_every_way(OpenAi, stream.as_bytes());
        assert_eq!(decoded.thinking, "무엇을 물었나");
    }
    assert_eq!(
        decode_reasoning_echo(OpenAi, &completions(&[json!({"content": "x"})])),
        None
    );
}

#[test]
fn reasoning_texts_are_joined_by_index_and_encrypted_blocks_are_not() {
    let text =
        |index: u64, text: &str| json!({"type": "reasoning.text", "index": index, "text": text});
    let stream = completions(&[
        json!({"reasoning": "a", "reasoning_details": [text(0, "a")]}),
        json!({"reasoning": "b", "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "b", "signature": "c2ln", "format": null},
        ]}),
        json!({"reasoning_details": [text(1, "c")]}),
        json!({"reasoning_details": [
            {"type": "reasoning.encrypted", "index": 2, "data": "b3Bh"},
            {"type": "reasoning.encrypted", "index": 2, "data": "cXVl"},
        ]}),
    ]);
    let expected = json!({
        "reasoning": "ab",
        "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "c2ln", "format": null},
            {"type": "reasoning.text", "index": 1, "text": "c"},
            {"type": "reasoning.encrypted", "index": 2, "data": "b3Bh"},
            {"type": "reasoning.encrypted", "index": 2, "data": "cXVl"},
        ],
    });
    assert_eq!(
        decode_reasoning_echo(OpenAi, &stream),
        reasoning_echo(OpenAi, expected)
    );
}

#[test]
fn mistral_thinking_chunks_are_merged() {
    let stream = completions(&[
        mistral_thinking("무엇을"),
        mistral_thinking(" 물었나"),
        json!({"content": [{"type": "text", "text": "답"}]}),
        json!({"content": "변"}),
    ]);
    let thinking =
        json!({"type": "thinking", "thinking": [{"type": "text", "text": "무엇을 물었나"}]});
    let expected = json!({ "content": [thinking] });
    assert_eq!(
        decode_reasoning_echo(Mistral, &stream),
        reasoning_echo(Mistral, expected)
    );
    let decoded = decode_every_way(Mistral, stream.as_bytes());
    assert_eq!(decoded.thinking, "무엇을 물었나");
    assert_eq!(decoded.text, "답변");
}

#[test]
fn ollama_thinking_is_sent_back_as_one_string() {
    let stream = [
        ollama_line(&json!({"content": "", "thinking": "무엇을"})),
        ollama_line(&json!({"content": "", "thinking": " 물었나"})),
        ollama_done(1, 1),
    ]
    .concat();
    let expected = reasoning_echo(Ollama, json!("무엇을 물었나"));
    assert_eq!(decode_reasoning_echo(Ollama, &stream), expected);
    assert_eq!(decode_reasoning_echo(Ollama, &ollama_done(1, 1)), None);
}

#[test]
fn usage_in_a_text_event_is_read_and_the_first_finish_reason_wins() {
    let event = json!({
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": null}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 1},
    });
    let stream = [
        format!("data: {event}\n\n"),
        openai_event(&json!({}), Some("length")),
        openai_event(&json!({}), Some("stop")),
        DONE.to_owned(),
    ];
    let decoded = decode_every_way(OpenAi, stream.concat().as_bytes());
    let expected = DecodedReply {
        text: "x".into(),
        usage: usage(7, 1),
        end: Some(EndReason::Length),
        ..DecodedReply::default()
    };
    assert_eq!(decoded, expected);
}
