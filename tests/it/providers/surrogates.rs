//! Surrogate pairs whose JSON escapes arrive in two events, as some servers send them, and lone
//! surrogates.

use crate::providers::decoding::{
    DecodedReply, call, decode, decode_every_way, decode_reasoning_echo,
};
use crate::providers::model_server::{
    anthropic_event, anthropic_start, anthropic_stop, ollama_done, openai_event,
};
use humble::domain::ProviderKind::{self, Anthropic, Mistral, Ollama, OpenAi};
use humble::provider::{FailureCause, NativeCall};
use serde_json::json;

const ALL: [ProviderKind; 4] = [Ollama, OpenAi, Mistral, Anthropic];

#[derive(Clone, Copy)]
enum Field {
    Text,
    Thinking,
}
use Field::{Text, Thinking};

/// One event of `provider` with `escaped` inserted unmodified.
fn event(provider: ProviderKind, field: Field, escaped: &str) -> String {
    let openai = |delta: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let anthropic = |index: u64, delta: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{{delta}}}}}\n\n"
        )
    };
    match (provider, field) {
        (Ollama, Text) => {
            format!("{{\"message\":{{\"content\":\"{escaped}\"}},\"done\":false}}\n")
        }
        (Ollama, Thinking) => format!(
            "{{\"message\":{{\"content\":\"\",\"thinking\":\"{escaped}\"}},\"done\":false}}\n"
        ),
        (Anthropic, Text) => anthropic(
            1,
            &format!("\"type\":\"text_delta\",\"text\":\"{escaped}\""),
        ),
        (Anthropic, Thinking) => anthropic(
            0,
            &format!("\"type\":\"thinking_delta\",\"thinking\":\"{escaped}\""),
        ),
        (Mistral, Thinking) => openai(&format!(
            "\"content\":[{{\"type\":\"thinking\",\"thinking\":[{{\"type\":\"text\",\"text\":\"{escaped}\"}}]}}]"
        )),
        (_, Thinking) => openai(&format!("\"reasoning_content\":\"{escaped}\"")),
        (_, Text) => openai(&format!("\"content\":\"{escaped}\"")),
    }
}

fn stream(provider: ProviderKind, events: &[(Field, &str)]) -> String {
    let events = events
        .iter()
        .map(|(field, escaped)| event(provider, *field, escaped));
    let events: String = events.collect();
    match provider {
        Ollama => events + &ollama_done(1, 1),
        Anthropic => anthropic_start(&json!({})) + &events + &anthropic_stop("end_turn"),
        _ => events + &openai_event(&json!({}), Some("stop")) + "data: [DONE]\n\n",
    }
}

fn thinking_and_text(decoded: &DecodedReply) -> (&str, &str) {
    assert_eq!(decoded.failed, None, "{decoded:?}");
    assert!(decoded.end.is_some());
    (&decoded.thinking, &decoded.text)
}

#[test]
fn surrogate_halves_in_two_events_become_one_character() {
    let events = [
        (Thinking, r"hm \ud83d"),
        (Text, r"smile \ud83d"),
        (Thinking, r"\ude00."),
        (Text, ""),
        (Text, r"\ude00 end \uD83D\uDE80"),
    ];
    for provider in ALL {
        let stream = stream(provider, &events);
        let decoded = decode_every_way(provider, stream.as_bytes());
        assert_eq!(
            thinking_and_text(&decoded),
            ("hm 😀.", "smile 😀 end 🚀"),
            "{provider}"
        );
        let echo = decode_reasoning_echo(provider, &stream).expect("thinking is sent back");
        let echo = echo.value.to_string();
        assert!(echo.contains("hm 😀."), "{provider}: {echo}");
        assert!(!echo.contains('\u{FFFD}'), "{provider}: {echo}");
    }
}

#[test]
fn lone_surrogate_becomes_a_replacement_character() {
    let events = [
        (Thinking, r"\ud83d"),
        (Thinking, r"\ud83d\ude00\udc00"),
        (Text, r"a\ud83d"),
        (Text, "b"),
        (Text, r"\ude00c\ud83dd"),
        (Text, r"e\ud83d"),
    ];
    for provider in ALL {
        let decoded = decode_every_way(provider, stream(provider, &events).as_bytes());
        let expected = (
            "\u{FFFD}😀\u{FFFD}",
            "a\u{FFFD}b\u{FFFD}c\u{FFFD}de\u{FFFD}",
        );
        assert_eq!(thinking_and_text(&decoded), expected, "{provider}");
    }
}

#[test]
fn stream_cut_between_two_surrogates_keeps_its_text() {
    for provider in ALL {
        let cut = event(provider, Text, r"smile \ud83d");
        let decoded = decode(provider, &[cut.as_bytes()]);
        assert_eq!(decoded.text, "smile \u{FFFD}", "{provider}");
        assert_eq!(
            decoded.failed,
            Some(FailureCause::ReplyCutOff),
            "{provider}"
        );
    }
}

/// A reply with one call, whose arguments arrive in two fragments. Not for Ollama, which never
/// splits a call.
fn call_stream(provider: ProviderKind, head: &str, tail: &str) -> String {
    let openai = |fragment: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"1\",\"function\":{{\"name\":\"f\",\"arguments\":\"{fragment}\"}}}}]}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let anthropic = |fragment: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":\"{fragment}\"}}}}\n\n"
        )
    };
    match provider {
        Anthropic => {
            let block = json!({"type": "tool_use", "id": "1", "name": "f", "input": {}});
            let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
            anthropic_start(&json!({}))
                + &anthropic_event(&start)
                + &anthropic(head)
                + &anthropic(tail)
                + &anthropic_stop("tool_use")
        }
        _ => openai(head) + &openai(tail) + &openai_event(&json!({}), Some("tool_calls")),
    }
}

fn calls(provider: ProviderKind, stream: &str) -> Vec<NativeCall> {
    let decoded = decode_every_way(provider, stream.as_bytes());
    assert_eq!(decoded.failed, None, "{provider}");
    decoded.calls
}

#[test]
fn surrogates_in_arguments_are_joined_or_replaced() {
    for provider in [OpenAi, Mistral, Anthropic] {
        let split = call_stream(provider, r#"{\"a\":\"x \ud83d"#, r#"\ude00\"}"#);
        let expected = [call(Some("1"), "f", json!({"a": "x 😀"}))];
        assert_eq!(calls(provider, &split), expected, "{provider}");
        // The arguments' own JSON may contain a lone surrogate, too.
        let lone = call_stream(provider, r#"{\"a\":\"x \\ud83d"#, r#" \ud83d\"}"#);
        let expected = [call(Some("1"), "f", json!({"a": "x \u{FFFD} \u{FFFD}"}))];
        assert_eq!(calls(provider, &lone), expected, "{provider}");
    }
    let stream = "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"f\",\"arguments\":{\"content\":\"x \\ud83d\",\"\\ude00\":1}}}]},\"done\":false}\n";
    let expected = [call(
        Some("1"),
        "f",
        json!({"content": "x \u{FFFD}", "\u{FFFD}": 1}),
    )];
    let stream = stream.to_owned() + &ollama_done(1, 1);
    assert_eq!(calls(Ollama, &stream), expected);
}

#[test]
fn unstreamed_reply_may_contain_a_lone_surrogate() {
    let openai = r#"{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}"#;
    let anthropic = r#"{"content":[{"type":"text","text":"a\ud83d"}],"stop_reason":"end_turn"}"#;
    let ollama = r#"{"message":{"content":"a\ud83d"},"done":true}"#;
    for (provider, body) in [
        (Ollama, ollama),
        (OpenAi, openai),
        (Mistral, openai),
        (Anthropic, anthropic),
    ] {
        let decoded = decode_every_way(provider, body.as_bytes());
        assert_eq!(thinking_and_text(&decoded), ("", "a\u{FFFD}"), "{provider}");
    }
}
